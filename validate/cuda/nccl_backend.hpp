#pragma once

// NCCL itself on the same calls, buffers and data as our programs: the reference that both are measured against.
//
// All ranks in this process, launched as one group, or a process a rank. What the API lacks (gather, scatter, all_to_all, send_recv)
// is grouped sends and receives, as in nccl-tests. Which algorithm runs is NCCL's to decide.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "algorithms/program.hpp"
#include "validate/execution/outcome.hpp"
#include "validate/execution/process_group.hpp"

namespace collsim {

struct NcclFacts {
  std::string version;  ///< "2.28.9"
  /// Whether several ranks may share a GPU, if the variable NCCL_MULTI_RANK_GPU_ENABLE is 1 (experimental, since 2.30.3).
  bool several_a_gpu = false;
};

/// Throws: InputError where the program was built without CUDA, there is no GPU, or no NCCL that is new enough.
[[nodiscard]] NcclFacts require_nccl();

/// A communicator of all ranks. Keep it over many calls: making it takes seconds.
class NcclGroup {
 public:
  /// All ranks in this process, on the GPUs as gpu_of_ranks says. Throws: as require_nccl; InputError for more ranks than GPUs
  /// where NCCL cannot share them; CudaError.
  explicit NcclGroup(std::uint32_t ranks);
  /// One rank a process, this one on `gpu`. Throws: the same; ExecutionError where a rank is lost, or NCCL does not get ready in
  /// time. Requires: the group outlives it.
  NcclGroup(ProcessGroup& group, std::uint32_t gpu, std::chrono::milliseconds patience);
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  /// Makes the program's call, times it and checks its data; in processes, together with the other ranks. The program itself is not
  /// run. Throws: ExecutionError where it does not end in time: the group cannot be used any more; CudaError.
  [[nodiscard]] ExecutionOutcome execute(const Program& program, const ExecutionRequest& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace collsim
