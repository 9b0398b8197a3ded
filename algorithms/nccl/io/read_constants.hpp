#pragma once
// A file of tuning constants (configs/parameters/nccl-tuning-*.yaml) as TuningConstants.
//
// A file with `base` says only what differs from that file, so that what changed from version to
// version can be read off. Keys, words and units: the comments of nccl-tuning-2.28.yaml, which has no base.

#include <string>

#include "algorithms/nccl/constants.hpp"
#include "algorithms/nccl/io/nccl_version.hpp"
#include "topology/io/yaml_tree.hpp"

namespace collsim::nccl {

/// The head of a file: what it says of itself, its versions, and the name of the file it is based on ("2.28"), or empty.
struct ConstantsHead {
  std::string description{};
  VersionRange versions{};
  std::string base{};
};

/// A file of constants, parsed, before its numbers are read.
struct ConstantsFile {
  YamlTree tree{};
  YamlId root{};
};

/// Throws: InputError with the place in the file.
[[nodiscard]] ConstantsFile parse_constants(std::string_view text, const std::string& file_name);
[[nodiscard]] ConstantsHead read_head(const ConstantsFile& file);

/// Sets what the file says. Without a base it must say everything. Throws: InputError with the place.
void read_constants(const ConstantsFile& file, TuningConstants& constants);

}  // namespace collsim::nccl
