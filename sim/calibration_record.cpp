#include "sim/calibration_record.hpp"

#include <algorithm>

#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

std::string range_text(const std::string& least, const std::string& most) {
  return least == most ? least : least + " to " + most;
}

}  // namespace

std::string_view name_of(ParameterTier tier) {
  switch (tier) {
    case ParameterTier::Fitted:
      return "fitted";
    case ParameterTier::Generation:
      return "generation";
    case ParameterTier::Nominal:
      return "nominal";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

std::vector<std::string> outside(const CalibrationRecord& record, const CollectiveCall& call,
                                 std::uint32_t nodes) {
  std::vector<std::string> reasons;
  if (std::ranges::find(record.collectives, call.kind) == record.collectives.end()) {
    std::vector<std::string> names;
    for (const CollectiveKind kind : record.collectives) {
      names.emplace_back(name_of(kind));
    }
    reasons.push_back(std::string(name_of(call.kind)) + " (fitted: " + one_of(names) + ")");
  }
  const Bytes size = call.size();
  if (size < record.least_bytes || size > record.most_bytes) {
    reasons.push_back(to_text(size) + " (fitted: " +
                      range_text(to_text(record.least_bytes), to_text(record.most_bytes)) + ")");
  }
  if (nodes > record.most_nodes) {
    reasons.push_back(
        std::to_string(nodes) + " nodes (fitted: " +
        (record.most_nodes == 1 ? "1" : "up to " + std::to_string(record.most_nodes)) + ")");
  } else if (call.ranks < record.least_ranks || call.ranks > record.most_ranks) {
    reasons.push_back(
        std::to_string(call.ranks) + " ranks (fitted: " +
        range_text(std::to_string(record.least_ranks), std::to_string(record.most_ranks)) + ")");
  }
  return reasons;
}

}  // namespace collsim
