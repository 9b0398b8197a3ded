#include "algorithms/nccl/log_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string_view>

#include "algorithms/nccl/launch_shape.hpp"
#include "algorithms/nccl/log_findings.hpp"
#include "algorithms/nccl/node_facts.hpp"
#include "algorithms/nccl/send_recv.hpp"

namespace collsim::nccl {

namespace {

/// A log rounds to one decimal.
bool equal_as_printed(float predicted, float logged) {
  constexpr float half_a_digit = 0.0501F;
  return std::abs(predicted - logged) < half_a_digit;
}

bool uniform(const std::vector<float>& values) {
  return std::ranges::adjacent_find(values, std::not_equal_to<>{}) == values.end();
}

/// One speed on both sides is equal, whatever the number of devices: that is a point of its own.
bool equal_as_printed(const std::vector<float>& predicted, const std::vector<float>& logged) {
  if (!predicted.empty() && !logged.empty() && uniform(predicted) && uniform(logged)) {
    return equal_as_printed(predicted.front(), logged.front());
  }
  for (std::size_t i = 0; i < predicted.size() && i < logged.size(); ++i) {
    if (!equal_as_printed(predicted[i], logged[i])) {
      return false;
    }
  }
  return predicted.size() == logged.size();
}

/// "8 of 24.0 GB/s", "4 of 24.0 GB/s, 4 of 12.0 GB/s".
std::string bandwidths(const std::vector<float>& values) {
  if (values.empty() || (uniform(values) && values.front() == 0)) {
    return "none";
  }
  std::string text;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t equal = 1;
    while (i + equal < values.size() && values[i + equal] == values[i]) {
      ++equal;
    }
    text += (i == 0 ? "" : ", ") + std::to_string(equal) + " of " + fixed(values[i]) + " GB/s";
    i += equal;
  }
  return text;
}

std::string_view architecture_name(CpuArchitecture architecture) {
  switch (architecture) {
    case CpuArchitecture::X86:
      return "x86";
    case CpuArchitecture::Arm:
      return "Arm";
    case CpuArchitecture::Power:
      return "POWER";
    case CpuArchitecture::Unknown:
      break;
  }
  return "unknown";
}

std::string_view vendor_name(CpuVendor vendor) {
  switch (vendor) {
    case CpuVendor::Intel:
      return " of Intel";
    case CpuVendor::Amd:
      return " of AMD";
    case CpuVendor::Zhaoxin:
      return " of Zhaoxin";
    case CpuVendor::Unknown:
      break;
  }
  return "";
}

std::string_view model_name(CpuModel model) {
  switch (model) {
    case CpuModel::Broadwell:
      return ", Broadwell";
    case CpuModel::Skylake:
      return ", Skylake";
    case CpuModel::SapphireRapids:
      return ", Sapphire Rapids";
    case CpuModel::EmeraldRapids:
      return ", Emerald Rapids";
    case CpuModel::Yongfeng:
      return ", Yongfeng";
    case CpuModel::Other:
      break;
  }
  return "";
}

std::string cpu_text(const CpuFacts& cpu) {
  return std::string(architecture_name(cpu.architecture)) + std::string(vendor_name(cpu.vendor)) +
         std::string(model_name(cpu.model));
}

std::string thresholds_text(const std::array<std::int64_t, 8>& thresholds) {
  std::string text;
  for (const std::int64_t threshold : thresholds) {
    text += (text.empty() ? "" : " ") + std::to_string(threshold);
  }
  return text;
}

std::array<std::int64_t, 8> predicted_thresholds(const TuningInput& input) {
  std::array<std::int64_t, 8> thresholds{};
  std::size_t at = 0;
  for (const Algorithm algorithm : {Algorithm::Tree, Algorithm::Ring}) {
    for (const Protocol protocol : protocols) {
      thresholds.at(at++) = thread_threshold(input, algorithm, protocol);
    }
  }
  thresholds.at(at++) = thread_threshold(input, Algorithm::CollNetDirect, Protocol::Simple);
  thresholds.at(at) = thread_threshold(input, Algorithm::CollNetChain, Protocol::Simple);
  return thresholds;
}

std::string entry_text(float latency, float bandwidth) {
  return bandwidth > 0 ? fixed(latency) + " us, " + fixed(bandwidth) + " GB/s" : "excluded";
}

}  // namespace

std::string_view name(LogSubject subject) {
  switch (subject) {
    case LogSubject::Layout:
      return "layout";
    case LogSubject::Node:
      return "node";
    case LogSubject::Graphs:
      return "graphs";
    case LogSubject::Channels:
      return "channels";
    case LogSubject::Rings:
      return "rings";
    case LogSubject::Trees:
      return "trees";
    case LogSubject::Table:
      return "tuning table";
    case LogSubject::Choices:
      return "choices";
  }
  return "";
}

std::vector<LogFinding> compare_layout(const Decisions& decisions, const LoggedCommunicator& log) {
  Findings findings(LogSubject::Layout);
  const Communicator& communicator = decisions.communicator();
  findings.compare("ranks", communicator.ranks, log.ranks);
  findings.compare("nodes", communicator.nodes, log.nodes);
  findings.compare("ranks of a node", communicator.max_ranks_per_node, log.local_ranks);
  return findings.take();
}

