#include "algorithms/nccl/graph_search.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithms/nccl/candidate.hpp"
#include "algorithms/nccl/channel_search.hpp"

namespace collsim::nccl {

namespace {

PathType next_worse(PathType type) {
  return static_cast<PathType>(static_cast<std::uint8_t>(type) + 1);
}

/// The wishes of a search, attempt after attempt.
class GraphSearch {
 public:
  GraphSearch(const DetectedNode& node, const SearchOptions& options, const GraphWish& wish)
      : node_(node),
        options_(options),
        several_(node.system.count(PartKind::Net) > 0),
        gpus_(node.system.count(PartKind::Gpu)),
        sm_(least_sm(node)),
        channel_search_(node, options),
        same_channels_first_(wish.pattern != Pattern::Nvls) {
    best_.pattern = wish.pattern;
    best_.collnet = wish.collnet;
    best_.least_channels = wish.least_channels;
    best_.most_channels = wish.most_channels;
    best_.same_channels = same_channels_first_;
    set_cross_nic();
    set_types();
  }

  Candidate run() {
    if (best_.pattern == Pattern::Nvls && (!has_nvswitch(node_) || sm_ < 90)) {
      return best_;
    }
    set_channels();
    choose_speeds();
    wanted_ = best_;
    set_speed(speed_);
    first_pass();
    second_pass();
    return best_;
  }

 private:
  void set_cross_nic() {
    const bool may_cross =
        node_.system.count(PartKind::Net) > 1 &&
        (best_.pattern == Pattern::Ring || best_.pattern == Pattern::BalancedTree ||
         best_.pattern == Pattern::SplitTree);
    cross_nic_ = may_cross ? options_.cross_nic : 0;
    best_.cross_nic = cross_nic_ == 1 ? 1 : 0;
  }

  void set_types() {
    intra_ = {PathType::Loc, PathType::Sys};
    inter_ = {PathType::Pix, PathType::Sys};
    if (gpus_ > 1) {
      intra_ = path_types(node_, PartKind::Gpu);
    }
    if (several_) {
      inter_ = path_types(node_, PartKind::Net);
    }
    best_.type_intra = intra_.best;
    best_.type_inter = inter_.best;
  }

  void set_channels() {
    if (best_.pattern == Pattern::Nvls) {
      best_.most_channels = std::min(options_.constants.most_nvls_heads, gpus_);
    } else if (best_.pattern == Pattern::CollNetDirect) {
      best_.most_channels = std::min(options_.constants.most_direct_heads, gpus_);
    }
    if (gpus_ == 1 && best_.pattern != Pattern::Ring) {
      best_.pattern = Pattern::Tree;
    }
    if (!several_ && best_.pattern == Pattern::Nvls) {
      best_.least_channels = best_.most_channels;  // pull evenly from all GPUs
    }
    // Trees suit two groups of GPUs, but need two channels, as many as rings.
    if (best_.pattern == Pattern::Ring && is_split(node_) && best_.most_channels >= 2 &&
        best_.least_channels == 1) {
      best_.least_channels = 2;
    }
  }

  void choose_speeds() {
    const auto& all = options_.constants.speeds;
    const auto fits = std::find_if(all.begin(), all.end(),
                                   [&](const SearchSpeeds& s) { return sm_ >= s.least_sm; });
    const SearchSpeeds& chosen = fits == all.end() ? all.back() : *fits;
    speeds_ = several_ ? chosen.several_nodes : chosen.one_node;
    float total = node_.total_bandwidth;
    if (gpus_ > 1 && best_.pattern != Pattern::Ring) {
      total = static_cast<float>(static_cast<double>(total) * (static_cast<double>(gpus_) * 1.0 /
                                                               static_cast<double>(gpus_ - 1)));
    }
    speed_ = 0;
    while ((speeds_[speed_] > node_.most_bandwidth ||
            speeds_[speed_] * static_cast<float>(best_.least_channels) > total) &&
           speed_ + 1 < speeds_.size()) {
      ++speed_;
    }
  }

  void set_speed(std::size_t speed) {
    speed_ = speed;
    wanted_.bandwidth_intra = wanted_.bandwidth_inter = speeds_[speed];
  }

  /// Whether no better graph is to be hoped for.
  bool attempt() {
    const SearchConstants& constants = options_.constants;
    const int visits =
        wanted_.same_channels ? constants.visits_same_channels : constants.visits_an_attempt;
    visits_left_ -= visits;
    budget_ = channel_search_.attempt(wanted_, best_, visits);
    return budget_ == -1 || best_.total_inter() >= node_.total_bandwidth;
  }

