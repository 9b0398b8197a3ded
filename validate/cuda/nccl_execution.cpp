#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "validate/cuda/cuda_backend.hpp"
#include "validate/cuda/cuda_execution.hpp"
#include "validate/cuda/gpu_memory.hpp"
#include "validate/cuda/nccl_backend.hpp"
#include "validate/cuda/nccl_communicators.hpp"
#include "validate/execution/joint_outcome.hpp"

namespace collsim {

namespace {

/// Buffers for one call.
struct CallMemory {
  std::vector<DeviceBuffer> owners;
  std::vector<GpuRank> ranks;
};

CallMemory memory_for(const Program& program, const std::vector<NcclRank>& ranks) {
  CallMemory memory;
  memory.owners.reserve(ranks.size());
  memory.ranks.reserve(ranks.size());
  for (const NcclRank& rank : ranks) {
    // NCCL has its own scratch memory: input and output suffice.
    const MemoryLayout layout(program, Rank(rank.rank));
    constexpr std::size_t alignment = 256;
    const std::size_t second = (layout.sizes[0] + alignment - 1) / alignment * alignment;
    const std::size_t bytes = second + layout.sizes[1];
    COLLSIM_CUDA_CHECK(cudaSetDevice(rank.device));
    void* allocated = nullptr;
    if (bytes > 0) {
      require_allocated(cudaMalloc(&allocated, bytes), rank.device, Rank(rank.rank), bytes);
    }
    memory.owners.emplace_back(static_cast<std::byte*>(allocated));
    std::byte* const start = memory.owners.back().get();
    const auto place = [&](Buffer buffer) {
      const MemoryLayout::Start& at = layout.starts[static_cast<std::size_t>(buffer)];
      return start + (at.memory == 0 ? 0 : second) + at.offset;
    };
    memory.ranks.push_back({Rank(rank.rank),
                            rank.device,
                            {start, bytes},
                            {place(Buffer::Input), layout.input_bytes},
                            {place(Buffer::Output), layout.output_bytes}});
  }
  return memory;
}

/// Ends what runs where a call fails, before the memory that it uses goes.
class AbortOnFailure {
 public:
  explicit AbortOnFailure(NcclCommunicators& communicators) : communicators_(communicators) {}
  ~AbortOnFailure() {
    if (!succeeded_) {
      communicators_.abort();
    }
  }
  AbortOnFailure(const AbortOnFailure&) = delete;
  AbortOnFailure& operator=(const AbortOnFailure&) = delete;

  void succeeded() { succeeded_ = true; }

 private:
  NcclCommunicators& communicators_;
  bool succeeded_ = false;
};

}  // namespace

struct NcclGroup::State {
  explicit State(const std::vector<std::uint32_t>& gpus) : communicators(gpus) {}
  State(ProcessGroup& processes, std::uint32_t gpu, std::chrono::milliseconds patience)
      : communicators(processes, gpu, patience), group(&processes) {}

  NcclCommunicators communicators;
  ProcessGroup* group = nullptr;  ///< null: all ranks are in this process

  void issue(const CollectiveCall& call, const CallMemory& memory) const;
  void issue_rank(const CollectiveCall& call, const GpuRank& buffers, const NcclRank& rank) const;
  void issue_messages(const CollectiveCall& call, const GpuRank& buffers,
                      const NcclRank& rank) const;
  Duration run(const CollectiveCall& call, const CallMemory& memory, std::uint32_t calls,
               std::chrono::milliseconds patience);
};

void NcclGroup::State::issue(const CollectiveCall& call, const CallMemory& memory) const {
  const NcclLibrary& library = communicators.nccl();
  COLLSIM_NCCL_CHECK(library, library.call().group_start());
  for (std::size_t i = 0; i < memory.ranks.size(); ++i) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(memory.ranks[i].device));
    issue_rank(call, memory.ranks[i], communicators.here()[i]);
  }
  COLLSIM_NCCL_CHECK(library, library.call().group_end());
}

