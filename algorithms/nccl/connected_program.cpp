#include "algorithms/nccl/connected_program.hpp"

#include <optional>
#include <utility>

namespace collsim::nccl {

namespace {

/// A program whose connections have waypoints.
class ConnectedProgram final : public Program {
 public:
  ConnectedProgram(std::unique_ptr<Program> program, ConnectionTables tables)
      : program_(std::move(program)), tables_(std::move(tables)) {}

  [[nodiscard]] const CollectiveCall& call() const override { return program_->call(); }
  [[nodiscard]] std::string_view algorithm() const override { return program_->algorithm(); }
  [[nodiscard]] std::uint32_t lane_count(Rank rank) const override {
    return program_->lane_count(rank);
  }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override {
    return program_->lane(rank, lane);
  }
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override {
    return program_->step_count(rank, lane);
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override {
    return program_->step(rank, lane, index);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    return program_->send_to(rank, lane, slot);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    return program_->receive_from(rank, lane, slot);
  }
  [[nodiscard]] Waypoints waypoints(Rank rank, std::uint32_t lane,
                                    std::uint32_t slot) const override {
    return waypoints_of(tables_, rank, program_->send_to(rank, lane, slot).peer,
                        program_->lane(rank, lane).channel);
  }
  [[nodiscard]] std::optional<LaneSchedule> schedule(Rank rank, std::uint32_t lane) const override {
    return program_->schedule(rank, lane);
  }
  [[nodiscard]] std::optional<StepPeriod> period(Rank rank, std::uint32_t lane) const override {
    return program_->period(rank, lane);
  }
  [[nodiscard]] bool reduces_in_network() const override { return program_->reduces_in_network(); }
  [[nodiscard]] Bytes scratch_bytes(Rank rank) const override {
    return program_->scratch_bytes(rank);
  }
  [[nodiscard]] std::uint32_t peers(Rank rank) const override { return program_->peers(rank); }
  [[nodiscard]] std::uint32_t channels() const override { return program_->channels(); }
  [[nodiscard]] std::uint32_t chunks() const override { return program_->chunks(); }
  [[nodiscard]] std::uint64_t transfer_count() const override { return program_->transfer_count(); }

 private:
  std::unique_ptr<Program> program_;
  ConnectionTables tables_;
};

}  // namespace

std::unique_ptr<Program> with_waypoints(std::unique_ptr<Program> program, ConnectionTables tables) {
  if (tables.pairs.empty() && tables.nic_of_channel.empty()) {
    return program;
  }
  return std::make_unique<ConnectedProgram>(std::move(program), std::move(tables));
}

}  // namespace collsim::nccl