std::vector<LogFinding> compare_node(const Decisions& decisions, const LoggedCommunicator& log) {
  Findings findings(LogSubject::Node);
  if (!log.system) {
    findings.missing("system tree");
    return findings.take();
  }
  const DetectedNode& node = decisions.node();
  const LoggedSystem& system = *log.system;
  const auto compare = [&findings](std::string what, float predicted, float logged) {
    findings.compare(std::move(what), equal_as_printed(predicted, logged),
                     fixed(predicted) + " GB/s", fixed(logged) + " GB/s");
  };
  compare("best path (maxBw)", node.most_bandwidth, system.most_bandwidth);
  compare("best GPU (totalBw)", node.total_bandwidth, system.total_bandwidth);
  if (!system.complete) {
    findings.missing("end of the system tree");
    return findings.take();
  }
  const NodeFacts predicted = node_facts(node);
  const NodeFacts logged = node_facts(system);
  findings.compare("CPUs", cpu_text(predicted.cpu) == cpu_text(logged.cpu), cpu_text(predicted.cpu),
                   cpu_text(logged.cpu));
  findings.compare("PCIe links of GPUs", equal_as_printed(predicted.pcie, logged.pcie),
                   bandwidths(predicted.pcie), bandwidths(logged.pcie));
  findings.compare("NVLinks of GPUs", equal_as_printed(predicted.nvlink, logged.nvlink),
                   bandwidths(predicted.nvlink), bandwidths(logged.nvlink));
  if (decisions.communicator().nodes > 1) {
    findings.compare("NICs",
                     predicted.nics.size() == logged.nics.size() &&
                         equal_as_printed(predicted.nics, logged.nics),
                     bandwidths(predicted.nics), bandwidths(logged.nics));
  }
  return findings.take();
}

std::vector<LogFinding> compare_channels(const Decisions& decisions,
                                         const LoggedCommunicator& log) {
  Findings findings(LogSubject::Channels);
  const Channels& channels = decisions.tuning().channels;
  findings.compare("collective channels", static_cast<int>(channels.collective.size()),
                   log.channels.collective);
  if (log.channels.nvls || channels.nvls > 0) {
    findings.compare("NVLS channels", channels.nvls, log.channels.nvls);
  }
  findings.compare("send/recv channels", channels.p2p, log.channels.p2p);
  findings.compare("send/recv channels of a peer", channels.per_peer, log.channels.per_peer);
  const std::int64_t slot = send_recv_slot(decisions.input());
  if (log.channels.p2p_chunk) {
    findings.compare("send/recv chunk", slot == *log.channels.p2p_chunk, std::to_string(slot),
                     std::to_string(*log.channels.p2p_chunk));
  } else {
    findings.missing("send/recv chunk", std::to_string(slot));
  }
  const auto thresholds = predicted_thresholds(decisions.input());
  if (log.channels.thread_thresholds) {
    findings.compare("thread thresholds", thresholds == *log.channels.thread_thresholds,
                     thresholds_text(thresholds), thresholds_text(*log.channels.thread_thresholds));
  } else {
    findings.missing("thread thresholds", thresholds_text(thresholds));
  }
  return findings.take();
}

std::vector<LogFinding> compare_table(const Decisions& decisions, const LoggedCommunicator& log) {
  Findings findings(LogSubject::Table);
  if (!log.has_table) {
    findings.missing("tuning table");
    return findings.take();
  }
  for (const Function function : functions) {
    for (const Algorithm algorithm : algorithms) {
      for (const Protocol protocol : protocols) {
        const auto& logged = log.table[function][algorithm][protocol];
        if (!logged) {
          continue;
        }
        const TuningEntry& entry = decisions.tuning().table[function][algorithm][protocol];
        const float bandwidth = entry.excluded ? 0 : entry.bandwidth;
        const bool both_excluded = bandwidth == 0 && logged->bandwidth == 0;
        findings.compare(std::string(name(function)) + " " + std::string(name(algorithm)) + " " +
                             std::string(name(protocol)),
                         both_excluded || (equal_as_printed(entry.latency, logged->latency) &&
                                           equal_as_printed(bandwidth, logged->bandwidth)),
                         entry_text(entry.latency, bandwidth),
                         entry_text(logged->latency, logged->bandwidth));
      }
    }
  }
  return findings.take();
}

std::vector<LogFinding> compare_with_log(const Decisions& decisions,
                                         const LoggedCommunicator& log) {
  std::vector<LogFinding> all;
  for (const auto compare : {compare_layout, compare_node, compare_graphs, compare_channels,
                             compare_rings, compare_trees, compare_table, compare_choices}) {
    std::vector<LogFinding> findings = compare(decisions, log);
    all.insert(all.end(), std::make_move_iterator(findings.begin()),
               std::make_move_iterator(findings.end()));
  }
  return all;
}

}  // namespace collsim::nccl
