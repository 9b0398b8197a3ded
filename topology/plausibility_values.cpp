// Slips in the values of the document: of units, most of them.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "topology/plausibility_subject.hpp"
#include "topology/quantity_text.hpp"

namespace collsim::detail {

namespace {

// Twice what the fastest NICs have in 2026, 800 Gb/s a port. Source: data sheet of ConnectX-8.
constexpr Bandwidth implausible_port = Bandwidth::bytes_per_second(200'000'000'000);
// What one NVLink carries in a direction: 20 GB/s (first generation), 25 (second to fourth), 50
// (fifth); one of the up to four of a bridge between workstation cards 14.0625.
// Source: NVIDIA's data sheets of P100, V100, A100, H100, B200 and RTX A6000.
constexpr std::array<Bandwidth, 2> nvlink_steps{Bandwidth::bytes_per_second(20'000'000'000),
                                                Bandwidth::bytes_per_second(25'000'000'000)};
constexpr Bandwidth bridge_step = Bandwidth::bytes_per_second(14'062'500'000);
// Sixteen lanes of PCIe 3 have 15.75 GB/s, and every GPU with NVLink has as many or better ones; small
// ones without have eight lanes. Source: PCI Express Base Specification 3.0: 8 GT/s, 128b/130b.
constexpr Bandwidth least_pcie_beside_nvlink = Bandwidth::bytes_per_second(8'000'000'000);
constexpr Bandwidth least_pcie = Bandwidth::bytes_per_second(4'000'000'000);
// 10 Gb/s. Networks between GPUs have had more ever since (QDR InfiniBand of 2008: 32 Gb/s).
constexpr Bandwidth least_cable = Bandwidth::bytes_per_second(1'250'000'000);
constexpr std::int64_t bits_of_byte = 8;
// Some ten times the slowest part of a node, and the slowest switch; 2 km of fibre.
constexpr Duration implausible_latency = std::chrono::microseconds(10);

std::string in_bits(Bandwidth bandwidth) {
  const std::int64_t bits = bandwidth.units() / Bandwidth::units_per_byte_per_second * 8;
  return std::to_string(bits / 1'000'000'000) + " Gb/s";
}

bool is_nvlink_speed(Bandwidth bandwidth, std::int64_t links) {
  const std::int64_t units = bandwidth.units();
  if (units % links != 0) {
    return false;
  }
  const std::int64_t one = units / links;
  const bool in_bridge = one % bridge_step.units() == 0 && units <= 4 * bridge_step.units();
  return in_bridge || std::ranges::any_of(
                          nvlink_steps, [one](Bandwidth step) { return one % step.units() == 0; });
}

/// The widest of a NIC's cables; absent: it has none.
std::optional<LinkId> widest_cable(const Graph& graph, DeviceId nic) {
  std::optional<LinkId> widest;
  for (const LinkId id : graph.links_out(nic)) {
    const Link& link = graph.link(id);
    const bool leaves = graph.device(link.target).node != graph.device(nic).node;
    if (leaves && (!widest || graph.link(*widest).bandwidth < link.bandwidth)) {
      widest = id;
    }
  }
  return widest;
}

/// Cables between switches that are an eighth as wide as those from the NICs, or less: bits for bytes.
/// Where the NICs' are too wide themselves, check_nic_speed says so.
void check_cables_between_switches(Examination& examination) {
  const Provenance* nics = examination.value("fabric.link.bandwidth");
  if (nics == nullptr) {
    return;
  }
  const Bandwidth widest = parse_bandwidth(nics->value);
  if (widest >= implausible_port) {
    return;
  }
  for (const Provenance& value : examination.cluster().spec().values) {
    if (!value.path.starts_with("fabric.") || !value.path.ends_with(".bandwidth") ||
        value.origin.starts_with("default")) {
      continue;
    }
    if (parse_bandwidth(value.value).units() <= widest.units() / bits_of_byte) {
      examination.report(
          value.path,
          "a cable of " + value.value + " between switches, and " + nics->value + " from each NIC",
          "ports are given in bits a second: 400 Gb/s is 50 GB/s");
    }
  }
}

/// Another value of the same entry.
std::string sibling(const std::string& path, const std::string& key) {
  return path.substr(0, path.rfind('.') + 1) + key;
}

}  // namespace

void check_nic_speed(Examination& examination) {
  // Inside a chip with a router of its own, where nothing is of a known kind, any speed may be right.
  BandwidthSum widest_slot = 0;
  for (const NodeId node : examination.unlike_nodes()) {
    for (const DeviceId nic : examination.graph().nics(node)) {
      widest_slot = std::max(widest_slot, examination.slot_of(nic));
    }
  }
  for (const Provenance& value : examination.cluster().spec().values) {
    if (!value.path.ends_with(".bandwidth") || !examination.is_of_network(value.path)) {
      continue;
    }
    const Bandwidth bandwidth = parse_bandwidth(value.value);
    const Provenance* kind = examination.value(sibling(value.path, "kind"));
    const bool known = kind != nullptr && (kind->value == name_of(LinkKind::Infiniband) ||
                                           kind->value == name_of(LinkKind::Ethernet));
    if (bandwidth >= implausible_port &&
        (known || static_cast<BandwidthSum>(bandwidth.units()) > widest_slot)) {
      examination.report(value.path,
                         "a cable of " + value.value + ", that is " + in_bits(bandwidth),
                         "ports are given in bits a second: 400 Gb/s is 50 GB/s");
    }
  }
}

void check_cable_speed(Examination& examination) {
  const Graph& graph = examination.graph();
  std::set<std::string> places;
  for (const NodeId node : examination.unlike_nodes()) {
    for (const DeviceId nic : graph.nics(node)) {
      const std::optional<LinkId> cable = widest_cable(graph, nic);
      if (!cable) {
        continue;
      }
      const Link& link = graph.link(*cable);
      const Bandwidth pcie = examination.widest_of(nic, LinkKind::Pcie);
      const bool narrow = link.bandwidth.units() <= pcie.units() / bits_of_byte;
      const bool known = link.kind == LinkKind::Infiniband || link.kind == LinkKind::Ethernet;
      const std::string place = examination.entry_of(*cable) + ".bandwidth";
      if ((narrow || (known && link.bandwidth < least_cable)) && places.insert(place).second) {
        examination.report(place,
                           graph.name(nic) + ": a cable of " + to_text(link.bandwidth) +
                               (narrow ? " behind PCIe of " + to_text(pcie) : ""),
                           "ports of 2016 and later have 100 to 800 Gb/s: 400 Gb/s is 50 GB/s");
      }
    }
  }
  check_cables_between_switches(examination);
}

void check_pcie_speed(Examination& examination) {
  const std::string hint = "PCIe is given in bytes a second: PCIe 5 has 63 GB/s on 16 lanes";
  for (const Provenance& value : examination.cluster().spec().values) {
    if (!value.path.ends_with(".kind") || value.value != name_of(LinkKind::Pcie)) {
      continue;
    }
    const Provenance* bandwidth = examination.value(sibling(value.path, "bandwidth"));
    if (bandwidth != nullptr && parse_bandwidth(bandwidth->value) >= implausible_pcie) {
      examination.report(bandwidth->path, "PCIe of " + bandwidth->value, hint);
    }
  }
  const Graph& graph = examination.graph();
  std::set<std::string> places;
  for (const DeviceId gpu : examination.gpus()) {
    const Bandwidth widest = examination.widest_of(gpu, LinkKind::Pcie);
    const bool has_nvlink = examination.sum_of(gpu, LinkKind::Nvlink) > 0;
    if (widest == Bandwidth() || widest >= (has_nvlink ? least_pcie_beside_nvlink : least_pcie)) {
      continue;
    }
    const std::string place = examination.entry_of_kind(gpu, LinkKind::Pcie) + ".bandwidth";
    if (places.insert(place).second) {
      examination.report(place, graph.name(gpu) + ": PCIe of " + to_text(widest), hint);
    }
  }
}

void check_nvlink_speed(Examination& examination) {
  for (const Provenance& value : examination.cluster().spec().values) {
    if (!value.path.ends_with(".kind") || value.value != name_of(LinkKind::Nvlink)) {
      continue;
    }
    const Provenance* bandwidth = examination.value(sibling(value.path, "bandwidth"));
    const Provenance* bonded = examination.value(sibling(value.path, "bonded"));
    const std::int64_t links = bonded == nullptr ? 1 : std::stoll(bonded->value);
    if (bandwidth == nullptr || is_nvlink_speed(parse_bandwidth(bandwidth->value), links)) {
      continue;
    }
    examination.report(bandwidth->path,
                       bandwidth->value +
                           (links > 1 ? " for " + std::to_string(links) + " NVLinks" : "") +
                           " is no multiple of what an NVLink carries",
                       "one has 20, 25 or 50 GB/s a direction, in a bridge 14.0625 GB/s: bytes, "
                       "nominal");
  }
}

void check_latency(Examination& examination) {
  for (const Provenance& value : examination.cluster().spec().values) {
    if (!value.path.ends_with(".latency")) {
      continue;
    }
    if (parse_duration(value.value) < implausible_latency) {
      continue;
    }
    const bool network = examination.is_of_network(value.path);
    examination.report(value.path,
                       value.value + (network ? " in the network" : " for a link inside a node"),
                       network ? "fibre takes 5 ns a metre, a switch hundreds of ns"
                               : "links inside a node take hundreds of ns");
  }
}

}  // namespace collsim::detail
