#pragma once

// Files as output: what a name stands for, and writing a whole file so that it is never half there.
//
// A regular file is written beside its place and renamed, with the mode and, where that is allowed,
// the owner it had before. Links are followed, also to what is not there yet. Devices, pipes, and
// files in a folder where nothing can be created are written in place.

#include <string>

namespace collsim {

/// Puts the text into the file. Throws: std::system_error; the file is then as before, unless it was
/// written in place.
void write_whole_file(const std::string& name, const std::string& text);

/// Before there is anything to write: throws what writing the file would end with, as far as can be told.
/// Throws: InputError naming the option.
void require_writable(const char* option, const std::string& name);

/// Whether the name stands for this process's standard output ("/dev/stdout", or the file that the
/// shell redirected it to).
[[nodiscard]] bool is_stdout(const std::string& name);

/// Whether writing to the one would overwrite the other, however they are spelled. Never for
/// /dev/null.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace collsim
