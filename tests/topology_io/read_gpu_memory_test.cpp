// The memory ladder of a GPU in a description: what each key means, and every complaint about one.

#include "topology/io/read_gpu_memory.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology_io/description.hpp"

namespace collsim {

using namespace collsim::literals;
using test::message;
using test::replaced;
using test::shipped;

namespace {

const std::string ladder =
    "name: ladder\n"
    "node:\n"
    "  gpus: 1\n"
    "  gpu_memory:\n"
    "    - level: l1\n"
    "      name: LDS\n"
    "      capacity: {value: 19 MiB, source: nominal}\n"
    "      bandwidth: {value: 81.7 TB/s, source: estimate}\n"
    "      latency: {value: 0.5 ns, source: literature}\n"
    "      note: 64 KiB a unit\n"
    "    - level: memory\n"
    "      bandwidth: {value: 5.3 TB/s, source: measured}\n";

std::vector<MemoryLevelSpec> levels_of(const std::string& text,
                                       const std::vector<std::string>& set = {}) {
  return parse_cluster(text, "x.yaml", test::settings(set), shipped()).spec.node.gpu_memory;
}

std::string digest_of(const std::string& text) {
  return parse_cluster(text, "x.yaml", {}, shipped()).digest;
}

}  // namespace

TEST_CASE("every key of a memory ladder is read", "[gpu_memory]") {
  const std::vector<MemoryLevelSpec> levels = levels_of(ladder);
  REQUIRE(levels.size() == 2);
  const MemoryLevelSpec& near = levels[0];
  CHECK(near.level == MemoryLevel::L1);
  CHECK(near.name == "LDS");
  REQUIRE(near.capacity.has_value());
  CHECK(near.capacity->value == 19 * 1_MiB);
  CHECK(near.capacity->source == FigureSource::Nominal);
  REQUIRE(near.bandwidth.has_value());
  CHECK(near.bandwidth->value == Bandwidth::bytes_per_second(81'700'000'000'000));
  CHECK(near.bandwidth->source == FigureSource::Estimate);
  REQUIRE(near.latency.has_value());
  CHECK(near.latency->value == 500_ps);
  CHECK(near.latency->source == FigureSource::Literature);
  CHECK(near.note == "64 KiB a unit");

  const MemoryLevelSpec& far = levels[1];
  CHECK(far.level == MemoryLevel::Memory);
  CHECK(far.bandwidth->source == FigureSource::Measured);
  // What the description does not give is not known.
  CHECK(far.name == "memory");
  CHECK_FALSE(far.capacity.has_value());
  CHECK_FALSE(far.latency.has_value());
  CHECK(far.note.empty());
  CHECK(message(ladder) == "accepted");
}

TEST_CASE("every level has a word", "[gpu_memory]") {
  const std::vector<MemoryLevelSpec> levels = levels_of(
      "name: a\n"
      "node: {gpus: 1, gpu_memory: [{level: registers}, {level: l1}, {level: l2}, {level: "
      "l2-far},\n"
      "  {level: l3}, {level: memory}]}\n");
  REQUIRE(levels.size() == 6);
  const std::vector<MemoryLevel> expected{MemoryLevel::Registers, MemoryLevel::L1,
                                          MemoryLevel::L2,        MemoryLevel::L2Far,
                                          MemoryLevel::L3,        MemoryLevel::Memory};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(levels[i].level == expected[i]);
  }
}

TEST_CASE("of a memory ladder the bandwidth of the memory changes results, and the digest",
          "[gpu_memory]") {
  const std::string level =
      "name: a\nnode: {gpus: 1, gpu_memory: [{level: WHICH, bandwidth: {value: 1 TB/s, source: "
      "nominal}}]}\n";
  const std::string l2 = replaced(level, "WHICH", "l2");
  const std::string memory = replaced(level, "WHICH", "memory");
  CHECK(digest_of(l2) == digest_of("name: a\nnode: {gpus: 1}\n"));
  CHECK(digest_of(l2) == digest_of(replaced(l2, "1 TB/s", "8 TB/s")));
  CHECK(digest_of(l2) != digest_of(memory));
  CHECK(digest_of(memory) != digest_of(replaced(memory, "1 TB/s", "8 TB/s")));
  CHECK(digest_of(memory) == digest_of(replaced(memory, "source: nominal", "source: measured")));
  CHECK(digest_of(ladder) != digest_of(replaced(ladder, "gpus: 1", "gpus: 2")));
}

