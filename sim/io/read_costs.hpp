#pragma once

// Files of cost parameters (configs/parameters/*.yaml but for nccl-tuning-*): groups of keys, each
// { value: 4.6 us, source: fitted }. A file with `base` (a name, or a path from its own folder) says
// only what differs from that file; without one, what it does not say is free. Files net-* are of a fabric: they
// hold keys of the network only, and what they do not say is as without them.
//
// Keys and units: docs/parameters.md, which `collsim list parameters` is the source of.

#include <string>
#include <string_view>
#include <vector>

#include "sim/costs.hpp"
#include "topology/io/load.hpp"

namespace collsim {

struct ListedCosts {
  std::string name;
  std::string description;
  std::string file;
};

/// The sets on the path, by name. Throws: InputError for a file that cannot be read.
[[nodiscard]] std::vector<ListedCosts> list_costs(const ConfigPath& path);

/// The set of a name, or of a file where the text has a slash or ends in ".yaml".
/// Throws: InputError for a name that is not known (the nearest one named), and with the place for all
/// that is wrong in the file.
[[nodiscard]] CostParameters find_costs(const ConfigPath& path, const std::string& name_or_path);

/// The same for the costs of a fabric (net-*), which say nothing of GPUs.
[[nodiscard]] NetworkCosts find_network_costs(const ConfigPath& path,
                                              const std::string& name_or_path);

}  // namespace collsim
