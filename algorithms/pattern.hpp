#pragma once

// How algorithms are written: a Pattern says what one rank does with one *part* of the data, and
// partition() makes a Program of it by running the pattern for every part: channels side by side
// (each with lanes of its own), chunks one after the other in the same lanes. A pattern speaks of
// blocks (see part.hpp) and never computes an offset.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "algorithms/collective.hpp"
#include "algorithms/part.hpp"
#include "algorithms/program.hpp"

namespace collsim {

/// What the ranks do with one part. Pure functions; the same for every part but for sizes.
///
/// Patterns are written as if out of place: what a rank holds is copied to its output by a step.
/// In place, partition() leaves such copies out where source and destination are the same memory.
/// So a pattern must not read a block of the input after it has written the output that may lie
/// there.
class Pattern {
 public:
  virtual ~Pattern() = default;

  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  [[nodiscard]] virtual std::uint32_t lanes(Rank rank) const = 0;
  /// Groups of lanes for Step::join, numbered from 0; the default is one.
  [[nodiscard]] virtual std::uint32_t groups() const { return 1; }
  [[nodiscard]] virtual std::uint32_t group(Rank, std::uint32_t /*lane*/) const { return 0; }
  [[nodiscard]] virtual std::uint64_t steps(Rank rank, std::uint32_t lane) const = 0;
  /// Phases of every step are below this number; a lane's first step is of phase 0 or joins.
  [[nodiscard]] virtual std::uint64_t phases() const { return 1; }
  [[nodiscard]] virtual Step step(Rank rank, std::uint32_t lane, std::uint64_t index,
                                  const Part& part) const = 0;
  [[nodiscard]] virtual std::uint32_t send_slots(Rank rank, std::uint32_t lane) const = 0;
  [[nodiscard]] virtual std::uint32_t receive_slots(Rank rank, std::uint32_t lane) const = 0;
  [[nodiscard]] virtual Connection send_to(Rank rank, std::uint32_t lane,
                                           std::uint32_t slot) const = 0;
  [[nodiscard]] virtual Connection receive_from(Rank rank, std::uint32_t lane,
                                                std::uint32_t slot) const = 0;
  /// What a lane does for a part whose blocks are all as large: lanes with the same number do the same,
  /// but for which blocks they handle, and use all their slots. Absent: not told.
  [[nodiscard]] virtual std::optional<std::uint64_t> shape(Rank, std::uint32_t /*lane*/) const {
    return std::nullopt;
  }
  /// Messages that all ranks send for one part. The default walks all steps.
  [[nodiscard]] virtual std::uint64_t messages() const;
  /// Blocks that the data fall into.
  [[nodiscard]] virtual std::uint32_t blocks() const = 0;
  /// Blocks of scratch memory that a rank may use; 0: none.
  [[nodiscard]] virtual std::uint32_t scratch_blocks() const { return 0; }

 protected:
  Pattern() = default;
  Pattern(const Pattern&) = default;
  Pattern& operator=(const Pattern&) = default;
};

enum class Composition : std::uint8_t {
  InSequence,  ///< b in the lanes of a; both have one group
  Pipelined,   ///< b in lanes of its own: chunk k of b runs beside chunk k+1 of a
};

/// First a, then b, on the same blocks; they share scratch, so a may leave there what b takes up.
/// In sequence: lane by lane where both have a single lane (the hand-over is fused when a's last
/// step writes just what b's first step sends), else every lane of b starts with a join of all
/// lanes of the rank. Pipelined: every lane of b starts with a join of a's lanes, for each chunk; a
/// has one group, and the first steps of b's lanes have no join of their own. Requires: equal
/// numbers of ranks and blocks.
[[nodiscard]] std::unique_ptr<Pattern> then(std::unique_ptr<Pattern> a, std::unique_ptr<Pattern> b,
                                            Composition composition = Composition::InSequence);

/// a on the first half of every part and b on the second, side by side in lanes of their own.
/// Requires: equal numbers of ranks and blocks.
[[nodiscard]] std::unique_ptr<Pattern> beside(std::unique_ptr<Pattern> a,
                                              std::unique_ptr<Pattern> b);

/// A part with one element in each of the pattern's blocks: for what does not depend on sizes.
[[nodiscard]] Part unit_part(const Pattern& pattern);

/// The program that runs `pattern` on channels × chunks parts of the call's data. Channels come
/// first: channel c has the c-th slice, which is then cut into chunks. Fewer are used where there
/// are not enough elements. 0 bytes or 1 rank: a local copy at most, no message.
[[nodiscard]] std::unique_ptr<Program> partition(std::string algorithm, const CollectiveCall& call,
                                                 std::unique_ptr<Pattern> pattern,
                                                 std::uint32_t channels, std::uint32_t chunks);

}  // namespace collsim
