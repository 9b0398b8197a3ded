#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "kernels/cuda_error.hpp"
#include "kernels/cuda_handles.hpp"
#include "validate/cuda/cuda_backend.hpp"
#include "validate/cuda/gpu_memory.hpp"
#include "validate/cuda/nccl_backend.hpp"
#include "validate/cuda/nccl_library.hpp"
#include "validate/execution/execution_error.hpp"

/// Throws: CudaError where a function of NCCL fails.
#define COLLSIM_NCCL_CHECK(library, call) check_nccl(library, call, #call, __FILE__, __LINE__)

namespace collsim {

namespace {

void check_nccl(const NcclLibrary& library, int result, const char* call, const char* file,
                int line) {
  if (result != 0) {
    const char* const last = library.call().get_last_error(nullptr);
    const std::string more = last == nullptr ? "" : std::string(": ") + last;
    throw CudaError(call, library.call().get_error_string(result) + more, file, line);
  }
}

/// Buffers for one call.
struct CallMemory {
  std::vector<DeviceBuffer> owners;
  std::vector<GpuRank> ranks;
};

CallMemory memory_for(const Program& program, const std::vector<int>& devices) {
  CallMemory memory;
  memory.owners.reserve(devices.size());
  memory.ranks.reserve(devices.size());
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    // NCCL has its own scratch memory: input and output suffice.
    const MemoryLayout layout(program, Rank(i));
    constexpr std::size_t alignment = 256;
    const std::size_t second = (layout.sizes[0] + alignment - 1) / alignment * alignment;
    const std::size_t bytes = second + layout.sizes[1];
    COLLSIM_CUDA_CHECK(cudaSetDevice(devices[i]));
    memory.owners.push_back(make_device_buffer(bytes));
    std::byte* const start = memory.owners.back().get();
    const auto place = [&](Buffer buffer) {
      const MemoryLayout::Start& at = layout.starts[static_cast<std::size_t>(buffer)];
      return start + (at.memory == 0 ? 0 : second) + at.offset;
    };
    memory.ranks.push_back({devices[i],
                            {start, bytes},
                            {place(Buffer::Input), layout.input_bytes},
                            {place(Buffer::Output), layout.output_bytes}});
  }
  return memory;
}

}  // namespace

struct NcclGroup::State {
  NcclLibrary library;
  std::vector<int> devices;  ///< by rank
  std::vector<NcclFunctions::Comm> comms;
  std::vector<CudaStream> streams;
  std::vector<CudaEvent> begins;
  std::vector<CudaEvent> ends;

  void issue(const CollectiveCall& call, const CallMemory& memory) const;
  void issue_rank(const CollectiveCall& call, const GpuRank& buffers, std::uint32_t rank) const;
  void issue_messages(const CollectiveCall& call, const GpuRank& buffers, std::uint32_t rank) const;
  void finish(std::chrono::milliseconds patience);
  Duration run(const CollectiveCall& call, const CallMemory& memory, std::uint32_t calls,
               std::chrono::milliseconds patience);
};

void NcclGroup::State::issue(const CollectiveCall& call, const CallMemory& memory) const {
  COLLSIM_NCCL_CHECK(library, library.call().group_start());
  for (std::uint32_t rank = 0; rank < comms.size(); ++rank) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(devices[rank]));
    issue_rank(call, memory.ranks[rank], rank);
  }
  COLLSIM_NCCL_CHECK(library, library.call().group_end());
}

