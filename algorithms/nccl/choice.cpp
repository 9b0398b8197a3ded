#include "algorithms/nccl/choice.hpp"

#include <bit>
#include <cstddef>
#include <string>

#include "algorithms/nccl/divided_up.hpp"
#include "algorithms/nccl/tuning_terms.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

// Ring AllReduce with Simple over several nodes pays more from so many bytes a channel and rank on.
constexpr std::uint64_t plateau_bytes = 64;
constexpr double plateau_factor = 1.4;
constexpr double plateau_factor_old = 1.9;
// Collectives that fit one batch of work: 96 B each in 1024 B.
constexpr int collectives_per_batch = 10;
constexpr int most_collnet_ranks = 8;
// Precision that fp8 loses over longer rings makes Ring the last choice.
constexpr int most_fp8_ranks = 8;
constexpr float fp8_penalty = 1024.0F;

bool reduces_in_switch(DataType type, ReductionOp op) {
  switch (type) {
    case DataType::Int32:
    case DataType::Uint32:
    case DataType::Int64:
    case DataType::Uint64:
    case DataType::Half:
    case DataType::Bfloat16:
      return op == ReductionOp::Sum || op == ReductionOp::Min || op == ReductionOp::Max;
    case DataType::Float32:
    case DataType::Float64:
      return op == ReductionOp::Sum;
    default:
      return false;
  }
}

/// Rules about a single call.
std::optional<Exclusion> call_rule(const TuningInput& input, const Call& call,
                                   Algorithm algorithm) {
  const Communicator& communicator = input.communicator;
  if (is_collnet(algorithm) && communicator.max_ranks_per_node > most_collnet_ranks) {
    return Exclusion::CollNetManyRanks;
  }
  if (is_nvls(algorithm)) {
    if (call.function != Function::AllGather && !reduces_in_switch(call.type, call.op)) {
      return Exclusion::NvlsType;
    }
    if (call.function != Function::AllReduce &&
        communicator.max_ranks_per_node > input.constants.max_nvls_heads) {
      return Exclusion::NvlsManyRanks;
    }
  }
  if (algorithm == Algorithm::Pat && call.function == Function::ReduceScatter &&
      call.op == ReductionOp::Avg) {
    return Exclusion::PatAverage;
  }
  return std::nullopt;
}

/// The tree table's factor for a size; 1 beyond its ends.
float tree_correction(const TuningInput& input, const Call& call, const Contender& contender) {
  const Communicator& communicator = input.communicator;
  const bool tree = contender.algorithm == Algorithm::Tree;
  const bool nvls_tree = contender.algorithm == Algorithm::NvlsTree && communicator.min_sm >= 100 &&
                         communicator.cpu_architecture == HostArchitecture::X86;
  const std::uint64_t lines = call.bytes >> 6U;
  if (call.function != Function::AllReduce || !(tree || nvls_tree) || lines == 0) {
    return 1.0F;
  }
  const std::vector<double>& factors = tree ? input.constants.tree_correction[contender.protocol]
                                            : input.constants.nvls_tree_correction;
  const std::size_t step = static_cast<std::size_t>(std::bit_width(lines)) - 1;
  return step < factors.size() ? static_cast<float>(factors[step]) : 1.0F;
}

bool on_plateau(const TuningInput& input, const Tuning& tuning, const Call& call,
                const Contender& contender) {
  const auto parts = static_cast<std::uint64_t>(tuning.channels.collective.size()) *
                     static_cast<std::uint64_t>(input.communicator.ranks);
  return contender.algorithm == Algorithm::Ring && contender.protocol == Protocol::Simple &&
         call.function == Function::AllReduce && input.communicator.nodes > 1 &&
         call.bytes / parts >= plateau_bytes;
}

