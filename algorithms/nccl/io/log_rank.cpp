#include "algorithms/nccl/io/log_rank.hpp"

#include <array>
#include <cstddef>

#include "algorithms/nccl/io/log_scanner.hpp"

namespace collsim::nccl {

namespace {

constexpr int most_ranks = 1 << 24;
constexpr int most_channels = 1024;
constexpr std::size_t most_lines = 4096;  // of a kind

/// The word behind " name ".
std::string word_behind(std::string_view text, std::string_view name) {
  LogScanner scanner(text);
  return scanner.after(name) ? std::string(scanner.until(" ")) : std::string();
}

bool is_rank(int rank) { return rank >= 0 && rank < most_ranks; }
bool is_channel(int channel) { return channel >= 0 && channel < most_channels; }

std::optional<int> channel_number(LogScanner& scanner) {
  const auto channel = scanner.number<int>();
  return channel && is_channel(*channel) ? channel : std::nullopt;
}

/// -1: there is none. Nothing if the number is not a rank.
std::optional<std::optional<int>> rank_or_none(LogScanner& scanner) {
  const auto number = scanner.number<int>();
  if (!number || (!is_rank(*number) && *number != -1)) {
    return std::nullopt;
  }
  return *number == -1 ? std::optional<int>() : number;
}

/// " down/down/down"
bool read_down(LogScanner& scanner, LoggedTree& tree) {
  for (int child = 0; child < 3; ++child) {
    if (child > 0 && !scanner.literal("/")) {
      return false;
    }
    const auto down = rank_or_none(scanner);
    if (!down) {
      return false;
    }
    if (*down) {
      tree.down.push_back(**down);
    }
  }
  return true;
}

/// "[0] 1/-1/-1->0->-1", the next of a line. NCCL cuts the line after 1,023 characters.
std::optional<LoggedTree> read_tree(LogScanner& scanner) {
  LoggedTree tree;
  if (!scanner.literal("[")) {
    return std::nullopt;
  }
  const auto channel = channel_number(scanner);
  if (!channel || !scanner.literal("] ") || !read_down(scanner, tree) || !scanner.literal("->")) {
    return std::nullopt;
  }
  const auto rank = scanner.number<int>();
  if (!rank || !is_rank(*rank) || !scanner.literal("->")) {
    return std::nullopt;
  }
  const auto up = rank_or_none(scanner);
  if (!up) {
    return std::nullopt;
  }
  tree.channel = *channel;
  tree.rank = *rank;
  tree.up = *up;
  return tree;
}

LineRead read_trees(LogScanner scanner, RankLog& log) {
  std::vector<LoggedTree> trees;
  constexpr std::size_t long_line = 900;  // characters: what follows may be cut
  const bool may_be_cut = scanner.rest().size() > long_line;
  while (!scanner.blanks().at_end()) {
    auto tree = read_tree(scanner);
    const bool whole = tree && (scanner.at_end() || scanner.rest().starts_with(' '));
    if (!whole && !may_be_cut) {
      return LineRead::Garbled;
    }
    // The last number of a cut line may have lost digits.
    if (!whole || (may_be_cut && scanner.at_end())) {
      break;
    }
    trees.push_back(std::move(*tree));
  }
  for (LoggedTree& tree : trees) {
    keep(log.trees, std::move(tree), most_lines);
  }
  return LineRead::Read;
}

/// "Channel 00/04 :    0   1"; the end of a long one is "...", which may stand in a number.
LineRead read_ring(LogScanner scanner, RankLog& log) {
  LoggedRing ring;
  const auto channel = channel_number(scanner);
  if (!channel || !scanner.literal("/") || !scanner.number<int>() || !scanner.literal(" :")) {
    return LineRead::Other;  // "Channel 00/0 : 1[1] -> 0[0] via …" is another line
  }
  while (!scanner.blanks().at_end()) {
    const auto rank = scanner.number<int>();
    if (rank && is_rank(*rank) && (scanner.at_end() || scanner.rest().front() == ' ')) {
      ring.ranks.push_back(*rank);
    } else if (scanner.rest().starts_with("[")) {
      return LineRead::Other;
    } else if (scanner.rest().ends_with("..") && scanner.rest().size() <= 3) {
      break;
    } else {
      return LineRead::Garbled;
    }
  }
  ring.channel = *channel;
  keep(log.rings, std::move(ring), most_lines);
  return LineRead::Read;
}

/// "Ring 00 : 1 -> 0 -> 1"
LineRead read_neighbours(LogScanner scanner, RankLog& log) {
  const auto channel = channel_number(scanner);
  std::array<int, 3> ranks{};
  if (!channel || !scanner.literal(" : ")) {
    return LineRead::Garbled;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0 && !scanner.literal(" -> ")) {
      return LineRead::Garbled;
    }
    const auto rank = scanner.number<int>();
    if (!rank || !is_rank(*rank)) {
      return LineRead::Garbled;
    }
    ranks.at(i) = *rank;
  }
  // Later versions go on with "comm 0x…".
  if (!scanner.at_end() && !scanner.rest().starts_with(' ')) {
    return LineRead::Garbled;
  }
  keep(log.neighbours, {*channel, ranks[1], ranks[0], ranks[2]}, most_lines);
  return LineRead::Read;
}

/// "4 coll channels, 4 collnet channels, 16 nvls channels, 4 p2p channels, 2 p2p channels per peer"
LineRead read_channel_counts(std::string_view text, RankLog& log) {
  LogScanner scanner(text);
  LoggedChannels channels = log.channels;
  for (;;) {
    const auto count = scanner.number<int>();
    if (!count || !is_channel(*count)) {
      return LineRead::Garbled;
    }
    if (scanner.literal(" coll channels")) {
      channels.collective = count;
    } else if (scanner.literal(" nvls channels")) {
      channels.nvls = count;
    } else if (scanner.literal(" p2p channels per peer")) {
      channels.per_peer = count;
      log.channels = channels;
      return LineRead::Read;
    } else if (scanner.literal(" p2p channels")) {
      channels.p2p = count;
    } else if (!scanner.literal(" collnet channels")) {
      return LineRead::Garbled;
    }
    if (!scanner.literal(", ")) {
      return LineRead::Garbled;
    }
  }
}

/// "8/8/64 | 16/8/64 | 512 | 512"
LineRead read_thresholds(LogScanner scanner, RankLog& log) {
  constexpr std::array<std::string_view, 8> before{"", "/", "/", " | ", "/", "/", " | ", " | "};
  std::array<std::int64_t, 8> thresholds{};
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    const bool there = scanner.literal(before.at(i));
    const auto number = scanner.number<std::int64_t>();
    if (!there || !number) {
      return LineRead::Garbled;
    }
    thresholds.at(i) = *number;
  }
  if (!scanner.blanks().at_end()) {
    return LineRead::Garbled;
  }
  log.channels.thread_thresholds = thresholds;
  return LineRead::Read;
}

