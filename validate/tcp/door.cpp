#include "validate/tcp/door.hpp"

#include <poll.h>

#include <chrono>
#include <span>
#include <utility>
#include <vector>

namespace collsim {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds hello_patience{10};
constexpr std::size_t most_told = 4;

std::string late_text(const std::string& who, std::size_t got) {
  return who + " is late: " + std::to_string(got) + " of " + std::to_string(sizeof(Hello)) +
         " bytes came in time";
}

}  // namespace

Door::Door(const Socket& listener, std::size_t most_guests)
    : listener_(listener), most_guests_(most_guests) {}

std::optional<Door::Guest> Door::next(Deadline deadline) {
  do {
    let_in();
    for (auto guest = guests_.begin(); guest != guests_.end();) {
      const Heard heard = listen_to(*guest);
      if (heard == Heard::Enough) {
        Guest complete{std::move(guest->socket), guest->hello};
        guests_.erase(guest);
        return complete;
      }
      guest = heard == Heard::Gone ? guests_.erase(guest) : std::next(guest);
    }
    wait(deadline);
  } while (Clock::now() < deadline);
  return std::nullopt;
}

void Door::wait(Deadline deadline) const {
  std::vector<pollfd> entries{{listener_.descriptor(), POLLIN, 0}};
  for (const Knocking& guest : guests_) {
    entries.push_back({guest.socket.descriptor(), POLLIN, 0});
    deadline = std::min(deadline, guest.limit);
  }
  poll(entries.data(), entries.size(), milliseconds_until(deadline));
}

void Door::let_in() {
  while (std::optional<Socket> socket = accept_from(listener_, Clock::now())) {
    if (guests_.size() == most_guests_) {
      note_turned_away(
          late_text(remote_endpoint(guests_.front().socket).text(), guests_.front().got));
      guests_.pop_front();
    }
    guests_.push_back({*std::move(socket), {}, 0, Clock::now() + hello_patience});
  }
}

Door::Heard Door::listen_to(Knocking& guest) {
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&guest.hello, 1));
  const std::string who = remote_endpoint(guest.socket).text();
  while (guest.got < bytes.size()) {
    const std::optional<std::size_t> count = receive_some(guest.socket, bytes.subspan(guest.got));
    if (!count) {
      break;
    }
    if (*count == 0) {
      note_turned_away(who + " closed the connection after " + std::to_string(guest.got) + " of " +
                       std::to_string(bytes.size()) + " bytes");
      return Heard::Gone;
    }
    guest.got += *count;
  }
  const bool is_stranger = guest.got >= sizeof(guest.hello.magic) && guest.hello.magic != tcp_magic;
  if (is_stranger || guest.got == bytes.size()) {
    return Heard::Enough;
  }
  if (Clock::now() >= guest.limit) {
    note_turned_away(late_text(who, guest.got));
    return Heard::Gone;
  }
  return Heard::Nothing;
}

void Door::note_turned_away(const std::string& why) {
  if (++turned_away_count_ <= most_told) {
    turned_away_ += "; refused " + why;
  }
}

std::string Door::turned_away() const {
  std::string text = turned_away_;
  if (turned_away_count_ > most_told) {
    text += "; and " + std::to_string(turned_away_count_ - most_told) + " more";
  }
  if (!guests_.empty()) {
    text += "; " + std::to_string(guests_.size()) +
            (guests_.size() == 1 ? " connection has" : " connections have") + " said too little";
  }
  return text;
}

}  // namespace collsim
