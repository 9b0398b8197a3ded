// What stands for the GPU backends where nvcc was not found.

#include "topology/error.hpp"
#include "validate/cuda/cuda_backend.hpp"
#include "validate/cuda/nccl_backend.hpp"

namespace collsim {

namespace {

[[noreturn]] void refuse(const char* what) {
  throw InputError(std::string("this program was built without CUDA") + what, "--backend",
                   "--backend host runs the same programs on threads of this machine");
}

}  // namespace

CudaFacts require_gpus() { refuse(": it has no kernels to run on a GPU"); }

std::vector<std::uint32_t> gpu_of_ranks(std::uint32_t /*ranks*/, GpuUse /*use*/) { refuse(""); }

void enable_peers(std::uint32_t /*gpus*/) { refuse(""); }

std::uint32_t gpu_of_process(const std::vector<std::string>& /*hosts*/, std::uint32_t /*rank*/,
                             GpuUse /*use*/) {
  refuse("");
}

ExecutionOutcome execute_on_gpus(const Program&, const ExecutionRequest&, const CudaOptions&) {
  refuse("");
}

ExecutionOutcome execute_on_gpus(const Program&, const ExecutionRequest&, const CudaOptions&,
                                 ProcessGroup&, std::uint32_t) {
  refuse("");
}

NcclFacts require_nccl() { refuse(", which NCCL needs for its buffers and streams"); }

struct NcclGroup::State {};

NcclGroup::NcclGroup(std::uint32_t /*ranks*/) {
  refuse(", which NCCL needs for its buffers and streams");
}

NcclGroup::NcclGroup(ProcessGroup& /*group*/, std::uint32_t /*gpu*/,
                     std::chrono::milliseconds /*patience*/) {
  refuse(", which NCCL needs for its buffers and streams");
}

NcclGroup::~NcclGroup() = default;

ExecutionOutcome NcclGroup::execute(const Program&, const ExecutionRequest&) { refuse(""); }

}  // namespace collsim
