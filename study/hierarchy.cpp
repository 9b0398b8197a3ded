#include "study/hierarchy.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <stdexcept>
#include <utility>

#include "topology/described_memory.hpp"
#include "topology/error.hpp"
#include "topology/path_search.hpp"
#include "topology/quantity_text.hpp"
#include "topology/route_survey.hpp"

namespace collsim {

namespace {

/// Routes that are equal in what a rung says of them.
struct Distance {
  LevelId level;
  RungKind kind = RungKind::Gpu;
  Duration latency{};
  Rate rate;

  /// Nearer first: by level, and within it by latency, then the wider.
  bool operator<(const Distance& other) const {
    if (level != other.level) {
      return level < other.level;
    }
    if (kind != other.kind) {
      return kind < other.kind;
    }
    return latency != other.latency ? latency < other.latency : compare(rate, other.rate) > 0;
  }
};

struct DevicesThere {
  std::uint64_t count = 0;
  std::uint64_t assumed = 0;  ///< of these how many routes were not looked at
  DeviceId example;
  std::optional<Bytes> capacity = Bytes(0);  ///< of their memory; absent: of some it is not known

  void add(std::uint64_t devices, std::uint64_t assumed_devices, std::optional<Bytes> memory) {
    count += devices;
    assumed += assumed_devices;
    capacity = capacity && memory ? std::optional(*capacity + *memory) : std::nullopt;
  }
};

using Distances = std::map<Distance, DevicesThere>;

/// The CPUs of its node that a GPU reaches without NICs: those that host it.
std::vector<DeviceId> hosts_of(const Graph& graph, DeviceId gpu) {
  std::vector<DeviceId> hosts;
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    const Device& device = graph.devices()[i];
    if (device.kind == DeviceKind::Cpu && device.node == graph.device(gpu).node &&
        detail::PathLayers(graph, detail::Scope::without_nics(), gpu, DeviceId(i)).found()) {
      hosts.emplace_back(i);
    }
  }
  return hosts;
}

Distances measure(const Cluster& cluster, DeviceId gpu) {
  const Graph& graph = cluster.graph();
  Distances distances;
  const auto add = [&](const std::vector<DeviceId>& devices, RungKind kind) {
    const auto figures = survey_routes(cluster, gpu, devices, SurveyRates::Yes);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const RouteFigures& route = figures[i];
      const Distance distance{route.level, kind, route.latency, route.rate};
      const auto capacity = memory_capacity(cluster, devices[i]);
      DevicesThere& there =
          distances.try_emplace(distance, DevicesThere{0, 0, devices[i], Bytes(0)}).first->second;
      if (!route.assumed && there.assumed == there.count) {
        there.example = devices[i];
      }
      there.add(1, route.assumed ? 1 : 0, capacity);
    }
  };
  std::vector<DeviceId> others(graph.gpus().begin(), graph.gpus().end());
  std::erase(others, gpu);
  add(others, RungKind::Gpu);
  add(hosts_of(graph, gpu), RungKind::Cpu);
  return distances;
}

/// The kinds of devices between the ends of a route; of several ways the first.
std::vector<DeviceKind> passed(const Graph& graph, const Route& route, DeviceId from, DeviceId to) {
  std::vector<DeviceKind> kinds;
  for (const RouteHop& hop : route.hops) {
    const Link& link = graph.link(hop.link);
    if (link.source != from) {
      continue;
    }
    from = link.target;
    if (from != to) {
      kinds.push_back(graph.device(from).kind);
    }
  }
  return kinds;
}

/// "GPU over NVLink", "GPU over NIC and leaf".
std::string outside_name(const Rung& rung) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> names{
      {{"link", "a link"},
       {"nvlink", "NVLink"},
       {"xgmi", "xGMI"},
       {"pcie", "PCIe"},
       {"socket", "the socket link"},
       {"infiniband", "InfiniBand"},
       {"ethernet", "Ethernet"},
       {"local", "local links"},
       {"global", "global links"},
       {"torus", "torus links"}}};
  const auto* const known = std::ranges::find(names, std::string_view(rung.level),
                                              [](const auto& name) { return name.first; });
  const bool by_nic = std::ranges::find(rung.through, DeviceKind::Nic) != rung.through.end();
  return std::string(rung.kind == RungKind::Gpu ? "GPU" : "CPU") + " over " +
         (by_nic ? "NIC and " : "") +
         (known == names.end() ? rung.level : std::string(known->second));
}

