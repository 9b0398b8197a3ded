#pragma once

// The `flow` model: transfers are fluid flows that share links max-min fairly (see fair_share.hpp).
//
// Rates change only where something happens: when a transfer starts or departs or a capacity
// changes, settle() solves for those that the change reaches (see flow_spread.cpp), or for all that hangs
// together with it, once per instant. Transfers hang together only through links that may be somebody's
// bottleneck (see link_take.hpp); a link with something to spare is left out, and taken in where the
// new rates would use it up: then those on it are solved again with it. A transfer that shares no link
// needs no solver: its rate is the full rate of its route. A transfer's progress is settled (rounded
// down) only when its rate becomes another fraction, never because it was solved again, so results do
// not depend on what happens to others that leaves its rate alone.
//
// Where a transfer departs and another one of its path and terms starts at the same instant, as messages of a
// connection follow each other, who shares what has not changed: the new one takes the old one's place and rate
// (see flow_successors.cpp).
//
// Of the transfers with one bottleneck only the earliest to depart are in the event queue: whatever
// comes before the next ones changes what the link gives, and then they are looked at again.
//
// Where only a few transfers are on all links that the open routes join (see flow_groups.hpp), nothing is
// searched: what they get is looked up (see known_shares.hpp) or solved for all of them, and only the
// earliest of all are in the event queue. With more of them, or when a capacity changes, they are
// searched as above until the last one has left.
//
// Ignored: queues, congestion control, packets; a change of rate reaches everybody at once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/fair_share.hpp"
#include "sim/flow_groups.hpp"
#include "sim/known_shares.hpp"
#include "sim/link_take.hpp"
#include "sim/link_usage.hpp"
#include "sim/network.hpp"
#include "sim/path_table.hpp"
#include "sim/slot_pool.hpp"

namespace collsim {

namespace detail {
class StateRecord;
}  // namespace detail

class FlowNetwork final : public Network {
 public:
  /// `few`: transfers of a group that are not searched; no result depends on it.
  FlowNetwork(const Graph& graph, EventQueue& queue, std::size_t few = 32);

  using Network::open;
  [[nodiscard]] PathId open(const Route& route, std::span<const std::uint32_t> crowds) override;
  void close(PathId path) override;
  [[nodiscard]] std::span<const ResourceUse> hops(PathId path) const override {
    return paths_.hops(path);
  }
  void expect(std::size_t paths) override {
    paths_.expect(paths);
    transfers_.expect(paths);
  }
  /// Complexity: O(hops), without allocation once the run is warm.
  void start(PathId path, Bytes bytes, std::uint32_t tag, const TransferTerms& terms) override;
  [[nodiscard]] LinkId add_resource(Bandwidth capacity) override;
  [[nodiscard]] std::optional<Departure> depart(const Event& event) override;
  void set_capacity(LinkId link, Bandwidth bandwidth) override;
  /// Complexity: O(hops) for a transfer that shares no link; else a few times
  /// FairShareSolver::solve() for each component that changed.
  void settle() override;
  [[nodiscard]] std::span<const LinkUse> link_use() const override { return usage_.uses(); }
  [[nodiscard]] std::size_t transfers_under_way() const override { return under_way_; }
  [[nodiscard]] bool contention_ignored() const override { return false; }

  /// Writes down what transfers are under way and what becomes of them, in the order of the numbers that
  /// their tags have. Requires: settled; capacities have not changed during the run.
  void append_state(std::span<const std::uint32_t> number_of_tag,
                    detail::StateRecord& record) const;
  /// As link_use(), with the time that links have been busy up to now.
  [[nodiscard]] std::vector<LinkUse> link_use_until(Time now) const {
    return usage_.uses_until(now);
  }

