// What is odd about the network, or about links and devices anywhere.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "topology/disjoint_sets.hpp"
#include "topology/parts.hpp"
#include "topology/plausibility_subject.hpp"
#include "topology/quantity_text.hpp"

namespace collsim::detail {

namespace {

/// "", or " and 3 more".
std::string and_more(std::uint64_t count) {
  return count > 1 ? " and " + std::to_string(count - 1) + " more" : "";
}

/// Whether the description says anything about oversubscription, or about ports up. Dragonflies and
/// tori are meant to have less between their groups than inside.
bool says_oversubscription(const ClusterSpec& spec) {
  if (spec.fabric.kind == FabricKind::Dragonfly || spec.fabric.kind == FabricKind::Torus) {
    return true;
  }
  return std::ranges::any_of(spec.values, [](const Provenance& value) {
    const std::string key = value.path.substr(value.path.rfind('.') + 1);
    return (key == "oversubscription" || key == "up") && !value.origin.starts_with("default");
  });
}

bool is_switch(DeviceKind kind) {
  return kind == DeviceKind::Nvswitch || kind == DeviceKind::PcieSwitch ||
         kind == DeviceKind::NetworkSwitch;
}

/// How many other devices a device has links with; 2 stands for more.
std::size_t neighbours(const Graph& graph, DeviceId id) {
  std::set<DeviceId> found;
  for (const LinkId link : graph.links_out(id)) {
    found.insert(graph.link(link).target);
    if (found.size() > 1) {
      return found.size();
    }
  }
  for (const LinkId link : graph.links_in(id)) {
    found.insert(graph.link(link).source);
  }
  return std::min<std::size_t>(found.size(), 2);
}

/// Whether two links are the directions of one cable: as much there as back, whatever is beside it.
bool are_cable(const Link& there, const Link& back) {
  return there.source == back.target && there.target == back.source &&
         there.bandwidth == back.bandwidth;
}

/// Why a device carries nothing; empty if it may.
std::string idleness(const Graph& graph, DeviceId id, bool gpus_leave_by_it, bool between_nodes) {
  const DeviceKind kind = graph.device(id).kind;
  const std::size_t found = neighbours(graph, id);
  if (found == 0) {
    return kind == DeviceKind::Gpu ? "" : "no link";
  }
  if (kind == DeviceKind::Nic && graph.nodes() > 1 && !gpus_leave_by_it) {
    return "no GPU leaves its node by it";
  }
  if (is_switch(kind) && found == 1) {
    return "a switch with one neighbour";
  }
  return between_nodes ? "" : "no shortest path between two nodes crosses it";
}

}  // namespace

void check_rails_share(Examination& examination) {
  const FabricSpec& fabric = examination.cluster().spec().fabric;
  const bool shared = fabric.kind == FabricKind::LeafSpine || fabric.kind == FabricKind::FatTree ||
                      fabric.kind == FabricKind::RailOptimized;
  const Graph& graph = examination.graph();
  for (const NodeId node : examination.unlike_nodes()) {
    std::map<DeviceId, std::uint32_t> cables;  // by leaf
    for (const DeviceId nic : graph.nics(node)) {
      for (const LinkId id : graph.links_out(nic)) {
        const DeviceId target = graph.link(id).target;
        cables[target] += graph.device(target).node ? 0U : 1U;
      }
    }
    std::map<std::uint32_t, std::uint64_t> leaves;  // by cables
    for (const auto& [leaf, count] : cables) {
      leaves[count] += graph.device(leaf).node ? 0U : 1U;
    }
    leaves.erase(0);
    if (!shared || leaves.size() < 2) {
      continue;
    }
    const auto& [fewest, with_fewest] = *leaves.begin();
    const auto& [most, with_most] = *leaves.rbegin();
    const auto entry = [](std::uint32_t count, std::uint64_t times) {
      return std::to_string(count) + (count == 1 ? " cable" : " cables") + " to each of " +
             std::to_string(times);
    };
    const std::string rails = fabric.rails ? "fabric.rails" : "fabric.planes";
    examination.report(examination.value(rails) != nullptr ? rails : examination.network_path(),
                       "node" + std::to_string(node.value()) + " has " + entry(most, with_most) +
                           " leaves, " + entry(fewest, with_fewest),
                       "a divisor of the cables of a node shares them equally");
  }
}

void check_one_way(Examination& examination) {
  const Graph& graph = examination.graph();
  const std::span<const Link> links = graph.links();
  std::set<LinkId> one_way;  // the first of parallel links
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    if (i + 1 < links.size() && are_cable(link, links[i + 1])) {
      ++i;
      continue;
    }
    if (examination.sum_between(link.source, link.target) >
        examination.sum_between(link.target, link.source)) {
      one_way.insert(graph.links_between(link.source, link.target).front());
    }
  }
  if (one_way.empty()) {
    return;
  }
  const LinkId first = *one_way.begin();
  const Link& link = graph.link(first);
  const BandwidthSum back = examination.sum_between(link.target, link.source);
  examination.report(
      examination.links_path(graph.device(link.source).node),
      graph.name(first) + and_more(one_way.size()) +
          (back == 0 ? ": no link back"
                     : ": only " + Examination::text(back) + " back for " +
                           Examination::text(examination.sum_between(link.source, link.target))));
}

