#pragma once

// The seam between execution and network models. A network moves transfers over routes; it knows no
// ranks and no programs.
//
// The bytes of a transfer flow over all links of its route at one rate (cut-through), starting when
// start() is called. When the last byte has left, a `departure` event comes out of the event queue;
// the latency of the route is the caller's business. Rates are recomputed once per instant: the
// caller handles all events of an instant, then calls settle().

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "sim/event_queue.hpp"
#include "sim/fair_share.hpp"
#include "topology/graph.hpp"
#include "topology/routing.hpp"

namespace collsim {

enum class NetworkModel : std::uint8_t {
  Ideal,  ///< bytes at the full rate of the route, no sharing
  Flow,   ///< fluid max-min fair sharing
};

using PathId = Id<struct PathTag>;          ///< an opened route
using TransferId = Id<struct TransferTag>;  ///< a transfer under way; reused after it has left

/// On what terms a transfer shares links.
struct TransferTerms {
  std::uint32_t weight = 1;        ///< fair-share weight
  std::uint32_t multiplicity = 1;  ///< equal transfers that this one stands for (folding)
  /// The most that the sender's side can do, each transfer for itself; zero: no such limit.
  Bandwidth cap;

  auto operator<=>(const TransferTerms&) const = default;
};

/// What a finished transfer reports.
struct Departure {
  std::uint32_t tag = 0;  ///< the caller's
  /// The bytes at the route's full rate; where capacities changed meanwhile, the time a transfer
  /// alone would have taken under the same changes. At most `elapsed`.
  Duration wire{};
  /// The bytes at the lesser of full rate and cap: at least `wire`, at most `elapsed`.
  Duration capped{};
  Duration elapsed{};  ///< from start to now; elapsed - capped is what sharing cost
  // Of links that do so alike, the one of the lowest level, of these the lowest id.
  LinkId bottleneck;  ///< the link that set its last rate; where the cap did, the narrowest
  LinkId narrowest;   ///< the link that sets the route's full rate now
};

/// Use of one link over a run.
struct LinkUse {
  U128 fine_bytes = 0;           ///< bytes that crossed it: the sum of fine_bytes_on()
  Duration busy{};               ///< time with at least one transfer
  std::uint32_t peak_flows = 0;  ///< largest number of transfers at once, over whole instants
};

/// What crossed a link, in whole bytes, rounded down.
[[nodiscard]] U128 whole_bytes(const LinkUse& use);

/// What `bytes` of a route put on one of its links, in units of to_fine(): bytes times the link's
/// share. Exact where the share's denominator divides bytes · 2^22 · 5^12, so for every split into
/// 2, 4, 5, 8, 10, … parts; else rounded down, by less than one unit (10^-15 B) a transfer.
[[nodiscard]] U128 fine_bytes_on(Bytes bytes, const RouteHop& hop);

class Network {
 public:
  virtual ~Network() = default;

  /// Opens a route for transfers. Closed paths' ids are reused. close() requires that no transfer
  /// of the path is under way. `crowds`, by hop: how many equal transfers cross that link for each one
  /// that is started (folding: links stand for others, too); empty: one.
  [[nodiscard]] virtual PathId open(const Route& route, std::span<const std::uint32_t> crowds) = 0;
  [[nodiscard]] PathId open(const Route& route) { return open(route, {}); }
  virtual void close(PathId path) = 0;
  /// The hops of an open route, in its order. Valid until the next open() or close().
  [[nodiscard]] virtual std::span<const ResourceUse> hops(PathId path) const = 0;
  /// So many routes will be open at once, and as many transfers under way: a hint, so that tables need not be
  /// moved as they grow. What is not used in the end takes addresses, not memory.
  virtual void expect(std::size_t paths) = 0;

  /// Starts moving bytes at now(). `tag` comes back with the departure. 0 bytes depart at once
  /// (with an event at now()) and touch no link. Requires: bytes >= 0, weight and multiplicity
  /// positive, the cap not negative, the route has a hop.
  virtual void start(PathId path, Bytes bytes, std::uint32_t tag,
                     const TransferTerms& terms = {}) = 0;

  /// Adds something that is no link and yet has so much to give (a proxy's work in a second). It
  /// stands in routes like a link, with an id behind those of the graph, and not in link_use().
  [[nodiscard]] virtual LinkId add_resource(Bandwidth capacity) = 0;

  /// Handles a departure event. Absent: the event was out of date.
  [[nodiscard]] virtual std::optional<Departure> depart(const Event& event) = 0;

  /// A link's (or other resource's) capacity from now on; it takes effect at settle(). Requires:
  /// positive.
  virtual void set_capacity(LinkId link, Bandwidth bandwidth) = 0;

  /// Recomputes rates after all events of an instant; pushes departure events.
  virtual void settle() = 0;

  /// One entry a link of the graph. Complete once all transfers have left.
  [[nodiscard]] virtual std::span<const LinkUse> link_use() const = 0;
  [[nodiscard]] virtual std::size_t transfers_under_way() const = 0;
  /// Whether transfers overlapped on a link although the model does not share (`ideal` only).
  [[nodiscard]] virtual bool contention_ignored() const = 0;

 protected:
  Network() = default;
  Network(const Network&) = default;
  Network& operator=(const Network&) = default;
};

/// Requires: graph and queue outlive the network.
[[nodiscard]] std::unique_ptr<Network> make_network(NetworkModel model, const Graph& graph,
                                                    EventQueue& queue);

[[nodiscard]] std::string_view name_of(NetworkModel model);

}  // namespace collsim
