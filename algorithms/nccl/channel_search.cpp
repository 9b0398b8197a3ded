#include "algorithms/nccl/channel_search.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/nccl/local_devices.hpp"
#include "algorithms/nccl/net_choice.hpp"

namespace collsim::nccl {

namespace {

/// Links of a hop; shares of hops are cut to whole ones, as in NCCL.
void add_hops(Candidate& candidate, float share, const Path& path) {
  candidate.hops = static_cast<int>(static_cast<float>(candidate.hops) +
                                    share * static_cast<float>(path.links.size()));
}

}  // namespace

ChannelSearch::ChannelSearch(const DetectedNode& node, const SearchOptions& options)
    : node_(node),
      options_(options),
      gpus_(node.system.all(PartKind::Gpu)),
      nets_(node.system.all(PartKind::Net)),
      links_(node.system),
      next_gpus_(node) {
  for (const PartId net : nets_) {
    net_left_.push_back(node.system.part(net).net.bandwidth);
    const auto position = [&](PartId gpu) {
      return static_cast<std::size_t>(std::find(gpus_.begin(), gpus_.end(), gpu) - gpus_.begin());
    };
    const auto gpu = local_gpu(node.system, node.paths, node.options, net);
    local_gpu_.push_back(gpu ? std::optional<std::size_t>(position(*gpu)) : std::nullopt);
    near_gpus_.emplace_back();
    for (const PartId near : nearest_parts(node.system, node.paths, net, PartKind::Gpu)) {
      near_gpus_.back().push_back(position(near));
    }
  }
}

int ChannelSearch::attempt(Candidate& wanted, Candidate& best, int visits) {
  wanted_ = &wanted;
  best_ = &best;
  wanted.channels = 0;
  wanted.gpus.resize(wanted.most_channels, std::vector<std::size_t>(gpus_.size()));
  wanted.nic_in.resize(wanted.most_channels);
  wanted.nic_out.resize(wanted.most_channels);
  used_.assign(wanted.most_channels, std::vector<bool>(gpus_.size(), false));
  entries_ = nets_to_try(node_, options_, wanted.type_inter, std::nullopt);
  exits_.assign(gpus_.size(), std::nullopt);
  int budget = visits;
  place_channel(budget);
  return budget;
}

const std::vector<std::size_t>& ChannelSearch::exits(std::size_t gpu) {
  if (!exits_[gpu]) {
    exits_[gpu] = nets_to_try(node_, options_, wanted_->type_inter, gpu);
  }
  return *exits_[gpu];
}

ChannelSearch::Way ChannelSearch::start() const {
  const std::size_t last = gpus_.size() - 1;
  Way way;
  if (!nets_.empty()) {
    way.to_net = wanted_->pattern == Pattern::Ring        ? last
                 : wanted_->pattern == Pattern::SplitTree ? 1
                                                          : 0;
  } else if (wanted_->pattern == Pattern::Ring) {
    way.to_first = last;
  }
  return way;
}

void ChannelSearch::place_channel(int& budget) {
  if (nets_.empty()) {
    place_inside(start(), budget);
  } else {
    place_from_net(start(), budget);
  }
}

void ChannelSearch::place_inside(const Way& start, int& budget) {
  Way way = start;
  const std::size_t channel = wanted_->channels;
  if (wanted_->pattern == Pattern::Nvls) {
    enter(std::nullopt, channel, way, budget);
    return;
  }
  way.order = channel == 0 ? Order::OfFile : Order::Replay;
  enter(std::nullopt, channel == 0 ? 0 : wanted_->gpus[channel - 1].front(), way, budget);
  if (channel == 0 || !wanted_->same_channels) {
    way.order = Order::Free;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      enter(std::nullopt, gpu, way, budget);
    }
  }
}

