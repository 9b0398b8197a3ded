#include "tools/placement_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "topology/error.hpp"
#include "topology/io/source.hpp"

namespace collsim {

namespace {

// A million GPUs by name take less.
constexpr std::size_t largest_file = std::size_t{32} << 20U;

std::string contents_of(const std::string& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw InputError(
        in_quotes(path) + " is neither block, cyclic nor random, nor a file that can be read",
        "--placement", did_you_mean(path, {"block", "cyclic", "random"}));
  }
  // It may be a device that has no end.
  std::string text(largest_file + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > largest_file) {
    throw InputError(in_quotes(path) + " is larger than 32 MiB", "--placement");
  }
  return text;
}

}  // namespace

std::vector<ListedGpu> read_placement(const std::string& path) {
  std::string text;
  try {
    text = checked_text(path, contents_of(path));
  } catch (const InputError& error) {
    throw InputError(error.message(), "--placement", error.hint(), error.location());
  }
  std::istringstream stream(text);
  std::vector<ListedGpu> listed;
  std::uint32_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] == '#') {
      continue;
    }
    listed.push_back({line.substr(begin, line.find_last_not_of(" \t") - begin + 1), number,
                      static_cast<std::uint32_t>(begin) + 1});
  }
  return listed;
}

}  // namespace collsim
