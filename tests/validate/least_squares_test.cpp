#include "validate/least_squares.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"

using namespace collsim;

namespace {

/// time = alpha + beta · x, in units of their starts, which are 1: measured with alpha = 2, beta = 3.
FitFunction line(const std::vector<double>& sizes, const std::vector<double>& stalls = {}) {
  return [sizes, stalls](const std::vector<double>& parameters) {
    FitEvaluation evaluation;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double alpha = std::exp(parameters[0]);
      const double beta = std::exp(parameters[1]);
      const double predicted = alpha + beta * sizes[i];
      const double measured = (2 + 3 * sizes[i]) * (stalls.empty() ? 1 : stalls[i]);
      evaluation.residuals.push_back(std::log(predicted / measured));
      evaluation.jacobian.push_back(alpha / predicted);
      evaluation.jacobian.push_back(beta * sizes[i] / predicted);
    }
    return evaluation;
  };
}

const std::vector<double> sizes{0.01, 0.1, 0.5, 1, 2, 10, 100};
const std::vector<double> equal(sizes.size(), 1);
const std::vector<FitBounds> wide(2, {-3, 3});

FitOptions without_pull() {
  FitOptions options;
  options.pull = 0;
  options.least_gain = 1e-9;
  return options;
}

}  // namespace

TEST_CASE("least squares finds what made the data") {
  const FitResult fit = least_squares(line(sizes), wide, equal, without_pull());
  CHECK(std::exp(fit.parameters[0]) == Approx(2).epsilon(1e-4));
  CHECK(std::exp(fit.parameters[1]) == Approx(3).epsilon(1e-4));
  CHECK(fit.converged);
}

TEST_CASE("a single stall moves a robust fit little") {
  std::vector<double> stalls(sizes.size(), 1);
  stalls[3] = 5;
  const FitResult fit = least_squares(line(sizes, stalls), wide, equal, without_pull());
  // Plain least squares of the logarithms would take a share of ln 5 = 1.6 for either.
  CHECK(std::exp(fit.parameters[0]) == Approx(2).epsilon(0.05));
  CHECK(std::exp(fit.parameters[1]) == Approx(3).epsilon(0.05));
}

TEST_CASE("a fit stays within its bounds, and the others make up for it") {
  // beta may at most be 2: the best alpha for the small sizes stays near 2.
  const FitResult fit = least_squares(line({0.001, 0.002, 0.004}), {{-3, 3}, {-3, std::log(2.0)}},
                                      std::vector<double>(3, 1), without_pull());
  CHECK(fit.parameters[1] <= std::log(2.0));
  CHECK(std::exp(fit.parameters[0]) == Approx(2).epsilon(0.01));
}

TEST_CASE("what the data do not decide stays at the start and is said to be uncertain") {
  // Sizes so small that beta has no effect to speak of.
  FitOptions options;
  const FitResult fit =
      least_squares(line({1e-6, 2e-6, 3e-6, 4e-6}), wide, std::vector<double>(4, 1), options);
  CHECK(std::exp(fit.parameters[1]) == Approx(1).epsilon(0.01));
  CHECK(std::exp(fit.parameters[0]) == Approx(2).epsilon(0.01));
}

TEST_CASE("weights decide between data that contradict each other") {
  // One size, measured as 5 and, with three times the weight, as 6 (of alpha + beta, beta held at 1).
  const FitFunction two = [](const std::vector<double>& parameters) {
    const double predicted = std::exp(parameters[0]);
    return FitEvaluation{{std::log(predicted / 5), std::log(predicted / 6)}, {1, 1}};
  };
  FitOptions options = without_pull();
  options.scale = 100;  // plain squares: the weighted mean of the logarithms
  const FitResult fit = least_squares(two, {{-3, 3}}, {1, 3}, options);
  CHECK(fit.parameters[0] == Approx((std::log(5.0) + 3 * std::log(6.0)) / 4).epsilon(1e-4));
}

TEST_CASE("a fit ends when it is told to") {
  FitOptions options = without_pull();
  int calls = 0;
  options.progress = [&](int, double) { return ++calls < 2; };
  const FitResult fit = least_squares(line(sizes), wide, equal, options);
  CHECK(calls == 2);
  CHECK_FALSE(fit.converged);
}

TEST_CASE("the same fit gives the same bits") {
  const FitResult once = least_squares(line(sizes), wide, equal);
  const FitResult twice = least_squares(line(sizes), wide, equal);
  CHECK(once.parameters == twice.parameters);
  CHECK(once.standard_errors == twice.standard_errors);
}
