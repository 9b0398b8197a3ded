#include "validate/cuda/nccl_communicators.hpp"

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

/// A call of NCCL's that may never return: a thread makes it, and is left behind where nobody waits for it any more.
struct Joining {
  std::shared_ptr<const NcclLibrary> library;
  NcclId id;
  int ranks = 0;
  int rank = 0;
  int device = 0;
  NcclFunctions::Comm comm = nullptr;
  int result = 0;
  cudaError_t placed = cudaSuccess;
  std::atomic<bool> done = false;

  void run() {
    placed = cudaSetDevice(device);
    if (placed == cudaSuccess) {
      result = library->call().comm_init_rank(&comm, ranks, id, rank);
    }
    done = true;
  }
};

/// Leaves a thread behind.
class Abandoned {
 public:
  explicit Abandoned(std::thread thread) : thread_(std::move(thread)) {}
  ~Abandoned() {
    if (thread_.joinable()) {
      thread_.detach();
    }
  }
  Abandoned(const Abandoned&) = delete;
  Abandoned& operator=(const Abandoned&) = delete;

  void join() { thread_.join(); }

 private:
  std::thread thread_;
};

/// The name of the communicator that all ranks join.
NcclId exchanged_id(const NcclLibrary& library, ProcessGroup& group) {
  NcclId id;
  std::string own;
  if (group.rank() == 0) {
    COLLSIM_NCCL_CHECK(library, library.call().get_unique_id(&id));
    own.assign(id.bytes.begin(), id.bytes.end());
  }
  const std::string all = group.exchange(std::move(own)).front();
  if (all.size() != id.bytes.size()) {
    throw ExecutionError("rank 0 sent no name of a communicator");
  }
  std::memcpy(id.bytes.data(), all.data(), all.size());
  return id;
}

}  // namespace

void check_nccl(const NcclLibrary& library, int result, const char* call, const char* file,
                int line) {
  if (result != 0) {
    const char* const last = library.call().get_last_error(nullptr);
    const std::string more = last == nullptr || *last == '\0' ? "" : std::string(": ") + last;
    throw CudaError(call, library.call().get_error_string(result) + more, file, line);
  }
}

NcclCommunicators::NcclCommunicators(const std::vector<std::uint32_t>& gpus)
    : ranks_(static_cast<std::uint32_t>(gpus.size())) {
  NcclId id;
  COLLSIM_NCCL_CHECK(*library_, library_->call().get_unique_id(&id));
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    add_rank(rank, gpus[rank]);
  }
  COLLSIM_NCCL_CHECK(*library_, library_->call().group_start());
  for (NcclRank& rank : here_) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(rank.device));
    COLLSIM_NCCL_CHECK(*library_,
                       library_->call().comm_init_rank(&rank.comm, static_cast<int>(ranks_), id,
                                                       static_cast<int>(rank.rank)));
  }
  COLLSIM_NCCL_CHECK(*library_, library_->call().group_end());
}

NcclCommunicators::NcclCommunicators(ProcessGroup& group, std::uint32_t gpu,
                                     std::chrono::milliseconds patience)
    : ranks_(group.ranks()), group_(&group) {
  add_rank(group.rank(), gpu);
  const auto joining = std::make_shared<Joining>();
  joining->library = library_;
  joining->id = exchanged_id(*library_, group);
  joining->ranks = static_cast<int>(ranks_);
  joining->rank = static_cast<int>(group.rank());
  joining->device = static_cast<int>(gpu);
  Abandoned thread(std::thread([joining] { joining->run(); }));
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::milliseconds nap{1};
  while (!joining->done) {
    group.require_peers();
    if (std::chrono::steady_clock::now() - begin > patience) {
      throw ExecutionError("NCCL: rank " + std::to_string(group.rank()) +
                           " waits for the others to join for " + std::to_string(patience.count()) +
                           " ms");
    }
    std::this_thread::sleep_for(nap);
  }
  thread.join();
  COLLSIM_CUDA_CHECK(joining->placed);
  COLLSIM_NCCL_CHECK(*library_, joining->result);
  here_.front().comm = joining->comm;
}

void NcclCommunicators::add_rank(std::uint32_t rank, std::uint32_t gpu) {
  NcclRank added;
  added.rank = rank;
  added.device = static_cast<int>(gpu);
  COLLSIM_CUDA_CHECK(cudaSetDevice(added.device));
  added.stream = make_stream();
  added.begin = make_event();
  added.end = make_event();
  here_.push_back(std::move(added));
}

NcclCommunicators::~NcclCommunicators() {
  for (const NcclRank& rank : here_) {
    if (rank.comm != nullptr) {
      static_cast<void>(library_->call().comm_destroy(rank.comm));
    }
  }
}

void NcclCommunicators::abort() noexcept {
  for (NcclRank& rank : here_) {
    if (rank.comm != nullptr) {
      static_cast<void>(library_->call().comm_abort(rank.comm));
      rank.comm = nullptr;
    }
  }
}

void NcclCommunicators::finish(std::chrono::milliseconds patience) {
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::microseconds nap{50};
  for (const NcclRank& rank : here_) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(rank.device));
    for (;;) {
      const cudaError_t answer = cudaStreamQuery(rank.stream.get());
      if (answer == cudaSuccess) {
        break;
      }
      if (answer != cudaErrorNotReady) {
        COLLSIM_CUDA_CHECK(answer);
      }
      static_cast<void>(cudaGetLastError());
      int error = 0;
      COLLSIM_NCCL_CHECK(*library_, library_->call().comm_get_async_error(rank.comm, &error));
      COLLSIM_NCCL_CHECK(*library_, error);
      if (group_ != nullptr) {
        group_->require_peers();
      }
      if (std::chrono::steady_clock::now() - begin > patience) {
        throw ExecutionError("NCCL: rank " + std::to_string(rank.rank) +
                             " has not ended its calls for " + std::to_string(patience.count()) +
                             " ms");
      }
      std::this_thread::sleep_for(nap);
    }
  }
}

}  // namespace collsim
