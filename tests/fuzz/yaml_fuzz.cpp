// Any bytes as a cluster description: text → ClusterSpec → Cluster. Nothing but InputError may come
// out, and a description that is accepted must build or be refused by the model with an InputError.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "topology/error.hpp"
#include "topology/io/load.hpp"

namespace {

/// Whether the graph is small enough to build thousands of times. What is too large for the memory
/// is the builder's to refuse, and its tests'.
bool is_small(const collsim::ClusterSpec& spec) {
  constexpr std::uint64_t most_devices = 256;
  std::uint64_t devices = spec.node.gpus;
  std::uint64_t parallel = 1;
  for (const auto& group : spec.node.devices) {
    devices += group.count.value_or(1);
  }
  for (const auto& link : spec.node.links) {
    parallel = std::max<std::uint64_t>(parallel, link.count);
  }
  if (spec.graph) {
    for (const auto& link : spec.graph->links) {
      parallel = std::max<std::uint64_t>(parallel, link.count);
    }
  }
  return devices * spec.nodes <= most_devices && parallel <= 16;
}

}  // namespace

// The name and the types are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // What stands before a NUL is a --set, what stands behind it the file.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as characters
  std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    std::vector<collsim::Setting> settings;
    if (const std::size_t end = text.find('\0'); end != std::string_view::npos && end > 0) {
      settings.push_back(collsim::parse_setting(text.substr(0, end)));
      text.remove_prefix(end + 1);
    }
    const collsim::LoadedCluster loaded =
        collsim::parse_cluster(text, "fuzz.yaml", settings, collsim::ConfigPath{});
    if (is_small(loaded.spec)) {
      static_cast<void>(collsim::build_cluster(loaded));
    }
  } catch (const collsim::InputError& error) {
    static_cast<void>(error.render());
  }
  return 0;
}
