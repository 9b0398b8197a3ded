#include "validate/cuda/cuda_execution.hpp"

#include <cmath>
#include <string>

#include "kernels/launch.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

WideLines wide_lines_among(const std::vector<std::uint32_t>& gpus) {
  const int used = gpus.empty() ? 0 : static_cast<int>(gpus.back()) + 1;
  for (int from = 0; from < used; ++from) {
    for (int to = 0; to < used; ++to) {
      if (wide_lines_between(from, to) == WideLines::Torn) {
        return WideLines::Torn;
      }
    }
  }
  return WideLines::Carried;
}

}  // namespace

CudaExecution::CudaExecution(const Program& program, const CudaOptions& options,
                             std::chrono::milliseconds patience)
    : CudaExecution(program, options, patience, gpu_of_ranks(program.call().ranks, GpuUse::Peers)) {
}

CudaExecution::CudaExecution(const Program& program, const CudaOptions& options,
                             std::chrono::milliseconds patience,
                             const std::vector<std::uint32_t>& gpus)
    : program_(program, choose_wire(program, options.wire, wide_lines_among(gpus))),
      options_(options) {
  const std::uint32_t used = gpus.empty() ? 0 : gpus.back() + 1;
  enable_peers(used);
  place_ranks(gpus);
  write_tables();
  for (std::uint32_t device = 0; device < used; ++device) {
    load(static_cast<int>(device), patience);
  }
}

void require_allocated(cudaError_t answer, int device, Rank rank, std::size_t bytes) {
  if (answer == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw InputError("the memory of GPU " + std::to_string(device) + " does not suffice: rank " +
                         std::to_string(rank.value()) + " needs " + std::to_string(bytes) +
                         " bytes more",
                     {}, "a smaller -e, or fewer --ranks");
  }
  COLLSIM_CUDA_CHECK(answer);
}

void CudaExecution::place_ranks(const std::vector<std::uint32_t>& gpus) {
  for (std::uint32_t i = 0; i < program_.ranks(); ++i) {
    const Rank rank(i);
    const auto device = static_cast<int>(gpus[i]);
    COLLSIM_CUDA_CHECK(cudaSetDevice(device));
    void* memory = nullptr;
    const std::size_t bytes = program_.arena_bytes(rank);
    require_allocated(cudaMalloc(&memory, bytes), device, rank, bytes);
    arenas_.emplace_back(static_cast<std::byte*>(memory));
    std::byte* const start = arenas_.back().get();
    starts_.push_back(start);
    ranks_.push_back({rank,
                      device,
                      {start, program_.memory_bytes(rank)},
                      {start + program_.input_at(rank), program_.input_bytes(rank)},
                      {start + program_.output_at(rank), program_.output_bytes(rank)}});
  }
}

void CudaExecution::write_tables() {
  for (std::uint32_t i = 0; i < program_.ranks(); ++i) {
    const Rank rank(i);
    COLLSIM_CUDA_CHECK(cudaSetDevice(ranks_[i].device));
    const std::size_t zeros = program_.zeros_at(rank);
    COLLSIM_CUDA_CHECK(cudaMemset(starts_[i] + zeros, 0, program_.tables_at(rank) - zeros));
    const std::vector<std::byte> tables = program_.tables(rank, starts_);
    COLLSIM_CUDA_CHECK(cudaMemcpy(starts_[i] + program_.tables_at(rank), tables.data(),
                                  tables.size(), cudaMemcpyHostToDevice));
    COLLSIM_CUDA_CHECK(cudaDeviceSynchronize());
  }
}

void CudaExecution::load(int device, std::chrono::milliseconds patience) {
  std::vector<kernels::BlockTable> blocks;
  for (const GpuRank& rank : ranks_) {
    if (rank.device == device) {
      const auto of_rank = program_.blocks(rank.rank, starts_[rank.rank.index()]);
      blocks.insert(blocks.end(), of_rank.begin(), of_rank.end());
    }
  }
  COLLSIM_CUDA_CHECK(cudaSetDevice(device));
  const std::uint32_t resident = kernels::resident_blocks(program_.type(), options_.threads);
  if (blocks.size() > resident) {
    throw InputError("the ranks of GPU " + std::to_string(device) + " have " +
                         std::to_string(blocks.size()) + " lanes, of which it can run " +
                         std::to_string(resident) +
                         " at once: the rest would be waited for without end",
                     {}, "fewer --ranks or --channels");
  }
  lanes_.push_back(
      std::make_unique<CudaLanes>(device, program_, blocks, options_.threads, patience));
}

Duration CudaExecution::run(std::uint32_t calls) {
  for (const auto& lanes : lanes_) {
    lanes->begin();
  }
  // Call by call: a GPU whose queue is full waits for a call that all others have been given.
  for (std::uint32_t call = 0; call < calls; ++call) {
    for (const auto& lanes : lanes_) {
      lanes->launch();
    }
  }
  return finish();
}

Duration CudaExecution::run_graph(std::uint32_t calls) {
  for (const auto& lanes : lanes_) {
    lanes->make_graph(calls);
  }
  for (const auto& lanes : lanes_) {
    lanes->begin();
    lanes->launch_graph();
  }
  return finish();
}

Duration CudaExecution::finish() {
  for (const auto& lanes : lanes_) {
    lanes->end();
  }
  double milliseconds = 0;
  for (const auto& lanes : lanes_) {
    milliseconds += lanes->finish({});
  }
  constexpr double picoseconds = 1e9;
  return Duration(std::llround(milliseconds * picoseconds / static_cast<double>(lanes_.size())));
}

ExecutionOutcome execute_on_gpus(const Program& program, const ExecutionRequest& request,
                                 const CudaOptions& options) {
  TestData data(program.call(), request.seed);
  CudaExecution execution(program, options, request.patience);
  ExecutionOutcome outcome;
  describe_lanes(execution.program(), outcome);
  if (request.check) {
    fill_gpu_ranks(execution.ranks(), data);
  }
  execution.run(request.warmup);
  const Duration time =
      options.graph ? execution.run_graph(request.timed) : execution.run(request.timed);
  outcome.time = time / request.timed;
  if (request.check) {
    fill_gpu_ranks(execution.ranks(), data);
    execution.run(1);
    outcome.wrong = check_gpu_ranks(execution.ranks(), data);
  }
  return outcome;
}

}  // namespace collsim
