#include "validate/tcp/join.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

constexpr std::uint64_t magic =
    0x314d49534c4c4f43U;  // "COLLSIM1" where the first byte is the lowest
constexpr std::chrono::seconds hello_patience{
    2};  // a stranger that says nothing holds up the others so long

template <std::size_t Size>
using Text = std::array<char, Size>;

template <std::size_t Size>
Text<Size> packed(std::string_view text) {
  Text<Size> result{};
  std::copy_n(text.begin(), std::min(text.size(), Size - 1), result.begin());
  return result;
}
template <std::size_t Size>
std::string unpacked(const Text<Size>& text) {
  return {text.begin(), std::find(text.begin(), text.end() - 1, '\0')};
}

/// How a rank is reached; goes over the wire as it lies in memory, of machines with the same byte order (the magic tells).
struct Address {
  Text<48> host{};
  std::uint64_t port = 0;
};

struct Hello {
  std::uint64_t magic_number = magic;
  Text<longest_secret + 1> secret{};
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint64_t digest = 0;
  Address address;  ///< where the sender listens
};

struct Answer {
  std::uint64_t magic_number = magic;
  Text<128> refusal{};  ///< empty: welcome
};

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
    if (hello.magic_number != magic) {
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
    while (missing > 0) {
      std::optional<Socket> socket = accept_from(listener, deadline_);
      if (!socket) {
        throw ExecutionError(late_text(least));
      }
      const std::string who = remote_endpoint(*socket).text();
      const Deadline limit =
          std::min<Deadline>(deadline_, std::chrono::steady_clock::now() + hello_patience);
      try {
        const auto hello = receive_struct<Hello>(*socket, limit, who);
        const std::string refusal = objection(hello, least);
        if (!refusal.empty()) {
          refused_.append("; refused ").append(who).append(": ").append(refusal);
          Answer answer;
          answer.refusal = packed<128>(refusal);
          send_struct(*socket, answer, limit, who);
          continue;
        }
        if (answers) {
          send_struct(*socket, Answer{}, limit, who);
        }
        addresses_[hello.rank] = hello.address;
        if (unpacked(hello.address.host) == "0.0.0.0") {
          addresses_[hello.rank].host = packed<48>(remote_endpoint(*socket).host);
        }
        sockets_[hello.rank] = *std::move(socket);
        --missing;
      } catch (const ExecutionError& error) {
        refused_.append("; refused ").append(error.what());
      }
    }
  }

  [[nodiscard]] std::string late_text(std::uint32_t least) const {
    std::string text;
    std::uint32_t missing = 0;
    for (std::uint32_t rank = least; rank < place_.ranks; ++rank) {
      if (!sockets_[rank].is_open()) {
        text += (missing++ == 0 ? "" : ", ") + std::to_string(rank);
      }
    }
    return name_of(place_.rank) + " waited " + std::to_string(place_.patience.count()) +
           " ms in vain for " + (missing == 1 ? "rank " : "ranks ") + text + refused_;
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
    if (answer.magic_number != magic) {
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
  std::string refused_;
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
