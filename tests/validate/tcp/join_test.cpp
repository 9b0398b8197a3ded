// Joining a group over TCP, and everything that can go wrong with it.

#include "validate/tcp/join.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "tests/catch.hpp"
#include "tests/validate/tcp/group_of_threads.hpp"
#include "validate/execution/execution_error.hpp"

using namespace collsim;
using namespace collsim::test;
using namespace std::chrono_literals;

namespace {

Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ExecutionError& error) {
    return error.what();
  }
  return {};
}

/// What is left of a text from `word` on.
std::string from(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? "" : text.substr(at);
}

}  // namespace

TEST_CASE("secrets are equal or they are not") {
  CHECK(same_secret("", ""));
  CHECK(same_secret("abc", "abc"));
  CHECK_FALSE(same_secret("abc", "abd"));
  CHECK_FALSE(same_secret("abc", "abcd"));
  CHECK_FALSE(same_secret("abc", ""));
  CHECK_FALSE(same_secret(std::string("a\0", 2), "a"));
}

TEST_CASE("every rank gets a connection to every other") {
  const auto ranks = GENERATE(1U, 2U, 5U);
  GroupOfThreads group(ranks);
  const auto texts = group.run([&](const TcpPlace& place) -> std::string {
    std::vector<Socket> sockets = join_group(place);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (rank != place.rank) {
        const auto mine = static_cast<std::byte>(place.rank);
        send_all(sockets[rank], {&mine, 1}, in(60s), "peer");
      }
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::byte theirs{255};
      if (rank != place.rank) {
        receive_all(sockets[rank], {&theirs, 1}, in(60s), "peer");
      }
      const bool right = rank == place.rank ? !sockets[rank].is_open() : theirs == std::byte(rank);
      if (!right) {
        return "wrong peer";
      }
    }
    return "well";
  });
  CHECK(texts == std::vector<std::string>(ranks, "well"));
}

TEST_CASE("who knows another secret is refused, and told") {
  GroupOfThreads group(2);
  const auto texts = group.run([](const TcpPlace& original) {
    TcpPlace place = original;
    place.patience = place.rank == 0 ? 2000ms : 60'000ms;
    place.secret = place.rank == 0 ? "right" : "guess";
    static_cast<void>(join_group(place));
    return std::string("joined");
  });
  CHECK(texts[1] == "rank 0 refused rank 1: wrong secret");
  CHECK(texts[0].starts_with("rank 0 waited 2000 ms in vain for rank 1; refused 127.0.0.1:"));
  CHECK(texts[0].ends_with(": wrong secret"));
}

TEST_CASE("who was told to run something else, or in another group, is refused") {
  const auto what = GENERATE(0, 1);
  GroupOfThreads group(2);
  const auto texts = group.run([what](const TcpPlace& original) {
    TcpPlace place = original;
    place.patience = place.rank == 0 ? 2000ms : 60'000ms;
    if (place.rank == 1 && what == 0) {
      place.digest = 8;
    } else if (place.rank == 1) {
      place.ranks = 3;
    }
    static_cast<void>(join_group(place));
    return std::string("joined");
  });
  CHECK(texts[1] ==
        (what == 0 ? "rank 0 refused rank 1: rank 1 was told to run something else than rank 0"
                   : "rank 0 refused rank 1: a group of 3 ranks, not of 2"));
}

TEST_CASE("strangers are refused and do no harm") {
  GroupOfThreads group(2);
  const Endpoint door = group.place(0).master;
  std::vector<std::string> texts;
  {
    // One talks HTTP, one says half a hello and hangs up; both are there before rank 1 is.
    Socket web = connect_to(door, in(60s), "door");
    const std::vector<std::byte> request(1000, std::byte{'G'});
    send_all(web, request, in(60s), "door");
    Socket brief = connect_to(door, in(60s), "door");
    send_all(brief, std::span(request).first(5), in(60s), "door");
    brief.close();
    texts = group.run([](const TcpPlace& place) {
      static_cast<void>(join_group(place));
      return std::string("joined");
    });
  }
  CHECK(texts == std::vector<std::string>(2, "joined"));
}

