#pragma once
// The constants of an NCCL version: which file of parameters/ lists it, with the files it is based on.

#include <string>
#include <string_view>
#include <vector>

#include "algorithms/nccl/constants.hpp"
#include "algorithms/nccl/io/nccl_version.hpp"
#include "topology/io/load.hpp"

namespace collsim::nccl {

struct ListedConstants {
  std::string name{};  ///< "2.28" of nccl-tuning-2.28.yaml
  std::string description{};
  std::string file{};
  VersionRange versions{};
};

/// All files parameters/nccl-tuning-*.yaml, in the order of their versions.
/// Throws: InputError where one cannot be read, or two list the same version.
[[nodiscard]] std::vector<ListedConstants> list_constants(const ConfigPath& path);

/// The constants of a version ("2.28", "2.29.2"): "x.y" means the last release of that series.
/// Throws: InputError (path: --nccl) for a version that no file lists, naming those listed.
[[nodiscard]] TuningConstants find_constants(const ConfigPath& path, std::string_view version);

}  // namespace collsim::nccl