void ChannelSearch::place_from_net(const Way& start, int& budget) {
  // NCCL compares with and takes whole GB/s of a device.
  const auto bandwidth = static_cast<float>(static_cast<int>(wanted_->bandwidth_inter));
  const std::size_t channel = wanted_->channels;
  bool head_placed = false;
  for (std::size_t i = 0; i < entries_.size() && !head_placed; ++i) {
    const std::size_t net = entries_[(channel + i) % entries_.size()];
    if (net_left_[net] < bandwidth ||
        (wanted_->collnet && !node_.system.part(nets_[net]).net.collective)) {
      continue;
    }
    // Channels of a pair use the same two devices, the other way round.
    if (wanted_->pattern == Pattern::Ring && wanted_->cross_nic == 2 && channel % 2 == 1 &&
        net != wanted_->nic_out[channel - 1]) {
      continue;
    }
    wanted_->nic_in[channel] = net;
    wanted_->latency_inter = node_.system.part(nets_[net]).net.latency;
    take_net(net, bandwidth);
    if (wanted_->has_heads()) {
      const std::optional<std::size_t> gpu = local_gpu_[net];
      if (channel < entries_.size() && gpu && !is_head(*gpu)) {
        enter(net, *gpu, start, budget);
        head_placed = true;
      }
    } else {
      place_from_net(net, start, budget);
    }
    take_net(net, -bandwidth);
  }
}

void ChannelSearch::place_from_net(std::size_t net, const Way& start, int& budget) {
  Way way = start;
  const std::size_t channel = wanted_->channels;
  if (channel > 0 && wanted_->same_channels) {
    way.order = Order::Replay;
    enter(net, wanted_->gpus[channel - 1].front(), way, budget);
    return;
  }
  if (channel == 0 && !has_nvswitch(node_)) {
    // Something to compare with: costs nothing, may not last.
    int own_budget = options_.constants.visits_reference_order;
    way.order = Order::OfFile;
    enter(net, 0, way, own_budget);
    if (own_budget == -1) {
      budget = -1;
    }
  }
  way.order = Order::Free;
  if (local_gpu_[net]) {
    enter(net, *local_gpu_[net], way, budget);
  }
  for (const std::size_t gpu : near_gpus_[net]) {
    if (gpu != local_gpu_[net]) {
      enter(net, gpu, way, budget);
    }
  }
}

bool ChannelSearch::is_head(std::size_t gpu) const {
  const auto placed = wanted_->gpus.begin() + static_cast<std::ptrdiff_t>(wanted_->channels);
  return std::any_of(wanted_->gpus.begin(), placed,
                     [&](const auto& channel) { return channel.front() == gpu; });
}

void ChannelSearch::take_net(std::size_t net, float bandwidth) {
  const NetFacts& taken = node_.system.part(nets_[net]).net;
  for (std::size_t n = 0; n < nets_.size(); ++n) {
    const NetFacts& other = node_.system.part(nets_[n]).net;
    if (other.asic == taken.asic && other.port == taken.port) {
      net_left_[n] -= bandwidth;
    }
  }
}

bool ChannelSearch::take(PartId from, PartId to, float share) {
  const Path& path = node_.paths.between(from, to);
  const auto is_inside = [&](PartId part) {
    const PartKind kind = node_.system.part(part).kind;
    return kind == PartKind::Gpu || kind == PartKind::NvSwitch;
  };
  const bool intra = is_inside(from) && is_inside(to);
  const PathType worst = intra ? wanted_->type_intra : wanted_->type_inter;
  // Types count for whole channels only.
  const bool too_far =
      path.type > worst || (wanted_->is_tree() && node_.paths.between(to, from).type > worst);
  if (path.type == PathType::Dis || (share == 1 && too_far)) {
    return false;
  }
  const float bandwidth = intra ? wanted_->bandwidth_intra : wanted_->bandwidth_inter;
  if (!links_.take(path, from, bandwidth * share)) {
    return false;
  }
  add_hops(*wanted_, share, path);
  return true;
}

