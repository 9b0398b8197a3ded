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
#include <string>
#include <vector>

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

  /// Whether there is a line of a point: it was there, and the point had not failed, or it was put there since.
  [[nodiscard]] bool has(std::size_t point) const;
  /// Such a line, read again: a million of them would not fit into memory. Throws: InputError if it cannot be read.
  [[nodiscard]] std::string line(std::size_t point) const;
  /// Puts the line of a point, as PointRunner gives it, on disk. Throws: InputError if it cannot be written.
  void append(std::size_t point, const std::string& line);

 private:
  void open();
  /// What comes next in the file, at most so many bytes.
  [[nodiscard]] std::string next(std::size_t most) const;
  /// Takes the beginning of the file, and the first line it is to have.
  void refuse_foreign(const std::string& text, const std::string& own) const;
  /// Takes in what is there, of which `text` is the beginning.
  void read(std::string text, const PointsHeader& header);
  void read_header(const std::string& line, const PointsHeader& header) const;
  void read_point(const std::string& line, std::size_t number);
  [[noreturn]] void refuse_line(std::size_t number, const std::string& what) const;
  void write(const std::string& text);
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  std::string experiment_;  ///< its digest
  int file_ = -1;
  struct Place {
    std::size_t begin = 0;
    std::size_t size = 0;  ///< without the line break; 0: there is no line
  };
  std::vector<Place> places_;  ///< of points' lines
  std::size_t end_ = 0;        ///< of the last whole line
};

}  // namespace collsim