  void first_pass() {
    while (!attempt() && relax()) {
    }
    budget_ = -1;
  }

  /// Wishes for less than in the last attempt; false if there is nothing less to wish for.
  bool relax() {
    const CpuFacts cpu = cpu_of(node_);
    const bool over_amd = cpu.architecture == CpuArchitecture::X86 &&
                          cpu.vendor == CpuVendor::Amd && wanted_.type_intra == PathType::Sys;
    if (wanted_.same_channels && !over_amd) {
      wanted_.same_channels = false;
      return true;
    }
    wanted_.same_channels = same_channels_first_;
    visits_left_ += budget_;
    if (visits_left_ < 0 && best_.channels > 0) {
      return false;
    }
    return relax_pattern() || relax_intra() || relax_inter() || relax_rail() || relax_speed();
  }

  bool relax_pattern() {
    if (sm_ >= 90 && wanted_.pattern == Pattern::BalancedTree) {
      wanted_.pattern = Pattern::Tree;
      return true;
    }
    wanted_.pattern = best_.pattern;
    return false;
  }

  bool relax_intra() {
    const PathType worst = several_ ? wanted_.type_inter : intra_.worst;
    if (wanted_.type_intra < worst &&
        (best_.channels == 0 || wanted_.type_intra < best_.type_intra)) {
      wanted_.type_intra = next_worse(wanted_.type_intra);
      if (wanted_.type_intra < PathType::Dis) {
        return true;
      }
    }
    wanted_.type_intra = intra_.best;
    return false;
  }

  bool relax_inter() {
    if (several_ && wanted_.type_inter < inter_.worst &&
        (best_.channels == 0 || wanted_.type_inter < best_.type_inter ||
         wanted_.type_inter < PathType::Pxn)) {
      wanted_.type_inter = next_worse(wanted_.type_inter);
      if (wanted_.type_inter < PathType::Dis) {
        return true;
      }
    }
    wanted_.type_inter = inter_.best;
    return false;
  }

  bool relax_rail() {
    if (cross_nic_ == 2 && wanted_.cross_nic == 0 &&
        (best_.pattern == Pattern::Ring || best_.pattern == Pattern::BalancedTree)) {
      wanted_.cross_nic = 2;
      return true;
    }
    wanted_.cross_nic = cross_nic_ == 1 ? 1 : 0;
    return false;
  }

  bool relax_speed() {
    if (speed_ + 1 < speeds_.size() &&
        (best_.channels == 0 ||
         static_cast<double>(speeds_[speed_ + 1] / best_.bandwidth_inter) > .49)) {
      set_speed(speed_ + 1);
      return true;
    }
    return false;
  }

  /// Twice as many channels at half the speed, where one channel is faster than a thread block.
  void duplicate() {
    if (best_.channels == 0 || best_.pattern == Pattern::Nvls || best_.bandwidth_intra < 25 ||
        (sm_ > 80 && best_.bandwidth_intra < 50 && best_.channels > 4)) {
      return;
    }
    const std::size_t channels = std::min(best_.channels * 2, best_.most_channels);
    for (std::size_t c = best_.channels; c < channels; ++c) {
      best_.gpus[c] = best_.gpus[c - best_.channels];
      best_.nic_in[c] = best_.nic_in[c - best_.channels];
      best_.nic_out[c] = best_.nic_out[c - best_.channels];
    }
    const std::size_t times = (channels + best_.channels - 1) / best_.channels;
    best_.bandwidth_intra /= static_cast<float>(times);
    best_.bandwidth_inter /= static_cast<float>(times);
    best_.channels = channels;
  }

  void second_pass() {
    duplicate();
    wanted_ = best_;
    std::size_t speed = 0;
    while (speeds_[speed] > best_.bandwidth_inter && speed + 1 < speeds_.size()) {
      ++speed;
    }
    set_speed(speed);
    wanted_.least_channels = best_.channels;
    while (budget_ != 0 && speed_ > 0 && raise_speed()) {
      attempt();
    }
  }

  bool raise_speed() {
    if (best_.pattern == Pattern::Ring) {
      set_speed(speed_ - 1);
      return true;
    }
    if (best_.pattern == Pattern::Nvls && wanted_.bandwidth_inter == best_.bandwidth_inter &&
        wanted_.bandwidth_inter < wanted_.bandwidth_intra * 2) {
      wanted_.least_channels = wanted_.most_channels = best_.channels;
      wanted_.bandwidth_inter = speeds_[--speed_];
      return true;
    }
    if (wanted_.bandwidth_intra == best_.bandwidth_intra &&
        wanted_.bandwidth_intra < wanted_.bandwidth_inter * 2) {
      wanted_.bandwidth_intra = speeds_[--speed_];
      return true;
    }
    return false;
  }

