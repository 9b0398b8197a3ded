#include "algorithms/nccl/communicator.hpp"

#include <algorithm>

namespace collsim::nccl {

std::vector<int> heads(const Graph& graph) {
  std::vector<int> result;
  for (const GraphChannel& channel : graph.channels) {
    if (!channel.gpus.empty() &&
        std::find(result.begin(), result.end(), channel.gpus.front()) == result.end()) {
      result.push_back(channel.gpus.front());
    }
  }
  return result;
}

}  // namespace collsim::nccl
