#include "sim/event_queue.hpp"

#include <algorithm>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::size_t children = 4;  ///< of a node of the heap
constexpr unsigned phase_shift = 56;

std::size_t hash_of(Time time, EventPhase phase) {
  // Fibonacci hashing: the odd multiplier nearest to 2^64 divided by the golden ratio spreads
  // neighbouring times; the top 6 bits choose one of 64 places.
  const auto key = static_cast<std::uint64_t>(time.time_since_epoch().count()) * 8U +
                   static_cast<std::uint64_t>(phase);
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> 58U);
}

// Comparisons of random times are branches that a processor cannot predict; arithmetic has none.
std::size_t as_number(bool condition) { return condition ? 1 : 0; }

}  // namespace

EventQueue::EventQueue() : batches_(1), items_(1) {}

bool EventQueue::before(const Entry& a, const Entry& b) {
  // Times in the queue are never negative, so both halves compare unsigned and without a branch.
  const auto key = [](const Entry& entry) {
    return (static_cast<U128>(entry.time.time_since_epoch().count()) << 64U) | entry.order;
  };
  return key(a) < key(b);
}

std::uint32_t EventQueue::new_item(const Event& event) {
  const Item item{event.subject, event.generation, 0};
  if (free_items_ == 0) {
    items_.push_back(item);
    return static_cast<std::uint32_t>(items_.size() - 1);
  }
  const std::uint32_t position = free_items_;
  free_items_ = items_[position].next;
  items_[position] = item;
  return position;
}

void EventQueue::new_batch(const Event& event, std::uint32_t item, std::uint32_t& recent) {
  if (free_batches_.empty()) {
    recent = static_cast<std::uint32_t>(batches_.size());
    batches_.emplace_back();
  } else {
    recent = free_batches_.back();
    free_batches_.pop_back();
  }
  batches_[recent] = Batch{event.time, event.phase, item, item};

  const std::uint64_t order =
      (static_cast<std::uint64_t>(event.phase) << phase_shift) | sequence_++;
  const Entry entry{event.time, order, recent};
  heap_.push_back(entry);
  sift_up(heap_.size() - 1, entry);
}

void EventQueue::push(const Event& event) {
  COLLSIM_ENSURE(event.time >= now_, "an event lies in the past");
  const std::uint32_t item = new_item(event);
  ++size_;
  std::uint32_t& recent = recent_[hash_of(event.time, event.phase)];
  Batch& batch = batches_[recent];
  if (batch.first != 0 && batch.time == event.time && batch.phase == event.phase) {
    items_[batch.last].next = item;
    batch.last = item;
  } else {
    new_batch(event, item, recent);
  }
}

void EventQueue::sift_up(std::size_t hole, const Entry& entry) {
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / children;
    if (!before(entry, heap_[parent])) {
      break;
    }
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = entry;
}

// The hole left in front moves down to a leaf along the least children, without looking at the entry
// that fills it in the end: that one was a leaf and nearly always belongs down there.
void EventQueue::remove_front() {
  const Entry entry = heap_.back();
  heap_.pop_back();
  const std::size_t size = heap_.size();
  if (size == 0) {
    return;
  }
  std::size_t hole = 0;
  std::size_t first = 1;
  while (first + children <= size) {
    const std::size_t low = first + as_number(before(heap_[first + 1], heap_[first]));
    const std::size_t high = first + 2 + as_number(before(heap_[first + 3], heap_[first + 2]));
    const std::size_t least = low + (high - low) * as_number(before(heap_[high], heap_[low]));
    heap_[hole] = heap_[least];
    hole = least;
    first = hole * children + 1;
  }
  if (first < size) {
    std::size_t least = first;
    for (std::size_t child = first + 1; child < size; ++child) {
      if (before(heap_[child], heap_[least])) {
        least = child;
      }
    }
    heap_[hole] = heap_[least];
    hole = least;
  }
  sift_up(hole, entry);
}

Event EventQueue::pop() {
  COLLSIM_DCHECK(size_ > 0, "pop() of an empty event queue");
  const std::uint32_t position = heap_.front().batch;
  Batch& batch = batches_[position];
  const std::uint32_t item = batch.first;
  const Event event{batch.time, batch.phase, items_[item].subject, items_[item].generation};
  batch.first = items_[item].next;
  items_[item].next = free_items_;
  free_items_ = item;
  if (batch.first == 0) {
    free_batches_.push_back(position);
    remove_front();
  }
  now_ = event.time;
  --size_;
  ++popped_;
  return event;
}

}  // namespace collsim
