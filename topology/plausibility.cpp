#include "topology/plausibility.hpp"

#include <array>
#include <utility>

#include "topology/plausibility_subject.hpp"

namespace collsim {

namespace {

struct Check {
  PlausibilityCheck what;
  void (*run)(detail::Examination&) = nullptr;
};

constexpr std::array<Check, 18> checks{{
    {{"nic-speed", "cables of 200 GB/s or more, where Gb/s is likely"}, detail::check_nic_speed},
    {{"cable-speed", "cables an eighth of PCIe or NICs, or below 10 Gb/s"},
     detail::check_cable_speed},
    {{"pcie-speed", "PCIe of 252 GB/s or more, or too little at a GPU"}, detail::check_pcie_speed},
    {{"nvlink-speed", "NVLinks of no known speed"}, detail::check_nvlink_speed},
    {{"nvlink-below-pcie", "GPUs whose NVLink is slower than their PCIe"},
     detail::check_nvlink_below_pcie},
    {{"nvlink-asymmetry", "GPUs of a node with different NVLink"}, detail::check_nvlink_asymmetry},
    {{"latency", "links and switches of 10 us or more"}, detail::check_latency},
    {{"far-nic", "GPUs below a PCIe switch that has no NIC"}, detail::check_far_nic},
    {{"narrow-slot", "NICs behind a link narrower than their cables"}, detail::check_narrow_slot},
    {{"rails-speed", "NICs of a node with different cables"}, detail::check_rails_speed},
    {{"rails-number", "nodes with different numbers of NICs"}, detail::check_rails_number},
    {{"rails-load", "NICs of a node that serve unequal numbers of GPUs"}, detail::check_rails_load},
    {{"rails-share", "leaves that share the NICs of a node unequally"}, detail::check_rails_share},
    {{"no-path-in-node", "GPUs of a node that meet only in the network"},
     detail::check_no_path_in_node},
    {{"one-way", "links without one back, or with a narrower one"}, detail::check_one_way},
    {{"networks-apart", "NICs on networks that do not meet"}, detail::check_networks_apart},
    {{"oversubscription", "groups that can send more than leaves them, unsaid"},
     detail::check_oversubscription},
    {{"unused", "devices that carry nothing"}, detail::check_unused},
}};

}  // namespace

std::vector<PlausibilityCheck> plausibility_checks() {
  std::vector<PlausibilityCheck> names;
  names.reserve(checks.size());
  for (const Check& check : checks) {
    names.push_back(check.what);
  }
  return names;
}

std::vector<Finding> implausible(const Cluster& cluster) {
  detail::Examination examination(cluster);
  for (const Check& check : checks) {
    examination.begin(check.what.name);
    check.run(examination);
  }
  return std::move(examination).take();
}

}  // namespace collsim