void ChannelSearch::give_back(PartId from, PartId to, float share) {
  const Path& path = node_.paths.between(from, to);
  const bool net =
      node_.system.part(from).kind == PartKind::Net || node_.system.part(to).kind == PartKind::Net;
  const float bandwidth = net ? wanted_->bandwidth_inter : wanted_->bandwidth_intra;
  links_.take(path, from, -bandwidth * share);
  add_hops(*wanted_, -share, path);
}

void ChannelSearch::enter(std::optional<std::size_t> net, std::size_t gpu, const Way& way,
                          int& budget) {
  if (net && !take(nets_[*net], gpus_[gpu], 1)) {
    return;
  }
  used_[wanted_->channels][gpu] = true;
  visit(gpu, way, budget);
  used_[wanted_->channels][gpu] = false;
  if (net) {
    give_back(nets_[*net], gpus_[gpu], 1);
  }
}

void ChannelSearch::visit(std::size_t gpu, const Way& way, int& budget) {
  if (budget <= 0) {
    return;
  }
  --budget;
  if (way.position == gpus_.size()) {
    finish_channel(budget);
    return;
  }
  wanted_->gpus[wanted_->channels][way.position] = gpu;
  if (way.position == way.to_net) {
    leave_to_net(gpu, way, budget);
  } else if (wanted_->pattern == Pattern::Nvls) {
    pull_through_switch(gpu, budget);
  } else if (wanted_->pattern == Pattern::CollNetDirect) {
    exchange_with_all(gpu, budget);
  } else if (way.position < gpus_.size() - 1) {
    go_on(gpu, way, budget);
  } else if (way.position == way.to_first) {
    close_ring(gpu, way, budget);
  } else {
    visit(gpu, {gpus_.size(), std::nullopt, std::nullopt, way.order}, budget);
  }
}

void ChannelSearch::finish_channel(int& budget) {
  ++wanted_->channels;
  if (is_better(*wanted_, *best_, gpus_.size())) {
    *best_ = *wanted_;
    if (wanted_->channels == wanted_->most_channels) {
      budget = -1;
    }
  }
  if (wanted_->channels < wanted_->most_channels) {
    place_channel(budget);
  }
  --wanted_->channels;
}

bool ChannelSearch::may_leave_by(std::size_t net) const {
  const std::size_t channel = wanted_->channels;
  const std::size_t entered = wanted_->nic_in[channel];
  if (wanted_->pattern == Pattern::Tree && net != entered) {
    return false;
  }
  if (wanted_->pattern == Pattern::Ring && wanted_->cross_nic == 2) {
    return channel % 2 == 0 || net == wanted_->nic_in[channel - 1];
  }
  const NetFacts& in = node_.system.part(nets_[entered]).net;
  const NetFacts& out = node_.system.part(nets_[net]).net;
  return wanted_->cross_nic != 0 || (in.asic == out.asic && in.port == out.port);
}

void ChannelSearch::leave_to_net(std::size_t gpu, const Way& way, int& budget) {
  const std::size_t channel = wanted_->channels;
  const bool balanced = wanted_->pattern == Pattern::BalancedTree;
  const float share = balanced ? 0.5F : 1.0F;
  Way on = way;
  on.to_net = balanced && way.position == 0 ? std::optional<std::size_t>(1) : std::nullopt;
  const std::vector<std::size_t>& ways_out = exits(gpu);
  for (const std::size_t net : ways_out) {
    if (!may_leave_by(net) || (balanced && way.position != 0 && net != wanted_->nic_out[channel])) {
      continue;
    }
    // Half of the bandwidth, but every link counts as one of the channel's hops.
    const float whole = wanted_->bandwidth_inter;
    wanted_->bandwidth_inter = whole * share;
    const bool taken = take(gpus_[gpu], nets_[net], 1);
    wanted_->bandwidth_inter = whole;
    if (taken) {
      wanted_->nic_out[channel] = net;
      visit(gpu, on, budget);
      wanted_->bandwidth_inter = whole * share;
      give_back(gpus_[gpu], nets_[net], 1);
      wanted_->bandwidth_inter = whole;
    }
  }
}

