#include "algorithms/nccl/io/log_merge.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "algorithms/nccl/io/log_scanner.hpp"

namespace collsim::nccl {

namespace {

/// The ranks of a communicator, lowest first; positions in the list of all.
struct Group {
  std::vector<std::size_t> members{};
};

int rank_for_order(const RankLog& log) {
  return log.rank.value_or(std::numeric_limits<int>::max());
}

/// The name of a rank's communicator: its id, or in old versions the how-manieth of its size it is.
std::string group_key(const WrittenRank& rank, std::map<std::string, int>& counts) {
  const RankLog& log = rank.log;
  if (!log.id.empty()) {
    return log.id;
  }
  if (!log.ranks) {
    return {};
  }
  const std::string size = "of " + std::to_string(*log.ranks);
  const std::string writer = rank.writer.host + ":" + std::to_string(rank.writer.process) + ":" +
                             std::to_string(rank.writer.device) + " " + size;
  return size + " #" + std::to_string(counts[writer]++);
}

/// Shapes: `group_of[rank]` is set. Ranks that say of which communicator they are come first in the
/// order of the log; those that do not are of the only one, or of one of their own.
std::vector<Group> make_groups(const std::vector<WrittenRank>& ranks,
                               std::vector<std::size_t>& group_of) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> known;
  std::map<std::string, int> counts;
  std::vector<std::size_t> nameless;
  group_of.assign(ranks.size(), 0);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::string key = group_key(ranks[i], counts);
    if (key.empty()) {
      nameless.push_back(i);
      continue;
    }
    const auto [at, is_new] = known.emplace(key, groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    group_of[i] = at->second;
    groups[at->second].members.push_back(i);
  }
  if (!nameless.empty() && groups.size() != 1) {
    groups.emplace_back();
  }
  for (const std::size_t i : nameless) {
    group_of[i] = groups.size() - 1;
    groups.back().members.push_back(i);
  }
  for (Group& group : groups) {
    std::ranges::stable_sort(group.members, {},
                             [&ranks](std::size_t i) { return rank_for_order(ranks[i].log); });
  }
  return groups;
}

/// Ranks by the names that a graph's lines give GPUs.
class GpuNames {
 public:
  /// `same_host`: the other ranks of the writer's host.
  GpuNames(const RankLog& log, const std::vector<const RankLog*>& same_host) {
    for (const RankLog* other : same_host) {
      if (other->rank && !other->bus.empty()) {
        add(other->bus, *other->rank);
      }
    }
    if (log.system) {
      for (const LoggedPart& part : log.system->parts) {
        if (part.kind == PartKind::Gpu && part.rank) {
          add(part.id, *part.rank);
          node_.insert(*part.rank);
        }
      }
    }
  }

  /// "GPU/0-26000" names a bus, "GPU/3" of older versions a rank.
  [[nodiscard]] std::optional<int> rank(std::string_view name) const {
    name.remove_prefix(std::string_view("GPU/").size());
    if (name.find('-') == std::string_view::npos) {
      LogScanner scanner(name);
      const auto rank = scanner.number<int>();
      return rank && scanner.at_end() ? rank : std::nullopt;
    }
    const auto known = ranks_.find(lower(name));
    if (known != ranks_.end()) {
      return known->second;
    }
    const auto bus = ranks_.find(lower(name.substr(name.find('-') + 1)));
    return bus != ranks_.end() ? std::optional(bus->second) : std::nullopt;
  }

  /// The node's ranks, if the tree of the system names them.
  [[nodiscard]] const std::set<int>& node() const { return node_; }

 private:
  static std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return result;
  }
  void add(const std::string& name, int rank) { ranks_[lower(name)] = rank; }

  std::map<std::string, int, std::less<>> ranks_{};
  std::set<int> node_{};
};

/// "NET/3" is decimal, "NET/0-a" a node and a device in hexadecimal.
std::optional<int> nic_number(std::string_view name) {
  name.remove_prefix(std::string_view("NET/").size());
  const std::size_t dash = name.find('-');
  LogScanner scanner(dash == std::string_view::npos ? name : name.substr(dash + 1));
  const auto number = scanner.number<int>(dash == std::string_view::npos ? 10 : 16);
  return number && scanner.at_end() ? number : std::nullopt;
}

