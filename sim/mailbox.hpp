#pragma once

// The messages that have arrived at a lane and are not yet received, by receive slot, oldest first.
//
// The first message of each slot hangs in a chain, those behind it hang on that one. Up to a few
// slots share one chain, which is searched; with more of them there is a chain for every slot, found
// by the slot's number modulo the chains. So all is O(1) for slots numbered in a row, however many
// of a step have arrived and however far a sender is ahead. Internal to the executor.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/messages.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

/// `Pool` is where the messages are: operator[] by number.
class Mailbox {
 public:
  template <class Pool>
  [[nodiscard]] bool has(const Pool& messages, std::uint32_t slot) const {
    return find(messages, slot) != no_index;
  }

  /// Whether it is the only one of its slot now.
  template <class Pool>
  bool add(Pool& messages, std::uint32_t id) {
    auto& message = messages[id];
    const std::uint32_t first = find(messages, message.receive_slot);
    if (first != no_index) {
      const std::uint32_t last = std::exchange(messages[first].last_of_slot, id);
      messages[last].later = id;
      return false;
    }
    if (++slots_ > std::max(few, chains_.size())) {
      deal_out(messages);
    }
    message.last_of_slot = id;
    message.next = std::exchange(chain_of(message.receive_slot), id);
    return true;
  }

  /// The oldest message of a slot. Requires: has().
  template <class Pool>
  [[nodiscard]] std::uint32_t first(const Pool& messages, std::uint32_t slot) const {
    return find(messages, slot);
  }
  /// The same, and takes it out.
  template <class Pool>
  std::uint32_t take(Pool& messages, std::uint32_t slot) {
    std::uint32_t* link = &chain_of(slot);
    while (*link != no_index && messages[*link].receive_slot != slot) {
      link = &messages[*link].next;
    }
    const std::uint32_t id = *link;
    COLLSIM_DCHECK(id != no_index, "a message was taken that is not there");
    const auto& message = messages[id];
    *link = message.next;
    if (message.later == no_index) {
      --slots_;
    } else {
      auto& later = messages[message.later];
      later.last_of_slot = message.last_of_slot;
      later.next = std::exchange(*link, message.later);
    }
    return id;
  }

 private:
  static constexpr std::size_t few = 8;

  [[nodiscard]] std::uint32_t& chain_of(std::uint32_t slot) {
    return chains_.empty() ? chain_ : chains_[slot & (chains_.size() - 1)];
  }

  template <class Pool>
  [[nodiscard]] std::uint32_t find(const Pool& messages, std::uint32_t slot) const {
    std::uint32_t id = chains_.empty() ? chain_ : chains_[slot & (chains_.size() - 1)];
    while (id != no_index && messages[id].receive_slot != slot) {
      id = messages[id].next;
    }
    return id;
  }

  /// Twice as many chains.
  template <class Pool>
  void deal_out(Pool& messages) {
    const std::vector<std::uint32_t> before = std::exchange(
        chains_, std::vector<std::uint32_t>(2 * std::max(few, chains_.size()), no_index));
    const auto deal = [&](std::uint32_t id) {
      while (id != no_index) {
        auto& message = messages[id];
        const std::uint32_t next = message.next;
        message.next = std::exchange(chain_of(message.receive_slot), id);
        id = next;
      }
    };
    deal(std::exchange(chain_, no_index));
    std::for_each(before.begin(), before.end(), deal);
  }

  std::uint32_t chain_ = no_index;     ///< while there is one
  std::uint32_t slots_ = 0;            ///< with a message
  std::vector<std::uint32_t> chains_;  ///< a power of two of them; empty: `chain_`
};

}  // namespace collsim::detail
