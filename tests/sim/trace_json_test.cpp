#include "sim/io/trace_json.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/sim/programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using nlohmann::json;

std::string trace_of(const Cluster& cluster, const std::vector<Workload::Operation>& operations) {
  TraceJson trace(cluster.graph());
  RunOptions options;
  options.observer = &trace;
  run(cluster, operations, options);
  std::ostringstream text;
  trace.write(text);
  return text.str();
}

std::vector<json> events_of(const std::string& text, std::string_view phase) {
  std::vector<json> events;
  const json trace = json::parse(text);
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase) {
      events.push_back(event);
    }
  }
  return events;
}

std::int64_t nanoseconds(const json& number) {
  return static_cast<std::int64_t>(std::llround(number.get<double>() * 1000));
}

using TrackId = std::pair<int, int>;
TrackId track_of(const json& event) { return {event.at("pid"), event.at("tid")}; }

/// Slices of a track must nest, and arrows must lie inside slices.
void check_rules(const std::string& text) {
  std::map<TrackId, std::vector<std::pair<std::int64_t, std::int64_t>>> open;
  std::map<int, int> arrows;
  std::int64_t last = 0;
  const json trace = json::parse(text);
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") {
      continue;
    }
    const std::int64_t time = nanoseconds(event.at("ts"));
    CHECK(time >= last);
    last = time;
    CHECK(event.at("pid") > 0);
    CHECK(event.at("tid") > 0);
    auto& slices = open[track_of(event)];
    while (!slices.empty() && slices.back().second <= time) {
      slices.pop_back();
    }
    if (event.at("ph") == "X") {
      const std::int64_t end = time + nanoseconds(event.at("dur"));
      CHECK((slices.empty() || end <= slices.back().second));
      slices.emplace_back(time, end);
    } else {
      CHECK_FALSE(slices.empty());
      const bool begins = event.at("ph") == "s";
      CHECK((begins || event.at("bp") == "e"));
      arrows[event.at("id")] += begins ? 1 : -1;
      CHECK(arrows[event.at("id")] >= 0);
    }
  }
  for (const auto& [id, balance] : arrows) {
    CHECK(balance == 0);
  }
}

}  // namespace

TEST_CASE("a message as a trace, to the byte") {
  const Cluster cluster(mesh(2));
  TableProgram program = program_for(2);
  program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(1000_B).send(0));
  program.add(Rank(1), 0, step(1000_B).receive(0).to(output(0_B)));
  // 1000 bytes are 20 ns, the latency 1 us.
  const std::string expected = R"trace({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"rank 0 (gpu0)"}},
{"ph":"M","name":"process_sort_index","pid":1,"tid":1,"args":{"sort_index":1}},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"lane 0 (channel 0)"}},
{"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"args":{"sort_index":1}},
{"ph":"M","name":"process_name","pid":2,"tid":1,"args":{"name":"rank 1 (gpu1)"}},
{"ph":"M","name":"process_sort_index","pid":2,"tid":1,"args":{"sort_index":2}},
{"ph":"M","name":"thread_name","pid":2,"tid":1,"args":{"name":"lane 0 (channel 0)"}},
{"ph":"M","name":"thread_sort_index","pid":2,"tid":1,"args":{"sort_index":1}},
{"ph":"M","name":"process_name","pid":3,"tid":1,"args":{"name":"links"}},
{"ph":"M","name":"process_sort_index","pid":3,"tid":1,"args":{"sort_index":3}},
{"ph":"M","name":"thread_name","pid":3,"tid":1,"args":{"name":"gpu0 -> gpu1"}},
{"ph":"M","name":"thread_sort_index","pid":3,"tid":1,"args":{"sort_index":1}},
{"ph":"X","name":"rank 0 to 1","pid":3,"tid":1,"ts":0.000,"dur":0.020,"args":{"operation":0,"channel":0,"bytes":1000}},
{"ph":"X","name":"send","pid":1,"tid":1,"ts":0.000,"dur":0.020,"args":{"operation":0,"step":0,"bytes":1000}},
{"ph":"X","name":"receive","pid":2,"tid":1,"ts":0.000,"dur":1.020,"args":{"operation":0,"step":0,"bytes":1000}},
{"ph":"X","name":"wait","pid":2,"tid":1,"ts":0.000,"dur":1.020,"args":{}},
{"ph":"s","cat":"message","name":"message","id":1,"pid":1,"tid":1,"ts":0.000},
{"ph":"f","cat":"message","name":"message","id":1,"pid":2,"tid":1,"ts":1.019,"bp":"e"}
]}
)trace";
  CHECK(trace_of(cluster, {collective(std::move(program), gpus(cluster))}) == expected);
}