TEST_CASE("strangers that say nothing hold up nobody") {
  GroupOfThreads group(3);
  const Endpoint door = group.place(0).master;
  // One after the other, they would take longer than the ranks have.
  std::vector<Socket> silent;
  for (int i = 0; i < 10; ++i) {
    silent.push_back(connect_to(door, in(60s), "door"));
  }
  Socket web = connect_to(door, in(60s), "door");
  const std::vector<std::byte> request(20, std::byte{'G'});  // less than a hello
  send_all(web, request, in(60s), "door");
  const auto texts = group.run([](const TcpPlace& original) {
    TcpPlace place = original;
    place.patience = 9s;
    static_cast<void>(join_group(place));
    return std::string("joined");
  });
  CHECK(texts == std::vector<std::string>(3, "joined"));
  // Who said something else has been told.
  std::array<std::byte, sizeof(Answer)> answer{};
  receive_all(web, answer, in(60s), "door");
  CHECK(std::equal(answer.begin() + 8, answer.begin() + 19,
                   std::as_bytes(std::span("wrong magic")).begin()));
}

TEST_CASE("a crowd of strangers makes room for a rank") {
  GroupOfThreads group(2);
  const Endpoint door = group.place(0).master;
  std::vector<Socket> silent;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(connect_to(door, in(60s), "door"));
  }
  const auto texts = group.run([](const TcpPlace& place) {
    static_cast<void>(join_group(place));
    return std::string("joined");
  });
  CHECK(texts == std::vector<std::string>(2, "joined"));
}

TEST_CASE("who is missing is said, and strangers with it") {
  GroupOfThreads group(3);
  TcpPlace place = group.place(0);
  place.patience = 500ms;
  Socket web = connect_to(place.master, in(60s), "door");
  const std::vector<std::byte> request(1000, std::byte{'G'});
  send_all(web, request, in(60s), "door");
  const std::string text = error_of([&] { static_cast<void>(join_group(place)); });
  CHECK(text.starts_with("rank 0 waited 500 ms in vain for ranks 1, 2; refused 127.0.0.1:"));
  CHECK(text.ends_with(": wrong magic: no collsim of this version, or of another byte order"));
}

TEST_CASE("of many that are missing, and of many strangers, the first are said") {
  GroupOfThreads group(20);
  TcpPlace place = group.place(0);
  place.patience = 500ms;
  std::vector<Socket> strangers;
  for (int i = 0; i < 6; ++i) {
    strangers.push_back(connect_to(place.master, in(60s), "door"));
    const std::array<std::byte, 8> zeros{};
    send_all(strangers.back(), zeros, in(60s), "door");
  }
  strangers.push_back(connect_to(place.master, in(60s), "door"));
  const std::string text = error_of([&] { static_cast<void>(join_group(place)); });
  // Missing are 1 to 19; of six refusals four are told.
  CHECK(text.starts_with(
      "rank 0 waited 500 ms in vain for ranks 1, 2, 3, 4, 5, 6, 7, 8 and 11 more; refused 127."));
  CHECK(text.ends_with("; and 2 more; 1 connection has said too little"));
}

TEST_CASE("a rank that comes before rank 0 waits for it") {
  Endpoint free;
  { free = local_endpoint(listen_on({"127.0.0.1", 0})); }
  TcpPlace place;
  place.rank = 1;
  place.ranks = 2;
  place.master = free;
  place.patience = 200ms;
  CHECK(error_of([&] { static_cast<void>(join_group(place)); }) ==
        "rank 0 does not answer at " + free.text() + " within 200 ms: Connection refused");
}

TEST_CASE("a port that is in use is told") {
  const Socket holder = listen_on({"127.0.0.1", 0});
  const Endpoint taken = local_endpoint(holder);
  CHECK(error_of([&] { static_cast<void>(listen_on(taken)); }) ==
        "cannot listen on " + taken.text() + ": Address already in use");
}

TEST_CASE("a host that is not there is told") {
  CHECK(from(error_of([] {
               static_cast<void>(listen_on({"no.such.host.invalid", 1}));
             }),
             "there is no host")
            .starts_with("there is no host \"no.such.host.invalid\" ("));
}

TEST_CASE("bytes that come late, or too few, are told") {
  const Socket door = listen_on({"127.0.0.1", 0});
  const Socket here = connect_to(local_endpoint(door), in(60s), "door");
  std::optional<Socket> there = accept_from(door, in(60s));
  REQUIRE(there);
  const std::array<std::byte, 3> three{};
  send_all(*there, three, in(60s), "here");
  std::array<std::byte, 8> eight{};
  CHECK(error_of([&] { receive_all(here, eight, in(100ms), "rank 4"); }) ==
        "rank 4 is late: 3 of 8 bytes came in time");
  send_all(*there, three, in(60s), "here");
  there->close();
  CHECK(error_of([&] { receive_all(here, eight, in(60s), "rank 4"); }) ==
        "rank 4 closed the connection after 3 of 8 bytes");
}
