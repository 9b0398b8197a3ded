#include "study/groups.hpp"

#include <charconv>
#include <system_error>

#include "topology/error.hpp"

namespace collsim {

Grouping parse_grouping(std::string_view text) {
  const auto refuse = [&] {
    throw InputError(
        "expected tp=SIZE (ranks that follow each other) or dp=SIZE (ranks across these "
        "groups), got " +
            in_quotes(text),
        "--groups");
  };
  Grouping grouping;
  if (text.starts_with("dp=")) {
    grouping.kind = Grouping::Kind::DataParallel;
  } else if (!text.starts_with("tp=")) {
    refuse();
  }
  const std::string_view number = text.substr(3);
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, grouping.size);
  if (error != std::errc() || stop != end || grouping.size == 0) {
    refuse();
  }
  return grouping;
}

std::vector<Communicator> split(const Communicator& ranks, Grouping grouping) {
  if (ranks.size() % grouping.size != 0) {
    throw InputError("groups of " + std::to_string(grouping.size) + " do not divide " +
                         std::to_string(ranks.size()) + " ranks",
                     "--groups", "choose a divisor, or other --ranks");
  }
  const std::size_t count = ranks.size() / grouping.size;
  std::vector<Communicator> groups(count);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::size_t group =
        grouping.kind == Grouping::Kind::TensorParallel ? rank / grouping.size : rank % count;
    groups[group].push_back(ranks[rank]);
  }
  return groups;
}

}  // namespace collsim
