#pragma once

// The `ideal` model: every transfer moves at the full rate of its route, as if it were alone.
// Where two transfers are under way on one link at the same time, the result is too good, and
// contention_ignored() says so; ends that touch do not overlap.
//
// A transfer of `bytes` departs transfer_time(bytes, full rate) after its start. When a capacity
// changes meanwhile, it goes on at the new full rate; what is left is kept in units of to_fine(),
// rounded down.

#include <cstdint>
#include <vector>

#include "sim/link_usage.hpp"
#include "sim/network.hpp"
#include "sim/path_table.hpp"
#include "sim/slot_pool.hpp"

namespace collsim {

class IdealNetwork final : public Network {
 public:
  IdealNetwork(const Graph& graph, EventQueue& queue);

  using Network::open;
  [[nodiscard]] PathId open(const Route& route, std::span<const std::uint32_t> crowds) override {
    return paths_.open(route, crowds);
  }
  void close(PathId path) override { paths_.close(path); }
  [[nodiscard]] std::span<const ResourceUse> hops(PathId path) const override {
    return paths_.hops(path);
  }
  void expect(std::size_t paths) override {
    paths_.expect(paths);
    transfers_.expect(paths);
  }
  void start(PathId path, Bytes bytes, std::uint32_t tag, const TransferTerms& terms) override;
  [[nodiscard]] LinkId add_resource(Bandwidth capacity) override;
  [[nodiscard]] std::optional<Departure> depart(const Event& event) override;
  void set_capacity(LinkId link, Bandwidth bandwidth) override;
  void settle() override;
  [[nodiscard]] std::span<const LinkUse> link_use() const override { return usage_.uses(); }
  [[nodiscard]] std::size_t transfers_under_way() const override { return under_way_; }
  [[nodiscard]] bool contention_ignored() const override { return contention_ignored_; }

 private:
  struct Transfer {
    U128 left = 0;  ///< at `updated`
    Rate rate;
    Bytes bytes;
    Bandwidth cap;
    Time start;
    Time updated;
    PathId path;
    std::uint32_t tag = 0;
    std::uint32_t multiplicity = 1;
    std::uint32_t generation = 0;  ///< grows whenever its departure event is out of date
    bool present = false;
  };
  struct CapacityChange {
    LinkId link;
    Bandwidth bandwidth;
  };

  void apply_capacity_changes();
  [[nodiscard]] Rate rate_of(const Transfer& transfer);
  void schedule(TransferId id);

  EventQueue* queue_;
  PathTable paths_;
  LinkUsage usage_;
  SlotPool<TransferId, Transfer> transfers_;
  std::vector<TransferId> started_;  ///< since the last settle(), not of 0 bytes
  std::vector<CapacityChange> changes_;
  std::size_t under_way_ = 0;
  bool contention_ignored_ = false;
};

}  // namespace collsim
