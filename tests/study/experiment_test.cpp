#include "study/experiment.hpp"

#include "study/pareto.hpp"
#include "tests/catch.hpp"

namespace collsim {

namespace {

AxisValue value(const std::string& label, const std::string& key) {
  return {label, number_of(label), {{key, label}}};
}

/// Two axes: 2 algorithms, 3 counts of nodes.
Experiment two_by_three() {
  Experiment experiment;
  experiment.name = "test";
  experiment.base = {{"cluster", "c"}, {"bytes", "1KiB"}};
  experiment.axes = {{"algorithm", {value("ring", "algorithm"), value("tree", "algorithm")}},
                     {"nodes", {value("1", "nodes"), value("2", "nodes"), value("4", "nodes")}}};
  return experiment;
}

std::vector<std::string> texts(const Experiment& experiment) {
  std::vector<std::string> all;
  for (const SweepPoint& point : expand(experiment)) {
    all.push_back(point_text(experiment, point));
  }
  return all;
}

void constrain(Experiment& experiment, const std::string& condition) {
  experiment.constraints.push_back(
      Expression::parse(condition, names_of_grid(experiment), Expression::Gives::Truth));
}

Expression number(const std::string& text, const KnownNames& known) {
  return Expression::parse(text, known, Expression::Gives::Number);
}

}  // namespace

TEST_CASE("A grid has all combinations, the first axis slowest") {
  CHECK(texts(two_by_three()) ==
        std::vector<std::string>{"algorithm=ring, nodes=1", "algorithm=ring, nodes=2",
                                 "algorithm=ring, nodes=4", "algorithm=tree, nodes=1",
                                 "algorithm=tree, nodes=2", "algorithm=tree, nodes=4"});
}

TEST_CASE("Constraints leave points out, each of them") {
  Experiment experiment = two_by_three();
  constrain(experiment, "nodes * 1KiB >= 2 * bytes");
  constrain(experiment, "not (algorithm == 'tree' and nodes > 2)");
  CHECK(texts(experiment) == std::vector<std::string>{"algorithm=ring, nodes=2",
                                                      "algorithm=ring, nodes=4",
                                                      "algorithm=tree, nodes=2"});
}

TEST_CASE("A point's keys are those of base, then the axes'") {
  const Experiment experiment = two_by_three();
  const std::vector<Assignment> all = assignments_at(experiment, SweepPoint{{1, 2}});
  std::string text;
  for (const Assignment& one : all) {
    text += one.key + "=" + one.value + ";";
  }
  CHECK(text == "cluster=c;bytes=1KiB;algorithm=tree;nodes=4;");
}

TEST_CASE("A digest covers what is simulated and the version, not what is made of it") {
  const Experiment experiment = two_by_three();
  const std::string digest = digest_of(experiment, expand(experiment), "1");
  CHECK(digest_of(experiment, expand(experiment), "1") == digest);
  CHECK(digest_of(experiment, expand(experiment), "2") != digest);
  Experiment other = experiment;
  other.base[1].value = "2KiB";
  CHECK(digest_of(other, expand(other), "1") != digest);
  other = experiment;
  constrain(other, "nodes < 4");
  CHECK(digest_of(other, expand(other), "1") != digest);
  other = experiment;
  other.metrics = {"time_us"};
  other.description = "more words";
  CHECK(digest_of(other, expand(other), "1") == digest);
}

TEST_CASE("Texts have the numbers that they stand for") {
  CHECK(number_of("8") == 8);
  CHECK(number_of("0.5") == 0.5);
  CHECK(number_of("4KiB") == 4096);
  CHECK(number_of("64K") == 65536);
  CHECK(number_of("400 Gb/s") == 50);
  CHECK(number_of("1.5 us") == 1.5);
  CHECK(number_of("ring") == std::nullopt);
  CHECK(number_of("inf") == std::nullopt);
  CHECK(number_of("nan") == std::nullopt);
}

TEST_CASE("Costs are amounts times parts, and formulas may use them") {
  Experiment experiment = two_by_three();
  KnownNames known = names_of_grid(experiment);
  experiment.costs = {
      {"price",
       {{"cluster_gpus", number("1000 * nodes", known)}, {"cluster_nics", number("500", known)}}}};
  known["price"] = {true, false};
  known["time_us"] = {true, false};
  experiment.derived = {{"worth", number("price / time_us", known)}};
  const std::vector<MetricValue> simulated{
      {"time_us", 10}, {"cluster_gpus", 8}, {"cluster_nics", 4}};
  const std::vector<MetricValue> all = all_metrics(experiment, SweepPoint{{0, 1}}, simulated);
  REQUIRE(all.size() == 5);
  // 2 nodes: 8 GPUs of 2,000 and 4 NICs of 500; a tenth of it.
  CHECK(all[3].name == "price");
  CHECK(all[3].value == 18000);
  CHECK(all[4].value == 1800);
}

TEST_CASE("A front has what nothing else betters in both figures") {
  const std::vector<ParetoPoint> points{{1, 5}, {2, 7}, {2, 6}, {3, 7}, {4, 9}, {{}, 100}, {2, 7}};
  // (2, 6) is worth less than (2, 7) at its price, (3, 7) dearer; (2, 7) is there twice.
  CHECK(pareto_front(points, Better::Lower, Better::Higher) ==
        std::vector<bool>{true, true, false, false, true, false, true});
  // Both low: only the first one.
  CHECK(pareto_front(points, Better::Lower, Better::Lower) ==
        std::vector<bool>{true, false, false, false, false, false, false});
  // Both high: only the last but two.
  CHECK(pareto_front(points, Better::Higher, Better::Higher) ==
        std::vector<bool>{false, false, false, false, true, false, false});
}

}  // namespace collsim
