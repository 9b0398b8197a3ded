#include "algorithms/nccl/io/read_constants.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/nccl/io/constants_reader.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::array keys{"description", "versions", "base",         "latency",
                          "caps",        "nvls",     "ring",         "tree_correction",
                          "rules",       "channels", "ranks",        "send_recv",
                          "nvlink",      "sockets",  "search_speeds"};
constexpr std::array generation_words{"volta", "ampere", "hopper", "blackwell"};
constexpr std::size_t most_corrections = 32;
constexpr std::size_t most_speeds = 64;
constexpr std::size_t most_listed = 16;
constexpr IntegerRange channel_range{1, 64};
constexpr IntegerRange rank_range{1, 1024};
constexpr IntegerRange sm_range{0, 999};

template <std::size_t Size>
std::vector<std::string> words(const std::array<const char*, Size>& list) {
  return {list.begin(), list.end()};
}

template <class Key, std::size_t Size>
std::vector<std::string> names(const std::array<Key, Size>& list) {
  std::vector<std::string> result;
  result.reserve(list.size());
  for (const Key key : list) {
    result.emplace_back(name(key));
  }
  return result;
}

/// One latency a protocol for each algorithm.
void read_latencies(const ConstantsReader& parent, const std::string& key, LatencyTable& table) {
  const ConstantsReader reader = parent.inside(key, names(algorithms));
  for (const Algorithm algorithm : algorithms) {
    const std::string word(name(algorithm));
    if (reader.wants(word)) {
      const std::vector<double> values = reader.numbers(word, protocols.size(), protocols.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        table[algorithm][protocols[i]] = values[i];
      }
    }
  }
}

void read_latency(const ConstantsReader& parent, TuningConstants& constants) {
  const ConstantsReader reader =
      parent.inside("latency", {"base", "nvlink", "pci", "network", "collnet_serialization",
                                "pat_step_share", "pat_per_rank"});
  read_latencies(reader, "base", constants.base_latency);
  read_latencies(reader, "nvlink", constants.hop_latency[Hop::NvLink]);
  read_latencies(reader, "pci", constants.hop_latency[Hop::Pci]);
  read_latencies(reader, "network", constants.hop_latency[Hop::Network]);
  reader.number("collnet_serialization", constants.collnet_serialization);
  reader.number("pat_step_share", constants.pat_step_share);
  reader.number("pat_per_rank", constants.pat_per_rank);
}

/// One, two and more nodes for each generation.
void read_cap(const ConstantsReader& parent, const std::string& key, CapTable& table) {
  const ConstantsReader reader = parent.inside(key, words(generation_words));
  for (std::size_t i = 0; i < generations.size(); ++i) {
    if (reader.wants(generation_words[i])) {
      const std::vector<double> values =
          reader.numbers(generation_words[i], scales.size(), scales.size());
      for (std::size_t scale = 0; scale < values.size(); ++scale) {
        table[generations[i]][scales[scale]] = values[scale];
      }
    }
  }
}

void read_caps(const ConstantsReader& parent, TuningConstants& constants) {
  const ConstantsReader reader =
      parent.inside("caps", {"ll", "ring_ll128", "tree_ll128", "tree", "nvls_tree"});
  read_cap(reader, "ll", constants.ll_cap);
  read_cap(reader, "ring_ll128", constants.ring_ll128_cap);
  read_cap(reader, "tree_ll128", constants.tree_ll128_cap);
  read_cap(reader, "tree", constants.tree_cap);
  read_cap(reader, "nvls_tree", constants.nvls_tree_cap);
}

