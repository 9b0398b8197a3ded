#include "algorithms/table.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/error.hpp"

using namespace collsim;

namespace {

ProgramRequest request_for(CollectiveKind kind, std::uint32_t ranks = 4) {
  ProgramRequest request;
  request.call.kind = kind;
  request.call.ranks = ranks;
  request.call.count = 8;
  request.call.in_place = allows_in_place(kind) ? InPlace::Yes : InPlace::No;
  return request;
}

std::string message_of(const std::string& algorithm, const ProgramRequest& request) {
  try {
    static_cast<void>(build_program(find_algorithm(algorithm), request));
  } catch (const InputError& error) {
    return error.render();
  }
  return {};
}

std::string implementers(CollectiveKind kind) {
  std::string names;
  for (const Algorithm* algorithm : applicable_algorithms(request_for(kind))) {
    names += (names.empty() ? "" : " ") + std::string(algorithm->name);
  }
  return names;
}

/// The cells of a row of a Markdown table, without blanks around them; empty for any other line.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (line.empty() || line.front() != '|') {
    return cells;
  }
  for (std::size_t begin = 1; begin < line.size();) {
    const std::size_t end = std::min(line.find('|', begin), line.size());
    const std::string cell = line.substr(begin, end - begin);
    const std::size_t first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos
                        ? std::string()
                        : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
    begin = end + 1;
  }
  return cells;
}

}  // namespace

TEST_CASE("every collective has the algorithms that the documentation names") {
  // On one node, so without hierarchical.
  using enum CollectiveKind;
  CHECK(implementers(AllReduce) ==
        "naive ring tree double-tree recursive-doubling halving-doubling direct direct-one-shot");
  CHECK(implementers(AllGather) == "naive ring recursive-doubling halving-doubling bruck direct");
  CHECK(implementers(ReduceScatter) == "naive ring halving-doubling direct pairwise");
  CHECK(implementers(Broadcast) == "naive ring tree double-tree");
  CHECK(implementers(Reduce) == "naive ring tree double-tree");
  CHECK(implementers(Gather) == "naive tree direct");
  CHECK(implementers(Scatter) == "naive tree direct");
  CHECK(implementers(AllToAll) == "naive bruck direct pairwise");
  CHECK(implementers(SendRecv) == "direct");
}

TEST_CASE("names of algorithms are unique and found") {
  for (const Algorithm& algorithm : algorithms()) {
    CHECK(&find_algorithm(algorithm.name) == &algorithm);
    CHECK(!algorithm.summary.empty());
    CHECK(!algorithm.collectives.empty());
  }
}

TEST_CASE("a program has the name, the call, the channels and the chunks that were asked for") {
  ProgramRequest request = request_for(CollectiveKind::AllReduce);
  request.channels = 2;
  request.chunks = 3;
  for (const Algorithm* algorithm : applicable_algorithms(request)) {
    const auto program = build_program(*algorithm, request);
    CHECK(program->algorithm() == algorithm->name);
    CHECK(program->call().count == 8);
    CHECK(program->channels() == 2);
    CHECK(program->chunks() == 3);
  }
}

TEST_CASE("an unknown algorithm is an error that names the nearest one") {
  CHECK_THROWS_AS(find_algorithm("rings"), InputError);
  const std::string text = message_of("duoble-tree", request_for(CollectiveKind::AllReduce));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("error: unknown algorithm \"duoble-tree\""));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("hint: did you mean \"double-tree\"?"));
}

TEST_CASE("an algorithm that does not implement a collective names those that do") {
  CHECK(message_of("ring", request_for(CollectiveKind::AllToAll)) ==
        "error: ring does not implement all_to_all; expected naive, bruck, direct, pairwise or "
        "hierarchical");
}

TEST_CASE("a root that is no rank is an error") {
  ProgramRequest request = request_for(CollectiveKind::Broadcast);
  request.call.root = Rank(4);
  CHECK(message_of("tree", request) == "error: root: there is no rank 4 among 4 ranks");
}

TEST_CASE("all_to_all in place is an error") {
  ProgramRequest request = request_for(CollectiveKind::AllToAll);
  request.call.in_place = InPlace::Yes;
  CHECK(message_of("direct", request) ==
        "error: all_to_all cannot run in place: its blocks would be overwritten before they are "
        "sent");
}

TEST_CASE("1 rank and 0 bytes send nothing, and out of place they copy the input") {
  for (const Algorithm& algorithm : algorithms()) {
    for (const CollectiveKind kind : algorithm.collectives) {
      for (const InPlace in_place : {InPlace::No, InPlace::Yes}) {
        if (in_place == InPlace::Yes && !allows_in_place(kind)) {
          continue;
        }
        ProgramRequest alone = request_for(kind, 1);
        alone.call.in_place = in_place;
        if (algorithm.obstacle(alone)) {
          continue;
        }
        const auto program = build_program(algorithm, alone);
        CHECK(program->transfer_count() == 0);
        const bool copies = in_place == InPlace::No;
        REQUIRE(program->step_count(Rank(0), 0) == (copies ? 1 : 0));
        if (copies) {
          CHECK(program->step(Rank(0), 0, 0).primitive() == Primitive::Copy);
        }

        ProgramRequest empty = request_for(kind, 5);
        empty.call.in_place = in_place;
        empty.call.count = 0;
        const auto nothing = build_program(algorithm, empty);
        CHECK(nothing->transfer_count() == 0);
        CHECK(nothing->step_count(Rank(4), 0) == 0);
      }
    }
  }
}

TEST_CASE("the table in the documentation is the table of algorithms") {
  std::ifstream page(test::source_path("docs/algorithms.md"));
  REQUIRE(page);
  std::vector<std::string> collectives;
  std::size_t rows = 0;
  for (std::string line; std::getline(page, line) && rows < algorithms().size();) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != 10) {
      continue;
    }
    if (collectives.empty()) {
      collectives = cells;
      continue;
    }
    if (cells[0].front() != '`') {
      continue;
    }
    const std::string name = cells[0].substr(1, cells[0].size() - 2);
    INFO(name);
    REQUIRE(name == algorithms()[rows].name);
    ++rows;
    for (std::size_t c = 1; c < cells.size(); ++c) {
      const std::vector<CollectiveKind>& kinds = find_algorithm(name).collectives;
      const CollectiveKind kind = parse_collective(collectives[c]).value();
      CHECK((std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) == (cells[c] == "×"));
    }
  }
  CHECK(rows == algorithms().size());
}

TEST_CASE("naive all_to_all is refused where the root's memory or its blocks' numbers overflow") {
  const auto obstacle = [](std::uint32_t ranks, std::int64_t count) {
    ProgramRequest request;
    request.call.kind = CollectiveKind::AllToAll;
    request.call.ranks = ranks;
    request.call.count = count;
    request.call.type = DataType::Int8;
    request.call.in_place = InPlace::No;
    return find_algorithm("naive").obstacle(request);
  };
  CHECK_FALSE(obstacle(65'535, 1));
  CHECK(obstacle(65'536, 1) ==
        "its all_to_all numbers the blocks of all ranks, which goes up to 65535 ranks");
  // 8 blocks of 2^57 bytes from each of 8 ranks are 2^63; one byte less a block fits.
  CHECK_FALSE(obstacle(8, (std::int64_t{1} << 57) - 1));
  CHECK(obstacle(8, std::int64_t{1} << 57) ==
        "its all_to_all puts the data of all ranks into the root's memory, more than 8 EiB");
}
