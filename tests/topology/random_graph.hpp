#pragma once

// Small random graphs, and paths in them found the slow way: by trying all.

#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/build.hpp"
#include "topology/graph.hpp"

namespace collsim::test {

struct RandomGraph {
  std::vector<DeviceKind> forwarding{DeviceKind::Nvswitch, DeviceKind::Cpu};
  std::uint32_t most_nics = 0;
  bool one_bandwidth = false;  ///< all links as wide
};

/// Two to five GPUs, two to eight other devices, all of one node, and links at random. Often there are
/// several shortest paths, sometimes none.
inline Graph random_graph(const RandomGraph& shape) {
  ExplicitGraphSpec spec;
  const auto add = [&spec](DeviceKind kind, std::uint32_t count, const std::string& stem) {
    for (std::uint32_t i = 0; i < count; ++i) {
      spec.devices.push_back({stem + std::to_string(i), kind, 0});
    }
  };
  add(DeviceKind::Gpu, *rc::gen::inRange(2U, 6U), "gpu");
  for (const DeviceKind kind : shape.forwarding) {
    add(kind, *rc::gen::inRange(1U, 5U), std::string(name_of(kind)));
  }
  add(DeviceKind::Nic, shape.most_nics == 0 ? 0 : *rc::gen::inRange(0U, shape.most_nics + 1),
      "nic");
  const auto some_device = rc::gen::inRange(std::size_t{0}, spec.devices.size());
  const int links = *rc::gen::inRange(5, 40);
  for (int i = 0; i < links; ++i) {
    const std::size_t from = *some_device;
    const std::size_t to = *some_device;
    const auto is_gpu = [&spec](std::size_t device) {
      return spec.devices[device].kind == DeviceKind::Gpu;
    };
    // Direct links between GPUs make routes too simple, so most are left out.
    if (from == to || (is_gpu(from) && is_gpu(to) && *rc::gen::inRange(0, 8) > 0)) {
      continue;
    }
    LinkSpec link;
    link.from = spec.devices[from].name;
    link.to = spec.devices[to].name;
    link.duplex = *rc::gen::element(Duplex::BothWays, Duplex::BothWays, Duplex::OneWay);
    link.count = *rc::gen::inRange(1U, 3U);
    const std::int64_t width = shape.one_bandwidth ? 1 : *rc::gen::inRange(1, 4);
    link.bandwidth = Bandwidth::bytes_per_second(width * 1'000'000'000);
    link.latency = Duration(*rc::gen::inRange(0, 100));
    spec.links.push_back(link);
  }
  return detail::build_explicit(spec);
}

using Path = std::vector<LinkId>;

inline Bandwidth width_of(const Graph& graph, const Path& path) {
  Bandwidth width = graph.link(path.front()).bandwidth;
  for (const LinkId link : path) {
    width = std::min(width, graph.link(link).bandwidth);
  }
  return width;
}

struct PathQuestion {
  DeviceId to;
  bool nics_forward = true;
};

inline bool forwards(const Graph& graph, const PathQuestion& question, DeviceId device) {
  const DeviceKind kind = graph.device(device).kind;
  return kind != DeviceKind::Gpu && (kind != DeviceKind::Nic || question.nics_forward);
}

/// The fewest links from each device to the end of the question: every link is tried until nothing
/// changes. Absent: no path.
inline std::vector<std::optional<std::size_t>> links_to_end(const Graph& graph,
                                                            const PathQuestion& question) {
  std::vector<std::optional<std::size_t>> links(graph.devices().size());
  links[question.to.index()] = 0;
  for (std::size_t round = 0; round < links.size(); ++round) {
    for (const Link& link : graph.links()) {
      const auto& beyond = links[link.target.index()];
      const bool passes = link.target == question.to || forwards(graph, question, link.target);
      auto& here = links[link.source.index()];
      if (beyond && passes && (!here || *here > *beyond + 1)) {
        here = *beyond + 1;
      }
    }
  }
  return links;
}

/// Adds every way to go on from `here` that comes one link nearer to the end each time.
inline void extend(const Graph& graph, const std::vector<std::optional<std::size_t>>& links_left,
                   const PathQuestion& question, DeviceId here, Path& path,
                   std::vector<Path>& found) {
  if (here == question.to) {
    found.push_back(path);
    return;
  }
  if (!path.empty() && !forwards(graph, question, here)) {
    return;
  }
  for (std::size_t i = 0; i < graph.links().size(); ++i) {
    const Link& link = graph.links()[i];
    const auto& left = links_left[link.target.index()];
    if (link.source != here || !left || *left + 1 != links_left[here.index()]) {
      continue;
    }
    path.emplace_back(i);
    extend(graph, links_left, question, link.target, path, found);
    path.pop_back();
  }
}

/// All paths with the fewest links; GPUs forward nothing.
inline std::vector<Path> shortest_paths(const Graph& graph, DeviceId from,
                                        const PathQuestion& question) {
  const auto links_left = links_to_end(graph, question);
  std::vector<Path> found;
  Path path;
  if (links_left[from.index()]) {
    extend(graph, links_left, question, from, path, found);
  }
  return found;
}

/// Of those the widest.
inline std::vector<Path> widest_shortest_paths(const Graph& graph, DeviceId from,
                                               const PathQuestion& question) {
  std::vector<Path> paths = shortest_paths(graph, from, question);
  Bandwidth widest;
  for (const Path& path : paths) {
    widest = std::max(widest, width_of(graph, path));
  }
  std::erase_if(paths, [&](const Path& path) { return width_of(graph, path) < widest; });
  return paths;
}

}  // namespace collsim::test
