#include "algorithms/program.hpp"

#include "topology/error.hpp"

namespace collsim {

std::string_view name_of(Primitive primitive) {
  switch (primitive) {
    case Primitive::Nothing:
      return "nothing";
    case Primitive::Send:
      return "send";
    case Primitive::Receive:
      return "receive";
    case Primitive::Copy:
      return "copy";
    case Primitive::Reduce:
      return "reduce";
    case Primitive::CopySend:
      return "copy_send";
    case Primitive::ReduceSend:
      return "reduce_send";
    case Primitive::ReceiveSend:
      return "receive_send";
    case Primitive::ReceiveCopySend:
      return "receive_copy_send";
    case Primitive::ReceiveReduceSend:
      return "receive_reduce_send";
    case Primitive::ReceiveReduceCopy:
      return "receive_reduce_copy";
    case Primitive::ReceiveReduceCopySend:
      return "receive_reduce_copy_send";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

std::string_view name_of(WireProtocol protocol) {
  switch (protocol) {
    case WireProtocol::None:
      return "none";
    case WireProtocol::Simple:
      return "Simple";
    case WireProtocol::LL:
      return "LL";
    case WireProtocol::LL128:
      return "LL128";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

Primitive Step::primitive() const {
  const std::uint32_t inputs = receives.count + (source ? 1U : 0U) + (operand ? 1U : 0U);
  const bool reduces = inputs > 1;
  const bool sends_value = sends.count > 0;
  if (receives.count == 0) {
    if (!sends_value) {
      if (!destination) {
        return Primitive::Nothing;
      }
      return reduces ? Primitive::Reduce : Primitive::Copy;
    }
    if (reduces) {
      return Primitive::ReduceSend;
    }
    return destination ? Primitive::CopySend : Primitive::Send;
  }
  if (!sends_value) {
    return reduces ? Primitive::ReceiveReduceCopy : Primitive::Receive;
  }
  if (reduces) {
    return destination ? Primitive::ReceiveReduceCopySend : Primitive::ReceiveReduceSend;
  }
  return destination ? Primitive::ReceiveCopySend : Primitive::ReceiveSend;
}

MemoryPlace place_of(const CollectiveCall& call, Rank rank, Buffer buffer) {
  using Memory = MemoryPlace::Memory;
  if (buffer == Buffer::Scratch) {
    return {Memory::Scratch, Bytes(0)};
  }
  const bool input = buffer == Buffer::Input;
  const MemoryPlace apart{input ? Memory::Input : Memory::Output, Bytes(0)};
  if (call.in_place == InPlace::No || !allows_in_place(call.kind)) {
    return apart;
  }
  const Bytes own_block = call.block() * rank.value();
  switch (call.kind) {
    case CollectiveKind::AllGather:
      return {Memory::Output, input ? own_block : Bytes(0)};
    case CollectiveKind::ReduceScatter:
      return {Memory::Input, input ? Bytes(0) : own_block};
    case CollectiveKind::Gather:
      if (rank != call.root) {
        return apart;
      }
      return {Memory::Output, input ? own_block : Bytes(0)};
    case CollectiveKind::Scatter:
      if (rank != call.root) {
        return apart;
      }
      return {Memory::Input, input ? Bytes(0) : own_block};
    case CollectiveKind::Broadcast:
    case CollectiveKind::Reduce:
      // The other ranks have one of the two buffers only.
      if (rank != call.root) {
        return apart;
      }
      return {Memory::Output, Bytes(0)};
    case CollectiveKind::AllReduce:
      return {Memory::Output, Bytes(0)};
    case CollectiveKind::AllToAll:
    case CollectiveKind::SendRecv:
      return apart;
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

Bytes block_offset(const CollectiveCall& call, Buffer buffer, Rank owner) {
  bool has_all = false;
  switch (call.kind) {
    case CollectiveKind::AllToAll:
      has_all = true;
      break;
    case CollectiveKind::Gather:
    case CollectiveKind::AllGather:
      has_all = buffer == Buffer::Output;
      break;
    case CollectiveKind::Scatter:
    case CollectiveKind::ReduceScatter:
      has_all = buffer == Buffer::Input;
      break;
    default:
      break;
  }
  return has_all ? call.block() * owner.value() : Bytes(0);
}

}  // namespace collsim
