#include "study/io/read_range.hpp"

#include <charconv>
#include <system_error>

#include "study/io/experiment_text.hpp"
#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

struct Bound {
  std::int64_t value = 0;
  bool is_size = false;
};

Bound read_bound(const YamlTree& tree, const LocatedNode& place) {
  const std::string text = single_value(tree, place);
  Bound bound;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), bound.value);
  if (error == std::errc() && stop == text.data() + text.size() && bound.value >= 0) {
    return bound;
  }
  try {
    return {parse_size_argument(text).count(), true};
  } catch (const InputError& wrong) {
    refuse_at(tree, tree.node(place.id).position, place.path,
              "expected a whole number or a size, got " + in_quotes(text), wrong.hint());
  }
}

/// "factor" or "step": the one that is there.
std::string rule_of(const MappingReader& reader) {
  const bool grows = reader.has("factor");
  if (grows && reader.has("step")) {
    reader.refuse_key("step", "has no place beside factor", "give one of them");
  }
  if (!grows && !reader.has("step")) {
    reader.refuse_missing("factor", "or step: 1");
  }
  return grows ? "factor" : "step";
}

}  // namespace

std::vector<std::string> read_range(const YamlTree& tree, const MappingReader& reader,
                                    RangeOf what) {
  for (const char* const needed : {"from", "to"}) {
    if (!reader.has(needed)) {
      reader.refuse_missing(needed, "or values: [ … ]");
    }
  }
  const std::string rule = rule_of(reader);
  const bool grows = rule == "factor";
  const Bound from = read_bound(tree, *reader.find("from"));
  const Bound to = read_bound(tree, *reader.find("to"));
  const std::int64_t by = read_bound(tree, *reader.find(rule)).value;
  if (by < (grows ? 2 : 1)) {
    reader.refuse(rule, (grows ? "expected a factor of at least 2, got "
                               : "expected a step of at least 1, got ") +
                            std::to_string(by));
  }
  if (from.value > to.value || (grows && from.value == 0)) {
    reader.refuse("from", std::string("expected ") + (grows ? "at least 1 and " : "") + "at most " +
                              std::to_string(to.value) + " (to), got " +
                              std::to_string(from.value));
  }
  const bool is_size = what == RangeOf::Sizes || from.is_size || to.is_size;
  std::vector<std::string> values;
  for (std::int64_t value = from.value;; value = grows ? value * by : value + by) {
    if (values.size() == most_values) {
      reader.refuse("from", "gives more than " + std::to_string(most_values) + " values",
                    "a larger " + rule);
    }
    values.push_back(is_size ? to_text(Bytes(value)) : std::to_string(value));
    if (grows ? value > to.value / by : value > to.value - by) {
      return values;
    }
  }
}

}  // namespace collsim
