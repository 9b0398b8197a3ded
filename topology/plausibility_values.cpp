// Slips in the values of the document: of units, most of them.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
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
// Some ten times the slowest part of a node; 200 km of fibre.
constexpr Duration implausible_in_node = std::chrono::microseconds(10);
constexpr Duration implausible_in_network = std::chrono::milliseconds(1);

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
    const bool network = examination.is_of_network(value.path);
    if (parse_duration(value.value) < (network ? implausible_in_network : implausible_in_node)) {
      continue;
    }
    examination.report(value.path,
                       value.value + (network ? " in the network" : " for a link inside a node"),
                       network ? "fibre takes 5 ns a metre, a switch hundreds of ns"
                               : "links inside a node take hundreds of ns");
  }
}

}  // namespace collsim::detail