/// ", nearest", … where a level has several distances.
std::string rank_text(std::size_t position, std::size_t count) {
  if (count == 1) {
    return "";
  }
  if (position == 0) {
    return ", nearest";
  }
  if (position + 1 == count) {
    return ", farthest";
  }
  return position == 1 ? ", 2nd nearest" : ", 3rd nearest";
}

/// The distances of one level and kind, at most most_distances_of_a_level of them.
struct LevelDistances {
  std::vector<std::pair<Distance, DevicesThere>> kept;
  std::size_t found = 0;
};

LevelDistances keep(Distances::const_iterator begin, Distances::const_iterator end) {
  LevelDistances level;
  level.kept.assign(begin, end);
  level.found = level.kept.size();
  if (level.found <= most_distances_of_a_level) {
    return level;
  }
  std::pair<Distance, DevicesThere> rest{level.kept.back().first,
                                         {0, 0, level.kept.back().second.example}};
  for (std::size_t i = 1; i < level.found; ++i) {
    const DevicesThere& there = level.kept[i].second;
    rest.second.add(there.count, there.assumed, there.capacity);
  }
  level.kept.resize(1);
  level.kept.push_back(rest);
  return level;
}

/// Builds the rungs of one cluster.
class Ladder {
 public:
  Ladder(const Cluster& cluster, std::span<const Bytes> sizes)
      : cluster_(cluster), graph_(cluster.graph()), sizes_(sizes) {
    hierarchy_.gpu = graph_.gpus().front();
  }

  Hierarchy build() && {
    for (const MemoryLevelSpec& level : levels_inside(cluster_, hierarchy_.gpu)) {
      add_memory(level);
    }
    const std::size_t inside = hierarchy_.rungs.size();
    const Distances distances = measure(cluster_, hierarchy_.gpu);
    for (auto begin = distances.begin(); begin != distances.end();) {
      const auto end = std::find_if(begin, distances.end(), [&](const auto& entry) {
        return entry.first.level != begin->first.level || entry.first.kind != begin->first.kind;
      });
      add_level(keep(begin, end));
      begin = end;
    }
    sort_outside(inside);
    for (Rung& rung : hierarchy_.rungs) {
      compare_with_memory(rung);
      add_times(rung);
    }
    return std::move(hierarchy_);
  }

 private:
  void add_memory(const MemoryLevelSpec& spec) {
    Rung rung;
    rung.level = name_of(spec.level);
    rung.name = spec.name;
    if (spec.capacity) {
      rung.capacity = {spec.capacity->value, spec.capacity->source};
    }
    if (spec.bandwidth) {
      rung.bandwidth = {Rate(spec.bandwidth->value), spec.bandwidth->source};
    }
    if (spec.latency) {
      rung.latency = {spec.latency->value, spec.latency->source};
      rung.load = spec.latency->value;
    }
    rung.note = spec.note;
    if (spec.level == MemoryLevel::Memory) {
      hierarchy_.memory = hierarchy_.rungs.size();
    }
    hierarchy_.rungs.push_back(std::move(rung));
  }

  void add_level(const LevelDistances& level) {
    for (std::size_t i = 0; i < level.kept.size(); ++i) {
      const auto& [distance, there] = level.kept[i];
      Rung rung = rung_at(distance, there);
      rung.name += rank_text(i, level.kept.size());
      if (level.found > level.kept.size() && i > 0) {
        rung.note += (rung.note.empty() ? "" : "; ") + std::to_string(level.found - 1) +
                     " distances; the figures are of the farthest";
      }
      if (there.assumed > 0) {
        rung.note += (rung.note.empty() ? "" : "; ") + std::to_string(there.count - there.assumed) +
                     " of " + std::to_string(there.count) + " routes looked at";
      }
      hierarchy_.rungs.push_back(std::move(rung));
    }
  }