 private:
  /// What searches and solutions ask about comes first, in a cache line of its own.
  struct alignas(64) Transfer {
    std::uint64_t visited = 0;  ///< the search that last came here
    /// Which hops may bind, by position: those of listed links (see LinkMark), all behind the last bit
    /// in one.
    std::uint64_t listed_hops = 0;
    Rate rate;  ///< since `updated`; numerator 0: not known before settle()
    TransferTerms terms;
    std::uint32_t first_hop = 0;  ///< of its path
    LinkId bottleneck;
    std::uint32_t solution = 0;  ///< in solutions_, if it names this transfer
    std::uint32_t birth = 0;     ///< tells transfers apart that have the same id in turn
    U128 left = 0;               ///< at `updated`
    Bytes bytes;
    Time start;
    Time updated;
    Time departure;
    PathId path;
    std::uint32_t tag = 0;
    std::uint32_t generation = 0;  ///< grows whenever its departure event is out of date
    bool of_link : 1 = false;  ///< shares its bottleneck; else its bottleneck is its narrowest link
    bool booked : 1 = false;   ///< in what its links give; not before it shares one
    bool scheduled : 1 = false;         ///< its departure event of this generation is in the queue
    bool capacity_changed : 1 = false;  ///< has an entry in alone_
    bool under_way : 1 = false;
    bool grouped : 1 = false;  ///< among the few of its group; then on no link's list
  };
  static_assert(sizeof(Transfer) == 128, "two cache lines: there may be millions");
  /// A transfer on a link; out of date when the births differ.
  struct Occupant {
    TransferId transfer;
    std::uint32_t birth = 0;
    std::uint32_t position = 0;  ///< of the link in the route
  };
  struct LinkState {
    std::vector<Occupant> occupants;  ///< those out of date are dropped now and then
    LinkTake take;                    ///< of those that are booked
    Time earliest;                    ///< departure of those that have their bottleneck here
    std::uint32_t transfers = 0;      ///< occupants that are not out of date
    std::uint32_t booked = 0;
  };
  /// What searches ask of links, apart from the rest because they ask often.
  struct LinkMark {
    std::uint64_t visited = 0;  ///< the search that last came here
    bool binds = false;         ///< may be the bottleneck of those that are booked
    bool dirty = false;         ///< in dirty_
    bool listed = false;        ///< binds, or did since it was last without transfers
    std::uint32_t near = 0;     ///< in near_links_, where this search of settle_near() came here
  };
  /// A link of transfers that settle_near() solves for.
  struct NearLink {
    LinkId link;
    Rate top;                  ///< the highest of theirs on it
    Rate others;               ///< the highest of the others, if known
    std::int64_t load = 0;     ///< of all on it, see LinkTake
    std::int64_t singles = 0;  ///< the same
    U128 taken = 0;            ///< by those solved for
    bool was_full = false;     ///< may have held somebody back before
    bool changed = false;      ///< what is taken of it, or its capacity
    bool asked = false;        ///< whom it held back has joined
    bool known = false;
    bool ties = false;  ///< those as high as `top` are to join
  };
  /// What a transfer gets from this settle() on.
  struct Solution {
    TransferId transfer;
    LinkId bottleneck;
    bool of_link = false;  ///< see Transfer
    Rate rate;
  };
  /// A transfer that has departed at this instant, and is still in the books of its links.
  struct Departed {
    PathId path;
    TransferTerms terms;
    Rate rate;
    LinkId bottleneck;
    bool of_link = false;
    bool left = false;            ///< it is no longer: somebody has its place, or it is empty
    std::uint32_t before = none;  ///< position in departed_ of the one before it on its path
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
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

  /// So many single flows are on some link.
  void allow_for(std::int64_t singles) {
    while (singles > drift_ / largest_denominator_) {
      drift_ *= 2;
      drift_grew_ = true;
    }
  }
  /// To be called when what is taken of a link or its capacity has changed.
  bool update_binds(LinkId link) {
    const bool binds = links_[link.index()].take.binds(paths_.capacities()[link.index()], drift_);
    marks_[link.index()].binds = binds;
    narrow_ =
        narrow_ || links_[link.index()].take.is_narrow(paths_.capacities()[link.index()], drift_);
    if (binds) {
      list(link);
    }
    return binds;
  }
  static constexpr std::size_t last_bit = 63;
  static constexpr std::uint64_t bit_of(std::size_t position) {
    return std::uint64_t{1} << std::min(position, last_bit);
  }
  void list(LinkId link);
  void mark_dirty(LinkId link);
  void apply_capacity_changes();
  void advance_alone(TransferId id, Rate full_rate);
  [[nodiscard]] Duration wire_time(TransferId id);
  void enter_links(TransferId id);
  void leave_links(PathId path);
  void give_back_shares(const Departed& departed);
  void drop_stale(LinkState& state) const;

  // flow_successors.cpp: transfers that follow those of their path
  void remember_departed(const Transfer& transfer);
  void leave_for_good(Departed& departed);
  void leave_path(PathId path);
  [[nodiscard]] Departed* predecessor(const Transfer& transfer);
  void take_place(TransferId id, Departed& predecessor);
  void settle_successors();
  void schedule_earliest(LinkId link);
  void schedule_behind_successors();

  // flow_few.cpp: groups of links with few transfers
  [[nodiscard]] std::uint32_t group_of(const Transfer& transfer) const {
    return groups_.number_of(paths_.hop(transfer.first_hop).resource);
  }
  void mark_changed(std::uint32_t group);
  void enter_group(TransferId id);
  void leave_group(TransferId id);
  void search_from_now_on(FlowGroup& group);
  void settle_groups();
  void settle_group(FlowGroup& group);
  void share_alone(TransferId id);
  void share_among_few(const FlowGroup& group);
  /// Whether the same flows may meet again. Where hardly a route is used twice, they cannot.
  [[nodiscard]] bool routes_repeat() const { return started_in_all_ >= 2 * opened_; }
  void list_uses(const Transfer& transfer);
  [[nodiscard]] std::span<const KnownShares::Share> solve_few(const FlowGroup& group);
  void note_start(const Transfer& transfer);

