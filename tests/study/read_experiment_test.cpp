#include "study/io/read_experiment.hpp"

#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr const char* whole = R"(name: grid
base: { cluster: textbook-star, collective: all_reduce, set: { nodes: 2 }, env: { NCCL_ALGO: Ring } }
axes:
  bytes: { from: 1KiB, to: 64KiB, factor: 4 }
  speed: { vary: set.link.bandwidth, values: [50 GB/s, 100 GB/s] }
  who:
    values:
      - { label: some, number: 2, ranks: 2, algorithm: ring }
      - { label: all, number: 8, ranks: 8, algorithm: tree }
constraints:
  - not (who == 'all' and bytes > 4KiB)
cost:
  price: { gpu: 100 * speed, switch: 5 }
derived:
  worth: busbw_GBps / price
metrics: [time_us, worth]
plot: { kind: lines, x: bytes, y: worth, panels: who, x_scale: log }
)";

std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = whole;
  const std::size_t at = text.find(old_text);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old_text.size(), new_text);
}

/// The first line of what is said about a text.
std::string fault(const std::string& text) {
  try {
    static_cast<void>(parse_experiment(text, "x.yaml"));
  } catch (const InputError& error) {
    const std::string all = error.render();
    return all.substr(0, all.find('\n'));
  }
  return "none";
}

}  // namespace

TEST_CASE("An experiment is read and expanded") {
  const LoadedExperiment loaded = parse_experiment(whole, "x.yaml");
  const Experiment& experiment = loaded.experiment;
  REQUIRE(experiment.axes.size() == 3);
  // 1, 4, 16, 64 KiB; 2 speeds; "some" at all sizes, "all" at two of them.
  CHECK(experiment.axes[0].values.size() == 4);
  CHECK(loaded.points.size() == 4 * 2 + 2 * 2);
  CHECK(point_text(experiment, loaded.points.front()) == "bytes=1 KiB, speed=50 GB/s, who=some");
  CHECK(point_text(experiment, loaded.points.back()) == "bytes=64 KiB, speed=100 GB/s, who=some");
  std::string keys;
  for (const Assignment& one : assignments_at(experiment, loaded.points.front())) {
    keys += one.key + "=" + one.value + ";";
  }
  CHECK(keys ==
        "cluster=textbook-star;collective=all_reduce;set.nodes=2;env.NCCL_ALGO=Ring;bytes=1 KiB;"
        "set.link.bandwidth=50 GB/s;ranks=2;algorithm=ring;");
  REQUIRE(experiment.plot);
  // What is not said: the axes that nothing else shows.
  CHECK(experiment.plot->series == std::vector<std::string>{"speed"});
}

TEST_CASE("Ranges end at the last value that is not beyond, however they grow") {
  const auto labels = [](const std::string& range) {
    const LoadedExperiment loaded = parse_experiment(
        with("bytes: { from: 1KiB, to: 64KiB, factor: 4 }", "root: " + range + "\n  bytes: [8]"),
        "x.yaml");
    std::string all;
    for (const AxisValue& value : loaded.experiment.axes.front().values) {
      all += value.label + " ";
    }
    return all;
  };
  CHECK(labels("{ from: 1, to: 8, step: 3 }") == "1 4 7 ");
  CHECK(labels("{ from: 1, to: 7, step: 3 }") == "1 4 7 ");
  CHECK(labels("{ from: 3, to: 3, step: 1 }") == "3 ");
  CHECK(labels("{ from: 3, to: 100, factor: 5 }") == "3 15 75 ");
  CHECK(labels("{ from: 3, to: 75, factor: 5 }") == "3 15 75 ");
  // 2^63 - 1 is where numbers end.
  CHECK(labels("{ from: 5, to: 9223372036854775807, step: 9223372036854775800 }") ==
        "5 9223372036854775805 ");
  CHECK(labels("{ from: 1, to: 9223372036854775807, factor: 4611686018427387904 }") ==
        "1 4611686018427387904 ");
}

