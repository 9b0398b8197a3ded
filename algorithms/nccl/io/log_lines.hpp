#pragma once
// From the bytes of a log to NCCL's lines, each with who wrote it. Takes what real files hold: prefixes
// of launchers and of time stamps, ANSI escapes, CR, NUL, lines of other programs, lines that begin in
// the middle of another one (the first is then cut, and dropped), files joined in the middle of a line.
//
// A line is `host:pid:tid [device] NCCL INFO text`.

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace collsim::nccl {

/// Who wrote a line.
struct LogWriter {
  std::string host{};
  long process{0};
  long thread{0};
  int device{-1};  ///< of CUDA; -1: not told

  [[nodiscard]] auto key() const { return std::tie(host, process, thread); }
  bool operator<(const LogWriter& other) const { return key() < other.key(); }
};

/// Gets bytes in any pieces and gives lines to `take`.
class LogLines {
 public:
  using Take = std::function<void(const LogWriter& writer, std::string_view text)>;

  explicit LogLines(Take take) : take_(std::move(take)) {}

  void feed(std::string_view bytes);
  /// After the last byte.
  void finish();

  [[nodiscard]] std::size_t lines() const { return lines_; }  ///< of NCCL
  [[nodiscard]] std::size_t cut() const { return cut_; }      ///< of those, dropped
  [[nodiscard]] bool ends_open() const { return ends_open_; }

 private:
  void line();
  void plain_line(std::string_view text);
  [[nodiscard]] std::string known_host(std::string_view text, long process, bool begins_line);

  Take take_;
  std::string line_{};
  bool overlong_ = false;
  bool ends_open_ = false;
  enum class Escape : unsigned char { No, Begun, Open } escape_ = Escape::No;
  std::map<std::string, std::set<long>, std::less<>> processes_{};  // of each host
  std::size_t known_processes_ = 0;
  std::size_t lines_ = 0;
  std::size_t cut_ = 0;
};

}  // namespace collsim::nccl
