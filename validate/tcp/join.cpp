#include "validate/tcp/join.hpp"

#include <algorithm>
#include <type_traits>

#include "validate/execution/execution_error.hpp"
#include "validate/tcp/door.hpp"
#include "validate/tcp/hello.hpp"

namespace collsim {

namespace {

constexpr std::size_t room_for_strangers = 64;
// Of what is sent to somebody who has just come: the system has room for it.
constexpr std::chrono::seconds answer_patience{1};

template <class T>
void send_struct(const Socket& socket, const T& value, Deadline deadline, const std::string& who) {
  static_assert(std::is_trivially_copyable_v<T>);
  send_all(socket, std::as_bytes(std::span(&value, 1)), deadline, who);
}
template <class T>
T receive_struct(const Socket& socket, Deadline deadline, const std::string& who) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  receive_all(socket, std::as_writable_bytes(std::span(&value, 1)), deadline, who);
  return value;
}

std::string name_of(std::uint32_t rank) { return "rank " + std::to_string(rank); }

class Joining {
 public:
  explicit Joining(const TcpPlace& place)
      : place_(place),
        deadline_(std::chrono::steady_clock::now() + place.patience),
        sockets_(place.ranks),
        addresses_(place.ranks) {}

  std::vector<Socket> run() {
    listener_ = listen_on({place_.bind, 0});
    if (place_.rank == 0) {
      welcome_all();
    } else {
      report_to_master();
      connect_to_lower();
      accept_higher();
    }
    return std::move(sockets_);
  }

 private:
  [[nodiscard]] Hello hello() const {
    Hello hello;
    hello.secret = packed<longest_secret + 1>(place_.secret);
    hello.rank = place_.rank;
    hello.ranks = place_.ranks;
    hello.digest = place_.digest;
    hello.address.host = packed<48>(place_.bind);
    hello.address.port = local_endpoint(listener_).port;
    return hello;
  }

  /// Why a hello is refused; empty: it is not.
  [[nodiscard]] std::string objection(const Hello& hello, std::uint32_t least) const {
    if (hello.magic != tcp_magic) {
      return "wrong magic: no collsim of this version, or of another byte order";
    }
    if (!same_secret(unpacked(hello.secret), place_.secret)) {
      return "wrong secret";
    }
    if (hello.ranks != place_.ranks) {
      return "a group of " + std::to_string(hello.ranks) + " ranks, not of " +
             std::to_string(place_.ranks);
    }
    if (hello.rank < least || hello.rank >= place_.ranks) {
      return name_of(hello.rank) + " has no place here";
    }
    if (sockets_[hello.rank].is_open()) {
      return name_of(hello.rank) + " is there already";
    }
    if (hello.digest != place_.digest) {
      return name_of(hello.rank) + " was told to run something else than " + name_of(place_.rank);
    }
    return {};
  }

  /// Takes connections until all ranks from `least` on are there. Strangers are refused and do no harm.
  void accept_ranks(const Socket& listener, std::uint32_t least, bool answers) {
    std::uint32_t missing = place_.ranks - least;
    Door door(listener, missing + room_for_strangers);
    while (missing > 0) {
      std::optional<Door::Guest> guest = door.next(deadline_);
      if (!guest) {
        throw ExecutionError(late_text(least) + door.turned_away());
      }
      const std::string who = remote_endpoint(guest->socket).text();
      const Deadline limit =
          std::min<Deadline>(deadline_, std::chrono::steady_clock::now() + answer_patience);
      const std::string refusal = objection(guest->hello, least);
      try {
        Answer answer;
        answer.refusal = packed<128>(refusal);
        if (!refusal.empty()) {
          door.note_turned_away(std::string(who).append(": ").append(refusal));
          send_struct(guest->socket, answer, limit, who);
          continue;
        }
        if (answers) {
          send_struct(guest->socket, answer, limit, who);
        }
      } catch (const ExecutionError& error) {
        if (refusal.empty()) {
          door.note_turned_away(error.what());
        }
        continue;
      }
      take(*std::move(guest));
      --missing;
    }
  }

