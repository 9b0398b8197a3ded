// Every algorithm, whatever it is asked for, gives every rank the data its collective promises: the
// data checker runs over all collectives, rank counts, roots, layouts and awkward sizes.
//
// Each algorithm has a case of its own so that they run side by side; one that is new in the table is
// swept by the last case.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/check.hpp"
#include "algorithms/table.hpp"
#include "tests/catch.hpp"

using namespace collsim;

namespace {

struct Layout {
  std::uint32_t channels = 1;
  std::uint32_t chunks = 1;
};
constexpr std::array layouts{Layout{1, 1}, Layout{2, 1}, Layout{1, 3}, Layout{3, 2}};

using NodeMap = std::vector<NodeId>;  // by rank; empty: one node

std::vector<std::uint32_t> rank_counts() {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t ranks = 1; ranks <= 17; ++ranks) {
    counts.push_back(ranks);
  }
  counts.insert(counts.end(), {32, 64});
  return counts;
}

std::vector<Rank> roots(CollectiveKind kind, std::uint32_t ranks) {
  if (!has_root(kind)) {
    return {Rank(0)};
  }
  std::vector<Rank> all;
  for (std::uint32_t root = 0; root < ranks; ++root) {
    if (ranks <= 8 || root < 2 || root == ranks / 2 + 1 || root == ranks - 1) {
      all.emplace_back(root);
    }
  }
  return all;
}

/// Elements: none, fewer than blocks and parts, one a block, and some that do not divide.
std::vector<std::int64_t> counts(const CollectiveCall& call) {
  const std::int64_t ranks = call.ranks;
  const bool many = ranks > 17;  // where a program is long, two sizes must do
  if (call.blocked()) {
    return many ? std::vector<std::int64_t>{1, 7} : std::vector<std::int64_t>{0, 1, 2, 7};
  }
  if (many) {
    return {ranks - 1, 7 * ranks - 1};
  }
  std::vector<std::int64_t> counts{0, 1, ranks - 1, ranks, 3 * ranks + 2, 7 * ranks - 1};
  std::ranges::sort(counts);
  const auto repeated = std::ranges::unique(counts);
  counts.erase(repeated.begin(), repeated.end());
  return counts;
}

std::vector<InPlace> places(CollectiveKind kind) {
  if (allows_in_place(kind)) {
    return {InPlace::No, InPlace::Yes};
  }
  return {InPlace::No};
}

std::string describe(const Algorithm& algorithm, const ProgramRequest& request) {
  const CollectiveCall& call = request.call;
  std::string text = std::string(algorithm.name) + " " + std::string(name_of(call.kind)) + ", " +
                     std::to_string(call.ranks) + " ranks, root " +
                     std::to_string(call.root.value()) + ", count " + std::to_string(call.count) +
                     (call.in_place == InPlace::Yes ? ", in place, " : ", out of place, ") +
                     std::to_string(request.channels) + " channels, " +
                     std::to_string(request.chunks) + " chunks";
  if (!request.node_of_rank.empty()) {
    text += ", nodes";
  }
  for (const NodeId node : request.node_of_rank) {
    text += " " + std::to_string(node.value());
  }
  return text;
}

/// What is wrong with the program of a request; empty: nothing.
std::string breach(const Algorithm& algorithm, const ProgramRequest& request) {
  const auto program = build_program(algorithm, request);
  const CheckReport report = check_program(*program, 1);
  std::string text;
  if (!report.ok()) {
    text = report.failures[0].text;
  } else if (report.messages != program->transfer_count()) {
    text = "received " + std::to_string(report.messages) + " messages of " +
           std::to_string(program->transfer_count());
  }
  return text.empty() ? text : describe(algorithm, request) + ": " + text;
}

class Sweep {
 public:
  explicit Sweep(std::string_view name) : algorithm_(find_algorithm(name)) {}

  void run(std::uint32_t ranks, const NodeMap& nodes) {
    for (const CollectiveKind kind : algorithm_.collectives) {
      ProgramRequest request;
      request.call.kind = kind;
      request.call.ranks = ranks;
      request.node_of_rank = nodes;
      for (const Rank root : roots(kind, ranks)) {
        request.call.root = root;
        sweep_sizes(request);
      }
    }
  }
  void finish() const {
    CAPTURE(algorithm_.name, programs_);
    REQUIRE(programs_ > 0);
    CHECK(breaches_ == 0);
  }

