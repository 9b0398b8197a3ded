#include "topology/graph.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <tuple>
#include <utility>

#include "topology/error.hpp"

namespace collsim {

namespace {

/// Takes `prefix` off the front of `text`.
bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

bool consume(std::string_view& text, std::uint32_t number) {
  std::array<char, 10> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return consume(text, std::string_view(digits.data(), written.ptr));
}

/// Where each device's links begin in a list ordered by device: a counting sort's first half.
template <class EndOf>
std::vector<std::uint32_t> begins(std::size_t devices, std::span<const Link> links, EndOf end_of) {
  std::vector<std::uint32_t> begin(devices + 1, 0);
  for (const Link& link : links) {
    ++begin[end_of(link).index() + 1];
  }
  for (std::size_t i = 0; i < devices; ++i) {
    begin[i + 1] += begin[i];
  }
  return begin;
}

/// The links ordered by device, then by id: its second half.
template <class EndOf>
std::vector<LinkId> ordered_by(const std::vector<std::uint32_t>& begin, std::span<const Link> links,
                               EndOf end_of) {
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  std::vector<LinkId> order(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    order[next[end_of(links[i]).index()]++] = LinkId(i);
  }
  return order;
}

std::span<const LinkId> part(const std::vector<LinkId>& links,
                             const std::vector<std::uint32_t>& begin, DeviceId id) {
  return std::span(links).subspan(begin[id.index()], begin[id.index() + 1] - begin[id.index()]);
}

template <class Thing>
void require_room(const std::vector<Thing>& things, const char* what) {
  if (things.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw InputError(std::string("more than 4294967295 ") + what);
  }
}

}  // namespace

std::string_view name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::Gpu:
      return "gpu";
    case DeviceKind::Nvswitch:
      return "nvswitch";
    case DeviceKind::PcieSwitch:
      return "pcie-switch";
    case DeviceKind::Cpu:
      return "cpu";
    case DeviceKind::Nic:
      return "nic";
    case DeviceKind::NetworkSwitch:
      return "switch";
  }
  COLLSIM_ENSURE(false, "unknown kind of device");
}

std::string_view name_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::Generic:
      return "generic";
    case LinkKind::Nvlink:
      return "nvlink";
    case LinkKind::Xgmi:
      return "xgmi";
    case LinkKind::Pcie:
      return "pcie";
    case LinkKind::Socket:
      return "socket";
    case LinkKind::Infiniband:
      return "infiniband";
    case LinkKind::Ethernet:
      return "ethernet";
  }
  COLLSIM_ENSURE(false, "unknown kind of link");
}

std::span<const LinkId> Graph::links_out(DeviceId id) const { return part(out_, out_begin_, id); }

std::span<const LinkId> Graph::links_in(DeviceId id) const { return part(in_, in_begin_, id); }

std::span<const LinkId> Graph::links_between(DeviceId from, DeviceId to) const {
  const auto links = part(out_by_target_, out_begin_, from);
  const auto target = [this](LinkId id) { return link(id).target; };
  const auto first = std::ranges::lower_bound(links, to, {}, target);
  const auto last = std::ranges::upper_bound(first, links.end(), to, {}, target);
  return {first, last};
}

std::span<const DeviceId> Graph::nics(NodeId node) const {
  const std::uint32_t begin = nic_begin_[node.index()];
  return std::span(nics_).subspan(begin, nic_begin_[node.index() + 1] - begin);
}

std::optional<TorusPlace> Graph::torus_place(DeviceId id) const {
  if (!torus_ || id < torus_->first) {
    return std::nullopt;
  }
  TorusPlace place{};
  std::size_t rest = id.index() - torus_->first.index();
  for (std::size_t i = 0; i < place.size(); ++i) {
    place[i] = static_cast<std::uint32_t>(rest % torus_->size[i]);
    rest /= torus_->size[i];
  }
  return rest == 0 ? std::optional(place) : std::nullopt;
}

bool Graph::shows_node(const Device& device) const {
  return nodes_ > 1 && device.node && stems_[device.name_stem].naming != Stem::Naming::Own;
}

std::string Graph::name(DeviceId id) const {
  const Device& device = this->device(id);
  const std::string node =
      shows_node(device) ? "node" + std::to_string(device.node->value()) + "." : "";
  return node + name_in_node(id);
}

std::string Graph::name_in_node(DeviceId id) const {
  const Device& device = this->device(id);
  const Stem& stem = stems_[device.name_stem];
  return stem.naming == Stem::Naming::Numbered ? stem.text + std::to_string(device.number)
                                               : stem.text;
}

std::string Graph::name(LinkId id) const {
  const Link& link = this->link(id);
  std::string text = name(link.source) + " -> " + name(link.target);
  const auto parallel = links_between(link.source, link.target);
  const auto position = std::ranges::find(parallel, id) - parallel.begin();
  if (position > 0) {
    text += "#" + std::to_string(position);
  }
  return text;
}

bool Graph::has_name(const Device& device, std::string_view name) const {
  const Stem& stem = stems_[device.name_stem];
  if (shows_node(device) &&
      !(consume(name, "node") && consume(name, device.node->value()) && consume(name, "."))) {
    return false;
  }
  if (!consume(name, stem.text)) {
    return false;
  }
  if (stem.naming == Stem::Naming::Numbered && !consume(name, device.number)) {
    return false;
  }
  return name.empty();
}