void read_ring(const ConstantsReader& parent, TuningConstants& constants) {
  constexpr std::array ll{Choice<RingLL>{"half", RingLL::Half},
                          Choice<RingLL>{"quarter or third", RingLL::QuarterOrThird}};
  constexpr std::array hops_words{Choice<RingNetworkHops>{"links", RingNetworkHops::Links},
                                  Choice<RingNetworkHops>{"nodes", RingNetworkHops::Nodes}};
  const ConstantsReader reader =
      parent.inside("ring", {"ll", "ll128_share", "ll128_share_one_gpu", "ll128_function_caps",
                             "share_from_ampere", "network_hops"});
  reader.choice("ll", ll, constants.ring_ll);
  reader.number("ll128_share", constants.ring_ll128_share);
  reader.number("ll128_share_one_gpu", constants.ring_ll128_share_one_gpu);
  if (reader.wants("ll128_function_caps")) {
    constants.ring_ll128_function_cap = reader.numbers("ll128_function_caps", 0, functions.size());
    const std::size_t caps = constants.ring_ll128_function_cap.size();
    if (caps != 0 && caps != functions.size()) {
      reader.mapping().refuse("ll128_function_caps", "expected none, or one a function");
    }
  }
  reader.number("share_from_ampere", constants.ring_share_from_ampere);
  reader.choice("network_hops", hops_words, constants.ring_network_hops);
}

/// One node, several nodes.
void read_counts(const ConstantsReader& reader, const std::string& key, NvlsChannels& counts) {
  const ConstantsReader inner = reader.inside(key, {"one_node", "several_nodes"});
  inner.count("one_node", channel_range, counts.one_node);
  inner.count("several_nodes", channel_range, counts.several_nodes);
}

void read_nvls(const ConstantsReader& parent, TuningConstants& constants) {
  constexpr std::array bandwidths{Choice<NvlsBandwidth>{"efficiency", NvlsBandwidth::Efficiency},
                                  Choice<NvlsBandwidth>{"graph", NvlsBandwidth::Graph},
                                  Choice<NvlsBandwidth>{"lesser", NvlsBandwidth::Lesser}};
  constexpr std::array networks{Choice<NvlsNetwork>{"fixed", NvlsNetwork::Fixed},
                                Choice<NvlsNetwork>{"by nics", NvlsNetwork::ByNics}};
  const ConstantsReader reader =
      parent.inside("nvls", {"exists", "bandwidth", "efficiency", "max_heads", "hopper_channels",
                             "blackwell_channels", "network", "raises_channels", "gather_converted",
                             "gathers_over_network"});
  reader.flag("exists", constants.has_nvls);
  reader.choice("bandwidth", bandwidths, constants.nvls_bandwidth);
  if (reader.wants("efficiency")) {
    const std::vector<double> values =
        reader.numbers("efficiency", generations.size(), generations.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      constants.nvls_efficiency[generations[i]] = values[i];
    }
  }
  reader.count("max_heads", channel_range, constants.max_nvls_heads);
  read_counts(reader, "hopper_channels", constants.hopper_nvls);
  read_counts(reader, "blackwell_channels", constants.blackwell_nvls);
  reader.choice("network", networks, constants.nvls_network);
  reader.flag("raises_channels", constants.nvls_raises_channels);
  reader.flag("gather_converted", constants.nvls_gather_converted);
  reader.flag("gathers_over_network", constants.nvls_gathers_over_network);
}

void read_corrections(const ConstantsReader& parent, TuningConstants& constants) {
  std::vector<std::string> accepted = names(protocols);
  accepted.emplace_back("NVLSTree");
  const ConstantsReader reader = parent.inside("tree_correction", accepted);
  for (const Protocol protocol : protocols) {
    const std::string word(name(protocol));
    if (reader.wants(word)) {
      constants.tree_correction[protocol] = reader.numbers(word, 1, most_corrections);
    }
  }
  if (reader.wants("NVLSTree")) {
    constants.nvls_tree_correction = reader.numbers("NVLSTree", 0, most_corrections);
  }
}

