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

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

/// All names if they are few; else those that contain the word, and where all are shown.
std::string what_is_known(const std::vector<std::string>& names, const std::string& word,
                          const std::string& noun) {
  constexpr std::size_t few = 12;
  if (names.empty()) {
    return "no " + noun + " is known by name";
  }
  if (names.size() <= few) {
    return "known: " + joined(names);
  }
  std::vector<std::string> alike;
  for (const std::string& name : names) {
    if (!word.empty() && name.find(word) != std::string::npos) {
      alike.push_back(name);
    }
  }
  const std::string all = "`collsim list " + noun + "s` shows all " + std::to_string(names.size());
  return alike.empty() || alike.size() > few ? all : "known: " + joined(alike) + "; " + all;
}

}  // namespace

std::map<std::string, std::string> config_files(const ConfigPath& path, std::string_view folder,
                                                std::string_view ending) {
  std::map<std::string, std::string> files;
  for (const std::string& directory : path.directories) {
    // A directory that is not there has no files; the caller names some that need not exist.
    std::error_code error;
    const auto parent = std::filesystem::path(directory) / folder;
    for (std::filesystem::directory_iterator at(parent, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().extension() != ending) {
        continue;
      }
      files.emplace(at->path().stem().string(), at->path().string());
    }
  }
  return files;
}

std::string find_config(const ConfigPath& path, std::string_view folder,
                        const std::string& reference, const std::string& base,
                        std::string_view not_meant) {
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
    if (not_meant.empty() || !name.starts_with(not_meant)) {
      names.push_back(name);
    }
  }
  refuse_config(folder, reference, names);
}

void refuse_config(std::string_view folder, const std::string& name,
                   const std::vector<std::string>& known) {
  const std::string word = name.substr(0, 64);
  const std::string close = did_you_mean(word, known);
  const std::string noun(folder.substr(0, folder.size() - 1));  // "clusters" → "cluster"
  throw InputError(
      "unknown " + noun + " " + in_quotes(name) + (close.empty() ? close : ", " + close), {},
      what_is_known(known, word, noun));
}

std::string folder_of(const YamlTree& tree, Position position) {
  const SourceText& source = tree.sources().at(position.source);
  if (source.origin() == SourceText::Origin::Setting) {
    return {};
  }
  return std::filesystem::path(source.name()).parent_path().string();
}

}  // namespace collsim
