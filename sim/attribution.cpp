#include "sim/attribution.hpp"

namespace collsim {

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::compute:
      return "compute";
    case Cause::credit_wait:
      return "credit_wait";
    case Cause::wire:
      return "wire";
    case Cause::sharing:
      return "sharing";
    case Cause::latency:
      return "latency";
  }
  return "unknown";
}

std::vector<AttributedTime> AttributionLayout::parts(const std::int64_t* vector) const {
  std::vector<AttributedTime> parts;
  const auto add = [&](Cause cause, std::optional<LevelId> level, std::size_t position) {
    if (vector[position] != 0) {
      parts.push_back({cause, level, Duration(vector[position])});
    }
  };
  add(Cause::compute, std::nullopt, compute());
  add(Cause::credit_wait, std::nullopt, credit_wait());
  for (std::size_t l = 0; l < levels_; ++l) {
    add(Cause::wire, LevelId(l), wire(LevelId(l)));
  }
  for (std::size_t l = 0; l < levels_; ++l) {
    add(Cause::sharing, LevelId(l), sharing(LevelId(l)));
  }
  for (std::size_t l = 0; l < levels_; ++l) {
    add(Cause::latency, LevelId(l), latency(LevelId(l)));
  }
  return parts;
}

}  // namespace collsim
