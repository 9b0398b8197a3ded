#include "algorithms/nccl/log_changes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "algorithms/nccl/configuration.hpp"
#include "algorithms/nccl/log_findings.hpp"
#include "algorithms/nccl/machine_changes.hpp"
#include "algorithms/nccl/node_facts.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// Names a file: the log tells its path, not what is in it.
bool names_a_file(std::string_view variable) {
  return variable == "NCCL_TOPO_FILE" || variable == "NCCL_GRAPH_FILE";
}

bool is_modelled(const LoggedVariable& variable) {
  try {
    Configuration configuration;
    parse_variable(configuration, variable.name, variable.value);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

class Changes {
 public:
  Changes(const LogQuestion& question, const Decisions& decisions, const NcclLog& log,
          const LoggedCommunicator& communicator)
      : question_(question), decisions_(decisions), log_(log), communicator_(communicator) {}

  std::vector<InputChange> all() {
    versions(true);
    logged_variables();
    layout();
    devices();
    versions(false);
    given_variables();
    limits();
    switches();
    restrictions();
    return std::move(changes_);
  }

 private:
  using Apply = std::function<void(DecisionInput&)>;

  void add(bool stated, std::string input, std::string text, Apply apply) {
    const bool known = std::ranges::any_of(
        changes_, [&text](const InputChange& change) { return change.text == text; });
    if (!known) {
      changes_.push_back({std::move(text), std::move(input), stated, std::move(apply)});
    }
  }

  void add_variable(bool stated, const std::string& name, const std::string& value) {
    add(stated, name, "--env " + name + "=" + value,
        [name, value](DecisionInput& input) { parse_variable(input.configuration, name, value); });
  }

  void versions(bool of_log) {
    for (const KnownVersion& version : question_.versions) {
      if (version.of_log == of_log) {
        add(of_log, "version", "--nccl " + version.versions,
            [&version](DecisionInput& input) { input.constants = version.constants; });
      }
    }
  }

  void logged_variables() {
    for (const LoggedVariable& variable : log_.environment) {
      const auto given =
          std::ranges::find(question_.variables, variable.name, &LoggedVariable::name);
      const bool same = given != question_.variables.end() && given->value == variable.value;
      if (!same && !names_a_file(variable.name) && is_modelled(variable)) {
        add_variable(true, variable.name, variable.value);
      }
    }
  }

  /// What is given here need not have been set in the run.
  void given_variables() {
    for (const LoggedVariable& variable : question_.variables) {
      if (names_a_file(variable.name)) {
        continue;
      }
      add(false, variable.name, "without " + variable.name,
          [&given = question_.variables, name = variable.name](DecisionInput& input) {
            Configuration configuration;
            for (const LoggedVariable& other : given) {
              if (other.name != name) {
                parse_variable(configuration, other.name, other.value);
              }
            }
            input.configuration = configuration;
          });
    }
  }

  void layout() {
    const Communicator& predicted = decisions_.communicator();
    if (communicator_.nodes && *communicator_.nodes != predicted.nodes &&
        !too_many_nodes(communicator_, decisions_)) {
      add(true, "nodes", "--nodes " + std::to_string(*communicator_.nodes),
          [nodes = *communicator_.nodes](DecisionInput& input) { input.nodes = nodes; });
    }
    const auto gpus = communicator_.local_ranks;
    if (gpus && *gpus < predicted.max_ranks_per_node) {
      add(true, "gpus", "--gpus-per-node " + std::to_string(*gpus), [gpus](DecisionInput& input) {
        keep_gpus(input.machine, static_cast<std::size_t>(*gpus));
      });
    }
  }

  void devices() {
    if (!communicator_.system || !communicator_.system->complete) {
      return;
    }
    const NodeFacts predicted = node_facts(decisions_.node());
    const NodeFacts logged = node_facts(*communicator_.system);
    if (logged.cpu.architecture != CpuArchitecture::Unknown &&
        (logged.cpu.architecture != predicted.cpu.architecture ||
         logged.cpu.vendor != predicted.cpu.vendor || logged.cpu.model != predicted.cpu.model)) {
      add(true, "CPUs", "the CPUs of the log's system tree",
          [cpu = logged.cpu](DecisionInput& input) { set_cpus(input.machine, cpu); });
    }
    const auto uniform = [](const std::vector<float>& values) {
      return !values.empty() && values.front() == values.back() &&
             std::ranges::count(values, values.front()) ==
                 static_cast<std::ptrdiff_t>(values.size());
    };
    const auto differs = [](const std::vector<float>& ours, float theirs) {
      return std::ranges::any_of(
          ours, [theirs](float bandwidth) { return std::abs(bandwidth - theirs) > 0.0501F; });
    };
    if (decisions_.communicator().nodes > 1 && uniform(logged.nics) &&
        differs(predicted.nics, logged.nics.front())) {
      add(true, "NICs", "NICs of " + fixed(logged.nics.front()) + " GB/s, as in the log's tree",
          [speed = logged.nics.front()](DecisionInput& input) {
            set_nic_speed(input.machine, speed);
          });
    }
    if (uniform(logged.pcie) && differs(predicted.pcie, logged.pcie.front())) {
      add(true, "PCIe",
          "PCIe links of GPUs of " + fixed(logged.pcie.front()) + " GB/s, as in the log's tree",
          [speed = logged.pcie.front()](DecisionInput& input) {
            static_cast<void>(set_gpu_pcie(input.machine, speed));
          });
    }
    if (uniform(logged.nvlink) && differs(predicted.nvlink, logged.nvlink.front())) {
      nvlinks(logged.nvlink.front());
    }
  }

  void nvlinks(float bandwidth) {
    const float one = nvlink_bandwidth(decisions_.node(), 0);
    const int count = static_cast<int>(std::lround(bandwidth / one));
    if (count > 0 && std::abs(static_cast<float>(count) * one - bandwidth) < 0.0501F) {
      add(true, "NVLinks", std::to_string(count) + " NVLinks a GPU, as in the log's tree",
          [count](DecisionInput& input) { static_cast<void>(set_nvlinks(input.machine, count)); });
    }
  }

  void limit(const char* least, const char* most, int predicted, std::optional<int> logged) {
    if (logged && *logged > 0 && *logged != predicted) {
      add_variable(false, *logged < predicted ? most : least, std::to_string(*logged));
    }
  }

  /// Limits of channels, each from the count that the log has.
  void limits() {
    const Channels& channels = decisions_.tuning().channels;
    const auto collective = static_cast<int>(channels.collective.size());
    limit("NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", collective,
          communicator_.channels.collective);
    limit("NCCL_MIN_CTAS", "NCCL_MAX_CTAS", collective, communicator_.channels.collective);
    limit("NCCL_MIN_P2P_NCHANNELS", "NCCL_MAX_P2P_NCHANNELS", channels.p2p,
          communicator_.channels.p2p);
    limit("NCCL_NVLS_NCHANNELS", "NCCL_NVLS_NCHANNELS", channels.nvls, communicator_.channels.nvls);
    limit("NCCL_NCHANNELS_PER_NET_PEER", "NCCL_NCHANNELS_PER_NET_PEER", channels.per_peer,
          communicator_.channels.per_peer);
  }

  void switches() {
    if (decisions_.tuning().channels.nvls > 0) {
      add_variable(false, "NCCL_NVLS_ENABLE", "0");
    }
    add_variable(false, "NCCL_P2P_DISABLE", "1");
    for (const char* level : {"LOC", "NVL", "PIX", "PXB", "PHB", "SYS"}) {
      add_variable(false, "NCCL_P2P_LEVEL", level);
    }
    add_variable(false, "NCCL_SHM_DISABLE", "1");
    if (decisions_.communicator().nodes > 1) {
      add_variable(false, "NCCL_PXN_DISABLE", "1");
      for (const char* level : {"LOC", "PIX", "PXB", "PHB", "SYS"}) {
        add_variable(false, "NCCL_NET_GDR_LEVEL", level);
      }
      for (const char* mode : {"0", "1", "2"}) {
        add_variable(false, "NCCL_CROSS_NIC", mode);
      }
    }
  }

  /// NCCL_ALGO and NCCL_PROTO, where the log's table has bandwidths for some only.
  void restrictions() {
    if (!communicator_.has_table) {
      return;
    }
    std::string algorithm_list;
    std::set<Protocol> protocols_used;
    for (const Algorithm algorithm : algorithms) {
      bool used = false;
      for (const Function function : functions) {
        for (const Protocol protocol : protocols) {
          const auto& entry = communicator_.table[function][algorithm][protocol];
          if (entry && entry->bandwidth > 0) {
            used = true;
            protocols_used.insert(protocol);
          }
        }
      }
      if (used) {
        algorithm_list += (algorithm_list.empty() ? "" : ",") + std::string(name(algorithm));
      }
    }
    if (algorithm_list.empty()) {
      return;
    }
    add_variable(false, "NCCL_ALGO", algorithm_list);
    if (protocols_used.size() < protocols.size()) {
      std::string list;
      for (const Protocol protocol : protocols_used) {
        list += (list.empty() ? "" : ",") + std::string(name(protocol));
      }
      add_variable(false, "NCCL_PROTO", list);
    }
  }

  const LogQuestion& question_;
  const Decisions& decisions_;
  const NcclLog& log_;
  const LoggedCommunicator& communicator_;
  std::vector<InputChange> changes_{};
};

}  // namespace

bool too_many_nodes(const LoggedCommunicator& communicator, const Decisions& decisions) {
  const std::int64_t ranks =
      std::int64_t{communicator.nodes.value_or(1)} * decisions.communicator().max_ranks_per_node;
  return communicator.nodes != decisions.communicator().nodes && ranks > most_ranks_tried;
}

std::vector<InputChange> possible_changes(const LogQuestion& question, const Decisions& decisions,
                                          const NcclLog& log,
                                          const LoggedCommunicator& communicator) {
  return Changes(question, decisions, log, communicator).all();
}

std::vector<VariableFinding> compare_variables(const std::vector<LoggedVariable>& given,
                                               const NcclLog& log) {
  std::vector<VariableFinding> findings;
  for (const LoggedVariable& variable : log.environment) {
    VariableFinding finding{variable.name, {}, {}, VariableFinding::State::Unmodelled};
    if (is_modelled(variable)) {
      const auto known = std::ranges::find(given, variable.name, &LoggedVariable::name);
      finding.logged = variable.value;
      finding.given = known == given.end() ? "" : known->value;
      finding.state = known == given.end()             ? VariableFinding::State::NotGiven
                      : known->value == variable.value ? VariableFinding::State::Same
                                                       : VariableFinding::State::Other;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace collsim::nccl
