#pragma once

// The `flow` model: transfers are fluid flows that share links max-min fairly (see fair_share.hpp).
//
// Rates change only where something happens: when a transfer starts or departs or a capacity
// changes, settle() solves the connected component of links and transfers around it, once per
// instant. A transfer that shares no link is a component of its own and needs no solver: its rate
// is the full rate of its route. A transfer's progress is settled (rounded down) only when its rate
// becomes another fraction, never because its component was solved again, so results do not depend
// on what happens to others that leaves its rate alone.
//
// Only the earliest departures of a component are in the event queue: whatever comes before the
// next ones changes the component, and then it is looked at again.
//
// Ignored: queues, congestion control, packets; a change of rate reaches everybody at once.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/fair_share.hpp"
#include "sim/link_usage.hpp"
#include "sim/network.hpp"
#include "sim/path_table.hpp"
#include "sim/slot_pool.hpp"

namespace collsim {

class FlowNetwork final : public Network {
 public:
  FlowNetwork(const Graph& graph, EventQueue& queue);

  [[nodiscard]] PathId open(const Route& route) override { return paths_.open(route); }
  void close(PathId path) override { paths_.close(path); }
  /// Complexity: O(hops), without allocation once the run is warm.
  void start(PathId path, Bytes bytes, std::uint32_t tag, const TransferTerms& terms) override;
  [[nodiscard]] LinkId add_resource(Bandwidth capacity) override;
  [[nodiscard]] std::optional<Departure> depart(const Event& event) override;
  void set_capacity(LinkId link, Bandwidth bandwidth) override;
  /// Complexity: O(hops) for a transfer that shares no link; else one FairShareSolver::solve() for
  /// each component that changed.
  void settle() override;
  [[nodiscard]] std::span<const LinkUse> link_use() const override { return usage_.uses(); }
  [[nodiscard]] std::size_t transfers_under_way() const override { return under_way_; }
  [[nodiscard]] bool contention_ignored() const override { return false; }

 private:
  struct Transfer {
    U128 left = 0;  ///< at `updated`
    Rate rate;      ///< since `updated`; numerator 0: not known before settle()
    Bytes bytes;
    Time start;
    Time updated;
    Time departure;
    std::uint64_t visited = 0;  ///< the search that last came here
    PathId path;
    std::uint32_t tag = 0;
    TransferTerms terms;
    std::uint32_t generation = 0;  ///< grows whenever its departure event is out of date
    std::uint32_t birth = 0;       ///< tells transfers apart that have the same id in turn
    LinkId bottleneck;
    bool scheduled = false;         ///< its departure event of this generation is in the queue
    bool capacity_changed = false;  ///< has an entry in alone_
  };
  /// A transfer on a link; out of date when the births differ.
  struct Occupant {
    TransferId transfer;
    std::uint32_t birth = 0;
  };
  struct LinkState {
    std::vector<Occupant> occupants;  ///< those out of date are dropped when a search comes by
    std::uint64_t visited = 0;        ///< the search that last came here
    std::uint32_t transfers = 0;      ///< occupants that are not out of date
    bool dirty = false;
  };
  struct CapacityChange {
    LinkId link;
    Bandwidth bandwidth;
  };
  /// What a transfer would have left, had it been alone since its start: for Departure::wire where
  /// capacities changed meanwhile.
  struct Alone {
    U128 left = 0;
    Time updated;
  };

  void mark_dirty(LinkId link);
  void apply_capacity_changes();
  void advance_alone(TransferId id, Rate full_rate);
  [[nodiscard]] Duration wire_time(TransferId id);
  /// The lesser of the route's full rate and the cap.
  [[nodiscard]] Rate own_rate(const Transfer& transfer);
  void leave_links(const Transfer& transfer);

  [[nodiscard]] bool shares_no_link(const Transfer& transfer) const;
  void solve_component(LinkId seed);
  void search_component(LinkId seed);
  void drop_departed(LinkState& state) const;
  void set_rate(Transfer& transfer, Rate rate, LinkId bottleneck);
  void schedule(TransferId id);

  EventQueue* queue_;
  PathTable paths_;
  LinkUsage usage_;
  FairShareSolver solver_;
  SlotPool<TransferId, Transfer> transfers_;
  std::vector<LinkState> links_;
  std::unordered_map<std::uint32_t, Alone> alone_;  ///< by TransferId; never iterated over
  std::size_t under_way_ = 0;
  std::uint64_t search_ = 0;  ///< number of the present search

  // Since the last settle().
  std::vector<TransferId> started_;
  std::vector<LinkId> dirty_;  ///< links whose occupants or capacity changed, and have occupants
  std::vector<CapacityChange> changes_;

  // The component at hand; kept to reuse the memory.
  std::vector<LinkId> links_to_visit_;
  std::vector<TransferId> component_;
  std::vector<FairShareFlow> flows_;
  std::vector<FairShare> shares_;
};

}  // namespace collsim
