#include "tools/points_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/interrupt.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* option = "--points";
constexpr const char* schema = "collsim/sweep-points/1";

std::string header_line(const PointsHeader& header) {
  const Json json{{"schema", schema},
                  {"experiment", header.experiment},
                  {"version", header.version},
                  {"digest", header.digest},
                  {"points", header.points}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The text of a key; empty where there is none.
std::string text_at(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string()
             ? json[key].get<std::string>()
             : std::string();
}

}  // namespace

PointsFile::PointsFile(std::string path, const PointsHeader& header, ExistingPoints existing)
    : path_(std::move(path)) {
  open();
  std::string text;
  std::array<char, 1U << 16U> buffer{};
  ssize_t got = 0;
  while ((got = ::read(file_, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (got < 0) {
    fail("cannot read");
  }
  if (!text.empty() && existing == ExistingPoints::Refuse) {
    throw InputError(in_quotes(path_) + " has points of a sweep already", option,
                     "--resume goes on with it, --overwrite begins anew");
  }
  const std::size_t whole = existing == ExistingPoints::Resume ? read(text, header) : 0;
  if (ftruncate(file_, static_cast<off_t>(whole)) != 0) {
    fail("cannot write");
  }
  if (whole == 0) {
    write(header_line(header));
  }
}

PointsFile::~PointsFile() {
  if (file_ >= 0) {
    close(file_);
  }
}

void PointsFile::open() {
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

std::size_t PointsFile::read(const std::string& text, const PointsHeader& header) {
  std::size_t begin = 0;
  std::size_t number = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos;
       begin = end + 1, end = text.find('\n', begin)) {
    const std::string line = text.substr(begin, end - begin);
    if (++number == 1) {
      read_header(line, header);
    } else {
      read_point(line, number, header.points);
    }
  }
  return begin;
}

void PointsFile::read_header(const std::string& line, const PointsHeader& header) const {
  const Json json = Json::parse(line, nullptr, false);
  if (text_at(json, "schema") != schema) {
    throw InputError("has no points of a sweep", option, "name another file, or --overwrite",
                     {path_, 1, 1, {}});
  }
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

void PointsFile::read_point(const std::string& line, std::size_t number, std::size_t points) {
  const Json json = Json::parse(line, nullptr, false);
  const bool has_point =
      json.is_object() && json.contains("point") && json["point"].is_number_unsigned();
  const bool has_outcome =
      has_point && (json.contains("failure") || (json.contains("row") && json.contains("metrics") &&
                                                 json["metrics"].is_object()));
  const std::size_t point = has_outcome ? json["point"].get<std::size_t>() : points;
  if (point >= points) {
    throw InputError("is no line of this sweep", option,
                     "the file was changed by something else; --overwrite begins anew",
                     {path_, static_cast<std::uint32_t>(number), 1, {}});
  }
  if (json.contains("row")) {
    lines_.insert_or_assign(point, line);
  }
}

void PointsFile::append(std::size_t point, std::string line) {
  write(line + "\n");
  lines_.insert_or_assign(point, std::move(line));
}

void PointsFile::write(const std::string& text) const {
  const HoldInterrupts whole;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file_, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) {
      fail("cannot write");
    }
    done += written < 0 ? 0 : static_cast<std::size_t>(written);
  }
}

void PointsFile::fail(const std::string& what) const {
  throw InputError(what + " " + in_quotes(path_) + ": " + std::strerror(errno), option);
}

}  // namespace collsim
