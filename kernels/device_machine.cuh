#pragma once

// The machine of interpreter.hpp as a block of threads of a GPU.
//
// Orders are those of PTX's memory model at the scope of the system, so that they hold between GPUs, too. A vector access is one
// access a component: two 8-byte components are each read and written whole, which LL's pairs of data and flag need.
// Source: PTX ISA 9.0, §8 "Memory Consistency Model" and "Vector Data-types".

#include <cstddef>
#include <cstdint>

#include "kernels/interpreter.hpp"

namespace collsim::kernels {

class DeviceMachine {
 public:
  __device__ static std::uint32_t thread() { return threadIdx.x; }
  __device__ static std::uint32_t threads() { return blockDim.x; }
  __device__ static void barrier() { __syncthreads(); }

  __device__ static std::uint64_t acquire(const std::uint64_t* counter) {
    std::uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(counter) : "memory");
    return value;
  }
  __device__ static void fence() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
  __device__ static void publish(std::uint64_t* counter, std::uint64_t value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(counter), "l"(value) : "memory");
  }
  __device__ static bool claim(std::uint64_t* word) {
    static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
    return atomicCAS(reinterpret_cast<unsigned long long*>(word), 0ULL, 1ULL) == 0;
  }

  template <class Word>
  __device__ static Word load(const std::byte* from) {
    return *reinterpret_cast<const Word*>(from);
  }
  template <class Word>
  __device__ static void store(std::byte* to, Word word) {
    *reinterpret_cast<Word*>(to) = word;
  }

  __device__ static Line load_line(const std::byte* from) {
    Line line;
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(line.first), "=l"(line.second)
                 : "l"(from)
                 : "memory");
    return line;
  }
  __device__ static void store_line(std::byte* to, Line line) {
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(line.first),
                 "l"(line.second)
                 : "memory");
  }

  /// Eight threads of a warp move a line of LL128 together.
  static constexpr std::uint32_t line_threads = 8;
  static constexpr std::uint32_t team_threads = 32;
  __device__ static void meet_team() { __syncwarp(); }
  __device__ static bool any_of_team(bool own) { return __any_sync(0xffffffffU, own) != 0; }
  __device__ static Line load_flagged(const std::byte* from) { return load_line(from); }
  __device__ static void store_flagged(std::byte* to, Line line) { store_line(to, line); }

  __device__ static std::uint64_t now() {
    std::uint64_t time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
  }
  __device__ static void relax() {}
};

}  // namespace collsim::kernels
