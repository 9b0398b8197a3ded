#pragma once

// The GPU's interpreter in a process of a group, on threads of the host: files in memory stand for what CUDA's handles map.
//
// For tests: all that several processes with a GPU each do, but the GPUs.

#include <atomic>
#include <memory>
#include <vector>

#include "validate/cuda/lane_machine.hpp"

namespace collsim {

class HostLaneMachine : public LaneMachine {
 public:
  /// `room`: blocks that run at once, of all processes together.
  explicit HostLaneMachine(std::uint64_t room) : room_(room) {}

  std::byte* make_arena(std::size_t bytes) override;
  [[nodiscard]] std::string arena_handle() const override;
  std::byte* open_arena(const std::string& handle, std::size_t bytes) override;
  void close_arenas() override { others_.clear(); }

  void write(std::byte* to, std::span<const std::byte> from) override;
  void read(std::span<std::byte> to, const std::byte* from) override;
  void fill(std::span<std::byte> memory, std::byte pattern) override;

  [[nodiscard]] BlockRoom room(DataType type) const override;
  [[nodiscard]] WideLines wide_lines_to(
      const std::vector<std::string>& /*devices*/) const override {
    return WideLines::Carried;
  }
  void load(const LaneProgram& program, const std::vector<kernels::BlockTable>& blocks,
            std::chrono::milliseconds patience) override;
  Duration run(std::uint32_t calls, const std::function<void()>& watch) override;

 private:
  /// A file that only its descriptor names, mapped.
  class Mapping {
   public:
    Mapping() = default;
    /// Takes the descriptor. Throws: ExecutionError.
    Mapping(int descriptor, std::size_t bytes);
    ~Mapping();
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    [[nodiscard]] std::byte* start() const { return start_; }
    [[nodiscard]] int descriptor() const { return descriptor_; }

   private:
    int descriptor_ = -1;
    std::byte* start_ = nullptr;
    std::size_t bytes_ = 0;
  };

  std::uint64_t room_;
  Mapping own_;
  std::vector<Mapping> others_;
  const LaneProgram* program_ = nullptr;
  std::vector<kernels::BlockTable> blocks_;
  std::chrono::milliseconds patience_{};
};

}  // namespace collsim