void set_time(const TuningInput& input, const Tuning& tuning, const Call& call,
              Contender& contender) {
  contender.bandwidth *= tree_correction(input, call, contender);
  if (on_plateau(input, tuning, call, contender)) {
    const double factor = input.communicator.min_sm < 80 ? plateau_factor_old : plateau_factor;
    contender.latency = static_cast<float>(static_cast<double>(contender.latency) * factor);
  }
  const bool ring = contender.algorithm == Algorithm::Ring;
  const int waits = ring ? call.pipelined : divided_up(call.pipelined, collectives_per_batch);
  contender.latency *= static_cast<float>(waits);
  contender.time =
      contender.latency + static_cast<float>(call.bytes) / (1000 * contender.bandwidth);
  // AllGather and Broadcast move bytes, whatever their type.
  const bool fp8 = (call.type == DataType::Fp8E4m3 || call.type == DataType::Fp8E5m2) &&
                   call.function != Function::AllGather && call.function != Function::Broadcast;
  if (fp8 && ring && input.communicator.ranks > most_fp8_ranks) {
    contender.time *= fp8_penalty;
  }
}

}  // namespace

Call call_of(const CollectiveCall& call) {
  const std::optional<Function> function = function_of(call.kind);
  COLLSIM_ENSURE(function.has_value(), "a collective that NCCL has algorithms for");
  return {*function, static_cast<std::uint64_t>(call.size().count()), call.type, call.op, 1};
}

std::vector<Contender> contenders(const TuningInput& input, const Tuning& tuning,
                                  const Call& call) {
  std::vector<Contender> result;
  result.reserve(algorithms.size() * protocols.size());
  for (const Algorithm algorithm : algorithms) {
    for (const Protocol protocol : protocols) {
      const TuningEntry& entry = tuning.table[call.function][algorithm][protocol];
      Contender contender{algorithm, protocol, 0, entry.latency, entry.bandwidth, entry.excluded};
      if (!contender.excluded) {
        contender.excluded = call_rule(input, call, algorithm);
      }
      // One rank copies its data; NCCL calls that Ring with Simple, at no cost.
      if (input.communicator.ranks == 1 && algorithm == Algorithm::Ring &&
          protocol == Protocol::Simple) {
        contender.excluded.reset();
      } else if (!contender.excluded) {
        set_time(input, tuning, call, contender);
      }
      result.push_back(contender);
    }
  }
  return result;
}

std::optional<Contender> winner(const std::vector<Contender>& contenders) {
  std::optional<Contender> best;
  for (const Contender& contender : contenders) {
    if (!contender.excluded && (!best || contender.time < best->time)) {
      best = contender;
    }
  }
  return best;
}

Contender choose(const TuningInput& input, const Tuning& tuning, const Call& call) {
  const std::optional<Contender> best = winner(contenders(input, tuning, call));
  if (!best) {
    const Configuration& configuration = input.configuration;
    std::string variables;
    if (configuration.algorithms.allowed[call.function]) {
      variables = "NCCL_ALGO";
    }
    if (configuration.protocols.allowed[call.function]) {
      variables += variables.empty() ? "NCCL_PROTO" : " and NCCL_PROTO";
    }
    throw InputError("no algorithm and protocol is left for " + std::string(name(call.function)) +
                         " with type " + std::string(name_of(call.type)),
                     variables, "NCCL " + input.constants.name + " ends with an error here");
  }
  return *best;
}

std::vector<Crossover> scan_sizes(Call call,
                                  const std::function<Contender(const Call&)>& choose_for) {
  std::vector<Crossover> result;
  for (call.bytes = least_scanned; call.bytes <= greatest_scanned; call.bytes *= 2) {
    const Contender best = choose_for(call);
    if (result.empty() || result.back().algorithm != best.algorithm ||
        result.back().protocol != best.protocol) {
      result.push_back({call.bytes, best.algorithm, best.protocol});
    }
  }
  return result;
}

std::vector<Crossover> choices(const TuningInput& input, const Tuning& tuning, Call call) {
  return scan_sizes(call, [&](const Call& sized) { return choose(input, tuning, sized); });
}

}  // namespace collsim::nccl
