#pragma once

// Pieces of NCCL's log: rank 0 of a communicator of two ranks on one host.

#include <string>

#include "algorithms/nccl/io/log_reader.hpp"

namespace collsim::nccl::test {

constexpr const char* start =
    "host:10:11 [0] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 81000 commId 0x7 "
    "- "
    "Init START\n";
constexpr const char* complete =
    "host:10:11 [0] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 81000 commId 0x7 "
    "- "
    "Init COMPLETE\n";

/// A line of rank 0.
inline std::string line(const std::string& text) {
  return "host:10:11 [0] NCCL INFO " + text + "\n";
}

inline NcclLog read(const std::string& text) { return parse_nccl_log(text, "run.log"); }

}  // namespace collsim::nccl::test
