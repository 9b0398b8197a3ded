#include "validate/cuda/lane_group.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "topology/error.hpp"
#include "validate/execution/joint_outcome.hpp"
#include "validate/execution/rank_memory.hpp"

namespace collsim {

namespace {

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// The own rank's part of one program.
class RankLanes {
 public:
  RankLanes(const Program& program, const LaneWireChoice& wire, ProcessGroup& group,
            LaneMachine& machine)
      : rank_(group.rank()), group_(group), machine_(machine), program_(program, wire) {}

  [[nodiscard]] const LaneProgram& program() const { return program_; }

  void prepare(std::chrono::milliseconds patience) {
    map_arenas();
    std::byte* const own = arenas_[rank_.index()];
    const std::vector<kernels::BlockTable> blocks = program_.blocks(rank_, own);
    require_room(blocks.size());
    machine_.write(own + program_.tables_at(rank_), program_.tables(rank_, arenas_));
    machine_.load(program_, blocks, patience);
  }

  void fill(const TestData& data) {
    std::byte* const own = arenas_[rank_.index()];
    machine_.fill({own, program_.memory_bytes(rank_)}, std::byte{poison_pattern});
    std::vector<std::byte> input(program_.input_bytes(rank_));
    data.fill_input(rank_, input);
    machine_.write(own + program_.input_at(rank_), input);
  }

  Duration run(std::uint32_t calls) {
    group_.meet();
    return machine_.run(calls, [this] { group_.require_peers(); });
  }
  Duration run_timed(std::uint32_t calls) {
    group_.meet();
    return machine_.run_timed(calls, [this] { group_.require_peers(); });
  }

  std::optional<WrongData> wrong_data(TestData& data) {
    std::vector<std::byte> output(program_.output_bytes(rank_));
    machine_.read(output, arenas_[rank_.index()] + program_.output_at(rank_));
    return data.check_output(rank_, output);
  }

 private:
  void map_arenas() {
    arenas_.resize(group_.ranks());
    arenas_[rank_.index()] = machine_.make_arena(program_.arena_bytes(rank_));
    const std::vector<std::string> handles = group_.exchange(machine_.arena_handle());
    for (std::uint32_t peer = 0; peer < group_.ranks(); ++peer) {
      if (peer != rank_.value()) {
        arenas_[peer] = machine_.open_arena(handles[peer], program_.arena_bytes(Rank(peer)));
      }
    }
  }

  /// Every process sees the same numbers, and comes to the same end.
  void require_room(std::size_t blocks) {
    const BlockRoom room = machine_.room(program_.type());
    const std::vector<std::string> texts =
        group_.exchange(std::to_string(blocks) + " " + room.device);
    std::uint64_t all = 0;
    std::uint32_t sharing = 0;
    for (const std::string& text : texts) {
      if (text.substr(text.find(' ') + 1) == room.device) {
        all += number_in(text);
        ++sharing;
      }
    }
    if (all > room.blocks) {
      throw InputError("the " + std::to_string(sharing) + " ranks of " + room.device + " have " +
                           std::to_string(all) + " lanes, of which it can run " +
                           std::to_string(room.blocks) +
                           " at once: the rest would be waited for without end",
                       {}, "fewer ranks or --channels");
    }
  }

  Rank rank_;
  ProcessGroup& group_;
  LaneMachine& machine_;
  LaneProgram program_;
  std::vector<std::byte*> arenas_;  ///< by rank, as this process addresses them
};

/// The same for all: wide lines where every machine carries them to every other.
LaneWireChoice agreed_wire(const Program& program, LaneWire wire, ProcessGroup& group,
                           const LaneMachine& machine) {
  const std::vector<std::string> devices = group.exchange(machine.room(program.call().type).device);
  const bool carries = machine.wide_lines_to(devices) == WideLines::Carried;
  const std::vector<std::string> all = group.exchange(carries ? "carries" : "tears");
  const bool all_carry =
      std::ranges::all_of(all, [](const std::string& text) { return text == "carries"; });
  return choose_wire(program, wire, all_carry ? WideLines::Carried : WideLines::Torn);
}

}  // namespace

ExecutionOutcome execute_in_group(const Program& program, const ExecutionRequest& request,
                                  LaneWire wire, ProcessGroup& group, LaneMachine& machine) {
  COLLSIM_ENSURE(program.call().ranks == group.ranks(), "each rank of a program is a process");
  TestData data(program.call(), request.seed);
  RankLanes lanes(program, agreed_wire(program, wire, group, machine), group, machine);
  lanes.prepare(request.patience);
  lanes.fill(data);
  lanes.run(request.warmup);
  const Duration time = lanes.run_timed(request.timed);
  std::optional<WrongData> wrong;
  if (request.check) {
    lanes.fill(data);
    lanes.run(1);
    wrong = lanes.wrong_data(data);
  }
  ExecutionOutcome outcome = joint_outcome(group, time, request.timed, wrong);
  describe_lanes(lanes.program(), outcome);
  // Nobody frees what another still maps.
  machine.close_arenas();
  group.meet();
  return outcome;
}

void require_one_host(const std::vector<std::string>& hosts) {
  const auto other =
      std::ranges::find_if(hosts, [&](const std::string& host) { return host != hosts.front(); });
  if (other != hosts.end()) {
    throw InputError("rank 0 is on " + hosts.front() + ", rank " +
                         std::to_string(other - hosts.begin()) + " on " + *other +
                         ": kernels reach GPUs of their own machine only",
                     "--backend", "--backend nccl, or tcp, between machines");
  }
}

}  // namespace collsim
