#pragma once

// The one family of exceptions. The command line alone turns it into text and an exit code:
// InputError 2, SimulationError 1, InternalError 70.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace collsim {

/// Where something stands in a file: 1-based line and column; 0 = unknown.
struct SourceLocation {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string source_line;  ///< the text of that line, for the caret; may be empty
};

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user's input is wrong. `message` says what was found and what is accepted; `path` is the
/// place in the document ("nodes[3].links[0].bandwidth") or the option ("--bytes"); `hint` is what
/// to do. Builders throw it with a path and no location; loaders add the location (see
/// with_location).
class InputError : public Error {
 public:
  explicit InputError(std::string message, std::string path = {}, std::string hint = {},
                      SourceLocation location = {});

  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }
  [[nodiscard]] const SourceLocation& location() const { return location_; }

  /// The same error at a place in a file.
  [[nodiscard]] InputError with_location(SourceLocation location) const;

  /// As a compiler prints it: `file:line:column: error: path: message`, then the source line with a
  /// caret and the hint, each on a line of its own, where known. No trailing newline.
  /// `severity` stands in place of "error".
  [[nodiscard]] std::string render(std::string_view severity = "error") const;

 private:
  std::string message_;
  std::string path_;
  std::string hint_;
  SourceLocation location_;
};

/// The input is well formed, but a number on the way to its result does not fit. Another algorithm or
/// fewer bytes may fit.
class RangeError : public InputError {
 public:
  using InputError::InputError;
};

/// The simulated system cannot finish (deadlock, leftovers), or a check of a program failed.
class SimulationError : public Error {
 public:
  using Error::Error;
};

/// A bug of ours, with the place in our source.
class InternalError : public Error {
 public:
  InternalError(const char* file, int line, const char* condition, const std::string& why);
};

/// What to do where spraying is too much.
inline constexpr std::string_view one_path_hint =
    "static takes one of the shortest paths, ecmp another one for each connection";

/// Parts of sprayed routes whose exact fractions do not fit 64 bits.
class FractionOverflow : public std::overflow_error {
 public:
  using std::overflow_error::overflow_error;
};

/// What std::overflow_error means to the user: the numbers asked for are too large, or (FractionOverflow)
/// `fabric.routing` sprays over too many paths.
[[nodiscard]] RangeError out_of_exact_range(const std::overflow_error& error);

/// The accepted word nearest to `word` (the same in another case; else an edit distance of at most a
/// third of its length, at least 1; no letter is near another), or an empty string. Words of more than 64 bytes have none. Complexity: O(|word| · total length of
/// `accepted`).
[[nodiscard]] std::string nearest(const std::string& word,
                                  const std::vector<std::string>& accepted);

/// Whether they are the same but for the case of letters (of ASCII).
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b);

/// `did you mean "x"?` for the nearest of the accepted words; empty if none is near.
[[nodiscard]] std::string did_you_mean(const std::string& word,
                                       const std::vector<std::string>& accepted);

/// What the user wrote, fit for a message: control characters and what is
/// no UTF-8 as '?', cut after `most` bytes.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = 60);
/// The same in quotes.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// "a, b or c".
[[nodiscard]] std::string one_of(const std::vector<std::string>& words);

}  // namespace collsim

/// Always on: a broken condition is our bug and ends the run with InternalError.
#define COLLSIM_ENSURE(condition, why)                                       \
  do {                                                                       \
    if (!(condition)) {                                                      \
      throw ::collsim::InternalError(__FILE__, __LINE__, #condition, (why)); \
    }                                                                        \
  } while (false)

/// Debug builds only: for hot loops.
#ifdef NDEBUG
#define COLLSIM_DCHECK(condition, why) static_cast<void>(0)
#else
#define COLLSIM_DCHECK(condition, why) COLLSIM_ENSURE(condition, why)
#endif
