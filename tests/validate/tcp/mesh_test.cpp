// A rank's sockets: which are ready, and how one that computes is told from one that will never answer.

#include "validate/tcp/mesh.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/validate/tcp/group_of_threads.hpp"
#include "validate/execution/execution_error.hpp"
#include "validate/tcp/heart.hpp"
#include "validate/tcp/poller.hpp"

using namespace collsim;
using namespace collsim::test;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds none{0};

Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

/// Both ends of a connection.
struct Connection {
  Socket door = listen_on({"127.0.0.1", 0});
  Socket here = connect_to(local_endpoint(door), in(60s), "door");
  Socket there = *accept_from(door, in(60s));
};

}  // namespace

TEST_CASE("a socket is reported until all has been read") {
  const Connection connection;
  Poller poller;
  poller.add(connection.here, 7);
  CHECK(poller.wait(none).empty());
  const std::array<std::byte, 2> two{};
  send_all(connection.there, two, in(60s), "here");
  std::byte one{};
  for (int left = 2; left > 0; --left) {
    const auto ready = poller.wait(60s);
    REQUIRE(ready.size() == 1);
    CHECK(ready.front().key == 7);
    CHECK(ready.front().readable);
    CHECK_FALSE(ready.front().writable);
    receive_all(connection.here, {&one, 1}, in(60s), "there");
  }
  CHECK(poller.wait(none).empty());
}

TEST_CASE("a socket is reported as writable where that is asked for, and no longer") {
  const Connection connection;
  Poller poller;
  poller.add(connection.here, 0);
  poller.watch_writable(connection.here, 0, true);
  const auto ready = poller.wait(60s);
  REQUIRE(ready.size() == 1);
  CHECK(ready.front().writable);
  CHECK_FALSE(ready.front().readable);
  poller.watch_writable(connection.here, 0, false);
  CHECK(poller.wait(none).empty());
}

TEST_CASE("the end of a connection is reported as something to read, until it is removed") {
  Connection connection;
  Poller poller;
  poller.add(connection.here, 0);
  connection.there.close();
  const auto ready = poller.wait(60s);
  REQUIRE(ready.size() == 1);
  CHECK(ready.front().readable);
  poller.remove(connection.here);
  CHECK(poller.wait(none).empty());
}

TEST_CASE("a rank that computes for longer than the others' patience is waited for") {
  // 0 waits for 1, 1 for 2, and 2 for itself; who is patient for 1 s hears of it 4 times a second.
  constexpr std::chrono::milliseconds patience{1000};
  GroupOfThreads group(3);
  const auto texts = group.run([&](const TcpPlace& place) {
    Mesh mesh(join_group(place));
    const Heart heart(mesh, patience);
    std::string heard = "two";
    if (place.rank == 2) {
      std::this_thread::sleep_for(3 * patience);
    } else {
      heard = mesh.receive_control(place.rank + 1, patience);
    }
    if (place.rank > 0) {
      mesh.send_control(place.rank - 1, heard);
      mesh.drain(60s);
    }
    return heard;
  });
  CHECK(texts == std::vector<std::string>(3, "two"));
}

TEST_CASE("ranks that wait for each other do not keep each other waiting") {
  GroupOfThreads group(2);
  const auto texts = group.run([](const TcpPlace& place) {
    Mesh mesh(join_group(place));
    const Heart heart(mesh, 800ms);
    // Rank 1 waits longer, so that the first one to give up is known.
    return mesh.receive_control(1 - place.rank, place.rank == 0 ? 800ms : 60'000ms);
  });
  CHECK(texts == std::vector<std::string>{"rank 1 is late: nothing came from any rank for 800 ms",
                                          "lost rank 0: it closed the connection"});
}

TEST_CASE("a message that breaks off, or is none, is told") {
  const auto what = GENERATE(0, 1, 2);
  Connection connection;
  std::vector<Socket> sockets(2);
  sockets[1] = std::move(connection.here);
  Mesh mesh(std::move(sockets));
  FrameHeader header;
  header.kind = what == 1 ? static_cast<FrameKind>(9) : FrameKind::Control;
  header.bytes = what == 2 ? std::uint64_t{1} << 40U : 3;
  // A header has four numbers of 32 bits and one of 64.
  const auto bytes = std::as_bytes(std::span(&header, 1));
  REQUIRE(bytes.size() == 24);
  send_all(connection.there, what == 0 ? bytes.first(5) : bytes, in(60s), "here");
  connection.there.close();
  std::string text;
  try {
    static_cast<void>(mesh.receive_control(1, 60s));
  } catch (const ExecutionError& error) {
    text = error.what();
  }
  CHECK(text == (what == 0
                     ? "lost rank 1: it closed the connection after 5 of 24 bytes of a message"
                     : "rank 1 sent what no rank sends here: it runs something else"));
}
