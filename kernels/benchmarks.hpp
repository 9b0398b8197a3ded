#pragma once

// What a GPU can do, measured one thing at a time: the figures that the simulator's parameters are made of.
//
// Times are those of events around many repetitions. All functions run on the current GPU, and throw CudaError.

#include <cstddef>
#include <cstdint>

namespace collsim::kernels {

enum class MemoryWork : std::uint8_t {
  Copy,    ///< one input, one output
  Reduce,  ///< two inputs of floats, one output
};

/// Bytes a second that a kernel of so many blocks of 512 threads writes, on arrays of `bytes` each.
[[nodiscard]] double memory_rate(MemoryWork work, std::uint32_t blocks, std::size_t bytes);

/// Bytes a second of a kernel here that reads the other GPU's memory and writes its own (pull), or the reverse (push).
/// Requires: peer access is enabled.
enum class PeerWork : std::uint8_t { Pull, Push };
[[nodiscard]] double peer_rate(PeerWork work, int peer, std::uint32_t blocks, std::size_t bytes);

/// Bytes a second of cudaMemcpyAsync: by the copy engines, or by what the driver takes for copies within a GPU.
enum class EngineCopy : std::uint8_t { DeviceToDevice, HostToDevice, DeviceToHost };
[[nodiscard]] double engine_rate(EngineCopy copy, std::size_t bytes);
/// The same to another GPU's memory. Requires: peer access is enabled.
[[nodiscard]] double peer_engine_rate(int peer, std::size_t bytes);

/// Nanoseconds that a launch of an empty kernel takes among many back to back, launched one by one or as a graph.
enum class LaunchBy : std::uint8_t { Stream, Graph };
[[nodiscard]] double launch_time(LaunchBy by);
/// Nanoseconds from before the launch of one empty kernel until the host knows that it has ended: the median.
[[nodiscard]] double launch_latency(LaunchBy by);

/// Nanoseconds of a flag's way from one block to another and back: a fence and a store behind data (as Simple does), or a line of LL.
enum class FlagKind : std::uint8_t { Fenced, Line };
[[nodiscard]] double flag_round_trip(FlagKind kind);
/// The same between this GPU and a peer, each looking at its own memory. Requires: peer access is enabled both ways.
[[nodiscard]] double peer_flag_round_trip(FlagKind kind, int peer);

}  // namespace collsim::kernels
