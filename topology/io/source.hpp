#pragma once

// Where the values of a description come from: the texts that were read, and the place of each
// value in them, so that a message can point at the line.
//
// Columns count characters, not bytes. A text from the command line (--set) is a source without
// lines: its name alone says where the value stands.

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/error.hpp"

namespace collsim {

/// A place in one of the texts. 1-based; line 0 means the text as a whole.
struct Position {
  std::uint32_t source = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// A text with a name: a file, or a --set option.
class SourceText {
 public:
  enum class Origin : std::uint8_t { File, Setting };

  SourceText(std::string name, Origin origin, std::string text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Origin origin() const { return origin_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  /// A line without its end; empty if there is no such line.
  [[nodiscard]] std::string_view line(std::uint32_t number) const;

 private:
  std::string name_;
  Origin origin_;
  std::string text_;
  std::vector<std::size_t> line_begin_;
};

/// The text with its lines ended by '\n' and without a byte order mark. Throws: InputError at the
/// place in the named file if it is no text: not UTF-8, or with control characters.
[[nodiscard]] std::string checked_text(const std::string& name, std::string_view text);

/// All texts of a description, in the order in which they were read.
class Sources {
 public:
  /// Checks that the text can be read as text (size, UTF-8, no control characters; a byte order
  /// mark and CR LF are accepted) and keeps it. Returns its number. Throws: InputError.
  std::uint32_t add_file(std::string name, std::string_view text);
  std::uint32_t add_setting(std::string name, std::string_view text);

  [[nodiscard]] const SourceText& at(std::uint32_t source) const { return texts_[source]; }
  /// For an error: with the text of the line, if it is short enough to show.
  [[nodiscard]] SourceLocation location(Position position) const;
  /// For a list of values: "configs/clusters/x.yaml:4" or "--set".
  [[nodiscard]] std::string origin(Position position) const;

 private:
  std::vector<SourceText> texts_;
};

/// The place of every value in force, by its path in the document.
class SourceMap {
 public:
  void own(Sources sources) { sources_ = std::move(sources); }

  void set(std::string path, Position position) {
    positions_.insert_or_assign(std::move(path), position);
  }
  /// Adds to an error the place of its path or, where that has none (a default), of the nearest
  /// path that encloses it. An error that has a location already is returned as it is.
  [[nodiscard]] InputError locate(const InputError& error) const;

 private:
  Sources sources_;
  std::map<std::string, Position, std::less<>> positions_;
};

/// "cannot read "x": WHY".
[[nodiscard]] InputError unreadable(const std::string& path, const std::string& why);

/// Whether devices and pipes are opened, which could give data without end.
enum class Endless : std::uint8_t { Refused, Opened };

/// Opens a file to be read. Throws: InputError (unreadable) if it is missing, a directory, or cannot be
/// opened.
[[nodiscard]] std::ifstream open_file(const std::string& path, Endless endless);

/// A description of ten thousand links one by one is about 1 MB.
inline constexpr std::size_t largest_description = std::size_t{4} << 20U;

/// The contents of a file. Throws: InputError if it is missing, unreadable, no regular file, or (at its place) has more bytes than
/// `most`.
[[nodiscard]] std::string read_file(const std::string& path,
                                    std::size_t most = largest_description);

}  // namespace collsim
