#pragma once

// Programs on GPUs, as the program sees them, whether it was built with CUDA or not.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/program.hpp"
#include "validate/cuda/lane_wire.hpp"
#include "validate/execution/outcome.hpp"
#include "validate/execution/process_group.hpp"

namespace collsim {

struct CudaOptions {
  LaneWire wire = LaneWire::AsProgram;
  std::uint32_t threads = 512;  ///< a block, whole warps of 32, at most 512
  bool graph = false;           ///< the timed calls are one CUDA graph
};

struct GpuFacts {
  std::string name;        ///< "NVIDIA H200"
  std::string bus;         ///< "0000:1b:00.0"
  std::size_t memory = 0;  ///< bytes
  std::uint32_t multiprocessors = 0;
};

/// What runs the programs.
struct CudaFacts {
  std::vector<GpuFacts> gpus;
  std::string driver;   ///< the version of CUDA it knows, "13.0"
  std::string runtime;  ///< "13.0"
};

/// The GPUs of this machine. Throws: InputError where the program was built without CUDA, or there is no GPU.
[[nodiscard]] CudaFacts require_gpus();

/// How ranks reach each other.
enum class GpuUse : std::uint8_t {
  Peers,  ///< by their GPUs' memory: all GPUs only where each can use that of every other, else the first
  Any,  ///< by NCCL, which finds a way
};

/// Where ranks run: blocks of ranks on all GPUs that may be used.
/// Shapes: by rank, an index of CudaFacts::gpus. Throws: as require_gpus.
[[nodiscard]] std::vector<std::uint32_t> gpu_of_ranks(std::uint32_t ranks, GpuUse use);
/// The GPU of one process of a group, among those that it sees: the ranks of its host share the host's. `hosts` by rank.
[[nodiscard]] std::uint32_t gpu_of_process(const std::vector<std::string>& hosts,
                                           std::uint32_t rank, GpuUse use);

/// Lets each of the first so many GPUs use the memory of the others; another one may be current then. Throws: CudaError.
void enable_peers(std::uint32_t gpus);

/// Times a program on GPUs and checks its data, all ranks in this process.
/// Throws: as LaneProgram and require_gpus; InputError where the blocks of a GPU's ranks do not fit on it together (they
/// would wait for each other for ever), or its memory does not suffice; ExecutionError where a wait took too long; CudaError.
[[nodiscard]] ExecutionOutcome execute_on_gpus(const Program& program,
                                               const ExecutionRequest& request,
                                               const CudaOptions& options);

/// The same together with the other ranks of the group, each a process of this machine, this one on `gpu`; the same outcome on all.
/// Throws: as above; InputError where GPUs cannot use each other's memory; ExecutionError where a rank is lost.
[[nodiscard]] ExecutionOutcome execute_on_gpus(const Program& program,
                                               const ExecutionRequest& request,
                                               const CudaOptions& options, ProcessGroup& group,
                                               std::uint32_t gpu);

}  // namespace collsim