bool has_heads_only(Pattern pattern) {
  return pattern == Pattern::Nvls || pattern == Pattern::CollNetDirect;
}

/// The channel with ranks of the communicator for GPUs.
std::optional<GraphChannel> resolve(const std::vector<std::string>& devices, Pattern pattern,
                                    const GpuNames& names) {
  GraphChannel channel;
  for (const std::string& device : devices) {
    if (device.starts_with("NET/")) {
      auto& nic = channel.gpus.empty() ? channel.nic_in : channel.nic_out;
      nic = nic_number(device);
    } else if (!has_heads_only(pattern) || channel.gpus.empty()) {
      const auto rank = names.rank(device);
      if (!rank) {
        return std::nullopt;
      }
      channel.gpus.push_back(*rank);
    }
  }
  return channel;
}

/// Fills the orders of all graphs, if every name can be told. Shapes: GPUs become 0, 1, … by rank.
void resolve_graphs(std::vector<PrintedGraph>& graphs, const GpuNames& names) {
  std::set<int> node = names.node();
  bool all = true;
  for (PrintedGraph& printed : graphs) {
    Graph& graph = printed.logged.graph;
    for (const auto& devices : printed.channels) {
      auto channel = resolve(devices, graph.pattern, names);
      all = all && channel.has_value();
      if (channel) {
        node.insert(channel->gpus.begin(), channel->gpus.end());
        graph.channels.push_back(std::move(*channel));
      }
    }
  }
  for (PrintedGraph& printed : graphs) {
    if (!all) {
      printed.logged.graph.channels.clear();
    }
    for (GraphChannel& channel : printed.logged.graph.channels) {
      for (int& gpu : channel.gpus) {
        gpu = static_cast<int>(std::distance(node.begin(), node.find(gpu)));
      }
    }
  }
}

template <class Value>
void take_first(std::optional<Value>& known, std::optional<Value>& other) {
  if (!known) {
    known = std::move(other);
  }
}

