#pragma once

// NCCL's communicators of the ranks of this process, each with a stream and events: made, asked whether they have ended, given back.
// For files that have the CUDA runtime's headers.

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cuda_error.hpp"
#include "kernels/cuda_handles.hpp"
#include "validate/cuda/nccl_library.hpp"
#include "validate/execution/process_group.hpp"

/// Throws: CudaError where a function of NCCL fails.
#define COLLSIM_NCCL_CHECK(library, call) \
  ::collsim::check_nccl(library, call, #call, __FILE__, __LINE__)

namespace collsim {

void check_nccl(const NcclLibrary& library, int result, const char* call, const char* file,
                int line);

struct NcclRank {
  std::uint32_t rank = 0;
  int device = 0;
  NcclFunctions::Comm comm = nullptr;
  CudaStream stream;
  CudaEvent begin;
  CudaEvent end;
};

class NcclCommunicators {
 public:
  /// All ranks are here. Throws: CudaError.
  explicit NcclCommunicators(const std::vector<std::uint32_t>& gpus);
  /// This process's rank of a group. Throws: ExecutionError where a rank is lost or NCCL is not ready in time; CudaError.
  NcclCommunicators(ProcessGroup& group, std::uint32_t gpu, std::chrono::milliseconds patience);
  ~NcclCommunicators();
  NcclCommunicators(const NcclCommunicators&) = delete;
  NcclCommunicators& operator=(const NcclCommunicators&) = delete;

  [[nodiscard]] const NcclLibrary& nccl() const { return *library_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<NcclRank>& here() const { return here_; }

  /// Waits until the streams of all have ended; where this throws, the communicators are to be aborted.
  /// Throws: ExecutionError where they have not in time, or a rank is lost; CudaError.
  void finish(std::chrono::milliseconds patience);
  /// Ends what still runs: nothing can be called any more.
  void abort() noexcept;

 private:
  void add_rank(std::uint32_t rank, std::uint32_t gpu);

  /// Shared with a thread that may still be waiting for a rank that is lost.
  std::shared_ptr<const NcclLibrary> library_ = std::make_shared<const NcclLibrary>();
  std::uint32_t ranks_ = 0;
  std::vector<NcclRank> here_;
  ProcessGroup* group_ = nullptr;  ///< null: all ranks are here
};

}  // namespace collsim
