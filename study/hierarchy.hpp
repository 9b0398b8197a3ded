#pragma once

// "Closer is faster", with numbers: the ladder from the registers of a GPU to the farthest GPU of
// the cluster, as the first GPU sees it.
//
// The inner rungs are what the node's description says of its GPU (NodeSpec::gpu_memory). The outer
// ones are worked out from the topology: the GPU's routes to every other GPU, and to the CPUs of its
// node, sorted by the outermost level they cross. So a cluster has the rungs that its links make,
// whatever it is called.
//
//   time of a transfer = latency + bytes / bandwidth, the quotient by transfer_time
//   latency: inside the GPU of a load; outside one way along the route
//   load:    there, back, and a load from the memory of the GPU (or CPU) at the other end
//
// Ignored: all but links (protocols, launch, copy engines) and other traffic. Where GPUs differ, the
// inner rungs are the first GPU's.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/cluster.hpp"

namespace collsim {

enum class RungKind : std::uint8_t {
  Memory,  ///< inside the GPU
  Cpu,     ///< CPUs of its node
  Gpu,     ///< other GPUs
};
[[nodiscard]] std::string_view name_of(RungKind kind);

/// What a rung stays inside of.
enum class RungScope : std::uint8_t { Gpu, Node, Cluster };
[[nodiscard]] std::string_view name_of(RungScope scope);

/// A figure of a rung; without a source where it is worked out from the links.
template <class Quantity>
struct RungFigure {
  Quantity value{};
  std::optional<FigureSource> source;
};

/// What moving one size takes.
struct RungTime {
  Bytes bytes;
  bool fits = true;              ///< false: more than the capacity inside the GPU
  std::optional<Duration> time;  ///< absent where it does not fit or a figure is not known
};

/// What is at one distance. An absent figure is not known.
struct Rung {
  RungKind kind = RungKind::Memory;
  RungScope scope = RungScope::Gpu;
  std::string level;  ///< "l2"; outside the GPU the outermost level that is crossed: "nvlink"
  std::string name;   ///< for people: "HBM3", "GPU over NVLink"
  std::optional<RungFigure<Bytes>> capacity;  ///< other GPUs, CPUs: their memory together
  std::optional<RungFigure<Rate>> bandwidth;  ///< one direction
  std::optional<RungFigure<Duration>> latency;
  std::optional<Duration> load;
  std::optional<double> times_slower;  ///< the memory's bandwidth over this one
  std::vector<RungTime> times;         ///< a size each, in the order asked for
  std::string note;

  // Outside the GPU:
  std::uint64_t devices = 0;        ///< how many are at that distance
  std::optional<DeviceId> example;  ///< the one whose route gives the figures
  std::vector<DeviceKind> through;  ///< what the route passes, in order
};

struct Hierarchy {
  DeviceId gpu;                       ///< whose view it is
  std::vector<Rung> rungs;            ///< from the inside out; of one level, by latency
  std::optional<std::size_t> memory;  ///< the rung that the others are compared with
};

/// Of one level, routes that differ in rate or latency are rungs of their own up to this number;
/// where there are more, the nearest is one, and all others are another with the figures of the
/// farthest.
constexpr std::size_t most_distances_of_a_level = 4;

/// The ladder, with times for these sizes. Throws: InputError where a time is longer than 106 days.
/// Complexity: as survey_routes(); where it does not look at all routes, the note of a rung says so.
[[nodiscard]] Hierarchy build_hierarchy(const Cluster& cluster, std::span<const Bytes> sizes);

}  // namespace collsim
