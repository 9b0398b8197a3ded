// The example of docs/add_an_algorithm.md does what the page says, and the page quotes it.

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "algorithms/check.hpp"
#include "algorithms/table.hpp"
#include "sim/executor.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "tests/topology/clusters.hpp"

namespace collsim {

Algorithm two_way_ring();

namespace {

std::string text_of(std::string_view path) {
  std::ifstream file(test::source_path(path));
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What stands between ```cpp and ```.
std::vector<std::string> quoted_code(const std::string& page) {
  const std::string begin = "\n```cpp\n";
  std::vector<std::string> quotes;
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    quotes.push_back(page.substr(at, page.find("```", at) - at));
  }
  return quotes;
}

ProgramRequest all_gather_request(std::uint32_t ranks, Bytes size) {
  ProgramRequest request;
  request.call = call_for_size(CollectiveKind::AllGather, ranks, size, DataType::Float32);
  return request;
}

TEST_CASE("the page on adding an algorithm quotes its example") {
  const std::string example = text_of("docs/examples/two_way_ring.cpp");
  const std::vector<std::string> quotes = quoted_code(text_of("docs/add_an_algorithm.md"));
  CHECK(quotes.size() == 3);
  for (const std::string& quote : quotes) {
    INFO(quote);
    CHECK(example.find(quote) != std::string::npos);
  }
}

TEST_CASE("the two-way ring gathers everything, whatever the parts and places") {
  for (std::uint32_t ranks = 1; ranks <= 17; ++ranks) {
    for (const InPlace in_place : {InPlace::No, InPlace::Yes}) {
      for (const std::uint32_t parts : {1U, 2U}) {
        ProgramRequest request = all_gather_request(ranks, Bytes(16) * ranks);
        request.call.in_place = in_place;
        request.channels = parts;
        request.chunks = parts;
        const CheckReport report = check_program(*build_program(two_way_ring(), request));
        INFO((report.ok() ? "" : report.failures.front().text));
        REQUIRE(report.ok());
      }
    }
  }
}

TEST_CASE("the two-way ring takes n/2 messages in a row") {
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
    const Cluster cluster(test::mesh(ranks));
    const auto gpus = cluster.graph().gpus();
    Workload workload;
    workload.operations.emplace_back(
        Collective{build_program(two_way_ring(), all_gather_request(ranks, Bytes(1600) * ranks)),
                   std::make_shared<const Communicator>(gpus.begin(), gpus.end())});
    // 20 ps a byte, 10^6 ps a message.
    CHECK(run_workload(cluster, workload).time == Duration(ranks / 2 * (1600 * 20 + 1'000'000)));
  }
}

}  // namespace
}  // namespace collsim
