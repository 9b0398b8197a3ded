#include "algorithms/nccl/io/find_constants.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "algorithms/nccl/io/read_constants.hpp"
#include "topology/error.hpp"
#include "topology/io/config_files.hpp"

namespace collsim::nccl {

namespace {

constexpr std::string_view prefix = "nccl-tuning-";
constexpr int most_bases = 32;

/// The files of constants, by what is behind the prefix.
std::map<std::string, std::string> files_of(const ConfigPath& path) {
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : config_files(path, "parameters")) {
    if (name.starts_with(prefix)) {
      files.emplace(name.substr(prefix.size()), file);
    }
  }
  return files;
}

/// Reads a file over the one it is based on.
TuningConstants load(const std::map<std::string, std::string>& files, const std::string& name,
                     const ConstantsFile& file, int depth) {
  const ConstantsHead head = read_head(file);
  TuningConstants constants;
  if (!head.base.empty()) {
    const auto base = files.find(head.base);
    if (base == files.end() || depth == most_bases) {
      throw InputError(base == files.end() ? "no such file of constants: " + in_quotes(head.base)
                                           : "bases go round in a circle",
                       "base", "", SourceLocation{files.at(name), 0, 0, ""});
    }
    constants =
        load(files, head.base, parse_constants(read_file(base->second), base->second), depth + 1);
  }
  read_constants(file, constants);
  constants.name = name;
  return constants;
}

/// Of files that all lie in one folder, as those that ship, one that has the version for its name is the
/// one that lists it: the others need not be read.
std::optional<TuningConstants> by_name(const std::map<std::string, std::string>& files,
                                       const NcclVersion& version) {
  const auto folder = [](const std::string& file) { return file.substr(0, file.rfind('/')); };
  for (const auto& [name, file] : files) {
    if (folder(file) != folder(files.begin()->second)) {
      return std::nullopt;
    }
  }
  for (const NcclVersion& named : {version, NcclVersion{version.major, version.minor, {}}}) {
    if (const auto found = files.find(to_text(named)); found != files.end()) {
      const ConstantsFile file = parse_constants(read_file(found->second), found->second);
      if (read_head(file).versions.contains(version)) {
        return load(files, found->first, file, 0);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<ListedConstants> list_constants(const ConfigPath& path) {
  std::vector<ListedConstants> listed;
  for (const auto& [name, file] : files_of(path)) {
    const ConstantsHead head = read_head(parse_constants(read_file(file), file));
    listed.push_back({name, head.description, file, head.versions});
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
  const std::map<std::string, std::string> files = files_of(path);
  const std::optional<NcclVersion> parsed = parse_version(version);
  if (parsed) {
    if (auto constants = by_name(files, *parsed)) {
      return *std::move(constants);
    }
  }
  std::vector<std::string> ranges;
  for (const ListedConstants& constants : list_constants(path)) {
    if (parsed && constants.versions.contains(*parsed)) {
      return load(files, constants.name, parse_constants(read_file(constants.file), constants.file),
                  0);
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
