#pragma once

// From the bytes of a text log, as launchers, terminals and editors leave them, to its lines, each with its number
// in the file. Byte order marks, NUL, escape sequences and control characters go; lines end with LF, CR LF or a
// lone CR (progress bars). What launchers put before a line goes, too (launcher_prefix.hpp); where that names the
// process, its lines are a stream of their own.
//
// Takes texts of any bytes. Lines without a word and lines too long to be anybody's row are left out.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace collsim {

struct TextLine {
  std::uint32_t number = 0;  ///< in the file, from 1
  std::uint32_t stream = 0;  ///< 0: no launcher names the process; else one more than its rank
  std::string_view text;     ///< without what a launcher put before it; not blank
};

/// The text without byte order mark, NUL, escape sequences and control characters but tab, LF and CR.
[[nodiscard]] std::string cleaned_text(std::string_view bytes);

/// The lines of a cleaned text, of which they are parts. A lone CR ends a line, but counts as one only in a text
/// without LF. A prefix that only this file has (the name of a machine, say) is told by the header of a table
/// behind it.
/// Throws: InputError for more than two million lines.
[[nodiscard]] std::vector<TextLine> lines_of(std::string_view cleaned);

/// Without blanks and tabs at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Words between blanks and tabs, at most `most`.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text, std::size_t most = 64);

}  // namespace collsim
