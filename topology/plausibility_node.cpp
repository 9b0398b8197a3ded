// What is odd inside a node.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "topology/path_class.hpp"
#include "topology/path_search.hpp"
#include "topology/plausibility_subject.hpp"
#include "topology/quantity_text.hpp"

namespace collsim::detail {

namespace {

struct Extremes {
  DeviceId least;
  DeviceId most;
};

/// The devices with the least and the most of something; absent if all have the same.
template <class Devices, class Measure>
std::optional<Extremes> extremes(const Devices& devices, Measure measure) {
  if (devices.empty()) {
    return std::nullopt;
  }
  const Extremes found{*std::ranges::min_element(devices, {}, measure),
                       *std::ranges::max_element(devices, {}, measure)};
  return measure(found.least) < measure(found.most) ? std::optional(found) : std::nullopt;
}

bool is_on_pcie_switch(const Graph& graph, DeviceId gpu) {
  return std::ranges::any_of(graph.links_out(gpu), [&](LinkId id) {
    return graph.device(graph.link(id).target).kind == DeviceKind::PcieSwitch;
  });
}

PathClass nearest_nic_class(const Graph& graph, DeviceId gpu) {
  PathClass nearest = PathClass::Net;
  for (const PathType type : path_types(graph, gpu, graph.nics(*graph.device(gpu).node))) {
    nearest = std::min(nearest, type.path_class);
  }
  return nearest;
}

/// The narrowest link on the way from a GPU to its NIC; of equal ones the first.
LinkId narrowest_to_nic(const Graph& graph, DeviceId gpu, DeviceId nic) {
  const PathLayers paths(graph, Scope::within(graph.device(gpu).node), gpu, nic);
  LinkId narrowest = paths.layer(0).front().link;
  for (std::size_t i = 0; i < paths.length(); ++i) {
    for (const PathLink& link : paths.layer(i)) {
      if (graph.link(link.link).bandwidth < graph.link(narrowest).bandwidth) {
        narrowest = link.link;
      }
    }
  }
  return narrowest;
}

/// The first of a GPU's NICs that a link on the way to it is too narrow for.
std::optional<DeviceId> narrow_nic(const Examination& examination, DeviceId gpu) {
  const Graph& graph = examination.graph();
  for (const DeviceId nic : examination.cluster().router().nics_of(gpu)) {
    const Bandwidth width = graph.link(narrowest_to_nic(graph, gpu, nic)).bandwidth;
    if (static_cast<BandwidthSum>(width.units()) < examination.cable_of(nic)) {
      return nic;
    }
  }
  return std::nullopt;
}

/// The links that all bytes from a GPU to its NIC cross.
std::set<LinkId> only_way(const Graph& graph, DeviceId gpu, DeviceId nic) {
  const PathLayers paths(graph, Scope::within(graph.device(gpu).node), gpu, nic);
  std::set<LinkId> links;
  for (std::size_t i = 0; i < paths.length(); ++i) {
    if (paths.layer(i).size() == 1) {
      links.insert(paths.layer(i).front().link);
    }
  }
  return links;
}

/// By NIC that GPUs use: the links on the way from every one of them.
std::map<DeviceId, std::set<LinkId>> links_before_nics(const Examination& examination) {
  std::map<DeviceId, std::set<LinkId>> before;
  for (const DeviceId gpu : examination.gpus()) {
    for (const DeviceId nic : examination.cluster().router().nics_of(gpu)) {
      const std::set<LinkId> own = only_way(examination.graph(), gpu, nic);
      const auto [known, is_first] = before.try_emplace(nic, own);
      if (!is_first) {
        std::erase_if(known->second, [&](LinkId link) { return !own.contains(link); });
      }
    }
  }
  return before;
}

/// Links that several NICs share, and are narrower than the cables of these together.
void check_shared_slots(Examination& examination) {
  const Graph& graph = examination.graph();
  struct Shared {
    std::vector<DeviceId> nics;
    BandwidthSum cables = 0;
  };
  std::map<LinkId, Shared> shared;
  for (const auto& [nic, links] : links_before_nics(examination)) {
    for (const LinkId link : links) {
      shared[link].nics.push_back(nic);
      shared[link].cables += examination.cable_of(nic);
    }
  }
  std::erase_if(shared, [&](const auto& entry) {
    const auto& [link, by] = entry;
    return by.nics.size() < 2 ||
           by.cables <= static_cast<BandwidthSum>(graph.link(link).bandwidth.units());
  });
  std::map<std::size_t, std::vector<LinkId>> by_template;
  for (const auto& [link, by] : shared) {
    const Device& source = graph.device(graph.link(link).source);
    by_template[examination.template_of(*source.node)].push_back(link);
  }
  for (const auto& [number, links] : by_template) {
    const LinkId link = links.front();
    const Shared& by = shared.at(link);
    const std::string more =
        links.size() > 1 ? " and " + std::to_string(links.size() - 1) + " more" : "";
    examination.report(examination.entry_of(link) + ".bandwidth",
                       graph.name(link) + more + ": " + to_text(graph.link(link).bandwidth) +
                           " on the way to " + examination.names(by.nics) +
                           ", whose cables together have " + Examination::text(by.cables),
                       "the cables are never filled all at once");
  }
}

}  // namespace

void check_nvlink_below_pcie(Examination& examination) {
  std::vector<DeviceId> slow;
  for (const DeviceId gpu : examination.gpus()) {
    const BandwidthSum nvlink = examination.sum_of(gpu, LinkKind::Nvlink);
    // Several PCIe links of a GPU lead to different places, all its NVLinks to other GPUs.
    const Bandwidth pcie = examination.widest_of(gpu, LinkKind::Pcie);
    if (nvlink > 0 && nvlink < static_cast<BandwidthSum>(pcie.units()) && pcie < implausible_pcie) {
      slow.push_back(gpu);
    }
  }
  for (const std::vector<DeviceId>& gpus : examination.by_template(slow)) {
    const DeviceId first = gpus.front();
    examination.report(examination.entry_of_kind(first, LinkKind::Nvlink) + ".bandwidth",
                       examination.names(gpus) + ": NVLink is slower than PCIe, " +
                           Examination::text(examination.sum_of(first, LinkKind::Nvlink)) +
                           " against " + to_text(examination.widest_of(first, LinkKind::Pcie)),
                       "NVLink is given in bytes a second: an H100 has 450 GB/s a direction");
  }
}

void check_nvlink_asymmetry(Examination& examination) {
  const auto total = [&](DeviceId gpu) { return examination.sum_of(gpu, LinkKind::Nvlink); };
  for (const NodeId node : examination.unlike_nodes()) {
    if (const auto found = extremes(examination.gpus_of(node), total)) {
      const auto entry = [&](DeviceId gpu) {
        return examination.graph().name(gpu) + " has " + Examination::text(total(gpu));
      };
      const DeviceId with_nvlink = total(found->least) > 0 ? found->least : found->most;
      examination.report(
          examination.entry_of_kind(with_nvlink, LinkKind::Nvlink),
          "GPUs with different NVLink: " + entry(found->least) + ", " + entry(found->most));
    }
  }
}

void check_far_nic(Examination& examination) {
  const Graph& graph = examination.graph();
  if (graph.nodes() == 1) {
    return;
  }
  std::vector<DeviceId> far;
  for (const DeviceId gpu : examination.gpus()) {
    if (is_on_pcie_switch(graph, gpu) && nearest_nic_class(graph, gpu) > PathClass::Pxb) {
      far.push_back(gpu);
    }
  }
  for (const std::vector<DeviceId>& gpus : examination.by_template(far)) {
    examination.report(examination.entry_of_kind(gpus.front(), LinkKind::Pcie),
                       examination.names(gpus) +
                           ": no NIC below the same PCIe switch, the nearest is " +
                           std::string(name_of(nearest_nic_class(graph, gpus.front()))),
                       "data to other nodes cross a CPU");
  }
}

void check_narrow_slot(Examination& examination) {
  const Graph& graph = examination.graph();
  std::vector<DeviceId> narrow;
  std::ranges::copy_if(examination.gpus(), std::back_inserter(narrow),
                       [&](DeviceId gpu) { return narrow_nic(examination, gpu).has_value(); });
  for (const std::vector<DeviceId>& gpus : examination.by_template(narrow)) {
    const DeviceId nic = *narrow_nic(examination, gpus.front());
    const LinkId link = narrowest_to_nic(graph, gpus.front(), nic);
    examination.report(examination.entry_of(link) + ".bandwidth",
                       examination.names(gpus) + ": " + to_text(graph.link(link).bandwidth) +
                           " to the NIC, whose cable has " +
                           Examination::text(examination.cable_of(nic)),
                       "the cable is never filled");
  }
  check_shared_slots(examination);
}

void check_rails_speed(Examination& examination) {
  const Graph& graph = examination.graph();
  const auto cable = [&](DeviceId nic) { return examination.cable_of(nic); };
  for (const NodeId node : examination.unlike_nodes()) {
    if (const auto found = extremes(graph.nics(node), cable)) {
      const auto entry = [&](DeviceId nic) {
        return graph.name(nic) + " has " + Examination::text(cable(nic));
      };
      examination.report(
          examination.network_path(),
          "NICs with different cables: " + entry(found->least) + ", " + entry(found->most));
    }
  }
}

void check_rails_number(Examination& examination) {
  const auto nics = [&](NodeId node) { return examination.graph().nics(node).size(); };
  const auto [fewest, most] = std::ranges::minmax(examination.unlike_nodes(), {}, nics);
  if (nics(fewest) < nics(most)) {
    const auto entry = [&](NodeId node) {
      return "node" + std::to_string(node.value()) + " has " + std::to_string(nics(node));
    };
    examination.report(examination.devices_path(most), "nodes with different numbers of NICs: " +
                                                           entry(fewest) + ", " + entry(most));
  }
}

void check_rails_load(Examination& examination) {
  const Graph& graph = examination.graph();
  if (graph.nodes() == 1) {
    return;
  }
  std::vector<std::uint32_t> gpus(graph.devices().size(), 0);
  for (const DeviceId gpu : examination.gpus()) {
    for (const DeviceId nic : examination.cluster().router().nics_of(gpu)) {
      ++gpus[nic.index()];
    }
  }
  const auto load = [&](DeviceId nic) { return gpus[nic.index()]; };
  for (const NodeId node : examination.unlike_nodes()) {
    std::vector<DeviceId> used;
    std::ranges::copy_if(graph.nics(node), std::back_inserter(used),
                         [&](DeviceId nic) { return load(nic) > 0; });
    if (const auto found = extremes(used, load)) {
      const auto entry = [&](DeviceId nic) {
        return graph.name(nic) + " serves " + std::to_string(load(nic));
      };
      examination.report(
          examination.links_path(node),
          "NICs for unequal numbers of GPUs: " + entry(found->least) + ", " + entry(found->most),
          "each GPU leaves its node by the nearest; fabric.nic_choice says how many");
    }
  }
}

void check_no_path_in_node(Examination& examination) {
  const Graph& graph = examination.graph();
  for (const NodeId node : examination.unlike_nodes()) {
    const std::vector<DeviceId> gpus = examination.gpus_of(node);
    if (gpus.empty()) {
      continue;
    }
    const std::vector<PathType> types = path_types(graph, gpus.front(), gpus);
    const auto apart = std::ranges::find(types, PathClass::Net, &PathType::path_class);
    if (apart != types.end()) {
      const DeviceId other = gpus[static_cast<std::size_t>(apart - types.begin())];
      examination.report(examination.links_path(node),
                         graph.name(gpus.front()) + " and " + graph.name(other) +
                             " are in one node and meet only in the network");
    }
  }
}

}  // namespace collsim::detail