void read_rules(const ConstantsReader& parent, TuningConstants& constants) {
  constexpr std::array gpus{
      Choice<LL128Gpus>{"listed", LL128Gpus::Listed}, Choice<LL128Gpus>{"alike", LL128Gpus::Alike},
      Choice<LL128Gpus>{"alike or from hopper", LL128Gpus::AlikeOrFromHopper}};
  constexpr std::array gathers{Choice<CollNetGather>{"network", CollNetGather::Network},
                               Choice<CollNetGather>{"interpolated", CollNetGather::Interpolated}};
  constexpr std::array preferences{
      Choice<PathPreference>{"fewest links", PathPreference::FewestLinks},
      Choice<PathPreference>{"best type", PathPreference::BestType}};
  constexpr std::array nothing{Choice<NothingLeft>{"error", NothingLeft::Error},
                               Choice<NothingLeft>{"ring", NothingLeft::Ring}};
  const ConstantsReader reader =
      parent.inside("rules", {"ll128_gpus", "ll128_listed", "nothing_left", "function_lists", "pat",
                              "one_gpu_as_tree", "collnet_gather", "nics_over_c2c",
                              "path_preference", "symmetric_kernels", "copy_engine_collectives"});
  reader.choice("ll128_gpus", gpus, constants.ll128_gpus);
  if (reader.wants("ll128_listed")) {
    constants.ll128_listed.clear();
    for (const double sm : reader.numbers("ll128_listed", 0, most_listed)) {
      constants.ll128_listed.push_back(static_cast<int>(sm));
    }
  }
  reader.choice("collnet_gather", gathers, constants.collnet_gather);
  reader.flag("nics_over_c2c", constants.nics_over_c2c);
  reader.choice("path_preference", preferences, constants.path_preference);
  reader.choice("nothing_left", nothing, constants.nothing_left);
  reader.flag("function_lists", constants.function_lists);
  reader.flag("pat", constants.has_pat);
  reader.flag("symmetric_kernels", constants.has_symmetric_kernels);
  reader.flag("copy_engine_collectives", constants.has_copy_engine_collectives);
  reader.flag("one_gpu_as_tree", constants.one_gpu_uses_tree_latency);
}

void read_send_recv(const ConstantsReader& parent, TuningConstants& constants) {
  constexpr std::array remote{Choice<RemoteChannels>{"nics", RemoteChannels::Nics},
                              Choice<RemoteChannels>{"bandwidth", RemoteChannels::Bandwidth}};
  constexpr std::array ll{Choice<SendRecvLL>{"channels per peer", SendRecvLL::ChannelsPerPeer},
                          Choice<SendRecvLL>{"channels used", SendRecvLL::ChannelsUsed}};
  constexpr std::array batches{Choice<SendRecvBatches>{"any rounds", SendRecvBatches::AnyRounds},
                               Choice<SendRecvBatches>{"same eight", SendRecvBatches::SameEight}};
  constexpr std::array parts{Choice<SendRecvParts>{"spread", SendRecvParts::Spread},
                             Choice<SendRecvParts>{"whole steps", SendRecvParts::WholeSteps}};
  const ConstantsReader reader =
      parent.inside("send_recv", {"remote_channels", "channel_bandwidth", "ll", "ll_threshold",
                                  "parts", "batches", "net_chunk", "pci_chunk", "nvlink_chunk"});
  reader.choice("remote_channels", remote, constants.remote_channels);
  reader.number("channel_bandwidth", constants.remote_channel_bandwidth);
  if (constants.remote_channels == RemoteChannels::Bandwidth &&
      constants.remote_channel_bandwidth < 1) {
    reader.mapping().refuse("channel_bandwidth", "expected at least 1 GB/s");
  }
  reader.choice("ll", ll, constants.send_recv_ll);
  reader.bytes("ll_threshold", constants.send_recv_ll_threshold);
  reader.choice("parts", parts, constants.send_recv_parts);
  reader.choice("batches", batches, constants.send_recv_batches);
  reader.bytes("net_chunk", constants.net_chunk);
  reader.bytes("pci_chunk", constants.pci_chunk);
  reader.bytes("nvlink_chunk", constants.nvlink_chunk);
}