  const DetectedNode& node_;
  const SearchOptions& options_;
  bool several_;
  std::size_t gpus_;
  int sm_;
  ChannelSearch channel_search_;
  bool same_channels_first_;
  int cross_nic_ = 0;
  PathTypes intra_{};
  PathTypes inter_{};
  std::vector<float> speeds_;
  std::size_t speed_ = 0;
  std::int64_t visits_left_ = options_.constants.visits_in_all;
  int budget_ = 0;
  Candidate best_{};
  Candidate wanted_{};
};

/// What NCCL takes if it found nothing.
void fall_back(const DetectedNode& node, Graph& graph) {
  GraphChannel channel;
  for (const PartId gpu : node.system.all(PartKind::Gpu)) {
    channel.gpus.push_back(node.system.part(gpu).gpu.rank);
  }
  if (node.system.count(PartKind::Net) > 0) {
    channel.nic_in = channel.nic_out = 0;
  }
  graph.bandwidth_intra = graph.bandwidth_inter = 0.1F;
  graph.type_intra = graph.type_inter = PathType::Sys;
  graph.channels = {std::move(channel)};
}

Graph as_graph(const DetectedNode& node, const Candidate& found) {
  const System& system = node.system;
  Graph graph;
  graph.pattern = found.pattern;
  graph.cross_nic = found.cross_nic;
  graph.same_channels = found.same_channels;
  graph.bandwidth_intra = found.bandwidth_intra;
  graph.bandwidth_inter = found.bandwidth_inter;
  graph.latency_inter = found.latency_inter;
  graph.type_intra = found.type_intra;
  graph.type_inter = found.type_inter;
  const auto& gpus = system.all(PartKind::Gpu);
  const auto& nets = system.all(PartKind::Net);
  for (std::size_t c = 0; c < found.channels; ++c) {
    GraphChannel channel;
    const std::size_t placed = found.pattern == Pattern::Nvls ? 1 : gpus.size();
    for (std::size_t g = 0; g < placed; ++g) {
      channel.gpus.push_back(system.part(gpus[found.gpus[c][g]]).gpu.rank);
    }
    if (!nets.empty()) {
      channel.nic_in = system.part(nets[found.nic_in[c]]).net.dev;
      channel.nic_out = system.part(nets[found.nic_out[c]]).net.dev;
    }
    graph.channels.push_back(std::move(channel));
  }
  return graph;
}

}  // namespace

Graph search_graph(const DetectedNode& node, const SearchOptions& options, const GraphWish& wish) {
  const Candidate found = GraphSearch(node, options, wish).run();
  Graph graph = as_graph(node, found);
  if (found.channels == 0 && found.pattern != Pattern::Nvls && !found.collnet) {
    fall_back(node, graph);
  }
  return graph;
}

GraphSet search_graphs(const DetectedNode& node, const SearchOptions& options) {
  const auto given_or_searched = [&](const std::optional<Graph>& given, const GraphWish& wish) {
    const bool usable =
        given && !given->channels.empty() && !(options.cross_nic == 0 && given->cross_nic == 1);
    return usable ? *given : search_graph(node, options, wish);
  };
  const auto if_placed = [](Graph graph) {
    return graph.channels.empty() ? std::nullopt : std::optional<Graph>(std::move(graph));
  };
  const std::size_t most = options.constants.most_channels;
  GraphSet graphs;
  graphs.ring = given_or_searched(options.given_ring, {Pattern::Ring, 1, most});
  const std::size_t channels = graphs.ring.channels.size();
  graphs.tree = given_or_searched(options.given_tree, {Pattern::BalancedTree, channels, channels});
  if (options.collnet_enable) {
    graphs.collnet_chain =
        if_placed(search_graph(node, options, {Pattern::Tree, channels, channels, true}));
    graphs.collnet_direct =
        if_placed(search_graph(node, options, {Pattern::CollNetDirect, 1, most, true}));
  }
  if (options.nvls_enable) {
    graphs.nvls = if_placed(given_or_searched(options.given_nvls, {Pattern::Nvls, 1, most}));
  }
  return graphs;
}

}  // namespace collsim::nccl