TEST_CASE("traces keep the rules of the viewers, whatever runs") {
  const Cluster cluster(star(6));
  const auto all = gpus(cluster);
  check_rules(trace_of(cluster, {collective("naive", CollectiveKind::AllGather, 60_KiB, all)}));
  check_rules(trace_of(
      cluster, {collective("ring", CollectiveKind::AllReduce, 1_MiB, all, Launch::Asynchronous),
                collective("tree", CollectiveKind::Broadcast, 1_MiB, gpus(cluster, {4, 2, 0})),
                collective("direct", CollectiveKind::AllGather, 60_KiB, all)}));
}

TEST_CASE("every rank and lane has a track, every busy link at least one") {
  const Cluster cluster(star(4));
  const std::string text =
      trace_of(cluster, {collective("direct", CollectiveKind::AllGather, 64_KiB, gpus(cluster))});
  std::map<std::string, int> names;
  std::set<std::string> links;
  for (const json& event : events_of(text, "M")) {
    if (event.at("name") == "process_name") {
      ++names[event.at("args").at("name")];
    }
    if (event.at("name") == "thread_name" && event.at("pid") == 5) {
      const std::string name = event.at("args").at("name");
      links.insert(name.substr(0, name.find(" #")));
    }
  }
  CHECK(names == std::map<std::string, int>{{"rank 0 (gpu0)", 1},
                                            {"rank 1 (gpu1)", 1},
                                            {"rank 2 (gpu2)", 1},
                                            {"rank 3 (gpu3)", 1},
                                            {"links", 1}});
  CHECK(links.size() == 8);
  CHECK(links.count("gpu0 -> switch") == 1);
  // An arrow a message.
  CHECK(events_of(text, "s").size() == 12);
  CHECK(events_of(text, "f").size() == 12);
}

TEST_CASE("operations that run at once have threads of their own, one after the other the same") {
  const Cluster cluster(star(3));
  const auto all = gpus(cluster);
  const auto threads = [&](Launch launch) {
    std::set<TrackId> tracks;
    const std::string text =
        trace_of(cluster, {collective("ring", CollectiveKind::AllGather, 3_KiB, all, launch),
                           collective("ring", CollectiveKind::AllGather, 3_KiB, all)});
    for (const json& event : events_of(text, "X")) {
      if (event.at("pid") < 4) {
        tracks.insert(track_of(event));
      }
    }
    return tracks.size();
  };
  CHECK(threads(Launch::Blocking) == 3);
  CHECK(threads(Launch::Asynchronous) == 6);
}

TEST_CASE("a GPU that is another rank in another operation is named without a rank") {
  const Cluster cluster(mesh(2));
  const std::string text = trace_of(
      cluster, {collective("ring", CollectiveKind::AllGather, 2_KiB, gpus(cluster, {0, 1})),
                collective("ring", CollectiveKind::AllGather, 2_KiB, gpus(cluster, {1, 0}))});
  CHECK_THAT(text, ContainsSubstring("\"args\":{\"name\":\"gpu1\"}"));
  check_rules(text);
}

TEST_CASE("an empty trace is a valid one") {
  const Cluster cluster(mesh(2));
  std::ostringstream text;
  TraceJson(cluster.graph()).write(text);
  CHECK(json::parse(text.str()).at("traceEvents").empty());
}
