#include "algorithms/nccl/tuning.hpp"

#include <bit>
#include <string>

#include "algorithms/nccl/tuning_terms.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

void check_configuration(const TuningInput& input) {
  struct Listed {
    std::string_view variable;
    const Restriction& restriction;
  };
  for (const Listed& listed : {Listed{"NCCL_ALGO", input.configuration.algorithms},
                               Listed{"NCCL_PROTO", input.configuration.protocols}}) {
    if (listed.restriction.names_functions && !input.constants.function_lists) {
      throw InputError("NCCL " + input.constants.name + " has no lists for single functions",
                       std::string(listed.variable), "they came with NCCL 2.24");
    }
  }
}

/// Some rules leave an entry out of the model, others set its bandwidth to 0; NCCL's log shows the
/// latency of the latter.
bool is_modelled(TableKey key, std::optional<Exclusion> excluded) {
  if (!excluded) {
    return true;
  }
  switch (*excluded) {
    case Exclusion::OneRank:
    case Exclusion::NotImplemented:
    case Exclusion::PatDisabled:
    case Exclusion::NvlsDisabled:
    case Exclusion::NvlsFewChannels:
      return false;
    case Exclusion::SimpleOnly:
      return is_collnet(key.algorithm);
    default:
      return true;
  }
}

TuningEntry entry(const TuningInput& input, TableKey key) {
  TuningEntry result;
  result.excluded = exclusion(input, key);
  if (is_modelled(key, result.excluded)) {
    result.latency = model_latency(input, key);
  }
  if (result.excluded) {
    return result;
  }
  result.bandwidth = model_bandwidth(input, key);
  if (result.bandwidth == 0) {
    result.excluded = Exclusion::NoBandwidth;
  }
  return result;
}

bool nothing_left(const ByAlgorithm<ByProtocol<TuningEntry>>& entries) {
  for (const Algorithm algorithm : algorithms) {
    for (const Protocol protocol : protocols) {
      if (!entries[algorithm][protocol].excluded) {
        return false;
      }
    }
  }
  return true;
}

/// Before 2.24 a restriction that leaves nothing was dropped for Ring.
void fall_back_to_ring(const TuningInput& input, Function function,
                       ByAlgorithm<ByProtocol<TuningEntry>>& entries) {
  for (const Protocol protocol : protocols) {
    TuningEntry& ring = entries[Algorithm::Ring][protocol];
    const TableKey key{function, Algorithm::Ring, protocol};
    ring = {model_latency(input, key), model_bandwidth(input, key), std::nullopt};
  }
}

}  // namespace

const Graph* graph_of(const GraphSet& graphs, Algorithm algorithm) {
  const auto pointer = [](const std::optional<Graph>& graph) { return graph ? &*graph : nullptr; };
  switch (algorithm) {
    case Algorithm::Tree:
    case Algorithm::Pat:
      return &graphs.tree;
    case Algorithm::Ring:
      return &graphs.ring;
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
      return pointer(graphs.nvls);
    case Algorithm::CollNetDirect:
      return pointer(graphs.collnet_direct);
    case Algorithm::CollNetChain:
      break;
  }
  return pointer(graphs.collnet_chain);
}

int channels_of(const GraphSet& graphs, Algorithm algorithm) {
  const bool paired =
      algorithm == Algorithm::Tree || algorithm == Algorithm::Pat || algorithm == Algorithm::Ring;
  return paired ? search_channels(graphs)
                : static_cast<int>(graph_of(graphs, algorithm)->channels.size());
}

int ring_steps(Function function, int ranks) {
  if (function == Function::AllReduce) {
    return 2 * (ranks - 1);
  }
  return gathers_or_scatters(function) ? ranks - 1 : ranks;
}

int floor_log2(int value) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(value))) - 1;
}

TuningTable tuning_table(const TuningInput& input) {
  check_configuration(input);
  TuningTable table;
  for (const Function function : functions) {
    for (const Algorithm algorithm : algorithms) {
      for (const Protocol protocol : protocols) {
        table[function][algorithm][protocol] = entry(input, {function, algorithm, protocol});
      }
    }
    if (input.constants.nothing_left == NothingLeft::Ring && input.communicator.ranks > 1 &&
        nothing_left(table[function])) {
      fall_back_to_ring(input, function, table[function]);
    }
  }
  return table;
}

Tuning tune(const TuningInput& input) { return {execution_channels(input), tuning_table(input)}; }

}  // namespace collsim::nccl