 private:
  void sweep_sizes(ProgramRequest& request) {
    for (const std::int64_t count : counts(request.call)) {
      request.call.count = count;
      for (const InPlace in_place : places(request.call.kind)) {
        request.call.in_place = in_place;
        if (algorithm_.obstacle(request)) {
          continue;
        }
        for (const Layout layout : layouts) {
          request.channels = layout.channels;
          request.chunks = layout.chunks;
          check(request);
        }
      }
    }
  }
  void check(const ProgramRequest& request) {
    ++programs_;
    const std::string text = breach(algorithm_, request);
    if (text.empty() || ++breaches_ > 5) {
      return;
    }
    UNSCOPED_INFO(text);
    CHECK(text.empty());
  }

  const Algorithm& algorithm_;
  std::uint64_t programs_ = 0;
  std::uint64_t breaches_ = 0;
};

void sweep(std::string_view name) {
  Sweep sweep(name);
  for (const std::uint32_t ranks : rank_counts()) {
    sweep.run(ranks, {});
  }
  sweep.finish();
}

/// Nodes of up to `size` ranks, in blocks.
NodeMap blocks_of(std::uint32_t ranks, std::uint32_t size) {
  NodeMap map;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    map.emplace_back(rank / size);
  }
  return map;
}

/// Ranks dealt to `nodes` nodes in turn.
NodeMap dealt_to(std::uint32_t ranks, std::uint32_t nodes) {
  NodeMap map;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    map.emplace_back(rank % nodes);
  }
  return map;
}

/// Nodes of 1, 2, 3, … ranks, numbered from the last.
NodeMap growing(std::uint32_t ranks) {
  NodeMap map;
  for (std::uint32_t size = 1; map.size() < ranks; ++size) {
    for (std::uint32_t i = 0; i < size && map.size() < ranks; ++i) {
      map.emplace_back(ranks - size);
    }
  }
  return map;
}

/// Also with the ranks spread over nodes: uneven blocks, dealt in turn, of growing size.
void sweep_on_nodes(std::string_view name) {
  Sweep sweep(name);
  for (const std::uint32_t ranks : rank_counts()) {
    sweep.run(ranks, {});
    if (ranks == 1) {
      continue;
    }
    sweep.run(ranks, blocks_of(ranks, 4));
    sweep.run(ranks, dealt_to(ranks, 3));
    if (ranks <= 17) {
      sweep.run(ranks, growing(ranks));
    }
  }
  sweep.finish();
}

const std::vector<std::string_view> with_a_case_of_their_own{"naive",
                                                             "ring",
                                                             "tree",
                                                             "double-tree",
                                                             "recursive-doubling",
                                                             "halving-doubling",
                                                             "bruck",
                                                             "direct",
                                                             "direct-one-shot",
                                                             "pairwise",
                                                             "hierarchical"};

}  // namespace

TEST_CASE("naive is correct") { sweep("naive"); }
TEST_CASE("ring is correct") { sweep("ring"); }
TEST_CASE("tree is correct") { sweep("tree"); }
TEST_CASE("double-tree is correct") { sweep("double-tree"); }
TEST_CASE("recursive-doubling is correct") { sweep("recursive-doubling"); }
TEST_CASE("halving-doubling is correct") { sweep("halving-doubling"); }
TEST_CASE("bruck is correct") { sweep("bruck"); }
TEST_CASE("direct is correct") { sweep("direct"); }
TEST_CASE("direct-one-shot is correct") { sweep("direct-one-shot"); }
TEST_CASE("pairwise is correct") { sweep("pairwise"); }
TEST_CASE("hierarchical is correct") { sweep_on_nodes("hierarchical"); }

TEST_CASE("every other algorithm of the table is correct") {
  for (const Algorithm& algorithm : algorithms()) {
    const bool swept = std::ranges::find(with_a_case_of_their_own, algorithm.name) !=
                       with_a_case_of_their_own.end();
    if (!swept) {
      sweep_on_nodes(algorithm.name);
    }
  }
  for (const std::string_view name : with_a_case_of_their_own) {
    CHECK(find_algorithm(name).name == name);
  }
}

TEST_CASE("the cost of a check follows the steps, not the bytes") {
  // A tebibyte a rank, plus some bytes that do not divide: anything kept per byte would not end.
  ProgramRequest request;
  request.call.ranks = 8;
  request.call.type = DataType::Uint8;
  for (const Algorithm& algorithm : algorithms()) {
    for (const CollectiveKind kind : algorithm.collectives) {
      request.call.kind = kind;
      request.call.in_place = places(kind).back();
      if (algorithm.obstacle(request)) {
        continue;
      }
      request.call.count = (std::int64_t{1} << 40) + 5;
      const auto large = check_program(*build_program(algorithm, request));
      request.call.count = 64;
      const auto small = check_program(*build_program(algorithm, request));
      CAPTURE(algorithm.name, name_of(kind));
      CHECK(large.ok());
      CHECK(large.steps == small.steps);
      CHECK(large.messages == small.messages);
    }
  }
}
