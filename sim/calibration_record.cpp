#include "sim/calibration_record.hpp"

#include <algorithm>
#include <iterator>

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

std::vector<OutsideFit> outside(const CalibrationRecord& record, const CollectiveCall& call,
                                std::uint32_t nodes) {
  std::vector<OutsideFit> found;
  if (std::ranges::find(record.collectives, call.kind) == record.collectives.end()) {
    std::vector<std::string> names;
    names.reserve(record.collectives.size());
    for (const CollectiveKind kind : record.collectives) {
      names.emplace_back(name_of(kind));
    }
    found.push_back({"collective", std::string(name_of(call.kind)), one_of(names)});
  }
  const Bytes size = call.size();
  if (size < record.least_bytes || size > record.most_bytes) {
    found.push_back({"size", to_text(size),
                     range_text(to_text(record.least_bytes), to_text(record.most_bytes))});
  }
  if (nodes > record.most_nodes) {
    found.push_back(
        {"nodes", std::to_string(nodes), range_text("1", std::to_string(record.most_nodes))});
  } else if (call.ranks < record.least_ranks || call.ranks > record.most_ranks) {
    found.push_back(
        {"ranks", std::to_string(call.ranks),
         range_text(std::to_string(record.least_ranks), std::to_string(record.most_ranks))});
  }
  return found;
}

std::vector<OutsideFit> outside(const std::vector<CalibrationRecord>& records,
                                const CollectiveCall& call, std::uint32_t nodes) {
  std::vector<OutsideFit> found;
  for (const CalibrationRecord& record : records) {
    std::ranges::move(outside(record, call, nodes), std::back_inserter(found));
  }
  return found;
}

}  // namespace collsim
