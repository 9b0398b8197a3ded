#pragma once

// Where the ranks of a group knock. Anybody can: strangers that say nothing, or something else, hold up nobody.
//
// All who have come are listened to at once, each for a limited time. How many may stand there is limited too: when one more
// comes, who has stood there longest has to go, since a rank says its hello at once.

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "validate/tcp/hello.hpp"
#include "validate/tcp/socket.hpp"

namespace collsim {

class Door {
 public:
  struct Guest {
    Socket socket;
    Hello hello;  ///< complete, unless its magic is wrong
  };

  /// At most so many may stand there. Requires: the listener outlives it.
  Door(const Socket& listener, std::size_t most_guests);

  /// The next one who has said hello, or something else; absent: nobody in time.
  /// Throws: ExecutionError where the system accepts no more connections.
  std::optional<Guest> next(Deadline deadline);

  /// To be told with whom else is missing. `why` begins with who it was.
  void note_turned_away(const std::string& why);
  /// "; refused 127.0.0.1:1234: wrong secret; …" of the first few, and those who have said nothing yet; empty: nobody.
  [[nodiscard]] std::string turned_away() const;

 private:
  struct Knocking {
    Socket socket;
    Hello hello;
    std::size_t got = 0;  ///< bytes of it
    Deadline limit;
  };
  enum class Heard : std::uint8_t { Enough, Nothing, Gone };

  void wait(Deadline deadline) const;
  void let_in();
  Heard listen_to(Knocking& guest);

  const Socket& listener_;
  std::size_t most_guests_;
  std::list<Knocking> guests_;  ///< in the order of their coming
  std::string turned_away_;
  std::size_t turned_away_count_ = 0;
};

}  // namespace collsim
