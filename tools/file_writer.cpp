#include "tools/file_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "tools/interrupt.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

/// What stands at the name, through links; absent if nothing does. Throws: std::system_error.
std::optional<struct stat> status_of(const std::string& name) {
  struct stat status {};
  if (stat(name.c_str(), &status) == 0) {
    return status;
  }
  if (errno != ENOENT) {
    fail(errno);
  }
  return std::nullopt;
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_null_device(const struct stat& status) {
  struct stat null {};
  return stat("/dev/null", &null) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == null.st_rdev;
}

/// The name that the last of a chain of links leads to. Throws: std::system_error.
fs::path followed(const fs::path& name) {
  constexpr int longest_chain = 40;  // as Linux has it
  fs::path path = name;
  for (int links = 0; links < longest_chain; ++links) {
    std::error_code ignored;
    if (!fs::is_symlink(fs::symlink_status(path, ignored))) {
      return path;
    }
    path = path.parent_path() / fs::read_symlink(path);  // an absolute one stays alone
  }
  fail(ELOOP);
}

/// A name by which equal files are equal, whether they are there or not.
fs::path identity_of(const std::string& name) {
  const fs::path path = fs::absolute(followed(name));
  return fs::weakly_canonical(path.parent_path()) / path.filename();
}

/// An open file that is closed at the end.
class OpenFile {
 public:
  OpenFile(const std::string& name, int flags)
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): how POSIX declares it
      : descriptor_(open(name.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) {
      fail(errno);
    }
  }
  ~OpenFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  void write(const std::string& text) const {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t wrote = ::write(descriptor_, text.data() + done, text.size() - done);
      if (wrote < 0 && errno != EINTR) {
        fail(errno);
      }
      done += static_cast<std::size_t>(std::max<ssize_t>(wrote, 0));
    }
  }
  /// As far as that is allowed.
  void take_after(const struct stat& before) const {
    const int owned = fchown(descriptor_, before.st_uid, before.st_gid);
    static_cast<void>(owned);
    if (fchmod(descriptor_, before.st_mode & 07777U) != 0) {
      fail(errno);
    }
  }
  void close() {
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) {
      fail(errno);
    }
  }

 private:
  int descriptor_;
};

void write_in_place(const std::string& name, int flags, const std::string& text) {
  OpenFile file(name, O_WRONLY | flags);
  file.write(text);
  file.close();
}

/// Whether a file that cannot be created beside another may still be written itself.
bool can_be_in_place(int error) {
  constexpr std::array<int, 4> such{EACCES, EPERM, EROFS, ENAMETOOLONG};
  return std::ranges::find(such, error) != such.end();
}

void replace(const std::string& path, const std::optional<struct stat>& before,
             const std::string& text) {
  const HoldInterrupts hold;
  const std::string part = path + ".part-" + std::to_string(static_cast<long>(getpid()));
  unlink(part.c_str());  // of a process that is no more
  std::optional<OpenFile> file;
  try {
    file.emplace(part, O_WRONLY | O_CREAT | O_EXCL);
  } catch (const std::system_error& error) {
    if (!can_be_in_place(error.code().value())) {
      throw;
    }
    write_in_place(path, O_CREAT | O_TRUNC, text);
    return;
  }
  try {
    file->write(text);
    if (before) {
      file->take_after(*before);
    }
    file->close();
    fs::rename(part, path);
  } catch (const std::system_error&) {
    unlink(part.c_str());
    throw;
  }
}

}  // namespace

void write_whole_file(const std::string& name, const std::string& text) {
  const auto before = status_of(name);
  if (before && S_ISDIR(before->st_mode)) {
    fail(EISDIR);
  }
  if (before && !S_ISREG(before->st_mode)) {
    // A pipe may block for as long as its reader likes.
    write_in_place(name, 0, text);
    return;
  }
  replace(followed(name).string(), before, text);
}

bool is_stdout(const std::string& name) {
  struct stat named {};
  struct stat standard {};
  return stat(name.c_str(), &named) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
         is_same(named, standard) && !is_null_device(named);
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat of_a {};
  struct stat of_b {};
  const bool a_exists = stat(a.c_str(), &of_a) == 0;
  const bool b_exists = stat(b.c_str(), &of_b) == 0;
  if (a_exists && b_exists) {
    return is_same(of_a, of_b) && !is_null_device(of_a);
  }
  try {
    return a_exists == b_exists && identity_of(a) == identity_of(b);
  } catch (const std::system_error&) {
    return false;  // neither can be written
  }
}

void require_writable(const char* option, const std::string& name) {
  if (is_stdout(name)) {
    return;
  }
  const auto refuse = [&](int error) {
    throw InputError("cannot write " + in_quotes(name) + ": " + std::strerror(error), option);
  };
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) {
    refuse(EISDIR);
  }
  // A file that is there may be written in place; else one is created in its folder.
  const fs::path folder = fs::path(name).parent_path() / ".";
  if (access(name.c_str(), W_OK) != 0 && access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse(errno);
  }
}

}  // namespace collsim