void NcclGroup::State::issue_rank(const CollectiveCall& call, const GpuRank& buffers,
                                  std::uint32_t rank) const {
  const NcclFunctions& nccl = library.call();
  const auto count = static_cast<std::size_t>(call.count);
  const int type = nccl_number(call.type);
  const int op = nccl_number(call.op);
  const auto root = static_cast<int>(call.root.value());
  const void* const input = buffers.input.data();
  void* const output = buffers.output.data();
  auto* const comm = comms[rank];
  auto* const stream = streams[rank].get();
  switch (call.kind) {
    case CollectiveKind::AllReduce:
      return COLLSIM_NCCL_CHECK(library,
                                nccl.all_reduce(input, output, count, type, op, comm, stream));
    case CollectiveKind::Broadcast:
      return COLLSIM_NCCL_CHECK(library,
                                nccl.broadcast(input, output, count, type, root, comm, stream));
    case CollectiveKind::Reduce:
      return COLLSIM_NCCL_CHECK(library,
                                nccl.reduce(input, output, count, type, op, root, comm, stream));
    case CollectiveKind::AllGather:
      return COLLSIM_NCCL_CHECK(library, nccl.all_gather(input, output, count, type, comm, stream));
    case CollectiveKind::ReduceScatter:
      return COLLSIM_NCCL_CHECK(library,
                                nccl.reduce_scatter(input, output, count, type, op, comm, stream));
    case CollectiveKind::Scatter:
    case CollectiveKind::Gather:
    case CollectiveKind::AllToAll:
    case CollectiveKind::SendRecv:
      return issue_messages(call, buffers, rank);
  }
}

/// One message to each rank that gets something from this one, one from each that sends something.
void NcclGroup::State::issue_messages(const CollectiveCall& call, const GpuRank& buffers,
                                      std::uint32_t rank) const {
  const NcclFunctions& nccl = library.call();
  const auto count = static_cast<std::size_t>(call.count);
  const auto block = static_cast<std::size_t>(call.block().count());
  const int type = nccl_number(call.type);
  const auto ranks = static_cast<std::uint32_t>(comms.size());
  const std::uint32_t root = call.root.value();
  const auto sends_to = [&](std::uint32_t from, std::uint32_t to) {
    switch (call.kind) {
      case CollectiveKind::Scatter:
        return from == root;
      case CollectiveKind::Gather:
        return to == root;
      case CollectiveKind::SendRecv:
        return to == (from + 1) % ranks;
      default:
        return true;
    }
  };
  // Where a buffer holds a block for each rank, the peer's.
  const bool many_in =
      call.kind == CollectiveKind::Scatter || call.kind == CollectiveKind::AllToAll;
  const bool many_out =
      call.kind == CollectiveKind::Gather || call.kind == CollectiveKind::AllToAll;
  for (std::uint32_t peer = 0; peer < ranks; ++peer) {
    const std::byte* const from = buffers.input.data() + (many_in ? peer * block : 0);
    std::byte* const to = buffers.output.data() + (many_out ? peer * block : 0);
    if (peer == rank && from == to) {
      continue;  // in place
    }
    if (sends_to(rank, peer)) {
      COLLSIM_NCCL_CHECK(library, nccl.send(from, count, type, static_cast<int>(peer), comms[rank],
                                            streams[rank].get()));
    }
    if (sends_to(peer, rank)) {
      COLLSIM_NCCL_CHECK(library, nccl.receive(to, count, type, static_cast<int>(peer), comms[rank],
                                               streams[rank].get()));
    }
  }
}

