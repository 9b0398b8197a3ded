#include "sim/attribution.hpp"

namespace collsim {

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::Compute:
      return "compute";
    case Cause::CreditWait:
      return "credit_wait";
    case Cause::Wire:
      return "wire";
    case Cause::Sharing:
      return "sharing";
    case Cause::Latency:
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
  add(Cause::Compute, std::nullopt, compute());
  add(Cause::CreditWait, std::nullopt, credit_wait());
  for (std::size_t l = 0; l < levels_; ++l) {
    add(Cause::Wire, LevelId(l), wire(LevelId(l)));
  }
  for (std::size_t l = 0; l < levels_; ++l) {
    add(Cause::Sharing, LevelId(l), sharing(LevelId(l)));
  }
  for (std::size_t l = 0; l < levels_; ++l) {
    add(Cause::Latency, LevelId(l), latency(LevelId(l)));
  }
  return parts;
}

}  // namespace collsim
