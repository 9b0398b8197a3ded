#pragma once
// One attempt of the search: places channels of one speed one after another, depth first, and keeps
// the best set of channels it meets. It visits GPUs until its budget is spent or as many channels as
// wanted are placed.
//
// A channel: ring: NIC, all GPUs, NIC (or back to the first GPU); tree: NIC, all GPUs in a chain, with
// the way back to the NIC from the first GPU (halved over the first two if balanced); NVLS: NIC and a
// head GPU, which takes twice what the other GPUs take of the NVSwitch; CollNet direct: NIC and a head
// GPU, which exchanges an equal share with each of the others.
//
// Source: NCCL 2.28.9, src/graph/search.cc.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/nccl/candidate.hpp"
#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/link_budget.hpp"
#include "algorithms/nccl/next_gpus.hpp"
#include "algorithms/nccl/options.hpp"

namespace collsim::nccl {

class ChannelSearch {
 public:
  ChannelSearch(const DetectedNode& node, const SearchOptions& options);

  /// What of `visits` is left after an attempt for what `wanted` asks; -1 if it placed all channels it
  /// may. Replaces `best` where it finds better. Leaves nothing placed in `wanted`.
  int attempt(Candidate& wanted, Candidate& best, int visits);

 private:
  enum class Order : std::uint8_t {
    Free,    ///< all GPUs that may come next
    OfFile,  ///< the GPUs in the order of the file
    Replay,  ///< as in the channel before
  };
  /// How a channel goes on.
  struct Way {
    std::size_t position{0};                ///< GPUs placed before
    std::optional<std::size_t> to_net{};    ///< the position from which it leaves to the network
    std::optional<std::size_t> to_first{};  ///< the position from which it closes to the first GPU
    Order order{Order::Free};
  };

  void place_channel(int& budget);
  void place_from_net(const Way& start, int& budget);
  void place_from_net(std::size_t net, const Way& start, int& budget);
  void place_inside(const Way& start, int& budget);
  [[nodiscard]] bool is_head(std::size_t gpu) const;
  void enter(std::optional<std::size_t> net, std::size_t gpu, const Way& way, int& budget);
  void visit(std::size_t gpu, const Way& way, int& budget);
  void finish_channel(int& budget);
  void leave_to_net(std::size_t gpu, const Way& way, int& budget);
  void go_on(std::size_t gpu, const Way& way, int& budget);
  void close_ring(std::size_t gpu, const Way& way, int& budget);
  void pull_through_switch(std::size_t head, int& budget);
  void exchange_with_all(std::size_t head, int& budget);
  bool pull_direction(std::size_t head, bool from_switch, std::size_t& placed);

  /// Takes the bandwidth of one hop; false if it is too far or has too little. `share` is of the
  /// channel's bandwidth.
  bool take(PartId from, PartId to, float share);
  void give_back(PartId from, PartId to, float share);
  [[nodiscard]] bool may_leave_by(std::size_t net) const;
  void take_net(std::size_t net, float bandwidth);
  [[nodiscard]] Way start() const;
  [[nodiscard]] const std::vector<std::size_t>& exits(std::size_t gpu);

  const DetectedNode& node_;
  const SearchOptions& options_;
  const std::vector<PartId>& gpus_;
  const std::vector<PartId>& nets_;
  LinkBudget links_;
  NextGpus next_gpus_;
  std::vector<float> net_left_;                        // of each network device
  std::vector<std::optional<std::size_t>> local_gpu_;  // of each network device
  std::vector<std::vector<std::size_t>> near_gpus_;    // of each network device
  std::vector<std::vector<bool>> used_;                // by channel: GPUs in it
  Candidate* wanted_ = nullptr;
  Candidate* best_ = nullptr;
  std::vector<std::size_t> entries_;                            // network devices to come in by
  std::vector<std::optional<std::vector<std::size_t>>> exits_;  // of each GPU: to go out by
};

}  // namespace collsim::nccl
