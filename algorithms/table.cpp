#include "algorithms/table.hpp"

#include <algorithm>

#include "algorithms/pattern.hpp"
#include "topology/error.hpp"

namespace collsim {

// Each algorithm's file describes it in one function.
Algorithm naive();
Algorithm ring();
Algorithm tree();
Algorithm double_tree();
Algorithm recursive_doubling();
Algorithm halving_doubling();
Algorithm bruck();
Algorithm direct();
Algorithm direct_one_shot();
Algorithm pairwise();
Algorithm hierarchical();

std::span<const Algorithm> algorithms() {
  static const std::vector<Algorithm> table{
      naive(),
      ring(),
      tree(),
      double_tree(),
      recursive_doubling(),
      halving_doubling(),
      bruck(),
      direct(),
      direct_one_shot(),
      pairwise(),
      hierarchical(),
  };
  return table;
}

std::optional<std::string> no_obstacle(const ProgramRequest&) { return std::nullopt; }

bool implements(const Algorithm& algorithm, CollectiveKind kind) {
  return std::find(algorithm.collectives.begin(), algorithm.collectives.end(), kind) !=
         algorithm.collectives.end();
}

namespace {

std::vector<std::string> names_for(CollectiveKind kind) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) {
    if (implements(algorithm, kind)) {
      names.emplace_back(algorithm.name);
    }
  }
  return names;
}

void check(const ProgramRequest& request) {
  const CollectiveCall& call = request.call;
  COLLSIM_ENSURE(call.ranks >= 1 && call.count >= 0, "a call without ranks or of negative size");
  if (has_root(call.kind) && call.root.value() >= call.ranks) {
    throw InputError("there is no rank " + std::to_string(call.root.value()) + " among " +
                         std::to_string(call.ranks) + " ranks",
                     "root");
  }
  if (call.in_place == InPlace::Yes && !allows_in_place(call.kind)) {
    throw InputError(std::string(name_of(call.kind)) +
                     " cannot run in place: its blocks would be overwritten before they are sent");
  }
}

}  // namespace

const Algorithm& find_algorithm(std::string_view name) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) {
      return algorithm;
    }
    names.emplace_back(algorithm.name);
  }
  throw InputError("unknown algorithm " + in_quotes(name) + "; expected " + one_of(names), {},
                   did_you_mean(std::string(name), names));
}

std::vector<const Algorithm*> applicable_algorithms(const ProgramRequest& request) {
  std::vector<const Algorithm*> applicable;
  for (const Algorithm& algorithm : algorithms()) {
    if (implements(algorithm, request.call.kind) && !algorithm.obstacle(request)) {
      applicable.push_back(&algorithm);
    }
  }
  return applicable;
}

std::unique_ptr<Program> build_program(const Algorithm& algorithm, const ProgramRequest& request) {
  const CollectiveCall& call = request.call;
  check(request);
  if (!implements(algorithm, call.kind)) {
    throw InputError(std::string(algorithm.name) + " does not implement " +
                     std::string(name_of(call.kind)) + "; expected " +
                     one_of(names_for(call.kind)));
  }
  if (const auto obstacle = algorithm.obstacle(request)) {
    throw InputError(std::string(algorithm.name) + " does not apply: " + *obstacle);
  }
  if (call.ranks == 1 || call.count == 0) {
    return partition(std::string(algorithm.name), call, nullptr, 1, 1);
  }
  return algorithm.build(request);
}

}  // namespace collsim
