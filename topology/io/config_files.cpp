#include "topology/io/config_files.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::string_view extension = ".yaml";

bool is_path(const std::string& reference) {
  return reference.find('/') != std::string::npos || reference.ends_with(extension);
}

}  // namespace

std::map<std::string, std::string> config_files(const ConfigPath& path, std::string_view folder) {
  std::map<std::string, std::string> files;
  for (const std::string& directory : path.directories) {
    // A directory that is not there has no files; the caller names some that need not exist.
    std::error_code error;
    const auto parent = std::filesystem::path(directory) / folder;
    for (std::filesystem::directory_iterator at(parent, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().extension() != extension) {
        continue;
      }
      files.emplace(at->path().stem().string(), at->path().string());
    }
  }
  return files;
}

std::string find_config(const ConfigPath& path, std::string_view folder,
                        const std::string& reference, const std::string& base) {
  if (is_path(reference)) {
    return (std::filesystem::path(base) / reference).string();
  }
  const std::map<std::string, std::string> files = config_files(path, folder);
  if (const auto found = files.find(reference); found != files.end()) {
    return found->second;
  }

  std::vector<std::string> names;
  names.reserve(files.size());
  for (const auto& [name, file] : files) {
    names.push_back(name);
  }
  const std::string near = nearest(reference.substr(0, 64), names);
  std::string known;
  for (const std::string& name : names) {
    known += (known.empty() ? "known: " : ", ") + name;
  }
  const std::string noun(folder.substr(0, folder.size() - 1));  // "clusters" → "cluster"
  throw InputError("unknown " + noun + " " + in_quotes(reference) +
                       (near.empty() ? "" : ", did you mean \"" + near + "\"?"),
                   {}, known.empty() ? "no " + noun + " is known by name" : known);
}

std::string folder_of(const YamlTree& tree, Position position) {
  const SourceText& source = tree.sources().at(position.source);
  if (source.origin() == SourceText::Origin::Setting) {
    return {};
  }
  return std::filesystem::path(source.name()).parent_path().string();
}

}  // namespace collsim
