#include "algorithms/nccl/io/log_lines.hpp"

#include <optional>
#include <utility>

#include "algorithms/nccl/io/log_scanner.hpp"

namespace collsim::nccl {

namespace {

constexpr std::string_view mark = " NCCL ";
constexpr std::string_view version_mark = "CCL version ";  // a line of its own, without a writer
constexpr std::size_t longest_line = std::size_t{64} * 1024;
constexpr std::size_t longest_host = 255;
constexpr std::size_t most_processes = 65536;

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number that the text ends with, and the text before it.
std::optional<long> number_at_end(std::string_view& text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_digit(text[begin - 1])) {
    --begin;
  }
  LogScanner digits(text.substr(begin));
  const auto number = digits.number<long>();
  if (number) {
    text = text.substr(0, begin);
  }
  return number;
}

bool drop_at_end(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) {
    return false;
  }
  text.remove_suffix(end.size());
  return true;
}

/// Where a writer's `host:pid:tid [device]` stands.
struct Prefix {
  LogWriter writer{};
  std::string_view host{};
  std::size_t begin{0};
};

/// The prefix that ends where the mark begins. The host is as long as it can be.
std::optional<Prefix> prefix_before(std::string_view text) {
  Prefix prefix;
  if (text.ends_with(']')) {
    std::string_view before = text;
    drop_at_end(before, "]");
    const auto device = number_at_end(before);
    if (!device || *device > 4096 || !drop_at_end(before, " [")) {
      return std::nullopt;
    }
    prefix.writer.device = static_cast<int>(*device);
    text = before;
  }
  const auto thread = number_at_end(text);
  if (!thread || !drop_at_end(text, ":")) {
    return std::nullopt;
  }
  const auto process = number_at_end(text);
  if (!process || !drop_at_end(text, ":")) {
    return std::nullopt;
  }
  prefix.writer.thread = *thread;
  prefix.writer.process = *process;
  std::size_t begin = text.size();
  while (begin > 0 && text.size() - begin < longest_host && is_host_character(text[begin - 1])) {
    --begin;
  }
  if (begin == text.size()) {
    return std::nullopt;
  }
  prefix.host = text.substr(begin);
  prefix.begin = begin;
  return prefix;
}

/// Where a text of NCCL begins, and whether it is one of those that are read.
struct Mark {
  std::size_t at{std::string_view::npos};
  std::size_t text{0};
  bool information{false};

  [[nodiscard]] bool there() const { return at != std::string_view::npos; }
};

Mark find_mark(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(mark, from); at != std::string_view::npos;
       at = text.find(mark, at + 1)) {
    LogScanner rest(text.substr(at + mark.size()));
    const bool information = rest.literal("INFO ");
    if (information || rest.literal("WARN ") || rest.literal("CALL ") || rest.literal("TRACE ")) {
      return {at, text.size() - rest.rest().size(), information};
    }
  }
  return {};
}

}  // namespace

/// A host's name may be glued to what another program wrote: then it is a known one that ends it.
std::string LogLines::known_host(std::string_view text, long process, bool begins_line) {
  std::string_view any_process;
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    const auto known = processes_.find(text.substr(begin));
    if (known != processes_.end() && known->second.contains(process)) {
      return known->first;
    }
    if (known != processes_.end() && any_process.empty()) {
      any_process = known->first;
    }
  }
  if (!begins_line) {
    return std::string(any_process.empty() ? text : any_process);
  }
  if (known_processes_ < most_processes) {
    processes_[std::string(text)].insert(process);
    ++known_processes_;
  }
  return std::string(text);
}

void LogLines::plain_line(std::string_view text) {
  const std::size_t at = text.find(version_mark);
  if (at != std::string_view::npos && at > 0 && (text[at - 1] == 'N' || text[at - 1] == 'R')) {
    take_(LogWriter{}, text.substr(at - 1));
  }
}

void LogLines::line() {
  const std::string_view text = line_;
  Mark found = find_mark(text, 0);
  plain_line(text.substr(0, found.at));
  while (found.there()) {
    const Mark next = find_mark(text, found.text);
    if (found.information) {
      ++lines_;
      auto prefix = prefix_before(text.substr(0, found.at));
      if (!prefix || next.there() || overlong_) {
        ++cut_;
      } else {
        const std::string_view before = text.substr(0, prefix->begin);
        const bool begins = before.empty() || before.ends_with(' ') || before.ends_with('>');
        prefix->writer.host = known_host(prefix->host, prefix->writer.process, begins);
        take_(prefix->writer, text.substr(found.text));
      }
    }
    found = next;
  }
}

void LogLines::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n' || c == '\r') {
      line();
      line_.clear();
      overlong_ = false;
      escape_ = Escape::No;
    } else if (escape_ == Escape::Begun) {
      escape_ = c == '[' ? Escape::Open : Escape::No;
    } else if (escape_ == Escape::Open) {
      const bool ends = c >= '@' && c <= '~';
      escape_ = ends ? Escape::No : Escape::Open;
    } else if (c == '\x1b') {
      escape_ = Escape::Begun;
    } else if (line_.size() >= longest_line) {
      overlong_ = true;
    } else if (c != '\0') {
      line_.push_back(c);
    }
  }
}

void LogLines::finish() {
  ends_open_ = !line_.empty();
  line();
  line_.clear();
}

}  // namespace collsim::nccl
