#include "study/node_list.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::string_view stem = "node";

[[noreturn]] void refuse(const std::string& message, const std::string& hint = {}) {
  throw InputError(message, "--node-list", hint);
}

class NodeListReader {
 public:
  NodeListReader(std::string_view text, std::uint32_t nodes)
      : text_(text), rest_(text), taken_(nodes, false) {}

  std::vector<NodeId> read() {
    do {
      if (rest_.starts_with(stem)) {
        rest_.remove_prefix(stem.size());
      }
      if (take('[')) {
        do {
          read_range();
        } while (take(','));
        require(']');
      } else {
        read_range();
      }
    } while (take(','));
    if (!rest_.empty()) {
      refuse_syntax();
    }
    return std::move(list_);
  }

 private:
  [[noreturn]] void refuse_syntax() const {
    refuse("expected a list of nodes such as \"node[0-3,7]\", got " + in_quotes(text_));
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  void require(char c) {
    if (!take(c)) {
      refuse_syntax();
    }
  }

  std::uint32_t read_number() {
    std::uint32_t number = 0;
    const char* const end = rest_.data() + rest_.size();
    const auto [stop, error] = std::from_chars(rest_.data(), end, number);
    if (error != std::errc()) {
      refuse_syntax();
    }
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    return number;
  }

  void read_range() {
    const std::uint32_t first = read_number();
    const std::uint32_t last = take('-') ? read_number() : first;
    if (last < first) {
      refuse("a range of nodes goes up, got " + std::to_string(first) + "-" + std::to_string(last));
    }
    for (std::uint64_t node = first; node <= last; ++node) {
      add(node);
    }
  }

  void add(std::uint64_t node) {
    const std::string name = std::string(stem) + std::to_string(node);
    if (node >= taken_.size()) {
      refuse("there is no " + name + ": the nodes are node0 to node" +
                 std::to_string(taken_.size() - 1),
             "a larger cluster: --set nodes=" + std::to_string(node + 1));
    }
    if (taken_[node]) {
      refuse(name + " is listed twice");
    }
    taken_[node] = true;
    list_.emplace_back(static_cast<std::uint32_t>(node));
  }

  std::string_view text_;
  std::string_view rest_;
  std::vector<bool> taken_;  ///< by node
  std::vector<NodeId> list_;
};

}  // namespace

std::vector<NodeId> parse_node_list(std::string_view text, std::uint32_t nodes) {
  return NodeListReader(text, nodes).read();
}

}  // namespace collsim
