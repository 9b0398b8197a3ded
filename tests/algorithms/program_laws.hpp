#pragma once

// Laws that every program keeps whatever it is for: connections lead back, messages have the size
// their receiver expects, spans stay inside their buffers, inputs are not written.

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/program.hpp"

namespace collsim::test {

/// The first breach of a law, as a sentence; empty where there is none.
std::string first_breach(const Program& program);

/// Bytes that each rank sends.
std::vector<Bytes> bytes_sent(const Program& program);

/// "ring all_reduce, 5 ranks, 17 elements, …", for messages.
std::string describe(const Program& program);

}  // namespace collsim::test
