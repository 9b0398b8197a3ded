#include <array>
#include <cstddef>

#include "algorithms/nccl/io/log_rank.hpp"
#include "algorithms/nccl/io/log_scanner.hpp"

namespace collsim::nccl {

namespace {

constexpr std::size_t most_parts = 65536;
constexpr std::size_t most_graph_channels = 1024;
constexpr std::size_t most_devices_a_channel = 4096;
constexpr std::size_t most_paths = 100'000;
constexpr std::size_t most_graphs = 64;
constexpr std::size_t may_be_cut = 900;  // characters: NCCL's buffer is of 1,024 with the prefix

template <class Value>
struct Word {
  std::string_view text;
  Value value;
};

constexpr std::array<Word<PartKind>, 6> part_words{{{"GPU", PartKind::Gpu},
                                                    {"PCI", PartKind::Pci},
                                                    {"NVS", PartKind::NvSwitch},
                                                    {"CPU", PartKind::Cpu},
                                                    {"NIC", PartKind::Nic},
                                                    {"NET", PartKind::Net}}};
constexpr std::array<Word<PartLinkKind>, 6> link_words{{{"LOC", PartLinkKind::Local},
                                                        {"NVL", PartLinkKind::Nvlink},
                                                        {"C2C", PartLinkKind::C2c},
                                                        {"PCI", PartLinkKind::Pci},
                                                        {"SYS", PartLinkKind::Socket},
                                                        {"NET", PartLinkKind::Network}}};

template <class Words>
auto find_word(const Words& words, std::string_view text) -> decltype(&words[0].value) {
  for (const auto& word : words) {
    if (word.text == text) {
      return &word.value;
    }
  }
  return nullptr;
}

std::optional<PathType> path_type(std::string_view text) {
  for (int type = 0; type <= static_cast<int>(PathType::Dis); ++type) {
    if (name(static_cast<PathType>(type)) == text) {
      return static_cast<PathType>(type);
    }
  }
  return std::nullopt;
}

/// What stands in brackets behind a part's id.
bool read_facts(std::string_view facts, LoggedPart& part) {
  LogScanner scanner(facts);
  if (part.kind == PartKind::Gpu) {
    const auto rank = scanner.number<int>();
    part.rank = rank;
    return rank && *rank >= 0 && scanner.at_end();
  }
  if (part.kind == PartKind::Cpu) {
    part.cpu_architecture = scanner.number<int>();
    const bool first = scanner.literal("/");
    part.cpu_vendor = scanner.number<int>();
    const bool second = scanner.literal("/");
    part.cpu_model = scanner.number<int>();
    return first && second && part.cpu_model && scanner.at_end();
  }
  if (part.kind == PartKind::Net) {
    const std::size_t slash = facts.rfind('/');
    LogScanner last(slash == std::string_view::npos ? facts : facts.substr(slash + 1));
    const auto bandwidth = last.decimal();
    part.network = bandwidth.value_or(0);
    return bandwidth && last.at_end();
  }
  return true;
}

/// "GPU/81000 (0)"; nothing if it is not whole.
std::optional<LoggedPart> read_part(LogScanner scanner) {
  const auto* kind = find_word(part_words, scanner.until("/"));
  if (kind == nullptr || !scanner.literal("/")) {
    return std::nullopt;
  }
  LoggedPart part;
  part.kind = *kind;
  part.id = std::string(scanner.until(" "));
  scanner.blanks();
  if (part.id.empty()) {
    return std::nullopt;
  }
  if (scanner.literal("(")) {
    const std::string_view facts = scanner.until(")");
    if (!scanner.literal(")") || !read_facts(facts, part)) {
      return std::nullopt;
    }
  }
  return scanner.blanks().at_end() ? std::optional(part) : std::nullopt;
}

/// A line of the tree: a CPU, or a link with what is at its end.
LineRead read_tree_line(std::string_view text, RankLog& rank) {
  LoggedSystem& system = *rank.system;
  LogScanner scanner(text);
  const std::size_t column = text.size() - scanner.blanks().rest().size();
  if (system.parts.size() >= most_parts) {
    return LineRead::Garbled;
  }
  if (!scanner.literal("+ ")) {
    const auto part = read_part(scanner);
    if (!part || part->kind != PartKind::Cpu) {
      return LineRead::Other;
    }
    system.parts.push_back(*part);
    rank.open_parts = {{column, system.parts.size() - 1}};
    return LineRead::Read;
  }
  const auto* kind = find_word(link_words, scanner.until("["));
  const bool opened = scanner.literal("[");
  const auto bandwidth = scanner.decimal();
  if (kind == nullptr || !opened || !bandwidth || !scanner.literal("] - ")) {
    return LineRead::Garbled;
  }
  auto part = read_part(scanner);
  while (!rank.open_parts.empty() && rank.open_parts.back().first > column) {
    rank.open_parts.pop_back();
  }
  if (!part || rank.open_parts.empty() || rank.open_parts.back().first != column) {
    return LineRead::Garbled;
  }
  const std::size_t above = rank.open_parts.back().second;
  if (*kind != PartLinkKind::Pci && *kind != PartLinkKind::Network) {
    keep(system.links, {above, *kind, std::string(scanner.until(" ")), *bandwidth}, most_parts);
    return LineRead::Read;
  }
  part->above = above;
  part->bandwidth = *bandwidth;
  rank.open_parts.emplace_back(text.size() - scanner.rest().size(), system.parts.size());
  system.parts.push_back(std::move(*part));
  return LineRead::Read;
}

LineRead begin_system(LogScanner scanner, RankLog& rank) {
  const auto most = scanner.decimal();
  const bool middle = scanner.literal(" totalBw ");
  const auto total = scanner.decimal();
  rank.in_system = false;
  if (!most || !middle || !total || !scanner.literal(" ===")) {
    return LineRead::Garbled;
  }
  rank.system = LoggedSystem{};
  rank.system->most_bandwidth = *most;
  rank.system->total_bandwidth = *total;
  rank.in_system = true;
  rank.open_parts.clear();
  return LineRead::Read;
}

/// "GPU/81000 :GPU/81000 (0/5000.000000/LOC) GPU/A1090 (2/24.000000/PHB) "; NCCL cuts long lines.
LineRead read_paths(std::string_view text, RankLog& rank) {
  LogScanner scanner(text);
  const std::string from(scanner.until(" "));
  if (!scanner.literal(" :") || find_word(part_words, scanner.rest().substr(0, 3)) == nullptr) {
    return LineRead::Other;  // "NET/IB : Using …" is another line
  }
  while (!scanner.blanks().at_end()) {
    LoggedPath path;
    path.from = from;
    path.to = std::string(scanner.until(" "));
    const bool opened = scanner.literal(" (");
    const auto hops = scanner.number<int>();
    const bool first = scanner.literal("/");
    const auto bandwidth = scanner.decimal();
    const bool second = scanner.literal("/");
    const auto type = path_type(scanner.until(")"));
    if (!opened || !hops || !first || !bandwidth || !second || !type || !scanner.literal(")")) {
      return text.size() < may_be_cut ? LineRead::Garbled : LineRead::Read;
    }
    path.hops = *hops;
    path.bandwidth = *bandwidth;
    path.type = *type;
    keep(rank.paths, std::move(path), most_paths);
  }
  return LineRead::Read;
}

/// "Pattern 4, crossNic 0, nChannels 2, bw 12.000000/12.000000, type PHB/PIX, sameChannels 1"
LineRead read_pattern(LogScanner scanner, RankLog& rank) {
  PrintedGraph printed;
  Graph& graph = printed.logged.graph;
  const auto number = [&scanner](std::string_view before) {
    return scanner.literal(before) ? scanner.number<int>() : std::nullopt;
  };
  const auto decimal = [&scanner](std::string_view before) {
    return scanner.literal(before) ? scanner.decimal() : std::nullopt;
  };
  const auto pattern = number("");
  const auto cross_nic = number(", crossNic ");
  const auto channels = number(", nChannels ");
  const auto intra = decimal(", bw ");
  const auto inter = decimal("/");
  scanner.literal(", type ");
  const auto type_intra = path_type(scanner.until("/"));
  scanner.literal("/");
  const auto type_inter = path_type(scanner.until(","));
  const auto same = number(", sameChannels ");
  if (!pattern || *pattern < 1 || *pattern > 6 || !cross_nic || !channels || *channels < 0 ||
      *channels > static_cast<int>(most_graph_channels) || !intra || !inter || !type_intra ||
      !type_inter || !same || !scanner.blanks().at_end()) {
    return LineRead::Garbled;
  }
  graph.pattern = static_cast<Pattern>(*pattern);
  graph.cross_nic = *cross_nic;
  graph.same_channels = *same != 0;
  graph.bandwidth_intra = *intra;
  graph.bandwidth_inter = *inter;
  graph.type_intra = *type_intra;
  graph.type_inter = *type_inter;
  printed.logged.stated_channels = static_cast<std::size_t>(*channels);
  keep(rank.graphs, std::move(printed), most_graphs);
  return LineRead::Read;
}

/// " 0 : NET/0 GPU/0 GPU/1 NET/0"
LineRead read_graph_channel(LogScanner scanner, RankLog& rank) {
  const auto channel = scanner.blanks().number<std::size_t>();
  if (!channel || !scanner.literal(" :") || rank.graphs.empty()) {
    return LineRead::Other;
  }
  PrintedGraph& graph = rank.graphs.back();
  if (*channel != graph.channels.size() || *channel >= graph.logged.stated_channels) {
    return LineRead::Garbled;
  }
  std::vector<std::string> devices;
  while (!scanner.blanks().at_end() && devices.size() < most_devices_a_channel) {
    const std::string_view device = scanner.until(" ");
    if (!device.starts_with("GPU/") && !device.starts_with("NET/")) {
      return LineRead::Garbled;
    }
    devices.emplace_back(device);
  }
  graph.channels.push_back(std::move(devices));
  return LineRead::Read;
}

}  // namespace

LineRead read_topology_line(std::string_view text, RankLog& rank) {
  LogScanner scanner(text);
  if (scanner.literal("=== System : maxBw ")) {
    return begin_system(scanner, rank);
  }
  if (text.starts_with("=== System")) {
    return LineRead::Garbled;
  }
  if (rank.in_system) {
    if (text.starts_with("=====")) {
      rank.in_system = false;
      rank.system->complete = true;
      return LineRead::Read;
    }
    if (const LineRead read = read_tree_line(text, rank); read != LineRead::Other) {
      return read;
    }
  }
  if (text.starts_with("GPU/") || text.starts_with("NET/") || text.starts_with("CPU/")) {
    return read_paths(text, rank);
  }
  if (scanner.literal("Pattern ")) {
    return read_pattern(scanner, rank);
  }
  return read_graph_channel(scanner, rank);
}

}  // namespace collsim::nccl
