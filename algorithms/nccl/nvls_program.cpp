#include "algorithms/nccl/nvls_program.hpp"

#include <utility>
#include <vector>

#include "algorithms/nccl/nvls_lanes.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::uint32_t warp = 32;
constexpr std::uint32_t warps_of_block = 20;

std::vector<NvlsRole> roles_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllReduce:
      return {NvlsRole::Scatter, NvlsRole::Gather, NvlsRole::Reduce};
    case CollectiveKind::AllGather:
      return {NvlsRole::Gather, NvlsRole::Broadcast};
    case CollectiveKind::ReduceScatter:
      return {NvlsRole::Scatter, NvlsRole::Reduce};
    default:
      COLLSIM_ENSURE(false, "a collective that NVLS implements");
  }
}

class NvlsProgram final : public NvlsLanes {
 public:
  NvlsProgram(const Execution& execution, NvlsShape shape)
      : NvlsLanes(execution, std::move(shape)) {}

  [[nodiscard]] std::string_view algorithm() const override { return "nvls"; }

 protected:
  [[nodiscard]] std::uint32_t threads(Rank, LanePlace place) const override {
    return warp * warps(place.role);
  }
  [[nodiscard]] std::uint64_t steps_per_loop(Rank, LanePlace) const override { return 1; }
  [[nodiscard]] NvlsRole writer(Rank, std::uint32_t) const override {
    return has(NvlsRole::Broadcast) ? NvlsRole::Broadcast : NvlsRole::Reduce;
  }

  [[nodiscard]] Step head_step(const Task& task, NvlsRole role, std::uint64_t) const override {
    Step step;
    if (role == NvlsRole::Reduce) {
      step = read_node(task);
    } else {
      step.source = own(task, Buffer::Input);
    }
    if (has(NvlsRole::Gather)) {
      write_node(step, task);
    } else {
      step.destination = own(task, Buffer::Output);
    }
    return step;
  }

  // All ranks are in one node.
  [[nodiscard]] Connection send_away(Rank, LanePlace, std::uint32_t) const override {
    COLLSIM_ENSURE(false, "a slot of NVLS in one node");
  }
  [[nodiscard]] Connection receive_from_away(Rank, LanePlace, std::uint32_t) const override {
    COLLSIM_ENSURE(false, "a slot of NVLS in one node");
  }
  [[nodiscard]] std::uint64_t messages_away(std::uint32_t) const override { return 0; }

 private:
  /// AllReduce: what the reduction leaves is shared by scatter and gather, the odd one to scatter.
  [[nodiscard]] std::uint32_t warps(NvlsRole role) const {
    if (call().kind != CollectiveKind::AllReduce) {
      const bool copies = role == NvlsRole::Scatter || role == NvlsRole::Gather;
      return copies ? 8 : warps_of_block - 8;
    }
    const std::uint32_t reduce = call().ranks <= 6 ? 7 : 5;
    switch (role) {
      case NvlsRole::Scatter:
        return (warps_of_block - reduce + 1) / 2;
      case NvlsRole::Gather:
        return (warps_of_block - reduce) / 2;
      case NvlsRole::Reduce:
      case NvlsRole::Broadcast:
      case NvlsRole::Network:
      case NvlsRole::Hand:
        break;
    }
    return reduce;
  }
  [[nodiscard]] Span own(const Task& task, Buffer buffer) const {
    return Span::contiguous(buffer, own_block(task.channel, task.loop).offset, task.bytes);
  }
};

}  // namespace

std::unique_ptr<Program> build_nvls_program(const Execution& execution,
                                            std::span<const Rank> heads) {
  const CollectiveCall& call = execution.call;
  NvlsShape shape;
  shape.roles = roles_of(call.kind);
  shape.heads = call.blocked() ? heads_of_all(call.kind, heads, call.ranks)
                               : std::vector<Rank>(heads.begin(), heads.end());
  shape.ranks_per_node = call.ranks;
  shape.rounding = Bytes(16384);
  return std::make_unique<NvlsProgram>(execution, std::move(shape));
}

}  // namespace collsim::nccl
