#pragma once

// The machines of ../shared/vectors/nccl: what NCCL 2.28.9 decides on them, and from which facts.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "algorithms/nccl/channels.hpp"

namespace collsim::nccl::test {

/// A machine as the tuning needs it, from a vector's graphs and the facts its XML shows.
struct VectorMachine {
  std::string name;
  Configuration configuration;
  Communicator communicator;
  GraphSet graphs;
};

/// The names of the vectors in the folder, sorted.
std::vector<std::string> vector_names(const std::filesystem::path& folder);

nlohmann::json load_vector(const std::filesystem::path& folder, const std::string& name);

VectorMachine vector_machine(const std::filesystem::path& folder, const nlohmann::json& vector);

}  // namespace collsim::nccl::test
