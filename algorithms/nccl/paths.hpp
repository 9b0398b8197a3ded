#pragma once
// The paths NCCL takes inside a node between GPUs, CPUs, network devices and the NVSwitch: links,
// worst bandwidth, type. A breadth-first search from each target prefers fewer links, then bandwidth
// (from 2.30 on the better type, then bandwidth, then fewer links); rules then divert what cannot or
// should not go direct (through the CPU, or through a GPU that is closer to the NIC).
//
// Not modelled: GPUs whose driver forbids P2P (NCCL asks NVML); GPUDirect reads before sm80.
//
// Source: NCCL 2.28.9 and 2.30, src/graph/paths.cc.

#include <cstddef>
#include <optional>
#include <vector>

#include "algorithms/nccl/graph.hpp"
#include "algorithms/nccl/options.hpp"
#include "algorithms/nccl/system.hpp"

namespace collsim::nccl {

struct Path {
  std::vector<PartLinkId> links{};
  float bandwidth{0};  ///< GB/s
  PathType type{PathType::Dis};
};

/// All paths between parts that are ends: GPUs, CPUs, network devices, NVSwitch.
class Paths {
 public:
  explicit Paths(const System& system);

  /// Requires: both are ends.
  [[nodiscard]] const Path& between(PartId from, PartId to) const { return table_[at(from, to)]; }
  Path& between(PartId from, PartId to) { return table_[at(from, to)]; }
  [[nodiscard]] bool is_end(PartId part) const { return end_[part.index()].has_value(); }

 private:
  [[nodiscard]] std::size_t at(PartId from, PartId to) const {
    return *end_[from.index()] * ends_ + *end_[to.index()];
  }

  std::vector<std::optional<std::size_t>> end_;
  std::size_t ends_ = 0;
  std::vector<Path> table_;
};

/// The CPU that is fewest links away from a GPU, if any is connected.
[[nodiscard]] std::optional<PartId> local_cpu(const System& system, const Paths& paths, PartId gpu);

/// Over how bad a path GPUs still read and write each other's memory (P2P).
[[nodiscard]] PathType worst_for_p2p(const System& system, const DetectOptions& options);

/// The GPU through which a path goes, if any.
[[nodiscard]] std::optional<PartId> gpu_on(const System& system, const Path& path);

/// All paths after all rules. GPUs that are to talk over the network although they share the node
/// have paths of type Net. Complexity: O(ends · links · path length).
[[nodiscard]] Paths find_paths(const System& system, const DetectOptions& options);

/// Whether the way from a GPU to a network device is used without a copy through host memory.
[[nodiscard]] bool uses_gpu_direct(const System& system, const Paths& paths, PartId gpu, PartId net,
                                   const DetectOptions& options);

}  // namespace collsim::nccl