/// Reads a list of mappings that each hold from a compute capability on, in ascending order.
template <class Row, class Read>
void read_rows(ReadContext context, const ConstantsReader& parent, const std::string& key,
               const std::vector<std::string>& accepted, std::vector<Row>& rows, Read read) {
  if (!parent.wants(key)) {
    return;
  }
  rows.clear();
  for (const LocatedNode& item : parent.mapping().items(key)) {
    const ConstantsReader reader(context, parent.mapping().item(item, accepted), Keys::All);
    Row row;
    reader.count("from_sm", sm_range, row.from_sm);
    if (!rows.empty() && rows.back().from_sm >= row.from_sm) {
      reader.mapping().refuse("from_sm", "expected more than the row before has, " +
                                             std::to_string(rows.back().from_sm));
    }
    read(reader, row);
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    parent.mapping().refuse(key, "expected at least one row");
  }
}

void read_speeds(ReadContext context, const ConstantsReader& reader, TuningConstants& constants) {
  read_rows(context, reader, "nvlink", {"from_sm", "bandwidth"}, constants.nvlink,
            [](const ConstantsReader& row, NvlinkRow& speed) {
              row.number("bandwidth", speed.bandwidth);
            });
  const ConstantsReader sockets =
      reader.inside("sockets", {"intel_sapphire_rapids", "intel_emerald_rapids"});
  sockets.number("intel_sapphire_rapids", constants.sapphire_rapids_sockets);
  sockets.number("intel_emerald_rapids", constants.emerald_rapids_sockets);
  read_rows(context, reader, "search_speeds", {"from_sm", "one_node", "several_nodes"},
            constants.speeds, [](const ConstantsReader& row, SpeedLadder& speeds) {
              for (const char* const scale : {"one_node", "several_nodes"}) {
                static_cast<void>(row.wants(scale));
              }
              speeds.one_node = row.numbers("one_node", 1, most_speeds);
              speeds.several_nodes = row.numbers("several_nodes", 1, most_speeds);
            });
}

VersionRange read_versions(const MappingReader& reader) {
  const MappingReader versions = reader.mapping("versions", {"first", "last"});
  const auto version = [&versions](const std::string& key) {
    const std::string text = versions.text(key);
    const std::optional<NcclVersion> parsed = parse_version(text);
    if (!parsed) {
      versions.refuse(key, "expected a version such as \"2.28.9\", got " + in_quotes(text));
    }
    return *parsed;
  };
  const VersionRange range{version("first"), version("last")};
  if (!range.contains(range.first)) {
    versions.refuse("last", "expected " + to_text(range.first) + " or a later version, got " +
                                in_quotes(to_text(range.last)));
  }
  return range;
}

}  // namespace

ConstantsFile parse_constants(std::string_view text, const std::string& file_name) {
  ConstantsFile file;
  file.root = parse_yaml(file.tree, file.tree.sources().add_file(file_name, text));
  return file;
}

ConstantsHead read_head(const ConstantsFile& file) {
  std::vector<Provenance> values;
  const MappingReader reader({file.tree, values}, {file.root, ""}, words(keys));
  ConstantsHead head;
  head.description = reader.text("description");
  head.versions = read_versions(reader);
  head.base = reader.text("base", Default<std::string>{"", "default"});
  return head;
}

void read_constants(const ConstantsFile& file, TuningConstants& constants) {
  std::vector<Provenance> values;
  const ReadContext context{file.tree, values};
  const MappingReader mapping(context, {file.root, ""}, words(keys));
  static_cast<void>(mapping.text("description"));
  const Keys needed = mapping.has("base") ? Keys::OnlyChanges : Keys::All;
  const ConstantsReader reader(context, mapping, needed);
  read_latency(reader, constants);
  read_caps(reader, constants);
  read_ring(reader, constants);
  read_nvls(reader, constants);
  read_corrections(reader, constants);
  read_rules(reader, constants);
  const ConstantsReader channels = reader.inside("channels", {"max"});
  const ConstantsReader ranks = reader.inside("ranks", {"max_per_node"});
  ranks.count("max_per_node", rank_range, constants.max_ranks_per_node);
  channels.count("max", channel_range, constants.max_channels);
  read_send_recv(reader, constants);
  read_speeds(context, reader, constants);
}

}  // namespace collsim::nccl
