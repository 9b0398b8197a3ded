#pragma once

// What the interpreter of a rank's steps asks of the connections, whatever they are made of: shared memory, sockets.
//
// A connection is a FIFO of slots. The sender fills the next free slot in place, the receiver reads the oldest one in
// place, and a slot that was released is a credit for the sender. No call blocks.

#include <cstddef>
#include <cstdint>
#include <span>

namespace collsim {

class Wire {
 public:
  virtual ~Wire() = default;

  /// Whether the oldest message of an in port is there, and whether an out port has a free slot.
  [[nodiscard]] virtual bool arrived(std::uint32_t in_port) = 0;
  [[nodiscard]] virtual bool has_credit(std::uint32_t out_port) = 0;
  /// The oldest message. Requires: arrived.
  [[nodiscard]] virtual std::span<const std::byte> message(std::uint32_t in_port) = 0;
  /// Frees its slot.
  virtual void release(std::uint32_t in_port) = 0;
  /// Where the next message is to be written. Requires: has_credit.
  [[nodiscard]] virtual std::byte* slot(std::uint32_t out_port) = 0;
  /// Sends what was written there.
  virtual void send(std::uint32_t out_port, std::size_t bytes) = 0;
  /// Whether everything sent on it has left: a lane waits for that before its next step, so that messages to several peers
  /// go one after the other, as in the model. Where sending is copying, it has.
  [[nodiscard]] virtual bool has_left(std::uint32_t /*out_port*/) { return true; }

 protected:
  Wire() = default;
  Wire(const Wire&) = default;
  Wire& operator=(const Wire&) = default;
};

}  // namespace collsim