TEST_CASE("the memory of the host is read, and changes no digest", "[gpu_memory]") {
  const std::string node = "name: host\nnode:\n  gpus: 1\n";
  const std::string text = node +
                           "  host_memory:\n"
                           "    name: DDR5\n"
                           "    capacity: {value: 4 TiB, source: nominal}\n"
                           "    bandwidth: {value: 307 GB/s, source: nominal}\n"
                           "    latency: {value: 100 ns, source: measured}\n";
  const auto memory = parse_cluster(text, "x.yaml", {}, shipped()).spec.node.host_memory;
  REQUIRE(memory.has_value());
  CHECK(memory->name == "DDR5");
  CHECK(memory->capacity->value == Bytes(std::int64_t{4} << 40U));
  CHECK(memory->bandwidth->value == 307_GBps);
  CHECK(memory->latency->source == FigureSource::Measured);
  CHECK_FALSE(parse_cluster(node, "x.yaml", {}, shipped()).spec.node.host_memory.has_value());
  CHECK(digest_of(text) == digest_of(node));
  CHECK(message(replaced(text, "name: DDR5", "nam: DDR5")) ==
        "x.yaml:5:5: error: node.host_memory.nam: unknown key, did you mean \"name\"?\n"
        "      nam: DDR5\n"
        "      ^\n"
        "hint: accepted: name, capacity, bandwidth or latency");
  CHECK(
      message(replaced(text, "4 TiB", "5 TB")) ==
      "x.yaml:6:23: error: node.host_memory.capacity.value: expected at most 4 TiB, got \"5 TB\"\n"
      "      capacity: {value: 5 TB, source: nominal}\n"
      "                        ^");
  CHECK(message(replaced(text, "307 GB/s", "0 GB/s")) ==
        "x.yaml:7:24: error: node.host_memory.bandwidth.value: expected a bandwidth above 0, got 0 "
        "B/s\n"
        "      bandwidth: {value: 0 GB/s, source: nominal}\n"
        "                         ^\n"
        "hint: leave out what is not known");
}