void check_networks_apart(Examination& examination) {
  // Where rails are aligned, the GPUs relay between networks.
  if (examination.cluster().spec().fabric.nic_choice == NicChoice::RailAligned) {
    return;
  }
  const Graph& graph = examination.graph();
  DisjointSets sets(graph.devices().size());
  const auto is_network = [&](DeviceId id) {
    const Device& device = graph.device(id);
    return device.kind == DeviceKind::Nic || !device.node;
  };
  for (const Link& link : graph.links()) {
    if (is_network(link.source) && is_network(link.target)) {
      sets.join(link.source.index(), link.target.index());
    }
  }
  std::set<std::size_t> networks;
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    for (const DeviceId nic : graph.nics(NodeId(node))) {
      if (examination.cable_of(nic) > 0) {
        networks.insert(sets.of(nic.index()));
      }
    }
  }
  if (networks.size() > 1) {
    examination.report(
        examination.network_path(),
        "the NICs are on " + std::to_string(networks.size()) + " networks that do not meet",
        "a GPU reaches those whose NIC is on the network of its own");
  }
}

void check_oversubscription(Examination& examination) {
  if (says_oversubscription(examination.cluster().spec())) {
    return;
  }
  const Graph& graph = examination.graph();
  const std::vector<Division> found = divisions(graph);
  for (std::size_t i = 1; i < found.size() && found[i].parts > 1; ++i) {
    const std::vector<PartCut> cuts = part_cuts(graph, found[i], &found[i - 1]);
    const auto over = std::ranges::find_if(
        cuts, [](const PartCut& part) { return part.inside.out > part.cut.out; });
    if (over != cuts.end()) {
      examination.report(examination.network_path(),
                         "a " + found[i].name + " group sends " + to_text(over->inside.out) +
                             ", and " + to_text(over->cut.out) + " leave it",
                         "say how much oversubscription there is, if it is meant");
    }
  }
}

void check_unused(Examination& examination) {
  const Graph& graph = examination.graph();
  std::vector<bool> leaves_by(graph.devices().size(), false);
  for (const DeviceId gpu : graph.gpus()) {
    for (const DeviceId nic : examination.cluster().router().nics_of(gpu)) {
      leaves_by[nic.index()] = true;
    }
  }
  const std::vector<bool> between = lies_between_nodes(graph, examination.symmetry());
  struct Idle {
    std::uint64_t count = 0;
    DeviceId first;
  };
  // By the family, too: leaves and spines apart.
  using What = std::tuple<DeviceKind, std::uint32_t, std::string>;
  std::map<What, Idle> idle;
  std::map<std::uint32_t, std::uint64_t> family;
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    const Device& device = graph.devices()[i];
    ++family[device.name_stem];
    const std::string why = idleness(graph, DeviceId(i), leaves_by[i], between[i]);
    if (!why.empty()) {
      Idle& alike = idle[{device.kind, device.name_stem, why}];
      alike.first = alike.count == 0 ? DeviceId(i) : alike.first;
      ++alike.count;
    }
  }
  for (const auto& [what, alike] : idle) {
    const Device& first = graph.device(alike.first);
    const std::uint64_t all = family[first.name_stem];
    const std::string of_all =
        !first.node && alike.count < all ? " of " + std::to_string(all) + " in all" : "";
    examination.report(
        first.node ? examination.devices_path(first.node) : examination.network_path(),
        graph.name(alike.first) + and_more(alike.count) + of_all + ": " +
            std::get<std::string>(what));
  }
}

}  // namespace collsim::detail
