// LL128's lines as a warp moves them, thread by thread: what the host's machine, a thread a line, does not show.

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "kernels/move_wide_lines.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::kernels;

namespace {

/// A thread of two warps, which are never at the same place: what one writes the others find there later.
struct OneOfAWarp {
  static constexpr std::uint32_t line_threads = 8;
  static constexpr std::uint32_t team_threads = 32;

  std::uint32_t number = 0;

  [[nodiscard]] std::uint32_t thread() const { return number; }
  [[nodiscard]] std::uint32_t threads() const { return 2 * team_threads; }
  void meet_team() const {}
  [[nodiscard]] bool any_of_team(bool own) const { return own; }
  void relax() const {}
  [[nodiscard]] std::uint64_t now() const { return 0; }
  [[nodiscard]] std::uint64_t acquire(const std::uint64_t* counter) const { return *counter; }
  bool claim(std::uint64_t* word) const {
    *word = 1;
    return true;
  }
  template <class Word>
  Word load(const std::byte* from) const {
    Word word{};
    std::memcpy(&word, from, sizeof(word));
    return word;
  }
  template <class Word>
  void store(std::byte* to, Word word) const {
    std::memcpy(to, &word, sizeof(word));
  }
  [[nodiscard]] Line load_flagged(const std::byte* from) const { return load<Line>(from); }
  void store_flagged(std::byte* to, Line line) const { store(to, line); }
};

End plain(std::byte* start, std::uint64_t bytes) { return {start, start, bytes, bytes, 0, 0, 0}; }
End slot(std::byte* start, std::uint64_t bytes, std::uint64_t flag) {
  return {start, start, bytes, bytes, 0, flag, 0};
}

/// One step of uint8 from an end to another, by all threads in turn. Returns how many gave up.
std::uint32_t move_all(const End& from, const End& to, std::uint64_t bytes) {
  BlockState state{};
  state.inputs[0] = from;
  state.input_count = 1;
  state.outputs[0] = to;
  state.output_count = 1;
  Failure failure{};
  const std::uint64_t no_order = 0;
  LaunchTable launch{};
  launch.failure = &failure;
  launch.abort = &no_order;
  const BlockTable block{};
  const RankTable rank{};
  const LaneTable lane{};
  OneOfAWarp machine;
  const LaneContext<OneOfAWarp> context{machine, launch, block, rank, lane, state};
  // Whoever waits for a flag that is not there gives up at once: there is no patience.
  std::uint32_t gave_up = 0;
  for (machine.number = 0; machine.number < machine.threads(); ++machine.number) {
    WideLineMover<OneOfAWarp>(context, bytes).move<Sum, std::uint8_t>();
    gave_up += state.failed != 0 ? 1 : 0;
    state.failed = 0;
  }
  return gave_up;
}

std::vector<std::byte> bytes_of(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + 1);
  }
  return bytes;
}

}  // namespace

TEST_CASE("eight threads write a line: 120 bytes of data, then the flag, and read them back") {
  // 1,003 bytes are 8 lines of 120 and 43 bytes more: 9 lines, which 8 groups of 8 threads do not divide.
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{120}, std::size_t{1003}}) {
    CAPTURE(count);
    std::vector<std::byte> input = bytes_of(count);
    const std::size_t lines = count == 1003 ? 9 : 1;
    std::vector<std::byte> lines_memory(lines * 128);
    constexpr std::uint64_t flag = 0x0123456789abcdef;
    CHECK(move_all(plain(input.data(), count), slot(lines_memory.data(), count, flag), count) == 0);
    for (std::size_t line = 0; line < lines; ++line) {
      std::uint64_t found = 0;
      std::memcpy(&found, lines_memory.data() + line * 128 + 120, sizeof(found));
      CHECK(found == flag);
      for (std::size_t i = 0; i < 120; ++i) {
        const std::size_t place = line * 120 + i;
        const std::byte expected = place < count ? input[place] : std::byte{0};
        if (lines_memory[line * 128 + i] != expected) {
          FAIL("line " << line << ", byte " << i);
        }
      }
    }
    std::vector<std::byte> output(count + 1, std::byte{0xa5});
    CHECK(move_all(slot(lines_memory.data(), count, flag), plain(output.data(), count), count) ==
          0);
    CHECK(std::ranges::equal(input, std::span(output).first(count)));
    CHECK(output.back() == std::byte{0xa5});
  }
}

TEST_CASE("a line with another flag is waited for") {
  std::vector<std::byte> input = bytes_of(240);
  std::vector<std::byte> lines_memory(2 * 128);
  move_all(plain(input.data(), 240), slot(lines_memory.data(), 240, 5), 240);
  std::vector<std::byte> output(240);
  // The two threads that look at a flag, one a line, give up.
  CHECK(move_all(slot(lines_memory.data(), 240, 6), plain(output.data(), 240), 240) == 2);
}