TEST_CASE("a figure of the ladder can be set", "[gpu_memory]") {
  CHECK(levels_of(ladder, {"node.gpu_memory[1].bandwidth.value=8 TB/s"})[1].bandwidth->value ==
        8000_GBps);
  const std::vector<MemoryLevelSpec> known =
      levels_of(ladder, {"node.gpu_memory[1].latency={value: 350 ns, source: estimate}"});
  REQUIRE(known[1].latency.has_value());
  CHECK(known[1].latency->value == 350'000_ps);
  CHECK(known[1].latency->source == FigureSource::Estimate);
}

TEST_CASE("a level that does not exist is named with the nearest one", "[gpu_memory]") {
  CHECK(message(replaced(ladder, "level: l1", "level: l22")) ==
        "x.yaml:5:14: error: node.gpu_memory[0].level: expected registers, l1, l2, l2-far, l3 or "
        "memory, got \"l22\"\n"
        "      - level: l22\n"
        "               ^\n"
        "hint: did you mean \"l2\"?");
  CHECK(message(replaced(ladder, "- level: l1\n      name", "- name")) ==
        "x.yaml:5:7: error: node.gpu_memory[0]: missing key \"level\"\n"
        "      - name: LDS\n"
        "        ^");
  CHECK(message(replaced(ladder, "note:", "notes:")) ==
        "x.yaml:10:7: error: node.gpu_memory[0].notes: unknown key, did you mean \"note\"?\n"
        "        notes: 64 KiB a unit\n"
        "        ^\n"
        "hint: accepted: level, name, capacity, bandwidth, latency or note");
  CHECK(message("name: a\nnode: {gpus: 1, gpu_memory: {l1: 3}}\n") ==
        "x.yaml:2:29: error: node.gpu_memory: expected a list, got a mapping\n"
        "  node: {gpus: 1, gpu_memory: {l1: 3}}\n"
        "                              ^");
}

TEST_CASE("a figure of the ladder has a value with a unit and a source", "[gpu_memory]") {
  const std::string capacity = "{value: 19 MiB, source: nominal}";
  CHECK(message(replaced(ladder, capacity, "19 MiB")) ==
        "x.yaml:7:17: error: node.gpu_memory[0].capacity: expected a mapping, got \"19 MiB\"\n"
        "        capacity: 19 MiB\n"
        "                  ^\n"
        "hint: keys: value or source");
  CHECK(message(replaced(ladder, capacity, "{value: 19 MiB}")) ==
        "x.yaml:7:17: error: node.gpu_memory[0].capacity: missing key \"source\"\n"
        "        capacity: {value: 19 MiB}\n"
        "                  ^");
  CHECK(message(replaced(ladder, capacity, "{source: nominal}")) ==
        "x.yaml:7:17: error: node.gpu_memory[0].capacity: missing key \"value\"\n"
        "        capacity: {source: nominal}\n"
        "                  ^");
  CHECK(message(replaced(ladder, "19 MiB, source: nominal", "19 MiB, source: guess")) ==
        "x.yaml:7:41: error: node.gpu_memory[0].capacity.source: expected nominal, measured, "
        "literature or estimate, got \"guess\"\n"
        "        capacity: {value: 19 MiB, source: guess}\n"
        "                                          ^");
  CHECK(message(replaced(ladder, "19 MiB", "19")) ==
        "x.yaml:7:25: error: node.gpu_memory[0].capacity.value: expected a size such as "
        "\"64 MiB\", got \"19\"\n"
        "        capacity: {value: 19, source: nominal}\n"
        "                          ^\n"
        "hint: a number needs a unit; units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB (powers of "
        "1024)");
  CHECK(message(replaced(ladder, "19 MiB", "2 TiB")) ==
        "x.yaml:7:25: error: node.gpu_memory[0].capacity.value: expected at most 1 TiB, got "
        "\"2 TiB\"\n"
        "        capacity: {value: 2 TiB, source: nominal}\n"
        "                          ^");
  CHECK(message(replaced(ladder, "81.7 TB/s", "8 PB/s")) ==
        "x.yaml:8:26: error: node.gpu_memory[0].bandwidth.value: expected at most 1000 TB/s, got "
        "\"8 PB/s\"\n"
        "        bandwidth: {value: 8 PB/s, source: estimate}\n"
        "                           ^");
}

TEST_CASE("levels of the ladder go outwards", "[gpu_memory]") {
  const auto second = [](const std::string& level) {
    return message(replaced(ladder, "level: memory", "level: " + level));
  };
  CHECK(second("registers") ==
        "x.yaml:11:14: error: node.gpu_memory[1].level: expected a level farther out than "
        "\"l1\", got \"registers\"\n"
        "      - level: registers\n"
        "               ^\n"
        "hint: order: registers, l1, l2, l2-far, l3, memory");
  CHECK(second("l1") ==
        "x.yaml:11:14: error: node.gpu_memory[1].level: expected a level farther out than "
        "\"l1\", got \"l1\"\n"
        "      - level: l1\n"
        "               ^\n"
        "hint: order: registers, l1, l2, l2-far, l3, memory");
  CHECK(second("l2") == "accepted");
}

TEST_CASE("figures of the ladder are above zero", "[gpu_memory]") {
  CHECK(message(replaced(ladder, "19 MiB", "0 B")) ==
        "x.yaml:7:25: error: node.gpu_memory[0].capacity.value: expected a capacity above 0, got "
        "0 B\n"
        "        capacity: {value: 0 B, source: nominal}\n"
        "                          ^\n"
        "hint: leave out what is not known");
  CHECK(message(replaced(ladder, "81.7 TB/s", "0 B/s")) ==
        "x.yaml:8:26: error: node.gpu_memory[0].bandwidth.value: expected a bandwidth above 0, got "
        "0 B/s\n"
        "        bandwidth: {value: 0 B/s, source: estimate}\n"
        "                           ^\n"
        "hint: leave out what is not known");
  CHECK(message(replaced(ladder, "0.5 ns", "0 ns")) ==
        "x.yaml:9:24: error: node.gpu_memory[0].latency.value: expected a latency above 0, got "
        "0 ns\n"
        "        latency: {value: 0 ns, source: literature}\n"
        "                         ^\n"
        "hint: leave out what is not known");
}

}  // namespace collsim
