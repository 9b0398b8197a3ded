#include "study/point_metrics.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <ratio>

#include "algorithms/collective.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::array causes{Cause::Compute, Cause::Launch, Cause::Step,       Cause::Copy,
                            Cause::HandOff, Cause::Proxy,  Cause::CreditWait, Cause::Wire,
                            Cause::Sharing, Cause::Latency};

double microseconds(Duration time) { return static_cast<double>(time.count()) / std::micro::den; }

std::optional<double> share_of(Cause cause, const CollectiveResult& result) {
  if (result.time == Duration::zero()) {
    return std::nullopt;
  }
  Duration sum{};
  for (const AttributedTime& part : result.attribution) {
    if (part.cause == cause) {
      sum += part.time;
    }
  }
  return static_cast<double>(sum.count()) / static_cast<double>(result.time.count());
}

double count_of(const Graph& graph, DeviceKind kind) {
  return static_cast<double>(std::ranges::count(graph.devices(), kind, &Device::kind));
}

}  // namespace

const std::vector<MetricDefinition>& metric_definitions() {
  static const std::vector<MetricDefinition> definitions = [] {
    std::vector<MetricDefinition> all{
        {"time_us", "time us", Better::Lower},
        {"algbw_GBps", "algbw GB/s", Better::Higher},
        {"busbw_GBps", "busbw GB/s", Better::Higher},
        {"bound_us", "bound us", Better::Lower},
        {"efficiency", "of bound", Better::Higher},
        {"job_ranks", "ranks", Better::Higher},
        {"job_nodes", "nodes", Better::Higher},
        {"job_bytes", "bytes", Better::Higher},
        {"job_channels", "channels", Better::Higher},
        {"transfers", "transfers", Better::Lower},
        {"cluster_gpus", "GPUs", Better::Higher},
        {"cluster_nodes", "nodes of cluster", Better::Higher},
        {"cluster_nics", "NICs", Better::Higher},
        {"cluster_switches", "switches", Better::Lower},
        {"cluster_nvswitches", "NVSwitches", Better::Lower},
    };
    for (const Cause cause : causes) {
      const std::string name(name_of(cause));
      all.push_back({name + "_share", name, Better::Lower});
    }
    return all;
  }();
  return definitions;
}

std::vector<std::string> usual_metrics() {
  return {"time_us", "algbw_GBps", "busbw_GBps", "efficiency"};
}

const std::vector<PartKind>& part_kinds() {
  static const std::vector<PartKind> kinds{{"gpu", "cluster_gpus"},
                                           {"nic", "cluster_nics"},
                                           {"node", "cluster_nodes"},
                                           {"switch", "cluster_switches"},
                                           {"nvswitch", "cluster_nvswitches"}};
  return kinds;
}

std::vector<MetricValue> metrics_of(const Cluster& cluster, const CollectiveJob& job,
                                    std::uint32_t nodes, std::uint32_t channels,
                                    const CollectiveResult& result) {
  const CollectiveCall& call = job.call;
  const bool bounded = !result.bounds.empty();
  const bool timed = result.time != Duration::zero();
  const Graph& graph = cluster.graph();
  std::vector<std::optional<double>> values{
      microseconds(result.time),
      algorithm_bandwidth_GBps(call.size(), result.time),
      bus_bandwidth_GBps(call.kind, call.ranks, call.size(), result.time),
      bounded ? std::optional(microseconds(result.bounds.front().time)) : std::nullopt,
      bounded && timed ? std::optional(static_cast<double>(result.bounds.front().time.count()) /
                                       static_cast<double>(result.time.count()))
                       : std::nullopt,
      call.ranks,
      nodes,
      static_cast<double>(call.size().count()),
      channels,
      static_cast<double>(result.transfers),
      count_of(graph, DeviceKind::Gpu),
      graph.nodes(),
      count_of(graph, DeviceKind::Nic),
      count_of(graph, DeviceKind::NetworkSwitch),
      count_of(graph, DeviceKind::Nvswitch),
  };
  for (const Cause cause : causes) {
    values.push_back(share_of(cause, result));
  }
  std::vector<MetricValue> metrics;
  const std::vector<MetricDefinition>& definitions = metric_definitions();
  COLLSIM_ENSURE(values.size() == definitions.size(), "each metric has a value");
  for (std::size_t i = 0; i < values.size(); ++i) {
    metrics.push_back({definitions[i].name, values[i]});
  }
  return metrics;
}

}  // namespace collsim