template <class Value>
void append(std::vector<Value>& all, std::vector<Value>& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void add_rank(LoggedCommunicator& communicator, RankLog& log) {
  take_first(communicator.ranks, log.ranks);
  take_first(communicator.nodes, log.nodes);
  take_first(communicator.local_ranks, log.local_ranks);
  if (log.rank) {
    communicator.ranks_seen.push_back(*log.rank);
  }
  take_first(communicator.channels.collective, log.channels.collective);
  take_first(communicator.channels.nvls, log.channels.nvls);
  take_first(communicator.channels.p2p, log.channels.p2p);
  take_first(communicator.channels.per_peer, log.channels.per_peer);
  take_first(communicator.channels.p2p_chunk, log.channels.p2p_chunk);
  take_first(communicator.channels.thread_thresholds, log.channels.thread_thresholds);
  take_first(communicator.nvls_available, log.nvls_available);
  if (communicator.graphs.empty()) {
    for (PrintedGraph& printed : log.graphs) {
      communicator.graphs.push_back(std::move(printed.logged));
    }
  }
  if (log.system && (!communicator.system || !communicator.system->complete)) {
    communicator.system = std::move(log.system);
  }
  if (communicator.paths.empty()) {
    communicator.paths = std::move(log.paths);
  }
  append(communicator.rings, log.rings);
  append(communicator.neighbours, log.neighbours);
  append(communicator.trees, log.trees);
  if (log.has_table && !communicator.has_table) {
    communicator.table = log.table;
    communicator.has_table = true;
  }
  communicator.unfinished += log.begun && !log.complete ? 1U : 0U;
}

/// A tree of the system that is whole has all GPUs of a node.
void count_gpus(LoggedCommunicator& communicator) {
  if (communicator.local_ranks || !communicator.system || !communicator.system->complete) {
    return;
  }
  const auto gpus = std::ranges::count_if(communicator.system->parts, [](const LoggedPart& part) {
    return part.kind == PartKind::Gpu && part.rank;
  });
  if (gpus > 0) {
    communicator.local_ranks = static_cast<int>(gpus);
  }
  if (!communicator.nodes && communicator.ranks == static_cast<int>(gpus)) {
    communicator.nodes = 1;
  }
}

LoggedCommunicator merge(std::vector<WrittenRank>& ranks, const Group& group) {
  LoggedCommunicator communicator;
  for (const std::size_t i : group.members) {
    WrittenRank& rank = ranks[i];
    // Names of GPUs matter for the first graphs only.
    if (communicator.graphs.empty() && !rank.log.graphs.empty()) {
      std::vector<const RankLog*> same_host;
      for (const std::size_t other : group.members) {
        if (ranks[other].writer.host == rank.writer.host) {
          same_host.push_back(&ranks[other].log);
        }
      }
      resolve_graphs(rank.log.graphs, GpuNames(rank.log, same_host));
    }
    add_rank(communicator, rank.log);
  }
  count_gpus(communicator);
  std::ranges::sort(communicator.ranks_seen);
  const auto repeated = std::ranges::unique(communicator.ranks_seen);
  communicator.ranks_seen.erase(repeated.begin(), repeated.end());
  return communicator;
}

/// Whose calls are whose: by the communicator's address in a process, else by process and device, else
/// the only one that there is.
class Owners {
 public:
  Owners(const std::vector<WrittenRank>& ranks, const std::vector<std::size_t>& group_of,
         std::size_t groups)
      : groups_(groups) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const LogWriter& writer = ranks[i].writer;
      const auto device = std::tuple(writer.host, writer.process, writer.device);
      of_device_[device].insert(group_of[i]);
      of_address_[std::tuple(writer.host, writer.process, ranks[i].log.address)].insert(
          group_of[i]);
    }
  }

  [[nodiscard]] std::optional<std::size_t> of(const WrittenChoice& choice) const {
    const LogWriter& writer = choice.writer;
    if (!choice.address.empty()) {
      const auto known = of_address_.find(std::tuple(writer.host, writer.process, choice.address));
      if (known != of_address_.end()) {
        return only(known->second);
      }
    }
    const auto known = of_device_.find(std::tuple(writer.host, writer.process, writer.device));
    if (known != of_device_.end()) {
      return only(known->second);
    }
    return groups_ == 1 ? std::optional<std::size_t>(0) : std::nullopt;
  }

 private:
  static std::optional<std::size_t> only(const std::set<std::size_t>& groups) {
    return groups.size() == 1 ? std::optional(*groups.begin()) : std::nullopt;
  }

  std::size_t groups_;
  std::map<std::tuple<std::string, long, int>, std::set<std::size_t>> of_device_{};
  std::map<std::tuple<std::string, long, std::string>, std::set<std::size_t>> of_address_{};
};

auto choice_order(const LoggedChoice& choice) {
  return std::tuple(choice.function, choice.bytes, choice.algorithm, choice.protocol,
                    choice.channels, choice.type, choice.op, choice.of_one_rank);
}

/// By function and size; equal ones of several ranks become one.
void sort_choices(std::vector<LoggedChoice>& choices) {
  std::ranges::sort(choices, {}, choice_order);
  std::vector<LoggedChoice> merged;
  for (const LoggedChoice& choice : choices) {
    if (!merged.empty() && choice_order(merged.back()) == choice_order(choice)) {
      merged.back().times += choice.times;
    } else {
      merged.push_back(choice);
    }
  }
  choices = std::move(merged);
}

}  // namespace

NcclLog merge_ranks(LogRanks& gathered) {
  NcclLog log;
  log.version = gathered.version();
  log.cuda = gathered.cuda();
  log.rccl = gathered.rccl();
  log.several_versions = gathered.several_versions();
  log.environment = gathered.environment();
  log.unplaced = gathered.uncounted_choices();

  std::vector<std::size_t> group_of;
  const std::vector<Group> groups = make_groups(gathered.ranks(), group_of);
  const Owners owners(gathered.ranks(), group_of, std::max<std::size_t>(groups.size(), 1));
  for (const Group& group : groups) {
    log.communicators.push_back(merge(gathered.ranks(), group));
  }
  if (groups.empty() && !gathered.choices().empty()) {
    log.communicators.emplace_back();
  }
  for (const WrittenChoice& written : gathered.choices()) {
    if (const auto owner = owners.of(written)) {
      log.communicators[*owner].choices.push_back(written.choice);
    } else {
      log.unplaced += written.choice.times;
    }
  }
  for (LoggedCommunicator& communicator : log.communicators) {
    sort_choices(communicator.choices);
  }
  return log;
}

}  // namespace collsim::nccl
