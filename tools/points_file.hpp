#pragma once

// The points of a sweep on disk as they become finished: lines of JSON, the first one saying whose points they are.
// Each line of a point ends with a seal over its text and the experiment, so that one that was changed or comes from
// elsewhere is refused. A line is written at once and whole, so that what was finished before a kill at any moment is there; what a kill
// tore is the last line alone, which is cut off and done again. A file that begins otherwise is somebody else's, and
// stays as it is.
//
// Assumes that a write reaches the system's memory before the process dies; a machine that loses power may lose the
// last seconds.

#include <cstddef>
#include <map>
#include <string>

namespace collsim {

/// Whose points a file has.
struct PointsHeader {
  std::string experiment;
  std::string version;
  std::string digest;
  std::size_t points = 0;
};

/// What to do with points that are there.
enum class ExistingPoints : unsigned char { Refuse, Resume, Overwrite };

class PointsFile {
 public:
  /// Opens the file for this process alone. Throws: InputError if it is there and must not be, is neither empty nor a
  /// points file, has points of something else, is used by another process, or cannot be written.
  PointsFile(std::string path, const PointsHeader& header, ExistingPoints existing);
  ~PointsFile();
  PointsFile(const PointsFile&) = delete;
  PointsFile& operator=(const PointsFile&) = delete;

  /// Lines by point: those that were there, but of points that failed, and those that were put there since.
  [[nodiscard]] const std::map<std::size_t, std::string>& lines() const { return lines_; }
  /// Puts the line of a point on disk. Throws: InputError if it cannot be written.
  void append(std::size_t point, std::string line);

 private:
  void open();
  /// What comes next in the file, at most so many bytes.
  [[nodiscard]] std::string next(std::size_t most) const;
  /// Takes the beginning of the file, and the first line it is to have.
  void refuse_foreign(const std::string& text, const std::string& own) const;
  /// Takes in what is there. Returns how much of the text is whole lines.
  [[nodiscard]] std::size_t read(const std::string& text, const PointsHeader& header);
  void read_header(const std::string& line, const PointsHeader& header) const;
  void read_point(const std::string& line, std::size_t number, std::size_t points);
  [[noreturn]] void refuse_line(std::size_t number, const std::string& what) const;
  void write(const std::string& text) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  std::string experiment_;  ///< its digest
  int file_ = -1;
  std::map<std::size_t, std::string> lines_;
};

}  // namespace collsim