void NcclGroup::State::issue_rank(const CollectiveCall& call, const GpuRank& buffers,
                                  const NcclRank& rank) const {
  const NcclLibrary& library = communicators.nccl();
  const NcclFunctions& nccl = library.call();
  const auto count = static_cast<std::size_t>(call.count);
  const int type = nccl_number(call.type);
  const int op = nccl_number(call.op);
  const auto root = static_cast<int>(call.root.value());
  const void* const input = buffers.input.data();
  void* const output = buffers.output.data();
  auto* const comm = rank.comm;
  auto* const stream = rank.stream.get();
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
                                      const NcclRank& rank) const {
  const NcclLibrary& library = communicators.nccl();
  const NcclFunctions& nccl = library.call();
  const auto count = static_cast<std::size_t>(call.count);
  const auto block = static_cast<std::size_t>(call.block().count());
  const int type = nccl_number(call.type);
  const std::uint32_t ranks = communicators.ranks();
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
    if (peer == rank.rank && from == to) {
      continue;  // in place
    }
    if (sends_to(rank.rank, peer)) {
      COLLSIM_NCCL_CHECK(library, nccl.send(from, count, type, static_cast<int>(peer), rank.comm,
                                            rank.stream.get()));
    }
    if (sends_to(peer, rank.rank)) {
      COLLSIM_NCCL_CHECK(library, nccl.receive(to, count, type, static_cast<int>(peer), rank.comm,
                                               rank.stream.get()));
    }
  }
}

Duration NcclGroup::State::run(const CollectiveCall& call, const CallMemory& memory,
                               std::uint32_t calls, std::chrono::milliseconds patience) {
  if (group != nullptr) {
    group->meet();
  }
  for (const NcclRank& rank : communicators.here()) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(rank.device));
    COLLSIM_CUDA_CHECK(cudaEventRecord(rank.begin.get(), rank.stream.get()));
  }
  for (std::uint32_t i = 0; i < calls; ++i) {
    issue(call, memory);
  }
  for (const NcclRank& rank : communicators.here()) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(rank.device));
    COLLSIM_CUDA_CHECK(cudaEventRecord(rank.end.get(), rank.stream.get()));
  }
  communicators.finish(patience);
  double milliseconds = 0;
  for (const NcclRank& rank : communicators.here()) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(rank.device));
    milliseconds += milliseconds_between(rank.begin, rank.end);
  }
  constexpr double picoseconds = 1e9;
  return Duration(
      std::llround(milliseconds * picoseconds / static_cast<double>(communicators.here().size())));
}

NcclFacts require_nccl() {
  static_cast<void>(require_gpus());
  const NcclLibrary library;
  return {library.version_text(), library.version() >= NcclLibrary::shares_gpus};
}

namespace {

/// `gpus` by rank. Throws: InputError where NCCL needs a GPU a rank and there are fewer.
std::vector<std::uint32_t> gpus_for(std::uint32_t ranks) {
  std::vector<std::uint32_t> gpus = gpu_of_ranks(ranks, GpuUse::Any);
  const NcclFacts facts = require_nccl();
  if (!facts.several_a_gpu && std::ranges::adjacent_find(gpus) != gpus.end()) {
    throw InputError("NCCL " + facts.version +
                         " runs one rank a GPU (several since 2.30.3), and there are fewer GPUs "
                         "than ranks: " +
                         std::to_string(gpus.back() + 1) + " for " + std::to_string(ranks),
                     "--ranks");
  }
  return gpus;
}

}  // namespace

NcclGroup::NcclGroup(std::uint32_t ranks) : state_(std::make_unique<State>(gpus_for(ranks))) {}

NcclGroup::NcclGroup(ProcessGroup& group, std::uint32_t gpu, std::chrono::milliseconds patience)
    : state_(std::make_unique<State>(group, gpu, patience)) {}

NcclGroup::~NcclGroup() = default;

ExecutionOutcome NcclGroup::execute(const Program& program, const ExecutionRequest& request) {
  const CollectiveCall& call = program.call();
  const NcclLibrary& library = state_->communicators.nccl();
  if (size_of(call.type) == Bytes(1) && call.type >= DataType::Fp8E4m3 &&
      library.version() < NcclLibrary::has_8_bit_floats) {
    throw InputError("NCCL " + library.version_text() + " has no 8-bit floats", "--datatype",
                     "2.24 and later have");
  }
  TestData data(call, request.seed);
  const CallMemory memory = memory_for(program, state_->communicators.here());
  AbortOnFailure guard(state_->communicators);
  if (request.check) {
    fill_gpu_ranks(memory.ranks, data);
  }
  state_->run(call, memory, request.warmup, request.patience);
  const Duration time = state_->run(call, memory, request.timed, request.patience);
  std::vector<WrongData> wrong;
  if (request.check) {
    fill_gpu_ranks(memory.ranks, data);
    state_->run(call, memory, 1, request.patience);
    wrong = check_gpu_ranks(memory.ranks, data);
  }
  ExecutionOutcome outcome;
  if (state_->group == nullptr) {
    outcome.time = time / request.timed;
    outcome.wrong = std::move(wrong);
  } else {
    const auto own = wrong.empty() ? std::nullopt : std::optional(wrong.front());
    outcome = joint_outcome(*state_->group, time, request.timed, own);
  }
  guard.succeeded();
  return outcome;
}

}  // namespace collsim
