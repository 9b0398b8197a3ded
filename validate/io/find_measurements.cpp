#include "validate/io/find_measurements.hpp"

#include <filesystem>
#include <map>
#include <system_error>

#include "topology/error.hpp"
#include "topology/io/config_files.hpp"
#include "validate/io/read_measurements.hpp"

namespace collsim {

namespace {

constexpr std::string_view folder = "measurements";
constexpr std::string_view ending = ".json";

std::string description_of(const Measurements& measurements) {
  const std::size_t tables = measurements.runs.size();
  const std::string& gpu = measurements.hardware.gpu;
  std::string text = std::to_string(tables) + (tables == 1 ? " table" : " tables");
  return gpu.empty() ? text : text + " of " + gpu;
}

}  // namespace

std::vector<ConfigEntry> list_measurements(const ConfigPath& path) {
  std::vector<ConfigEntry> entries;
  for (const auto& [name, file] : config_files(path, folder, ending)) {
    try {
      entries.push_back({name, description_of(load_measurements(file)), file});
    } catch (const InputError& error) {
      entries.push_back({name, "cannot be read: " + error.message(), file});
    }
  }
  return entries;
}

std::string find_measurements(const ConfigPath& path, const std::string& name) {
  if (name.find_first_of("/.") != std::string::npos) {
    return name;
  }
  const std::map<std::string, std::string> files = config_files(path, folder, ending);
  if (const auto found = files.find(name); found != files.end()) {
    return found->second;
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(name, error)) {
    return name;
  }
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const auto& [known, file] : files) {
    names.push_back(known);
  }
  refuse_config(folder, name, names);
}

}  // namespace collsim
