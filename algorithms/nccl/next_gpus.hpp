#pragma once
// Which GPUs the search tries behind one, and in which order. This order decides which of equal
// graphs is found first, so it is part of NCCL's answer.
//
// Source: NCCL 2.28.9, src/graph/search.cc.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/graph.hpp"

namespace collsim::nccl {

/// What a GPU's distance to the network is for, when the next one is chosen.
enum class NetOrder : std::uint8_t {
  Ignore,    ///< the channel does not leave the node from here on
  Near,      ///< the channel leaves from the next GPU
  NearLast,  ///< it leaves later
};

/// GPUs and network devices are positions in the system's lists of their kind.
class NextGpus {
 public:
  explicit NextGpus(const DetectedNode& node);

  /// The GPUs to try after `gpu`, the first to try first, without those that are `used`.
  /// Behind an NVSwitch only neighbours of `gpu` are tried. `net` is where the channel came in.
  [[nodiscard]] std::vector<std::size_t> after(std::size_t gpu, Pattern pattern,
                                               const std::vector<bool>& used, NetOrder order,
                                               std::optional<std::size_t> net);

 private:
  /// What speaks for trying a GPU early. Bandwidths count in whole GB/s.
  struct Score {
    std::size_t gpu{0};
    std::size_t distance{0};  ///< from the GPU before it, round the list
    std::size_t hops{0};
    int bandwidth{0};
    std::size_t net_hops{0};
    int pci_bandwidth{0};
    int net_bandwidth{0};
  };

  [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t gpu, Pattern pattern,
                                                    const std::vector<bool>& used) const;
  [[nodiscard]] std::vector<Score> scores(std::size_t gpu, std::optional<std::size_t> net) const;

  const DetectedNode& node_;
  /// The other GPUs from the first to try; made when first asked for.
  /// Shapes: `[gpu · (nets + 1) + net]`, the last net stands for none.
  std::vector<std::vector<Score>> ranked_;
};

}  // namespace collsim::nccl
