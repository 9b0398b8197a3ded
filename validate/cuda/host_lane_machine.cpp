#include "validate/cuda/host_lane_machine.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "validate/cuda/block_threads.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw ExecutionError(what + ": " + std::generic_category().message(errno));
}

}  // namespace

HostLaneMachine::Mapping::Mapping(int descriptor, std::size_t bytes)
    : descriptor_(descriptor), bytes_(bytes) {
  void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (start == MAP_FAILED) {  // NOLINT(*-cstyle-cast,*-int-to-ptr): the system's own
    close(descriptor);
    fail("cannot map shared memory");
  }
  start_ = static_cast<std::byte*>(start);
}

HostLaneMachine::Mapping::~Mapping() {
  if (start_ != nullptr) {
    munmap(start_, bytes_);
    close(descriptor_);
  }
}

HostLaneMachine::Mapping::Mapping(Mapping&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      start_(std::exchange(other.start_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

HostLaneMachine::Mapping& HostLaneMachine::Mapping::operator=(Mapping&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::byte* HostLaneMachine::make_arena(std::size_t bytes) {
  const int descriptor = memfd_create("collsim-arena", MFD_CLOEXEC);
  if (descriptor < 0) {
    fail("cannot make shared memory");
  }
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    close(descriptor);
    fail("cannot make shared memory of " + std::to_string(bytes) + " bytes");
  }
  own_ = Mapping(descriptor, bytes);
  return own_.start();
}

std::string HostLaneMachine::arena_handle() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(own_.descriptor());
}

std::byte* HostLaneMachine::open_arena(const std::string& handle, std::size_t bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's call is declared so
  const int descriptor = open(handle.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    fail("cannot open a peer's memory, " + handle);
  }
  others_.emplace_back(descriptor, bytes);
  return others_.back().start();
}

void HostLaneMachine::write(std::byte* to, std::span<const std::byte> from) {
  std::ranges::copy(from, to);
}

void HostLaneMachine::read(std::span<std::byte> to, const std::byte* from) {
  std::copy_n(from, to.size(), to.data());
}

void HostLaneMachine::fill(std::span<std::byte> memory, std::byte pattern) {
  std::ranges::fill(memory, pattern);
}

BlockRoom HostLaneMachine::room(DataType /*type*/) const { return {"this host", room_}; }

void HostLaneMachine::load(const LaneProgram& program,
                           const std::vector<kernels::BlockTable>& blocks,
                           std::chrono::milliseconds patience) {
  program_ = &program;
  blocks_ = blocks;
  patience_ = patience;
}

Duration HostLaneMachine::run(std::uint32_t calls, const std::function<void()>& watch) {
  kernels::Failure failure{};
  const auto begin = std::chrono::steady_clock::now();
  run_block_threads(program_->type(), program_->launch(nullptr, &failure, nullptr, patience_),
                    {blocks_}, 1, calls, watch);
  const auto time = std::chrono::steady_clock::now() - begin;
  if (failure.claimed != 0) {
    throw ExecutionError("no progress for " + std::to_string(patience_.count()) +
                         " ms: " + program_->text_of(failure));
  }
  return Duration(time);
}

}  // namespace collsim