LineRead read_chunk(LogScanner scanner, RankLog& log) {
  const auto chunk = scanner.number<std::int64_t>();
  if (!chunk || *chunk < 0 || !scanner.blanks().at_end()) {
    return LineRead::Garbled;
  }
  log.channels.p2p_chunk = chunk;
  return LineRead::Read;
}

LineRead read_nvls(LogScanner scanner, RankLog& log) {
  const bool off = scanner.literal("not ");
  if (!scanner.literal("available on dev ")) {
    return LineRead::Garbled;
  }
  log.nvls_available = !off;
  return LineRead::Read;
}

/// The line of versions up to 2.18 beside "Trees": "Tree 0 : 0 -> 1 -> -1/-1/-1" says the same.
bool repeats_trees(LogScanner scanner) {
  return scanner.number<int>().has_value() && scanner.literal(" : ");
}

}  // namespace

std::optional<InitLine> read_init_line(std::string_view text) {
  LogScanner scanner(text);
  if (!scanner.after("comm 0x")) {
    return std::nullopt;
  }
  InitLine line;
  line.address = "0x" + std::string(scanner.until(" "));
  const auto number = [&scanner](std::string_view name) {
    return scanner.literal(name) ? scanner.number<int>() : std::nullopt;
  };
  const auto rank = number(" rank ");
  const bool layout = scanner.rest().starts_with(" nRanks ");
  const auto ranks = number(layout ? " nRanks " : " nranks ");
  if (!rank || !ranks || !is_rank(*rank) || !is_rank(*ranks) || *rank >= *ranks) {
    return std::nullopt;
  }
  line.rank = *rank;
  line.ranks = *ranks;
  if (layout) {
    line.event = InitLine::Event::Layout;
    line.nodes = number(" nNodes ");
    line.local_ranks = number(" localRanks ");
    const bool whole = line.nodes && line.local_ranks && *line.nodes >= 1 &&
                       *line.local_ranks >= 1 && *line.nodes <= *ranks &&
                       *line.local_ranks <= *ranks && number(" localRank ") &&
                       *line.nodes - 1 <= *ranks - *line.local_ranks;
    return whole ? std::optional(line) : std::nullopt;
  }
  if (text.ends_with("Init COMPLETE")) {
    line.event = InitLine::Event::Complete;
  } else if (!text.ends_with("Init START")) {
    return std::nullopt;
  }
  line.bus = word_behind(text, " busId ");
  line.id = word_behind(text, " commId ");
  return line;
}

LineRead read_channel_line(std::string_view text, RankLog& rank) {
  LogScanner scanner(text);
  if (scanner.literal("Channel ")) {
    return read_ring(scanner, rank);
  }
  if (scanner.literal("Ring ")) {
    return read_neighbours(scanner, rank);
  }
  if (scanner.literal("Trees ")) {
    return read_trees(scanner, rank);
  }
  if (scanner.literal("Tree ")) {
    return repeats_trees(scanner) ? LineRead::Read : LineRead::Other;
  }
  if (scanner.literal("threadThresholds ")) {
    return read_thresholds(scanner, rank);
  }
  if (scanner.literal("P2P Chunksize set to ")) {
    return read_chunk(scanner, rank);
  }
  if (scanner.literal("NVLS multicast support is ")) {
    return read_nvls(scanner, rank);
  }
  if (scanner.number<int>() && scanner.literal(" coll channels")) {
    return read_channel_counts(text, rank);
  }
  return LineRead::Other;
}

}  // namespace collsim::nccl