TEST_CASE("Ranges without a rule, with two, or with none that ends are refused") {
  const auto fault_of = [](const std::string& range) {
    return fault(with("{ from: 1KiB, to: 64KiB, factor: 4 }", range));
  };
  CHECK(fault_of("{ from: 1KiB, to: 4KiB }") ==
        "x.yaml:4:10: error: axes.bytes: missing key \"factor\"");
  CHECK(fault_of("{ from: 1KiB, factor: 2 }") ==
        "x.yaml:4:10: error: axes.bytes: missing key \"to\"");
  CHECK(fault_of("{ from: 1, to: 4, factor: 2, step: 1 }") ==
        "x.yaml:4:39: error: axes.bytes.step: has no place beside factor");
  CHECK(fault_of("{ from: 1, to: 4, factor: 1 }") ==
        "x.yaml:4:36: error: axes.bytes.factor: expected a factor of at least 2, got 1");
  CHECK(fault_of("{ from: 1, to: 4, step: 0 }") ==
        "x.yaml:4:34: error: axes.bytes.step: expected a step of at least 1, got 0");
  CHECK(fault_of("{ from: 0, to: 4, factor: 2 }") ==
        "x.yaml:4:18: error: axes.bytes.from: expected at least 1 and at most 4 (to), got 0");
  CHECK(fault_of("{ from: 5, to: 4, step: 2 }") ==
        "x.yaml:4:18: error: axes.bytes.from: expected at most 4 (to), got 5");
  CHECK(fault_of("{ from: 0, to: 10000, step: 1 }") ==
        "x.yaml:4:18: error: axes.bytes.from: gives more than 10000 values");
}

TEST_CASE("Files are named relative to the experiment's") {
  const LoadedExperiment loaded = parse_experiment(
      with("cluster: textbook-star", "cluster: machines/own.yaml"), "studies/x.yaml");
  CHECK(loaded.experiment.base.front().value == "studies/machines/own.yaml");
}

TEST_CASE("Keys and values that are not known are refused at their place") {
  CHECK(fault(with("axes:", "axis:")) ==
        "x.yaml:3:1: error: axis: unknown key, did you mean \"axes\"?");
  CHECK(fault(with("cluster: textbook-star", "clustre: textbook-star")) ==
        "x.yaml:2:9: error: base.clustre: unknown key, did you mean \"cluster\"?");
  CHECK(fault(with("all_reduce", "all_redcue")) ==
        "x.yaml:2:45: error: base.collective: unknown collective \"all_redcue\", did you mean "
        "\"all_reduce\"?");
  CHECK(fault(with("algorithm: ring", "algorithm: rin")) ==
        "x.yaml:8:56: error: axes.who.values[0].algorithm: unknown algorithm \"rin\", did you mean "
        "\"ring\"?");
  CHECK(fault(with("ranks: 2", "ranks: two")) ==
        "x.yaml:8:42: error: axes.who.values[0].ranks: expected a whole number from 1 on, got "
        "\"two\"");
  CHECK(fault(with("vary: set.link.bandwidth", "vary: link.bandwidth")) ==
        "x.yaml:5:18: error: axes.speed.vary: unknown key of the job \"link.bandwidth\"");
  CHECK(fault(with("gpu: 100", "gpus: 100")) ==
        "x.yaml:13:12: error: cost.price.gpus: unknown key, did you mean \"gpu\"?");
  CHECK(fault(with("[time_us, worth]", "[time_us, wort]")) ==
        "x.yaml:16:20: error: metrics[1]: unknown metric \"wort\", did you mean \"worth\"?");
  CHECK(fault(with("y: worth", "y: wort")) ==
        "x.yaml:17:35: error: plot.y: unknown metric \"wort\", did you mean \"worth\"?");
  CHECK(fault(with("x: bytes", "x: byte")) ==
        "x.yaml:17:25: error: plot.x: unknown axis \"byte\", did you mean \"bytes\"?");
  CHECK(fault(with("kind: lines", "kind: line")) ==
        "x.yaml:17:15: error: plot.kind: expected lines, heat-map or pareto, got \"line\"");
}

TEST_CASE("Formulas are refused at the character that is wrong") {
  CHECK(fault(with("bytes > 4KiB", "byte > 4KiB")) ==
        "x.yaml:11:27: error: constraints[0]: unknown name \"byte\", did you mean \"bytes\"?");
  CHECK(fault(with("not (who == 'all' and bytes > 4KiB)", "\"bytes >\"")) ==
        "x.yaml:11:13: error: constraints[0]: expected a value, got the end");
  CHECK(fault(with("100 * speed", "100 * who * wh")) ==
        "x.yaml:13:29: error: cost.price.gpu: unknown name \"wh\", did you mean \"who\"?");
  CHECK(fault(with("busbw_GBps / price", "busbw_GBps > price")) ==
        "x.yaml:15:10: error: derived.worth: expected a number, got a condition");
}

