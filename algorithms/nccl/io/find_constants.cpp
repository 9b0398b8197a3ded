#include "algorithms/nccl/io/find_constants.hpp"

#include <algorithm>
#include <tuple>

#include "algorithms/nccl/io/read_constants.hpp"
#include "topology/error.hpp"
#include "topology/io/config_files.hpp"

namespace collsim::nccl {

namespace {

constexpr std::string_view prefix = "nccl-tuning-";
constexpr int most_bases = 32;

const ListedConstants* by_name(const std::vector<ListedConstants>& listed,
                               const std::string& name) {
  for (const ListedConstants& candidate : listed) {
    if (candidate.name == name) {
      return &candidate;
    }
  }
  return nullptr;
}

/// Reads a file over the one it is based on.
TuningConstants load(const std::vector<ListedConstants>& listed, const ListedConstants& wanted,
                     int depth) {
  const ConstantsFile file = parse_constants(read_file(wanted.file), wanted.file);
  const ConstantsHead head = read_head(file);
  TuningConstants constants;
  if (!head.base.empty()) {
    const ListedConstants* const base = by_name(listed, head.base);
    if (base == nullptr || depth == most_bases) {
      throw InputError(base == nullptr ? "no such file of constants: " + in_quotes(head.base)
                                       : "bases go round in a circle",
                       "base", "", SourceLocation{wanted.file, 0, 0, ""});
    }
    constants = load(listed, *base, depth + 1);
  }
  read_constants(file, constants);
  constants.name = wanted.name;
  return constants;
}

}  // namespace

std::vector<ListedConstants> list_constants(const ConfigPath& path) {
  std::vector<ListedConstants> listed;
  for (const auto& [name, file] : config_files(path, "parameters")) {
    if (name.starts_with(prefix)) {
      const ConstantsHead head = read_head(parse_constants(read_file(file), file));
      listed.push_back({name.substr(prefix.size()), head.description, file, head.versions});
    }
  }
  const auto order = [](const ListedConstants& constants) {
    const NcclVersion& first = constants.versions.first;
    return std::tuple(first.major, first.minor, first.patch.value_or(0));
  };
  std::sort(listed.begin(), listed.end(),
            [&order](const auto& a, const auto& b) { return order(a) < order(b); });
  for (std::size_t i = 1; i < listed.size(); ++i) {
    if (listed[i - 1].versions.contains(listed[i].versions.first)) {
      throw InputError("NCCL " + to_text(listed[i].versions.first) + " is listed by " +
                           listed[i - 1].file + ", too",
                       "versions", "a version has one file",
                       SourceLocation{listed[i].file, 0, 0, ""});
    }
  }
  return listed;
}

TuningConstants find_constants(const ConfigPath& path, std::string_view version) {
  const std::vector<ListedConstants> listed = list_constants(path);
  const std::optional<NcclVersion> parsed = parse_version(version);
  std::vector<std::string> ranges;
  for (const ListedConstants& constants : listed) {
    if (parsed && constants.versions.contains(*parsed)) {
      return load(listed, constants, 0);
    }
    ranges.push_back(to_text(constants.versions));
  }
  const std::string known =
      ranges.empty() ? "no file of constants was found" : "known: " + one_of(ranges);
  throw InputError(parsed ? "the decisions of NCCL " + to_text(*parsed) + " are not known"
                          : "expected a version such as " + in_quotes("2.28") + " or " +
                                in_quotes("2.28.9") + ", got " + in_quotes(version),
                   "--nccl", known);
}

}  // namespace collsim::nccl
