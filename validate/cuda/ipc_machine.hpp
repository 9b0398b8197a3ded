#pragma once

// A GPU in a process of a group: the other processes map the memory of its rank by CUDA's handles (IPC), on the same GPU or, where
// peer access allows, on others of the machine.
//
// Processes that share a GPU take turns on it unless NVIDIA's multi-process service runs them together: their times are those of
// taking turns. For files that have the CUDA runtime's headers.

#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda_handles.hpp"
#include "validate/cuda/cuda_backend.hpp"
#include "validate/cuda/cuda_lanes.hpp"
#include "validate/cuda/lane_machine.hpp"

namespace collsim {

class IpcMachine final : public LaneMachine {
 public:
  IpcMachine(Rank rank, int device, const CudaOptions& options)
      : rank_(rank), device_(device), options_(options) {}
  ~IpcMachine() override;
  IpcMachine(const IpcMachine&) = delete;
  IpcMachine& operator=(const IpcMachine&) = delete;

  std::byte* make_arena(std::size_t bytes) override;
  [[nodiscard]] std::string arena_handle() const override;
  std::byte* open_arena(const std::string& handle, std::size_t bytes) override;
  void close_arenas() override;

  void write(std::byte* to, std::span<const std::byte> from) override;
  void read(std::span<std::byte> to, const std::byte* from) override;
  void fill(std::span<std::byte> memory, std::byte pattern) override;

  [[nodiscard]] BlockRoom room(DataType type) const override;
  [[nodiscard]] WideLines wide_lines_to(const std::vector<std::string>& devices) const override;
  void load(const LaneProgram& program, const std::vector<kernels::BlockTable>& blocks,
            std::chrono::milliseconds patience) override;
  Duration run(std::uint32_t calls, const std::function<void()>& watch) override;
  Duration run_timed(std::uint32_t calls, const std::function<void()>& watch) override;

 private:
  Rank rank_;
  int device_;
  CudaOptions options_;
  DeviceBuffer arena_;
  std::vector<void*> others_;
  std::unique_ptr<CudaLanes> lanes_;
};

}  // namespace collsim
