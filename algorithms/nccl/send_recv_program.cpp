#include "algorithms/nccl/send_recv_program.hpp"

#include <algorithm>
#include <utility>

namespace collsim::nccl {

namespace {

// Chunks that the buffer of a connection holds, whatever their size.
constexpr std::uint32_t fifo_depth = 8;

WireProtocol on_wire(Protocol protocol) {
  return protocol == Protocol::LL ? WireProtocol::LL : WireProtocol::Simple;
}

class SendRecvProgram final : public Program {
 public:
  SendRecvProgram(const SendRecvPlan& plan, EqualChannels equal)
      : plan_(plan), works_(plan, equal) {}

  [[nodiscard]] const CollectiveCall& call() const override { return plan_.call; }
  [[nodiscard]] std::string_view algorithm() const override { return "nccl-p2p"; }
  [[nodiscard]] std::uint32_t lane_count(Rank rank) const override {
    return static_cast<std::uint32_t>(works_.of(rank).lanes.size());
  }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override;
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override {
    return works_.of(rank).lanes[lane].steps;
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override;
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override;
  [[nodiscard]] Bytes scratch_bytes(Rank) const override { return Bytes(0); }
  [[nodiscard]] std::uint32_t peers(Rank rank) const override {
    return static_cast<std::uint32_t>(rounds_of(plan_, rank).size());
  }
  [[nodiscard]] std::uint32_t channels() const override { return works_.channels(); }
  [[nodiscard]] std::uint32_t chunks() const override {
    return static_cast<std::uint32_t>(
        std::max(plan_.part_chunks(plan_.local, 0), plan_.part_chunks(plan_.remote, 0)));
  }
  [[nodiscard]] std::uint64_t transfer_count() const override { return works_.messages(); }

 private:
  /// The bytes of a buffer that are for, or from, a peer: from an offset on.
  [[nodiscard]] Span span(Buffer buffer, Rank peer, Bytes offset, Bytes bytes) const;

  SendRecvPlan plan_;
  SendRecvWorks works_;
};

Lane SendRecvProgram::lane(Rank rank, std::uint32_t lane) const {
  const WorkLane& work = works_.of(rank).lanes[lane];
  Lane result;
  result.channel = work.channel;
  result.group = work.channel;
  result.fifo_depth = fifo_depth;
  result.protocol = on_wire(work.protocol);
  result.kernel = Kernel::SendRecv;
  result.threads = work.threads;
  result.multiplicity = works_.multiplicity(work.channel);
  return result;
}

Step SendRecvProgram::step(Rank rank, std::uint32_t number, std::uint64_t index) const {
  const WorkLane& lane = works_.of(rank).lanes[number];
  const auto after = std::ranges::upper_bound(lane.works, index, {}, &LaneWork::first_step);
  const LaneWork& work = *std::prev(after);
  const auto slot = static_cast<std::uint32_t>(std::distance(lane.works.begin(), after) - 1);
  const Rank peer = lane.kind == WorkKind::Receive ? plan_.schedule.receive_from(rank, work.round)
                                                   : plan_.schedule.send_to(rank, work.round);
  const SendRecvShape& shape = plan_.shape(rank, peer);
  const Bytes part = plan_.part_bytes(shape, work.part);
  const Bytes done = Bytes(shape.chunk) * static_cast<std::int64_t>(index - work.first_step);

  Step step;
  step.phase = work.batch;
  if (work.batch > 0 && index == work.first_step) {
    step.join = lane.channel;
  }
  step.bytes = lane.kind == WorkKind::Copy ? part : std::min(Bytes(shape.chunk), part - done);
  const Bytes offset = std::min(Bytes(shape.part) * work.part, plan_.call.block()) + done;
  if (lane.kind != WorkKind::Receive) {
    step.source = span(Buffer::Input, peer, offset, step.bytes);
  }
  if (lane.kind != WorkKind::Send) {
    step.destination = span(Buffer::Output, peer, offset, step.bytes);
  }
  if (lane.kind == WorkKind::Send) {
    step.sends = {slot, 1};
  } else if (lane.kind == WorkKind::Receive) {
    step.receives = {slot, 1};
  }
  return step;
}

Connection SendRecvProgram::send_to(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const LaneWork& work = works_.of(rank).lanes[lane].works[slot];
  const Rank peer = plan_.schedule.send_to(rank, work.round);
  const WorkPlace& there = works_.place(peer, WorkKind::Receive, work.round, work.part);
  return {peer, there.lane, there.slot};
}

Connection SendRecvProgram::receive_from(Rank rank, std::uint32_t lane, std::uint32_t slot) const {
  const LaneWork& work = works_.of(rank).lanes[lane].works[slot];
  const Rank peer = plan_.schedule.receive_from(rank, work.round);
  const WorkPlace& there = works_.place(peer, WorkKind::Send, work.round, work.part);
  return {peer, there.lane, there.slot};
}

Span SendRecvProgram::span(Buffer buffer, Rank peer, Bytes offset, Bytes bytes) const {
  return Span::contiguous(buffer, block_offset(plan_.call, buffer, peer) + offset, bytes);
}

}  // namespace

std::unique_ptr<Program> build_send_recv_program(const SendRecvPlan& plan, EqualChannels equal) {
  return std::make_unique<SendRecvProgram>(plan, equal);
}

}  // namespace collsim::nccl