TEST_CASE("A grid that contradicts itself is refused") {
  CHECK(fault(with("ranks: 8, algorithm: tree", "collective: broadcast")) ==
        "x.yaml:6:3: error: axes.who: \"collective\" has a value from base already");
  CHECK(fault(with("[50 GB/s, 100 GB/s]", "[50 GB/s, 50 GB/s]")) ==
        "x.yaml:5:56: error: axes.speed.values[1]: \"50 GB/s\" is given twice");
  CHECK(fault(with("bytes: { from: 1KiB, to: 64KiB, factor: 4 }", "nodes: [1, 2]")) ==
        "x.yaml:1:1: error: no value for \"bytes\"");
  CHECK(fault(with("label: some, ", "")) ==
        "x.yaml:8:9: error: axes.who.values[0]: missing key \"label\"");
  CHECK(
      fault(with("speed: { vary: set.link.bandwidth, ", "speed: { ")) ==
      "x.yaml:5:21: error: axes.speed.values[0]: which key of the job has the value \"50 GB/s\"?");
  CHECK(fault(with("not (who == 'all' and bytes > 4KiB)", "bytes < 1KiB")) ==
        "x.yaml:11:3: error: constraints: leave none of the axes' 16 combinations");
  CHECK(fault(with("  speed:", "  time_us:")) ==
        "x.yaml:5:3: error: axes.time_us: \"time_us\" is the name of a metric");
  CHECK(fault(with("worth: busbw", "bytes: busbw")) ==
        "x.yaml:15:3: error: derived.bytes: \"bytes\" is the name of an axis");
  CHECK(fault(with("  who:", "  wh-o:")) ==
        "x.yaml:6:3: error: axes.wh-o: expected a name of letters, digits and _, got \"wh-o\"");
  CHECK(fault(with("panels: who", "series: [who]")) ==
        "x.yaml:17:7: error: plot: shows two points at one place: bytes=1 KiB, speed=50 GB/s, "
        "who=some and bytes=1 KiB, speed=100 GB/s, who=some");
}

TEST_CASE(
    "A constraint without a value at a point is refused, unless one before leaves the point out") {
  const std::string before = "not (who == 'all' and bytes > 4KiB)";
  CHECK(fault(with(before, "4 / (speed - 50) < 1")) ==
        "x.yaml:11:5: error: constraints[0]: has no value at bytes=1 KiB, speed=50 GB/s, who=some: "
        "it "
        "divides by zero, or a number becomes too large");
  CHECK(fault(with(before, "bytes > 0\n  - 4 / (speed - 50) < 1"))
            .starts_with("x.yaml:12:5: error: constraints[1]: has no value at "));
  CHECK(fault(with(before, "speed > 50\n  - 4 / (speed - 50) < 1")) == "none");
  CHECK(fault(with(before, "speed == 50 or 4 / (speed - 50) < 1")) == "none");
}

TEST_CASE("It is known where the values of base stand") {
  const LoadedExperiment loaded = parse_experiment(whole, "x.yaml");
  const auto place = [&](const std::string& key) {
    const SourceLocation& at = loaded.base_places.at(key);
    return at.file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  };
  CHECK(loaded.base_places.size() == 4);
  CHECK(place("cluster") == "x.yaml:2:18");
  CHECK(place("set.nodes") == "x.yaml:2:71");
  CHECK(place("env.NCCL_ALGO") == "x.yaml:2:94");
}

TEST_CASE("A logarithmic scale is refused for an axis without numbers above 0") {
  CHECK(fault(with("x: bytes, y: worth, panels: who", "x: who, y: worth, panels: bytes")) ==
        "none");
  CHECK(fault(with("x: bytes, y: worth, panels: who, x_scale: log",
                   "x: speed, y: worth, panels: bytes, x_scale: log")) == "none");
  CHECK(fault(with("label: some, number: 2,", "label: some, number: 0,")) == "none");
  CHECK(fault(with("label: some, number: 2,", "label: some,")) == "none");
  std::string text = with("x: bytes, y: worth, panels: who", "x: who, y: worth, panels: bytes");
  text.replace(text.find("number: 2"), 9, "number: 0");
  CHECK(fault(text) ==
        "x.yaml:17:64: error: plot.x_scale: a logarithmic scale needs numbers above 0, and a value "
        "of "
        "\"who\" is \"some\"");
  text.replace(text.find("number: 0, "), 11, "");
  CHECK(fault(text).starts_with("x.yaml:17:64: error: plot.x_scale: a logarithmic scale needs"));
}

TEST_CASE("Ranges beyond 63 bits are refused") {
  CHECK(fault(with("from: 1KiB, to: 64KiB, factor: 4",
                   "from: 1, to: 18446744073709551615, step: 9223372036854775807"))
            .starts_with("x.yaml:4:25: error: axes.bytes.to: expected a whole number or a size"));
}

TEST_CASE("More points than anybody waits for are refused") {
  CHECK(
      fault(with("bytes: { from: 1KiB, to: 64KiB, factor: 4 }",
                 "root: { from: 0, to: 5000, step: 1 }\n"
                 "  bytes: { from: 0, to: 5000, step: 1 }"))
          .ends_with(
              "axes.bytes: up to this one the axes have 25010001 combinations, more than 1000000"));
}

}  // namespace collsim