  [[nodiscard]] bool shares_no_link(const Transfer& transfer) const;
  [[nodiscard]] Solution alone(TransferId id);
  void settle_started();
  void settle_searched();
  void expect_bottlenecks();
  void book_those_alone(LinkId link);
  void book(Transfer& transfer, Rate before, Rate after);
  void search_components();
  void add_to_component(TransferId id);
  void visit(LinkId link);
  void grow_component(std::size_t first);
  void look_at_hop(const ResourceUse& hop);
  void solve_alone(TransferId id);
  [[nodiscard]] FairShareFlow flow_of(TransferId id, std::size_t i, std::size_t first_use) const;
  void solve_component(std::size_t begin, std::size_t end);
  void set_solution(TransferId id, const Solution& solution);
  void find_overloaded();
  void solve_components();
  void apply_solutions();

  // flow_spread.cpp: where a change dies out
  [[nodiscard]] bool settle_near();
  [[nodiscard]] Solution present_solution(TransferId id) const;
  NearLink& near_link(LinkId link);
  void reach(TransferId id);
  [[nodiscard]] bool solve_near();
  bool spread_over_all();
  [[nodiscard]] Rate who_gives_way(const NearLink& near) const;
  void spread_over(std::size_t number);
  [[nodiscard]] bool is_used_up(const NearLink& near) const;
  [[nodiscard]] bool has_changed(LinkId link) const;
  void list_others(LinkId link);
  [[nodiscard]] bool spread_over_ties();
  [[nodiscard]] std::optional<LinkId> bottleneck_of(TransferId id, const FairShare& share,
                                                    bool& unsure) const;
  void take_near_solution();

  void set_rate(Transfer& transfer, const Solution& solution);
  void schedule(TransferId id);

  EventQueue* queue_;
  PathTable paths_;
  LinkUsage usage_;
  FairShareSolver solver_;
  std::size_t few_;
  FlowGroups groups_;
  KnownShares known_;
  SlotPool<TransferId, Transfer> transfers_;
  std::vector<LinkState> links_;
  std::vector<LinkMark> marks_;                     ///< by link
  std::unordered_map<std::uint32_t, Alone> alone_;  ///< by TransferId; never iterated over
  std::size_t under_way_ = 0;
  std::uint64_t opened_ = 0;          ///< routes, and
  std::uint64_t started_in_all_ = 0;  ///< transfers, up to now
  std::uint64_t search_ = 0;          ///< number of the present search
  std::uint64_t first_search_ = 0;    ///< of this settle()

  // How far levels may fall by rounding; see link_take.hpp.
  std::int64_t drift_ = 64;
  std::int64_t largest_denominator_ = 1;  ///< of any hop
  bool drift_grew_ = false;               ///< so that links may bind that did not
  bool narrow_ = false;                   ///< some link has been, see LinkTake
  bool weighted_ = false;                 ///< some transfer had another weight than 1

  // Since the last settle().
  std::vector<TransferId> started_;
  std::vector<LinkId> dirty_;  ///< links whose flows have to be solved again
  std::vector<CapacityChange> changes_;
  std::vector<std::uint32_t> changed_groups_;
  std::vector<Departed> departed_;
  std::vector<std::uint32_t>
      departed_on_path_;              ///< by path: position of the last one in departed_, or none
  std::vector<LinkId> succeeded_on_;  ///< that may bind, of those whose place was taken

  // The settle() at hand; kept to reuse the memory.
  std::vector<TransferId> to_solve_;         ///< started, and sharing links
  std::vector<TransferId> components_;       ///< one after the other
  std::vector<std::size_t> component_ends_;  ///< in components_
  std::vector<LinkId> fuller_;               ///< links left out of which more is taken now
  std::vector<Solution> solutions_;
  std::vector<ResourceUse> uses_;      ///< of links that are solved for, by position in components_
  std::vector<std::size_t> use_ends_;  ///< in uses_, by position in components_
  std::vector<FairShareFlow> flows_;
  std::vector<FairShare> shares_;
  std::vector<KnownShares::Share> once_;  ///< of few, not to be remembered
  std::vector<NearLink> near_links_;
  std::vector<std::int64_t> near_capacities_;        ///< by link: what the others leave of it
  std::vector<std::pair<TransferId, Rate>> others_;  ///< of a link
};

}  // namespace collsim
