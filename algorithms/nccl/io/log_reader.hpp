#pragma once
// Reads the log of a real NCCL run (NCCL_DEBUG=INFO): the lines of INIT, GRAPH, TUNING, ENV and COLL,
// of one rank or many, of one or several communicators, alone or in the output of a program.
//
// A line that is cut or mixed with another one is dropped and counted. Memory is bounded by what is
// kept, not by the file; a hostile file can do no more than fill it to its limits.

#include <string>
#include <string_view>

#include "algorithms/nccl/nccl_log.hpp"

namespace collsim::nccl {

/// Throws: InputError if the text has no line of NCCL.
[[nodiscard]] NcclLog parse_nccl_log(std::string_view text, const std::string& file);

/// The same from a file of any size. Throws: InputError, also if it cannot be read.
[[nodiscard]] NcclLog load_nccl_log(const std::string& path);

}  // namespace collsim::nccl