void NcclGroup::State::finish(std::chrono::milliseconds patience) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t rank = 0; rank < comms.size(); ++rank) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(devices[rank]));
    for (;;) {
      const cudaError_t answer = cudaStreamQuery(streams[rank].get());
      if (answer == cudaSuccess) {
        break;
      }
      if (answer != cudaErrorNotReady) {
        COLLSIM_CUDA_CHECK(answer);
      }
      int error = 0;
      COLLSIM_NCCL_CHECK(library, library.call().comm_get_async_error(comms[rank], &error));
      COLLSIM_NCCL_CHECK(library, error);
      if (std::chrono::steady_clock::now() - begin > patience) {
        for (auto* const comm : comms) {
          static_cast<void>(library.call().comm_abort(comm));
        }
        comms.clear();
        throw ExecutionError("NCCL: rank " + std::to_string(rank) +
                             " has not ended its calls for " + std::to_string(patience.count()) +
                             " ms");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

Duration NcclGroup::State::run(const CollectiveCall& call, const CallMemory& memory,
                               std::uint32_t calls, std::chrono::milliseconds patience) {
  for (std::uint32_t rank = 0; rank < comms.size(); ++rank) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(devices[rank]));
    COLLSIM_CUDA_CHECK(cudaEventRecord(begins[rank].get(), streams[rank].get()));
  }
  for (std::uint32_t i = 0; i < calls; ++i) {
    issue(call, memory);
  }
  for (std::uint32_t rank = 0; rank < comms.size(); ++rank) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(devices[rank]));
    COLLSIM_CUDA_CHECK(cudaEventRecord(ends[rank].get(), streams[rank].get()));
  }
  finish(patience);
  double milliseconds = 0;
  for (std::uint32_t rank = 0; rank < comms.size(); ++rank) {
    milliseconds += milliseconds_between(begins[rank], ends[rank]);
  }
  constexpr double picoseconds = 1e9;
  return Duration(std::llround(milliseconds * picoseconds / static_cast<double>(comms.size())));
}

NcclFacts require_nccl() {
  static_cast<void>(require_gpus());
  const NcclLibrary library;
  return {library.version_text(), library.version() >= NcclLibrary::shares_gpus};
}

NcclGroup::NcclGroup(std::uint32_t ranks) : state_(std::make_unique<State>()) {
  const std::vector<std::uint32_t> gpus = gpu_of_ranks(ranks);
  const bool shared = std::ranges::adjacent_find(gpus) != gpus.end();
  if (shared && state_->library.version() < NcclLibrary::shares_gpus) {
    throw InputError("NCCL " + state_->library.version_text() +
                         " runs one rank a GPU (several since 2.30.3), and there are fewer GPUs "
                         "than ranks: " +
                         std::to_string(gpus.back() + 1) + " for " + std::to_string(ranks),
                     "--ranks");
  }
  NcclId id;
  COLLSIM_NCCL_CHECK(state_->library, state_->library.call().get_unique_id(&id));
  state_->comms.resize(ranks);
  COLLSIM_NCCL_CHECK(state_->library, state_->library.call().group_start());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    state_->devices.push_back(static_cast<int>(gpus[rank]));
    COLLSIM_CUDA_CHECK(cudaSetDevice(state_->devices.back()));
    state_->streams.push_back(make_stream());
    state_->begins.push_back(make_event());
    state_->ends.push_back(make_event());
    COLLSIM_NCCL_CHECK(state_->library, state_->library.call().comm_init_rank(
                                            &state_->comms[rank], static_cast<int>(ranks), id,
                                            static_cast<int>(rank)));
  }
  COLLSIM_NCCL_CHECK(state_->library, state_->library.call().group_end());
}

NcclGroup::~NcclGroup() {
  for (auto* const comm : state_->comms) {
    if (comm != nullptr) {
      static_cast<void>(state_->library.call().comm_destroy(comm));
    }
  }
}

ExecutionOutcome NcclGroup::execute(const Program& program, const ExecutionRequest& request) {
  const CollectiveCall& call = program.call();
  if (size_of(call.type) == Bytes(1) && call.type >= DataType::Fp8E4m3 &&
      state_->library.version() < NcclLibrary::has_8_bit_floats) {
    throw InputError("NCCL " + state_->library.version_text() + " has no 8-bit floats",
                     "--datatype", "2.24 and later have");
  }
  TestData data(call, request.seed);
  const CallMemory memory = memory_for(program, state_->devices);
  ExecutionOutcome outcome;
  if (request.check) {
    fill_gpu_ranks(memory.ranks, data);
  }
  state_->run(call, memory, request.warmup, request.patience);
  outcome.time = state_->run(call, memory, request.timed, request.patience) / request.timed;
  if (request.check) {
    fill_gpu_ranks(memory.ranks, data);
    state_->run(call, memory, 1, request.patience);
    outcome.wrong = check_gpu_ranks(memory.ranks, data);
  }
  return outcome;
}

}  // namespace collsim
