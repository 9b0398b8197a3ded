#include "algorithms/nccl/symmetric_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/nccl/divided_up.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using enum CollectiveKind;

constexpr std::array kernels{
    SymmetricKernelSort{SymmetricKernel::AllReduceLL, "AllReduce_AGxLL_R", AllReduce, true, false},
    SymmetricKernelSort{SymmetricKernel::AllReduceLLMC, "AllReduce_AGxLLMC_R", AllReduce, true,
                        true},
    SymmetricKernelSort{SymmetricKernel::AllReduceLDST, "AllReduce_RSxLD_AGxST", AllReduce, false,
                        false},
    SymmetricKernelSort{SymmetricKernel::AllReduceLDMC, "AllReduce_RSxLDMC_AGxSTMC", AllReduce,
                        false, true},
    SymmetricKernelSort{SymmetricKernel::AllGatherLL, "AllGather_LL", AllGather, true, false},
    SymmetricKernelSort{SymmetricKernel::AllGatherLLMC, "AllGather_LLMC", AllGather, true, true},
    SymmetricKernelSort{SymmetricKernel::AllGatherST, "AllGather_ST", AllGather, false, false},
    SymmetricKernelSort{SymmetricKernel::AllGatherSTMC, "AllGather_STMC", AllGather, false, true},
    SymmetricKernelSort{SymmetricKernel::ReduceScatterLL, "ReduceScatter_LL", ReduceScatter, true,
                        false},
    SymmetricKernelSort{SymmetricKernel::ReduceScatterLD, "ReduceScatter_LD", ReduceScatter, false,
                        false},
    SymmetricKernelSort{SymmetricKernel::ReduceScatterLDMC, "ReduceScatter_LDMC", ReduceScatter,
                        false, true},
};

constexpr int blackwell = 100;
constexpr int most_blocks = 64;
/// Flags double the bytes; working on them and not unrolling does the rest.
constexpr double ll_factor = 9;
/// LL's indices have 32 bits.
constexpr double most_ll_bytes = 2147483648.0;
/// Fewer blocks are taken within this of the time, which each block counts as so much more.
constexpr double tolerance = 1.025;
constexpr double block_penalty = 0.025;
constexpr double gib_per_s = 1073741824.0 / 1e6;  // bytes a microsecond

/// What NCCL's estimate of a kernel is made of. Bytes, and bytes a microsecond.
struct Estimate {
  double bus_bytes{0};
  double base_us{0};
  double block_rate{0};
  double multiplier{1};  ///< of the blocks' rates
  double peak{0};
  int most_blocks{0};

  /// In microseconds, on so many blocks: smooth forms of a minimum and of a maximum.
  [[nodiscard]] double time(int blocks) const {
    const double wanted = blocks * block_rate * multiplier;
    const double softness = block_rate;
    const double rate = peak - softness * std::log1p((std::exp(peak / softness) - 1) *
                                                     std::exp(-wanted / softness));
    const double over = bus_bytes / rate - 1;
    constexpr double no_longer_smooth = 100;
    return base_us + (over >= no_longer_smooth ? over : std::log1p(std::exp(over)));
  }
};

/// The bytes of the call that NCCL counts: of one rank's buffer.
double buffer_bytes(const CollectiveCall& call) {
  return static_cast<double>(call.block().count());
}

void set_bytes(Estimate& estimate, const SymmetricKernelSort& sort, const CollectiveCall& call,
               int blocks_through_switch) {
  const double ranks = call.ranks;
  const double bytes = buffer_bytes(call);
  estimate.most_blocks = most_blocks;
  if (sort.ll) {
    estimate.bus_bytes = ranks * bytes * ll_factor;
    estimate.multiplier = sort.multicast ? 1.1 : 1;
    return;
  }
  if (sort.multicast) {
    estimate.most_blocks = blocks_through_switch;
  }
  if (sort.collective == AllReduce) {
    estimate.bus_bytes = sort.multicast ? bytes / ranks + bytes : 2 * bytes * (ranks - 1) / ranks;
    estimate.multiplier = sort.multicast ? ranks : 1;
    return;
  }
  estimate.bus_bytes = (ranks - 1) * bytes;
  estimate.multiplier = sort.multicast ? 0.55 * ranks : 1;
}

Estimate estimate_of(const SymmetricKernelSort& sort, const CollectiveCall& call, int sm) {
  Estimate estimate;
  const bool all_reduce = sort.collective == AllReduce;
  const bool switch_reduces = all_reduce && sort.multicast && !sort.ll;
  const bool new_generation = sm >= blackwell;
  set_bytes(estimate, sort, call,
            divided_up(new_generation ? 32 : 16, static_cast<int>(call.ranks)));
  if (new_generation) {
    const double ll = sort.collective == AllGather ? 8.5 : 11;
    estimate.base_us = sort.ll ? ll : (all_reduce ? 19.5 : 13);
    estimate.block_rate = 55 * gib_per_s;
    estimate.peak = (switch_reduces ? 1000 : 600) * gib_per_s;
  } else {
    estimate.base_us = sort.ll ? 4.5 : 7.8;
    estimate.block_rate = (all_reduce ? 65 : 44) * gib_per_s;
    estimate.peak = (switch_reduces ? 480 : 320) * gib_per_s;
  }
  return estimate;
}