void ChannelSearch::go_on(std::size_t gpu, const Way& way, int& budget) {
  Way on = way;
  ++on.position;
  std::vector<std::size_t> next;
  if (way.order == Order::OfFile) {
    next = {on.position};
  } else if (way.order == Order::Replay) {
    next = {wanted_->gpus[wanted_->channels - 1][on.position]};
  } else {
    const NetOrder order = !way.to_net                  ? NetOrder::Ignore
                           : *way.to_net == on.position ? NetOrder::Near
                                                        : NetOrder::NearLast;
    const auto net = nets_.empty() ? std::nullopt
                                   : std::optional<std::size_t>(wanted_->nic_in[wanted_->channels]);
    next = next_gpus_.after(gpu, wanted_->pattern, used_[wanted_->channels], order, net);
  }
  for (const std::size_t other : next) {
    if (take(gpus_[gpu], gpus_[other], 1)) {
      enter(std::nullopt, other, on, budget);
      give_back(gpus_[gpu], gpus_[other], 1);
    }
  }
}

void ChannelSearch::close_ring(std::size_t gpu, const Way& way, int& budget) {
  const std::size_t first = wanted_->gpus[wanted_->channels].front();
  if (take(gpus_[gpu], gpus_[first], 1)) {
    visit(first, {way.position + 1, way.to_net, std::nullopt, way.order}, budget);
    give_back(gpus_[gpu], gpus_[first], 1);
  }
}

bool ChannelSearch::pull_direction(std::size_t head, bool from_switch, std::size_t& placed) {
  const PartId nvswitch = node_.system.all(PartKind::NvSwitch).front();
  for (; placed < gpus_.size(); ++placed) {
    const float share = placed == head ? 2 : 1;
    if (!(from_switch ? take(nvswitch, gpus_[placed], share)
                      : take(gpus_[placed], nvswitch, share))) {
      return false;
    }
  }
  return true;
}

void ChannelSearch::pull_through_switch(std::size_t head, int& budget) {
  const PartId nvswitch = node_.system.all(PartKind::NvSwitch).front();
  std::size_t down = 0;
  std::size_t up = 0;
  if (pull_direction(head, true, down) && pull_direction(head, false, up)) {
    visit(head, {gpus_.size(), std::nullopt, std::nullopt, Order::Free}, budget);
  }
  while (up > 0) {
    --up;
    give_back(gpus_[up], nvswitch, up == head ? 2 : 1);
  }
  while (down > 0) {
    --down;
    give_back(nvswitch, gpus_[down], down == head ? 2 : 1);
  }
}

void ChannelSearch::exchange_with_all(std::size_t head, int& budget) {
  const float share = 1.0F / static_cast<float>(gpus_.size() - 1);
  std::size_t forth = 0;
  std::size_t back = 0;
  while (forth < gpus_.size() && take(gpus_[head], gpus_[forth], share)) {
    ++forth;
  }
  if (forth == gpus_.size()) {
    while (back < gpus_.size() && take(gpus_[back], gpus_[head], share)) {
      ++back;
    }
  }
  if (back == gpus_.size()) {
    std::vector<std::size_t>& order = wanted_->gpus[wanted_->channels];
    std::size_t position = 1;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      if (gpu != head) {
        order[position++] = gpu;
      }
    }
    visit(head, {gpus_.size(), std::nullopt, std::nullopt, Order::Free}, budget);
  }
  while (back > 0) {
    give_back(gpus_[--back], gpus_[head], share);
  }
  while (forth > 0) {
    give_back(gpus_[head], gpus_[--forth], share);
  }
}

}  // namespace collsim::nccl
