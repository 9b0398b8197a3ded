#include "study/prediction_errors.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "validate/error_statistics.hpp"

namespace collsim {

ForEach one_by_one() {
  return [](std::size_t count, const std::function<void(std::size_t)>& body) {
    for (std::size_t i = 0; i < count; ++i) {
      body(i);
    }
  };
}

CalibrationRecord record_of(const std::vector<MeasuredCall>& calls,
                            std::span<const double> errors) {
  CalibrationRecord record;
  std::set<std::string> machines;
  std::set<std::string> versions;
  std::set<CollectiveKind> collectives;
  for (const MeasuredCall& call : calls) {
    machines.insert(call.table->machine);
    versions.insert(call.table->nccl);
    collectives.insert(call.call.kind);
    const Bytes size = call.call.size();
    const bool first = record.most_ranks == 0;
    record.least_bytes = first ? size : std::min(record.least_bytes, size);
    record.most_bytes = std::max(record.most_bytes, size);
    record.least_ranks = first ? call.call.ranks : std::min(record.least_ranks, call.call.ranks);
    record.most_ranks = std::max(record.most_ranks, call.call.ranks);
    record.most_nodes = std::max(record.most_nodes, call.table->nodes);
  }
  record.machines.assign(machines.begin(), machines.end());
  record.nccl.assign(versions.begin(), versions.end());
  record.collectives.assign(collectives.begin(), collectives.end());
  const ErrorSummary summary = summarize(errors);
  record.points = summary.points;
  record.median_error = summary.median_abs;
  record.p90_error = summary.p90_abs;
  return record;
}

std::vector<double> prediction_errors(const std::vector<MeasuredCall>& calls,
                                      const CostParameters& costs, const ForEach& for_each) {
  std::vector<double> errors(calls.size());
  (for_each ? for_each : one_by_one())(calls.size(), [&](std::size_t i) {
    errors[i] = relative_error(predict(calls[i], costs).time, calls[i].row->time);
  });
  return errors;
}

}  // namespace collsim