/// The fewest blocks that are nearly as quick as all.
SymmetricChoice with_blocks(SymmetricKernel kernel, const Estimate& estimate,
                            const Configuration& configuration) {
  int least = configuration.min_ctas.value_or(1);
  int most = std::min(estimate.most_blocks, configuration.max_ctas.value_or(most_blocks));
  if (configuration.symmetric_ctas.value_or(0) > 0) {
    least = most = std::min(most_blocks, *configuration.symmetric_ctas);
  }
  SymmetricChoice choice{kernel, static_cast<std::uint32_t>(most), estimate.time(most)};
  for (int blocks = least; blocks < most; ++blocks) {
    const double time = estimate.time(blocks);
    if (time <= tolerance * choice.estimate_us) {
      return {kernel, static_cast<std::uint32_t>(blocks), time};
    }
  }
  return choice;
}

bool is_float(DataType type) {
  switch (type) {
    case DataType::Half:
    case DataType::Float32:
    case DataType::Float64:
    case DataType::Bfloat16:
    case DataType::Fp8E4m3:
    case DataType::Fp8E5m2:
      return true;
    default:
      return false;
  }
}

/// Whether the switch adds values of the type, for a kernel that has it do so.
bool switch_reduces(DataType type, int sm) {
  const bool fp8 = type == DataType::Fp8E4m3 || type == DataType::Fp8E5m2;
  return !fp8 || sm >= blackwell;
}

/// Whether a kernel may run, where symmetric kernels may.
bool may_run(const SymmetricKernelSort& sort, const CollectiveCall& call,
             const Communicator& communicator) {
  constexpr int least_for_switch = 3;
  const bool has_switch =
      communicator.supports_nvls && static_cast<int>(call.ranks) >= least_for_switch;
  if (sort.collective != call.kind || (sort.multicast && !has_switch)) {
    return false;
  }
  if (sort.ll) {
    const double blocks = call.kind == AllReduce ? 1 : call.ranks;
    return blocks * buffer_bytes(call) < most_ll_bytes;
  }
  return !sort.multicast || call.kind == AllGather ||
         switch_reduces(call.type, communicator.min_sm);
}

}  // namespace

std::span<const SymmetricKernelSort> symmetric_kernels() { return kernels; }

const SymmetricKernelSort& sort_of(SymmetricKernel kernel) {
  return kernels.at(static_cast<std::size_t>(kernel));
}

std::string nvlink_exclusion(const Communicator& communicator, std::string_view who) {
  const std::string where = std::string(who) + " where NVLink joins ";
  if (communicator.nodes > 1) {
    return where + "all ranks, not over " + std::to_string(communicator.nodes) + " nodes";
  }
  const bool through_gpus = std::ranges::find(communicator.local_paths, PathType::Nvb,
                                              &LocalPath::type) != communicator.local_paths.end();
  if (!communicator.all_nvlink) {
    return where + "every two GPUs, and here it does not";
  }
  return through_gpus
             ? where + "every two GPUs directly; here some pairs have another GPU between them"
             : std::string();
}

std::string symmetric_exclusion(const Communicator& communicator, const CollectiveCall& call) {
  const std::string kind(collsim::name_of(call.kind));
  if (call.kind != AllReduce && call.kind != AllGather && call.kind != ReduceScatter) {
    return "NCCL has symmetric kernels for all_reduce, all_gather and reduce_scatter, not for " +
           kind;
  }
  if (std::string why = nvlink_exclusion(communicator, "symmetric kernels run"); !why.empty()) {
    return why;
  }
  if (call.kind == AllGather) {
    return {};
  }
  if (call.op != ReductionOp::Sum && call.op != ReductionOp::Avg) {
    return "symmetric kernels reduce with sum and avg, not with " +
           std::string(collsim::name_of(call.op));
  }
  if (!is_float(call.type) || call.type == DataType::Float64) {
    return "symmetric kernels reduce floats of at most 32 bits, not " +
           std::string(collsim::name_of(call.type));
  }
  return {};
}

SymmetricChoice choose_symmetric(const Communicator& communicator,
                                 const Configuration& configuration, const CollectiveCall& call) {
  COLLSIM_ENSURE(call.ranks > 1 && call.count > 0, "something to communicate");
  if (const std::string why = symmetric_exclusion(communicator, call); !why.empty()) {
    throw InputError(why);
  }
  std::optional<SymmetricChoice> best;
  const auto counted = [](const SymmetricChoice& choice) {
    return choice.estimate_us * (1 + block_penalty * choice.blocks);
  };
  std::vector<std::string> runnable;
  for (const SymmetricKernelSort& sort : kernels) {
    if (!may_run(sort, call, communicator)) {
      continue;
    }
    runnable.emplace_back(sort.name);
    if (!configuration.symmetric_kernel.empty() && configuration.symmetric_kernel != sort.name) {
      continue;
    }
    const SymmetricChoice choice =
        with_blocks(sort.kernel, estimate_of(sort, call, communicator.min_sm), configuration);
    if (!best || counted(choice) < counted(*best)) {
      best = choice;
    }
  }
  if (!best) {
    throw InputError("NCCL_SYM_KERNEL=" + configuration.symmetric_kernel + " cannot run this call",
                     {}, "here can run: " + one_of(runnable));
  }
  return *best;
}

}  // namespace collsim::nccl
