#pragma once

// Messages under way or arrived and not yet received, in one pool. What nobody waits for any more
// is reused, so memory follows what is under way and not what was ever sent. Internal to the
// executor.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/network.hpp"
#include "sim/workload.hpp"
#include "topology/ids.hpp"
#include "topology/units.hpp"

namespace collsim::detail {

/// "None" in the packed links between lanes, messages and path stretches, of which there may be
/// millions.
inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

/// Where a message is on its way.
enum class MessageStage : std::uint8_t {
  Direct,   ///< its bytes flow while the lane is held
  Staged,   ///< the lane copies it to where the proxy finds it
  Proxy,    ///< the proxy works on it
  Waiting,  ///< for those of its connection before it
  Wire,     ///< its bytes flow, the lane has gone on
  Group,    ///< stands for a transfer of several messages, which hang behind it
};

struct Message {
  std::uint32_t next = no_index;   ///< in a chain of the receiver's mailbox, or the free list
  std::uint32_t later = no_index;  ///< of the same slot, in the mailbox
  std::uint32_t last_of_slot = no_index;  ///< of the oldest one of a slot: the youngest
  OperationId operation;
  std::uint32_t from_lane = 0;  ///< position among the operation's lanes
  std::uint32_t to_lane = 0;    ///< the same
  std::uint32_t send_slot = 0;
  std::uint32_t receive_slot = 0;
  PathId path;
  std::uint32_t stretch = no_index;  ///< of the critical path, see critical_path.hpp
  bool in_use = false;               ///< false: in the pool's free list
  bool posted = false;               ///< nothing of it travels: what receives it fetches the bytes
  MessageStage stage = MessageStage::Direct;
  Bytes bytes;
  Time start;    ///< its first byte left
  Time left;     ///< its last byte left
  Time arrival;  ///< its last byte arrived
};

class MessagePool {
 public:
  /// `width`: entries of each message's attribution vector.
  explicit MessagePool(std::size_t width) : width_(width) {}

  /// See Network::expect.
  void expect(std::size_t messages) {
    messages_.reserve(messages);
    vectors_.reserve(messages * width_);
  }

  /// A message with nothing filled in.
  std::uint32_t take() {
    ++used_;
    if (free_ != no_index) {
      const std::uint32_t id = free_;
      free_ = messages_[id].next;
      messages_[id] = Message{};
      messages_[id].in_use = true;
      return id;
    }
    messages_.emplace_back().in_use = true;
    vectors_.resize(vectors_.size() + width_);
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }

  void give_back(std::uint32_t id) {
    --used_;
    messages_[id].in_use = false;
    messages_[id].next = free_;
    free_ = id;
  }

  [[nodiscard]] Message& operator[](std::uint32_t id) { return messages_[id]; }
  [[nodiscard]] const Message& operator[](std::uint32_t id) const { return messages_[id]; }
  /// Where the time until its arrival went.
  [[nodiscard]] std::int64_t* vector(std::uint32_t id) { return vectors_.data() + id * width_; }
  [[nodiscard]] std::size_t used() const { return used_; }
  /// Messages that the pool has made; those that are in_use are under way or not yet received.
  [[nodiscard]] std::size_t capacity() const { return messages_.size(); }

 private:
  std::size_t width_;
  std::vector<Message> messages_;
  std::vector<std::int64_t> vectors_;
  std::uint32_t free_ = no_index;
  std::size_t used_ = 0;
};

}  // namespace collsim::detail