  Rung rung_at(const Distance& distance, const DevicesThere& there) {
    const Route route = cluster_.router().route(hierarchy_.gpu, there.example);
    Rung rung;
    rung.kind = distance.kind;
    rung.scope = graph_.device(there.example).node == graph_.device(hierarchy_.gpu).node
                     ? RungScope::Node
                     : RungScope::Cluster;
    rung.level = graph_.levels()[distance.level.index()];
    rung.bandwidth = {distance.rate, {}};
    rung.latency = {distance.latency, {}};
    rung.devices = there.count;
    rung.example = there.example;
    rung.through = passed(graph_, route, hierarchy_.gpu, there.example);
    rung.name = outside_name(rung);
    if (rung.kind == RungKind::Gpu) {
      add_memory_there(rung, there, memory_of(cluster_, there.example));
    } else {
      add_host_memory(rung, there);
    }
    return rung;
  }

  void add_host_memory(Rung& rung, const DevicesThere& there) const {
    const HostMemorySpec* const memory = host_memory_of(cluster_, there.example);
    add_memory_there(rung, there, memory);
    if (memory == nullptr || !memory->bandwidth) {
      return;
    }
    const auto& [bandwidth, source] = *memory->bandwidth;
    rung.note =
        memory->name + ": " + to_text(bandwidth) + " for each CPU, " + std::string(name_of(source));
    if (compare(Rate(bandwidth), rung.bandwidth->value) < 0) {
      rung.bandwidth = {Rate(bandwidth), source};
    }
  }

  /// What the memory of the devices at the other end makes of a rung.
  template <class Memory>
  void add_memory_there(Rung& rung, const DevicesThere& there, const Memory* memory) const {
    if (memory == nullptr) {
      return;
    }
    if (there.capacity) {
      rung.capacity = {*there.capacity, memory->capacity->source};
    }
    if (memory->latency) {
      const Route back = cluster_.router().route(there.example, hierarchy_.gpu);
      rung.load =
          checked_add(checked_add(rung.latency->value, back.latency), memory->latency->value);
    }
  }

  void sort_outside(std::size_t inside) {
    const auto position = [&](const Rung& rung) {
      return std::ranges::find(graph_.levels(), rung.level) - graph_.levels().begin();
    };
    std::stable_sort(hierarchy_.rungs.begin() + static_cast<std::ptrdiff_t>(inside),
                     hierarchy_.rungs.end(), [&](const Rung& a, const Rung& b) {
                       return std::pair(position(a), a.latency->value) <
                              std::pair(position(b), b.latency->value);
                     });
  }

  void compare_with_memory(Rung& rung) const {
    if (!hierarchy_.memory || !rung.bandwidth) {
      return;
    }
    const auto& memory = hierarchy_.rungs[*hierarchy_.memory].bandwidth;
    if (!memory) {
      return;
    }
    const auto per_second = [](Rate rate) {
      return static_cast<double>(rate.numerator) / static_cast<double>(rate.denominator);
    };
    rung.times_slower = per_second(memory->value) / per_second(rung.bandwidth->value);
  }

  void add_times(Rung& rung) const {
    for (const Bytes bytes : sizes_) {
      RungTime time{bytes, true, {}};
      time.fits = rung.kind != RungKind::Memory || !rung.capacity || bytes <= rung.capacity->value;
      if (time.fits && rung.latency && rung.bandwidth) {
        time.time = checked_add(rung.latency->value, transfer_time(bytes, rung.bandwidth->value));
      }
      rung.times.push_back(time);
    }
  }

  const Cluster& cluster_;
  const Graph& graph_;
  std::span<const Bytes> sizes_;
  Hierarchy hierarchy_;
};

}  // namespace

std::string_view name_of(RungKind kind) {
  constexpr std::array<std::string_view, 3> names{"memory", "cpu", "gpu"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(RungScope scope) {
  constexpr std::array<std::string_view, 3> names{"gpu", "node", "cluster"};
  return names.at(static_cast<std::size_t>(scope));
}

Hierarchy build_hierarchy(const Cluster& cluster, std::span<const Bytes> sizes) {
  try {
    return Ladder(cluster, sizes).build();
  } catch (const FractionOverflow& error) {
    throw out_of_exact_range(error);
  } catch (const std::overflow_error& error) {
    throw InputError(
        std::string("the ladder leaves the range of exact arithmetic: ") + error.what(), {},
        "faster links and memories would fit");
  }
}

}  // namespace collsim