std::optional<DeviceId> Graph::find_device(std::string_view name) const {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (has_name(devices_[i], name)) {
      return DeviceId(i);
    }
  }
  return std::nullopt;
}

std::uint32_t GraphBuilder::add_stem(std::string text, bool numbered) {
  using Naming = Graph::Stem::Naming;
  graph_.stems_.push_back({std::move(text), numbered ? Naming::Numbered : Naming::Single});
  return static_cast<std::uint32_t>(graph_.stems_.size() - 1);
}

LevelId GraphBuilder::add_level(std::string_view name) {
  const auto found = std::ranges::find(graph_.levels_, name);
  if (found == graph_.levels_.end()) {
    graph_.levels_.emplace_back(name);
    return LevelId(graph_.levels_.size() - 1);
  }
  return LevelId(found - graph_.levels_.begin());
}

DeviceId GraphBuilder::add_device(DeviceKind kind, std::optional<NodeId> node, std::uint32_t stem,
                                  std::uint32_t number) {
  COLLSIM_ENSURE(stem < graph_.stems_.size(), "a device needs a name stem of this builder");
  require_room(graph_.devices_, "devices");
  graph_.devices_.push_back({kind, node, stem, number, std::nullopt, std::nullopt});
  return DeviceId(graph_.devices_.size() - 1);
}

DeviceId GraphBuilder::add_named_device(DeviceKind kind, std::optional<NodeId> node,
                                        std::string name) {
  graph_.stems_.push_back({std::move(name), Graph::Stem::Naming::Own});
  return add_device(kind, node, static_cast<std::uint32_t>(graph_.stems_.size() - 1), 0);
}

LinkId GraphBuilder::add_link(const Link& link) {
  COLLSIM_ENSURE(std::max(link.source, link.target).index() < graph_.devices_.size(),
                 "a link needs two devices of this builder");
  COLLSIM_ENSURE(link.level.index() < graph_.levels_.size(), "a link needs a level");
  if (link.bandwidth <= Bandwidth()) {
    throw InputError("expected a positive bandwidth for a link");
  }
  if (link.latency < Duration::zero()) {
    throw InputError("expected a latency of at least 0 for a link");
  }
  if (link.source == link.target) {
    throw InputError("expected a link between two devices, got one");
  }
  require_room(graph_.links_, "links");
  graph_.links_.push_back(link);
  return LinkId(graph_.links_.size() - 1);
}

LinkId GraphBuilder::add_cable(const Link& link) {
  const LinkId first = add_link(link);
  Link back = link;
  std::swap(back.source, back.target);
  add_link(back);
  return first;
}

void GraphBuilder::reserve(std::size_t devices, std::size_t links) {
  graph_.devices_.reserve(devices);
  graph_.links_.reserve(links);
}

void GraphBuilder::index_devices() {
  Graph& graph = graph_;
  for (std::size_t i = 0; i < graph.devices_.size(); ++i) {
    const Device& device = graph.devices_[i];
    if (device.kind == DeviceKind::Gpu) {
      graph.gpus_.emplace_back(i);
    }
    if (!device.node) {
      continue;
    }
    graph.nodes_ = std::max(graph.nodes_, device.node->value() + 1);
    if (device.kind == DeviceKind::Nic) {
      graph.nics_.emplace_back(i);
    }
  }
  const auto by_node = [&graph](DeviceId id) {
    return std::tuple(graph.device(id).node.value_or(NodeId(0)), id);
  };
  std::ranges::sort(graph.gpus_, {}, by_node);
  std::ranges::sort(graph.nics_, {}, by_node);
  graph.nic_begin_.assign(std::size_t{graph.nodes_} + 1, 0);
  for (const DeviceId nic : graph.nics_) {
    ++graph.nic_begin_[graph.device(nic).node->index() + 1];
  }
  for (std::size_t n = 0; n < graph.nodes_; ++n) {
    graph.nic_begin_[n + 1] += graph.nic_begin_[n];
  }
}

void GraphBuilder::index_links() {
  Graph& graph = graph_;
  const std::size_t devices = graph.devices_.size();
  const auto source = [](const Link& link) { return link.source; };
  const auto target = [](const Link& link) { return link.target; };
  graph.out_begin_ = begins(devices, graph.links_, source);
  graph.out_ = ordered_by(graph.out_begin_, graph.links_, source);
  graph.in_begin_ = begins(devices, graph.links_, target);
  graph.in_ = ordered_by(graph.in_begin_, graph.links_, target);

  // Walking all links by target, then by id, and dealing them out to their sources sorts every
  // source's links by target without comparing any.
  graph.out_by_target_.resize(graph.links_.size());
  std::vector<std::uint32_t> next(graph.out_begin_.begin(), graph.out_begin_.end() - 1);
  for (const LinkId id : graph.in_) {
    graph.out_by_target_[next[graph.link(id).source.index()]++] = id;
  }
}

Graph GraphBuilder::freeze() && {
  index_devices();
  if (graph_.gpus_.empty()) {
    throw InputError("expected at least one GPU, got none");
  }
  index_links();
  return std::move(graph_);
}

}  // namespace collsim
