#include "tools/points_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "tools/interrupt.hpp"
#include "tools/sweep_point.hpp"
#include "topology/digest.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* option = "--points";
constexpr const char* schema = "collsim/sweep-points/1";
constexpr std::string_view line_begin = R"({"point":)";
constexpr std::string_view seal_key = R"(,"seal":")";
constexpr std::size_t block = std::size_t{64} << 10U;

std::string header_line(const PointsHeader& header) {
  const Json json{{"schema", schema},
                  {"experiment", header.experiment},
                  {"version", header.version},
                  {"digest", header.digest},
                  {"points", header.points}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// A fingerprint of a line of JSON and the experiment that it belongs to.
std::string seal_of(std::string_view line, const std::string& experiment) {
  Digest digest;
  digest.add(experiment);
  digest.add(line);
  return digest.hex();
}

/// The line with its seal as the last key.
std::string sealed(const std::string& line, const std::string& experiment) {
  return line.substr(0, line.size() - 1) + std::string(seal_key) + seal_of(line, experiment) +
         "\"}";
}

/// Whether a line is as it was written, for this experiment.
bool has_seal(const std::string& line, const std::string& experiment) {
  const std::size_t at = line.rfind(seal_key);
  return at != std::string::npos && sealed(line.substr(0, at) + "}", experiment) == line;
}

/// The text of a key; empty where there is none.
std::string text_at(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string()
             ? json[key].get<std::string>()
             : std::string();
}

}  // namespace

PointsFile::PointsFile(std::string path, const PointsHeader& header, ExistingPoints existing)
    : path_(std::move(path)), experiment_(header.digest) {
  open();
  const std::string own = header_line(header);
  // What is something else may be large: its beginning tells.
  std::string text = next(std::max(block, own.size()));
  refuse_foreign(text, own);
  const std::size_t first = text.find('\n');
  const bool has_points = first != std::string::npos && first + 1 < text.size();
  if (has_points && existing == ExistingPoints::Refuse) {
    throw InputError(in_quotes(path_) + " has points of a sweep already", option,
                     "--resume goes on with it, --overwrite begins anew");
  }
  places_.resize(header.points);
  if (existing == ExistingPoints::Resume) {
    read(std::move(text), header);
  }
  if (ftruncate(file_, static_cast<off_t>(end_)) != 0) {
    fail("cannot write");
  }
  if (end_ == 0) {
    write(own);
  }
}

PointsFile::~PointsFile() {
  if (file_ >= 0) {
    close(file_);
  }
}

void PointsFile::open() {
  struct stat status {};
  // A pipe or a device may have no end, and a directory is what opening it says.
  if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    throw InputError(in_quotes(path_) + " is not a regular file", option, "name another file");
  }
  constexpr mode_t for_all = 0666;  // the umask takes away what it must
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's interface
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, for_all);
  if (file_ < 0) {
    fail("cannot write");
  }
  if (flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw InputError(in_quotes(path_) + " is being written by another sweep", option,
                     "wait for it, or name another file");
  }
}

std::string PointsFile::next(std::size_t most) const {
  std::string text;
  while (text.size() < most) {
    const std::size_t before = text.size();
    text.resize(before + std::min(block, most - before));
    const ssize_t got = ::read(file_, text.data() + before, text.size() - before);
    if (got < 0 && errno != EINTR) {
      fail("cannot read");
    }
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) {
      break;
    }
  }
  return text;
}

void PointsFile::refuse_foreign(const std::string& text, const std::string& own) const {
  if (own.starts_with(text)) {
    return;  // nothing, or what a kill left of the header
  }
  const std::size_t end = text.find('\n');
  if (end == std::string::npos ||
      text_at(Json::parse(text.substr(0, end), nullptr, false), "schema") != schema) {
    throw InputError(in_quotes(path_) + " is not a points file", option, "name another file");
  }
}

void PointsFile::read(std::string text, const PointsHeader& header) {
  std::size_t number = 0;
  while (!text.empty()) {
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         begin = end + 1, end = text.find('\n', begin)) {
      const std::string line = text.substr(begin, end - begin);
      if (++number == 1) {
        read_header(line, header);
      } else {
        read_point(line, number);
      }
      end_ += line.size() + 1;
    }
    text.erase(0, begin);
    const std::string more = next(block);
    if (more.empty()) {
      return;  // what is left is a line that a kill tore
    }
    text += more;
  }
}

void PointsFile::read_header(const std::string& line, const PointsHeader& header) const {
  const Json json = Json::parse(line, nullptr, false);
  if (text_at(json, "digest") == header.digest) {
    return;
  }
  const std::string version = text_at(json, "version");
  throw InputError(
      version == header.version
          ? "has points of another experiment, or of this one before it was changed"
          : "has points of collsim " + printable(version) + ", and this is " + header.version,
      option, "--overwrite begins anew", {path_, 1, 1, {}});
}

void PointsFile::read_point(const std::string& line, std::size_t number) {
  if (!has_seal(line, experiment_)) {
    refuse_line(number, "is not what a sweep of this experiment wrote");
  }
  // What has the seal was written by append.
  std::size_t point = 0;
  const auto [stop, error] = std::from_chars(line.data() + std::min(line_begin.size(), line.size()),
                                             line.data() + line.size(), point);
  if (!line.starts_with(line_begin) || error != std::errc() || point >= places_.size()) {
    refuse_line(number, "is no point of this sweep");
  }
  if (!tells_failure(line)) {
    places_[point] = {end_, line.size()};
  }
}

bool PointsFile::has(std::size_t point) const { return places_[point].size > 0; }

std::string PointsFile::line(std::size_t point) const {
  const Place& place = places_[point];
  std::string text(place.size, '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t got = ::pread(file_, text.data() + done, text.size() - done,
                                static_cast<off_t>(place.begin + done));
    if (got == 0 || (got < 0 && errno != EINTR)) {
      errno = got == 0 ? EIO : errno;
      fail("cannot read");
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  return text;
}

void PointsFile::refuse_line(std::size_t number, const std::string& what) const {
  throw InputError(what, option,
                   "the file was changed by something else: take the line out and resume, or "
                   "--overwrite, which begins anew",
                   {path_, static_cast<std::uint32_t>(number), 1, {}});
}

void PointsFile::append(std::size_t point, const std::string& line) {
  const std::string whole = sealed(line, experiment_);
  const std::size_t begin = end_;
  write(whole + "\n");
  places_[point] = {begin, whole.size()};
}

void PointsFile::write(const std::string& text) {
  const HoldInterrupts whole;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file_, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) {
      fail("cannot write");
    }
    done += written < 0 ? 0 : static_cast<std::size_t>(written);
  }
  end_ += text.size();
}

void PointsFile::fail(const std::string& what) const {
  throw InputError(what + " " + in_quotes(path_) + ": " + std::strerror(errno), option);
}

}  // namespace collsim
