// The nodes of a cluster: copies of templates, one group of like ones behind the other.

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "topology/build.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

NodeList::NodeList(const ClusterSpec& spec) {
  if (spec.nodes == 0) {
    throw InputError("expected at least 1 node, got 0", "nodes");
  }
  const bool mixed = !spec.more_nodes.empty();
  groups_.push_back(
      {&spec.node, resolve_node(spec.node, mixed ? "nodes[0].node" : "node"), spec.nodes});
  for (std::size_t i = 0; i < spec.more_nodes.size(); ++i) {
    const NodeGroupSpec& group = spec.more_nodes[i];
    const std::string path = at("nodes", i + 1);
    require_count(group.count, path + ".count");
    groups_.push_back({&group.node, resolve_node(group.node, path + ".node"), group.count});
  }
  std::uint64_t nodes = 0;
  for (const Group& group : groups_) {
    nodes += group.count;
    devices_ += std::uint64_t{group.count} * group.node.devices;
    links_ += group.count * group.node.links;
    nics_ += std::uint64_t{group.count} * group.node.nics.size();
    require_sizes(devices_, links_, "nodes");
  }
  nodes_ = static_cast<std::uint32_t>(nodes);
}

std::uint32_t NodeList::most_nics() const {
  std::size_t most = 0;
  for (const Group& group : groups_) {
    most = std::max(most, group.node.nics.size());
  }
  return static_cast<std::uint32_t>(most);
}

bool NodeList::has_family(const std::string& name) const {
  return std::ranges::any_of(groups_, [&](const Group& group) {
    return std::ranges::any_of(group.node.families, [&](const NodeTemplate::Family& family) {
      return family.name == name;
    });
  });
}

void NodeList::add(GraphBuilder& builder) const {
  // Innermost levels first, whichever node has them.
  std::vector<LinkSpec> links;
  // Families of one name are one stem, so that devices of all groups are named alike.
  std::map<std::pair<std::string, bool>, std::uint32_t> stems;
  for (const Group& group : groups_) {
    links.insert(links.end(), group.spec->links.begin(), group.spec->links.end());
    for (const NodeTemplate::Family& family : group.node.families) {
      const std::pair key(family.name, family.numbered);
      if (!stems.contains(key)) {
        stems.emplace(key, builder.add_stem(family.name, family.numbered));
      }
    }
  }
  add_levels(builder, links);
  for_each([&](NodeId node, DeviceId, const NodeTemplate& shape) {
    for (const NodeTemplate::Family& family : shape.families) {
      const std::uint32_t stem = stems.at({family.name, family.numbered});
      for (std::uint32_t i = 0; i < family.count; ++i) {
        builder.add_device(family.kind, node, stem, i);
      }
    }
  });
  std::uint32_t first = 0;
  for (const Group& group : groups_) {
    for (std::uint32_t i = 0; i < group.count; ++i) {
      for (const NodeTemplate::Pair& pair : group.node.pairs) {
        add_links(builder, group.spec->links[pair.entry], DeviceId(first + pair.source),
                  DeviceId(first + pair.target));
      }
      first += group.node.devices;
    }
  }
}

}  // namespace collsim::detail
