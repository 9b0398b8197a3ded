// The samples of ../shared/samples: each gives the runs and rows that its file holds, counted by hand, or is refused for
// what it is.

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "validate/io/read_measurements.hpp"

using namespace collsim;

namespace {

/// "all_reduce 4x1 62": collective, ranks, nodes, rows of each run; dropped rows; or the refusal.
std::string summary(const std::string& path) {
  try {
    const Measurements found = load_measurements(path);
    std::ostringstream text;
    for (const MeasuredRun& run : found.runs) {
      text << name_of(run.collective) << ' ' << run.ranks << 'x' << run.nodes << ' '
           << run.rows.size() << "; ";
    }
    text << found.dropped.size() << " dropped" << (found.truncated ? ", cut" : "");
    return text.str();
  } catch (const InputError& error) {
    return (error.location().line != 0 ? std::to_string(error.location().line) + ": "
                                       : std::string()) +
           error.message();
  }
}

void check(const char* folder, const std::vector<std::pair<std::string, std::string>>& expected) {
  const auto path = test::shared_path(std::string("samples/") + folder);
  if (!path) {
    return;
  }
  for (const auto& [file, wanted] : expected) {
    CAPTURE(file);
    CHECK(summary((*path / file).string()) == wanted);
  }
}

}  // namespace

TEST_CASE("samples of nccl-tests are read or refused") {
  check(
      "nccl-tests",
      {
          // 7 tests of one row and one half each.
          {"2.11-era-error-column-4hosts.txt", "all_reduce 32x4 7; 0 dropped"},
          // 10 rows of two halves; then a sendrecv without rows.
          {"2.17.6-pairwise-second-test-cut.txt", "all_to_all 2x2 20; 0 dropped, cut"},
          {"2.17.6-pairwise-truncated-no-summary.txt",
           "12: no measurement: the test reports a failure here"},
          // 5 tests of 10 rows of two halves.
          {"2.17.8-10nodes-many-collectives-one-file.txt",
           "all_reduce 10x10 20; all_gather 10x10 20; reduce_scatter 10x10 20; all_to_all 10x10 "
           "20; send_recv 10x10 "
           "20; 0 dropped"},
          // 8 bytes to 8 GiB by doubling: 31 sizes. Of reduce_scatter, 8, 16 and 32 bytes are 0 on 4 ranks.
          {"2.18.3-all_reduce-4xh100-clean.txt", "all_reduce 4x1 62; 0 dropped"},
          {"2.18.3-reduce_scatter-4xh100-clean.txt", "reduce_scatter 4x1 56; 0 dropped"},
          {"a3mega-16xh100-markdown-lost-hash.md", "all_reduce 16x2 62; 0 dropped"},
          {"derived-all_reduce-crlf.csv", "all_reduce 4x0 31; 0 dropped"},
          // 8 bytes to 4 GiB: 30 sizes.
          {"derived-gh200-16ranks-table-only.txt", "all_reduce 16x0 60; 0 dropped"},
          {"derived-gh200-16ranks.csv", "all_reduce 16x0 60; 0 dropped"},
          // Two rows and their rests (lines 41, 236, 325, 499), and a third whose rest is not in the excerpt.
          {"interleaved-log-splits-result-rows.txt",
           "41: no measurement: a line of NCCL begins in the middle of the row (and 4 more that "
           "cannot "
           "be trusted)"},
          {"non-mpi-build-under-mpirun-doubled-headers.txt",
           "8: no measurement: each process ran a test of its own, with a Rank 0 of its own: "
           "nccl-tests was built "
           "without MPI (it takes make MPI=1)"},
          // 8 bytes to 1 GiB: 28 sizes. 8 to 256 bytes are 0 on 32 ranks (6); of the other 22, that of 8,192 bytes is
          // broken by a line of NCCL, as is one of those of 0.
          {"openmpi-tag-output-rccl-32xmi250.txt", "all_gather 32x2 42; 2 dropped"},
          {"polaris-launcher-error-only.txt",
           "no measurement: there is no table of nccl-tests in it"},
          // 4 bytes to 1 GiB: 29 sizes.
          {"polaris-n2g4-all_reduce-busid-2digit.txt", "all_reduce 8x2 58; 0 dropped"},
          {"srun-l-prefix-gh200-16ranks.out", "all_reduce 16x4 60; 0 dropped"},
          // 8 bytes to 2 GiB: 29 sizes.
          {"srun-label-0-prefix-excerpt.txt", "all_reduce 16x0 58; 0 dropped"},
      });
}

TEST_CASE("samples of the JSON of nccl-tests are read") {
  check("nccl-tests-json",
        {
            {"constructed-v1-misspelled-keys.json", "reduce_scatter 4x1 56; 0 dropped"},
            {"constructed-v3.json", "all_reduce 4x1 62; 0 dropped"},
            // Cut in the 18th result: 17 are whole.
            {"constructed-v3-truncated.json", "all_reduce 4x1 34; 0 dropped, cut"},
        });
}

TEST_CASE("samples of the inspector are read") {
  check("nccl-inspector",
        {
            // 300 lines, and 150 of which the last is cut.
            {"allreduce-4x4090-rank0.jsonl", "all_reduce 4x1 300; 0 dropped"},
            {"tuner-run-rank0-cut-last-line.jsonl", "all_reduce 4x1 149; 1 dropped, cut"},
        });
}

TEST_CASE("names of hosts in the samples go nowhere") {
  const auto folder = test::shared_path("samples/nccl-tests");
  if (!folder) {
    return;
  }
  const Measurements found =
      load_measurements((*folder / "openmpi-tag-output-rccl-32xmi250.txt").string());
  std::string all = found.hardware.gpu;
  for (const MeasuredRun& run : found.runs) {
    all += run.source + run.notes + run.software.launch + run.software.nccl;
    for (const auto& [name, value] : run.software.environment) {
      all += name + value;
    }
  }
  for (const auto* list : {&found.notes, &found.dropped}) {
    for (const MeasurementNote& note : *list) {
      all += note.text;
    }
  }
  CHECK(all.find("gpuh-") == std::string::npos);
}
