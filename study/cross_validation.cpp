#include "study/cross_validation.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "topology/error.hpp"

namespace collsim {

namespace {

/// The group of a call, as a key that sorts and a text.
struct Group {
  std::uint64_t order = 0;
  std::string text;

  auto operator<=>(const Group&) const = default;
};

Group group_of(LeftOut kind, const MeasuredCall& call) {
  switch (kind) {
    case LeftOut::Sizes: {
      const auto octave = static_cast<std::uint64_t>(
          std::bit_width(static_cast<std::uint64_t>(call.row->bytes.count())));
      return {octave % 2, octave % 2 == 0 ? "even octaves" : "odd octaves"};
    }
    case LeftOut::Ranks:
      return {call.call.ranks, std::to_string(call.call.ranks) + " ranks"};
    case LeftOut::Collectives:
      return {static_cast<std::uint64_t>(call.call.kind), std::string(name_of(call.call.kind))};
    case LeftOut::Machines:
      return {0, call.table->machine};
    case LeftOut::Versions:
      return {0, "NCCL " + call.table->nccl};
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

std::size_t least_groups(LeftOut kind) { return kind == LeftOut::Ranks ? 3 : 2; }

}  // namespace

std::string_view name_of(LeftOut what) {
  switch (what) {
    case LeftOut::Sizes:
      return "sizes";
    case LeftOut::Ranks:
      return "ranks";
    case LeftOut::Collectives:
      return "collectives";
    case LeftOut::Machines:
      return "machines";
    case LeftOut::Versions:
      return "versions";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

std::vector<Fold> cross_validate(const std::vector<MeasuredCall>& calls,
                                 const CostParameters& start, const CalibrationOptions& options,
                                 std::span<const LeftOut> kinds,
                                 const std::function<void(const std::string& left_out)>& begin) {
  std::vector<Fold> folds;
  for (const LeftOut kind : kinds) {
    std::map<Group, std::vector<MeasuredCall>> groups;
    for (const MeasuredCall& call : calls) {
      groups[group_of(kind, call)].push_back(call);
    }
    if (groups.size() < least_groups(kind)) {
      continue;
    }
    for (const auto& [group, left_out] : groups) {
      if (begin) {
        begin(group.text);
      }
      std::vector<MeasuredCall> rest;
      std::ranges::copy_if(calls, std::back_inserter(rest),
                           [&](const MeasuredCall& call) { return group_of(kind, call) != group; });
      const Calibration fitted = calibrate(rest, start, options);
      folds.push_back(
          {kind, group.text, prediction_errors(left_out, fitted.parameters, options.for_each)});
    }
  }
  return folds;
}

}  // namespace collsim
