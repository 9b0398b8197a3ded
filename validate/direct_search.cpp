#include "validate/direct_search.hpp"

#include <nlopt.h>

#include <exception>
#include <memory>

#include "topology/error.hpp"

namespace collsim {

namespace {

struct Search {
  const std::function<double(const std::vector<double>&)>* function;
  nlopt_opt optimizer;
  std::exception_ptr failure;
  SearchResult best;
  bool any = false;
};

/// BOBYQA interpolates with a quadratic in so many dimensions at least.
constexpr std::size_t least_dimensions = 2;

// The library is C: no exception may pass through it.
double call(unsigned size, const double* values, double* /*gradient*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (search.failure) {
    return 0;
  }
  try {
    const std::vector<double> at(values, values + size);
    const double objective = (*search.function)(at);
    if (!search.any || objective < search.best.objective) {
      search.best = {at, objective};
      search.any = true;
    }
    return objective;
  } catch (...) {
    search.failure = std::current_exception();
    nlopt_force_stop(search.optimizer);
    return 0;
  }
}

}  // namespace

SearchResult direct_search(const std::function<double(const std::vector<double>& values)>& function,
                           const std::vector<SearchRange>& ranges, int evaluations) {
  COLLSIM_ENSURE(!ranges.empty(), "something to search for");
  const nlopt_algorithm algorithm =
      ranges.size() < least_dimensions ? NLOPT_LN_SBPLX : NLOPT_LN_BOBYQA;
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimizer(
      nlopt_create(algorithm, static_cast<unsigned>(ranges.size())), nlopt_destroy);
  std::vector<double> least;
  std::vector<double> most;
  std::vector<double> at;
  std::vector<double> step;
  constexpr double first_step = 0.2;  // of the range
  for (const SearchRange& range : ranges) {
    COLLSIM_ENSURE(range.least < range.most, "a range that is not empty");
    least.push_back(range.least);
    most.push_back(range.most);
    at.push_back(range.start);
    step.push_back(first_step * (range.most - range.least));
  }
  Search search{&function, optimizer.get(), nullptr, {}, false};
  nlopt_set_lower_bounds(optimizer.get(), least.data());
  nlopt_set_upper_bounds(optimizer.get(), most.data());
  nlopt_set_initial_step(optimizer.get(), step.data());
  nlopt_set_min_objective(optimizer.get(), call, &search);
  nlopt_set_maxeval(optimizer.get(), evaluations);
  constexpr double close = 1e-3;
  nlopt_set_xtol_rel(optimizer.get(), close);
  double reached = 0;
  static_cast<void>(nlopt_optimize(optimizer.get(), at.data(), &reached));
  if (search.failure) {
    std::rethrow_exception(search.failure);
  }
  COLLSIM_ENSURE(search.any, "the function was called");
  return search.best;
}

}  // namespace collsim
