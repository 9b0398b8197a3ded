#include "algorithms/program.hpp"

#include "topology/error.hpp"

namespace collsim {

std::string_view name_of(Primitive primitive) {
  switch (primitive) {
    case Primitive::nothing:
      return "nothing";
    case Primitive::send:
      return "send";
    case Primitive::receive:
      return "receive";
    case Primitive::copy:
      return "copy";
    case Primitive::reduce:
      return "reduce";
    case Primitive::copy_send:
      return "copy_send";
    case Primitive::reduce_send:
      return "reduce_send";
    case Primitive::receive_send:
      return "receive_send";
    case Primitive::receive_copy_send:
      return "receive_copy_send";
    case Primitive::receive_reduce_send:
      return "receive_reduce_send";
    case Primitive::receive_reduce_copy:
      return "receive_reduce_copy";
    case Primitive::receive_reduce_copy_send:
      return "receive_reduce_copy_send";
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
        return Primitive::nothing;
      }
      return reduces ? Primitive::reduce : Primitive::copy;
    }
    if (reduces) {
      return Primitive::reduce_send;
    }
    return destination ? Primitive::copy_send : Primitive::send;
  }
  if (!sends_value) {
    return reduces ? Primitive::receive_reduce_copy : Primitive::receive;
  }
  if (reduces) {
    return destination ? Primitive::receive_reduce_copy_send : Primitive::receive_reduce_send;
  }
  return destination ? Primitive::receive_copy_send : Primitive::receive_send;
}

MemoryPlace place_of(const CollectiveCall& call, Rank rank, Buffer buffer) {
  using Memory = MemoryPlace::Memory;
  if (buffer == Buffer::scratch) {
    return {Memory::scratch, Bytes(0)};
  }
  const bool input = buffer == Buffer::input;
  const MemoryPlace apart{input ? Memory::input : Memory::output, Bytes(0)};
  if (call.in_place == InPlace::no || !allows_in_place(call.kind)) {
    return apart;
  }
  const Bytes own_block = call.block() * rank.value();
  switch (call.kind) {
    case CollectiveKind::all_gather:
      return {Memory::output, input ? own_block : Bytes(0)};
    case CollectiveKind::reduce_scatter:
      return {Memory::input, input ? Bytes(0) : own_block};
    case CollectiveKind::gather:
      if (rank != call.root) {
        return apart;
      }
      return {Memory::output, input ? own_block : Bytes(0)};
    case CollectiveKind::scatter:
      if (rank != call.root) {
        return apart;
      }
      return {Memory::input, input ? Bytes(0) : own_block};
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      // The other ranks have one of the two buffers only.
      if (rank != call.root) {
        return apart;
      }
      return {Memory::output, Bytes(0)};
    case CollectiveKind::all_reduce:
      return {Memory::output, Bytes(0)};
    case CollectiveKind::all_to_all:
    case CollectiveKind::send_recv:
      return apart;
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

}  // namespace collsim
