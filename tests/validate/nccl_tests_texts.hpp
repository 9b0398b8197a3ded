#pragma once

// Texts as nccl-tests prints them, for the tests of its readers. Bandwidths are worked out here from size and time:
// algbw = size / time, busbw = algbw · factor.

#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>

namespace collsim::test {

inline const std::string table_header =
    "#                                                              out-of-place                   "
    "    in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
    "time   algbw   busbw  #wrong \n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             "
    "(us)  (GB/s)  (GB/s)         \n";

inline const std::string footer =
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.3456 \n#\n";

/// time, algbw, busbw, #wrong.
inline std::string half(std::int64_t size, double us, double factor,
                        const std::string& wrong = "0") {
  const double algbw = static_cast<double>(size) / us / 1e3;
  std::ostringstream text;
  text << std::fixed << std::setprecision(2);
  text << "  " << std::setw(7) << us << "  " << std::setw(6) << algbw;
  text << "  " << std::setw(6) << algbw * factor << "  " << std::setw(6) << wrong;
  return text.str();
}

/// size, count, type, redop, root.
inline std::string call(std::int64_t size, std::int64_t count, const std::string& type = "float",
                        const std::string& redop = "sum", const std::string& root = "-1") {
  std::ostringstream text;
  text << std::setw(12) << size << "  " << std::setw(12) << count << "  " << std::setw(8) << type;
  text << "  " << std::setw(6) << redop << "  " << std::setw(6) << root;
  return text.str();
}

/// A row of all_reduce in float on 8 ranks, whose factor is 2 · 7 / 8.
inline std::string row(std::int64_t size, double out_us, double in_us) {
  return call(size, size / 4) + half(size, out_us, 1.75) + half(size, in_us, 1.75) + "\n";
}

inline std::string parameters(int threads, int gpus, const std::string& more = "graph: 0") {
  return "# nThread " + std::to_string(threads) + " nGpus " + std::to_string(gpus) +
         " minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 "
         "validation: 1 " +
         more + "\n#\n# Using devices\n";
}

/// `nodes` of `per_node` GPUs each, `per_process` of them in a process.
inline std::string devices(int nodes, int per_node, int per_process) {
  std::string text;
  for (int rank = 0; rank < nodes * per_node; ++rank) {
    const int node = rank / per_node;
    text += "#  Rank " + std::string(rank < 10 ? " " : "") + std::to_string(rank) +
            " Group  0 Pid " + std::to_string(4000 + rank / per_process) + " on secret-host" +
            std::to_string(node) + " device  " + std::to_string(rank % per_node) +
            " [0000:1b:00] NVIDIA H100 80GB HBM3\n";
  }
  return text + "#\n";
}

/// A whole test of all_reduce on 8 GPUs of one process, with two sizes.
inline std::string whole_test() {
  return "# nccl-tests version 2.18.3 nccl-headers=22902 nccl-library=22902\n"
         "# Collective test starting: all_reduce_perf\n" +
         parameters(1, 8) + devices(1, 8, 8) + table_header + row(1'048'576, 40, 39) +
         row(2'097'152, 60, 61) + footer + "# Collective test concluded: all_reduce_perf\n";
}

}  // namespace collsim::test