  void take(Door::Guest guest) {
    Address& address = addresses_[guest.hello.rank];
    address = guest.hello.address;
    if (unpacked(address.host) == "0.0.0.0") {
      address.host = packed<48>(remote_endpoint(guest.socket).host);
    }
    sockets_[guest.hello.rank] = std::move(guest.socket);
  }

  [[nodiscard]] std::string late_text(std::uint32_t least) const {
    std::string text;
    std::uint32_t missing = 0;
    constexpr std::uint32_t most_named = 8;
    for (std::uint32_t rank = least; rank < place_.ranks; ++rank) {
      if (!sockets_[rank].is_open() && missing++ < most_named) {
        text += (text.empty() ? "" : ", ") + std::to_string(rank);
      }
    }
    if (missing > most_named) {
      text += " and " + std::to_string(missing - most_named) + " more";
    }
    return name_of(place_.rank) + " waited " + std::to_string(place_.patience.count()) +
           " ms in vain for " + (missing == 1 ? "rank " : "ranks ") + text;
  }

  void welcome_all() {
    Socket own;
    if (place_.listener == nullptr && place_.ranks > 1) {
      own = listen_on(place_.master);
    }
    const Socket& door = place_.listener == nullptr ? own : *place_.listener;
    accept_ranks(door, 1, false);
    for (std::uint32_t rank = 1; rank < place_.ranks; ++rank) {
      send_struct(sockets_[rank], Answer{}, deadline_, name_of(rank));
      send_all(sockets_[rank], std::as_bytes(std::span(addresses_)), deadline_, name_of(rank));
    }
  }

  /// Absent a refusal. Throws: ExecutionError with the reason.
  void require_welcome(const Socket& socket, std::uint32_t rank) {
    const auto answer = receive_struct<Answer>(socket, deadline_, name_of(rank));
    if (answer.magic != tcp_magic) {
      throw ExecutionError(name_of(rank) +
                           " answers with a wrong magic: no collsim of this version");
    }
    const std::string refusal = unpacked(answer.refusal);
    if (!refusal.empty()) {
      // Whoever listens there wrote it.
      throw ExecutionError(name_of(rank) + " refused " + name_of(place_.rank) + ": " +
                           printable(refusal, refusal.size()));
    }
  }

  void report_to_master() {
    sockets_[0] = connect_to(place_.master, deadline_, name_of(0));
    send_struct(sockets_[0], hello(), deadline_, name_of(0));
    require_welcome(sockets_[0], 0);
    receive_all(sockets_[0], std::as_writable_bytes(std::span(addresses_)), deadline_, name_of(0));
  }

  void connect_to_lower() {
    for (std::uint32_t rank = 1; rank < place_.rank; ++rank) {
      const Endpoint there{unpacked(addresses_[rank].host),
                           static_cast<std::uint16_t>(addresses_[rank].port)};
      sockets_[rank] = connect_to(there, deadline_, name_of(rank));
      send_struct(sockets_[rank], hello(), deadline_, name_of(rank));
      require_welcome(sockets_[rank], rank);
    }
  }

  void accept_higher() { accept_ranks(listener_, place_.rank + 1, true); }

  const TcpPlace& place_;
  Deadline deadline_;
  Socket listener_;
  std::vector<Socket> sockets_;
  std::vector<Address> addresses_;
};

}  // namespace

bool same_secret(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  const std::size_t length = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < length; ++i) {
    const unsigned left = i < a.size() ? static_cast<unsigned char>(a[i]) : 0;
    const unsigned right = i < b.size() ? static_cast<unsigned char>(b[i]) : 0;
    difference |= left ^ right;
  }
  return difference == 0;
}

std::vector<Socket> join_group(const TcpPlace& place) { return Joining(place).run(); }

}  // namespace collsim
