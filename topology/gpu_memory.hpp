#pragma once

// The memory ladder of a GPU: what a node description says of registers, caches and memory (and of
// the memory of its CPUs). Each
// figure is that of the whole GPU (what one multiprocessor has, times their number) and carries the
// kind of its source, since capacity, bandwidth and latency of one level seldom come from one place.
// A figure that nobody has published is absent.
//
// For `collsim hierarchy` and people; simulations read the bandwidth of MemoryLevel::Memory and nothing
// else (sim/memory_parts.hpp). Ignored: associativity, sectors,
// what read and write share, and that a bandwidth is reached at full occupancy only.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "topology/units.hpp"

namespace collsim {

/// From the arithmetic outwards (`gpu_memory[i].level`).
enum class MemoryLevel : std::uint8_t {
  Registers,
  L1,      ///< with shared memory, LDS
  L2,      ///< the near part, where its distance matters
  L2Far,   ///< the part behind another die or partition
  L3,      ///< a memory-side cache
  Memory,  ///< HBM, GDDR: what everything else is compared with
};

/// Where a figure comes from (`….source`).
enum class FigureSource : std::uint8_t {
  Nominal,     ///< the maker's specification
  Measured,    ///< a published benchmark of this GPU
  Literature,  ///< told elsewhere, the measurement not seen
  Estimate,    ///< inferred
};

[[nodiscard]] std::string_view name_of(MemoryLevel level);
[[nodiscard]] std::string_view name_of(FigureSource source);

template <class Quantity>
struct SourcedFigure {
  Quantity value{};
  FigureSource source = FigureSource::Nominal;
};

/// `gpu_memory[i]`: one level.
struct MemoryLevelSpec {
  /// Room to add up those of as many GPUs as a cluster may have, 2^20.
  static constexpr Bytes most{std::int64_t{1} << 40U};

  MemoryLevel level = MemoryLevel::Memory;
  std::string name;  ///< as people call it: "HBM3", "Infinity Cache"
  std::optional<SourcedFigure<Bytes>> capacity;
  std::optional<SourcedFigure<Bandwidth>> bandwidth;  ///< sum over the GPU, reads or writes
  std::optional<SourcedFigure<Duration>> latency;     ///< of a load that waits for the one before
  std::string note;                                   ///< a line for the reader; may be empty
};

/// `host_memory`: what is behind each CPU of a node.
struct HostMemorySpec {
  /// Room to add up those of as many CPUs as a node may have, 2^20.
  static constexpr Bytes most{std::int64_t{1} << 42U};

  std::string name;  ///< as people call it: "DDR5-4800"
  std::optional<SourcedFigure<Bytes>> capacity;
  std::optional<SourcedFigure<Bandwidth>> bandwidth;
  std::optional<SourcedFigure<Duration>> latency;  ///< of a load by the CPU
};

/// Throws: InputError at `path` if a figure is not above 0.
void require_host_memory(const HostMemorySpec& memory, const std::string& path);

/// Throws: InputError at `path`[i] if a level is not farther out than the one before it, or a figure
/// is not above 0.
void require_gpu_memory(std::span<const MemoryLevelSpec> levels, const std::string& path);

}  // namespace collsim
