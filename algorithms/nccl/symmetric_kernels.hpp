#pragma once
// NCCL's kernels for symmetric memory (from 2.27 on): which there are, which of them a call may take,
// and which NCCL expects to be the quickest, on how many blocks.
//
// A call may take them where both of its buffers are windows that every rank has registered
// (ncclCommWindowRegister), all ranks are joined by NVLink, and what it reduces is a sum of floats of at
// most 32 bits; an all-gather takes any type. NCCL then compares them with each other only, never with
// rings and trees, by an estimate of its own, with 2.5 % more for each block.
//
// Not modelled: the kernels of 2.30 that use the tensor memory accelerator, which are off by default,
// and those over several nodes; several calls in a group; one window of the two.
// Source: NCCL 2.28.9, src/sym_kernels.cc.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/collective.hpp"
#include "algorithms/nccl/communicator.hpp"
#include "algorithms/nccl/configuration.hpp"

namespace collsim::nccl {

/// By the letters of NCCL: LL; LD load, ST store; MC through the switch (multicast). In its own names AG is all-gather,
/// RS reduce-scatter, R reduce, x by.
enum class SymmetricKernel : std::uint8_t {
  AllReduceLL,
  AllReduceLLMC,
  AllReduceLDST,
  AllReduceLDMC,
  AllGatherLL,
  AllGatherLLMC,
  AllGatherST,
  AllGatherSTMC,
  ReduceScatterLL,
  ReduceScatterLD,
  ReduceScatterLDMC,
};

struct SymmetricKernelSort {
  SymmetricKernel kernel{};
  std::string_view name;  ///< NCCL's, as NCCL_SYM_KERNEL takes it
  CollectiveKind collective{};
  bool ll{false};         ///< flags in the data; else barriers
  bool multicast{false};  ///< the switch copies, or reduces
};
/// All of them, in NCCL's order.
[[nodiscard]] std::span<const SymmetricKernelSort> symmetric_kernels();
[[nodiscard]] const SymmetricKernelSort& sort_of(SymmetricKernel kernel);

struct SymmetricChoice {
  SymmetricKernel kernel{};
  std::uint32_t blocks{1};
  double estimate_us{0};  ///< NCCL's own
};

/// What NCCL takes for a call whose buffers are symmetric windows.
/// Requires: at least 2 ranks, call.count > 0.
/// Throws: InputError that says why it takes none: the collective, the type, the operation, GPUs that
/// NVLink does not join, several nodes, or NCCL_SYM_KERNEL.
[[nodiscard]] SymmetricChoice choose_symmetric(const Communicator& communicator,
                                               const Configuration& configuration,
                                               const CollectiveCall& call);

/// Why windows are of no use here, to say of `who` ("symmetric kernels run"): they need NVLink between all
/// ranks. Empty: they are.
[[nodiscard]] std::string nvlink_exclusion(const Communicator& communicator, std::string_view who);

/// Whether NCCL has symmetric kernels for it, and where not, why. Empty: it has.
[[nodiscard]] std::string symmetric_exclusion(const Communicator& communicator,
                                              const CollectiveCall& call);

}  // namespace collsim::nccl
