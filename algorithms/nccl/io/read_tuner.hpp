#pragma once
// The file of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE): one rule a line, comma-separated.
//
//   collective, min_bytes, max_bytes, algorithm, protocol, channels, nodes, ranks[, pipelined[, registered]]
//
// -1 means any (of channels: leave them). Empty lines and lines that begin with # are skipped. The
// plugin ignores what it cannot read; here it is an error.
// Source: NCCL 2.28.9, plugins/tuner/example.

#include <string>
#include <string_view>
#include <vector>

#include "algorithms/nccl/tuner.hpp"

namespace collsim::nccl {

/// Throws: InputError with the line, what was found and what is accepted.
[[nodiscard]] std::vector<TunerRule> parse_tuner(std::string_view text,
                                                 const std::string& file_name);

}  // namespace collsim::nccl
