// What real files do to the lines of NCCL's log, and what hostile ones try.

#include <string>
#include <vector>

#include "algorithms/nccl/io/log_reader.hpp"
#include "tests/algorithms/nccl/log_text.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using test::complete;
using test::line;
using test::read;
using test::start;

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("prefixes of launchers, time stamps, colours and line ends do not matter",
          "[nccl][log]") {
  const std::string text = "P2P Chunksize set to 7";
  for (const std::string& form :
       {"\xEF\xBB\xBFhost:10:11 [0] NCCL INFO " + text + "\n",
        " 0: host:10:11 [0] NCCL INFO " + text + "\n",
        "[1,3]<stdout>:host:10:11 [0] NCCL INFO " + text + "\n",
        "[2025-01-02 03:04:05] host:10:11 [0] NCCL INFO " + text + "\r\n",
        "\x1b[32mhost:10:11 [0] NCCL INFO\x1b[0m " + text + "\x1b[0m\n",
        "progress 10%\rhost:10:11 [0] NCCL INFO " + text + "  \n",
        "\thost:10:11 [0] NCCL INFO " + text + "\n",
        std::string("\0\0\xff\xfe\n", 5) + "host:10:11 [0] NCCL INFO " + text + "\n"}) {
    const NcclLog log = read(form + line("cudaDriverVersion 1"));
    REQUIRE(log.communicators.size() == 1);
    CHECK(log.communicators[0].channels.p2p_chunk == 7);
    CHECK(log.garbled == 0);
  }
}

TEST_CASE("a line that another begins in is dropped and counted", "[nccl][log]") {
  const std::string cut = "host:10:11 [0] NCCL INFO Channel 00/01 : 0 1";
  const NcclLog log = read(start + cut + line("P2P Chunksize set to 7") + complete);
  REQUIRE(log.communicators.size() == 1);
  CHECK(log.communicators[0].rings.empty());
  CHECK(log.communicators[0].channels.p2p_chunk == 7);
  CHECK(log.garbled == 1);
  // A row of a benchmark that a line is glued to: the host is the known one.
  const NcclLog glued = read(start + std::string(complete) + "  536870912  float  sum  -1" +
                             line("AllReduce: 64 Bytes -> Algo RING proto LL "
                                  "channel{Lo..Hi}={0..0}"));
  CHECK(glued.communicators.at(0).choices.size() == 1);
  CHECK(glued.garbled == 0);
  for (const std::string& broken :
       {std::string("threadThresholds 8/8/64 | 32/8/64 | 512 | 51x"),
        std::string("4 coll channels, 4 p2p chan"), std::string("Ring 00 : 1 -> 0 -> "),
        std::string("Trees [0] 1/-1/-1->0"), std::string("=== System : maxBw 24.0 tot"),
        std::string("Pattern 4, crossNic 0, nChannels 2, bw 12.0"),
        std::string("AllReduce: 64 Bytes -> Algo RI"), std::string("P2P Chunksize set to 13x"),
        std::string("Channel 00/02 : 0 1 zwei")}) {
    CHECK(read(start + line(broken) + complete).garbled == 1);
  }
}

TEST_CASE("a log that ends in the middle of a line says so", "[nccl][log]") {
  CHECK_FALSE(read(line("x")).truncated);
  const NcclLog log = read(start + std::string("host:10:11 [0] NCCL INFO Ring 00 : 1 -"));
  CHECK(log.truncated);
  CHECK(log.garbled == 1);
  CHECK(log.communicators.at(0).unfinished == 1);
}

TEST_CASE("what is no log of NCCL is refused", "[nccl][log]") {
  const std::string expected =
      "run.log: error: this is no log of NCCL: no line has \"NCCL INFO\"\n"
      "hint: run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,TUNING";
  CHECK(refusal("") == expected);
  CHECK(refusal("[rank0]:[W] ProcessGroupNCCL.cpp:1 watchdog\n") == expected);
  CHECK(refusal("host:1:2 [0] foo.cc:3 NCCL WARN bad\n") == expected);
}

TEST_CASE("hostile logs end, and keep little", "[nccl][log]") {
  const std::string huge(300'000, '9');
  std::string many;
  for (int i = 0; i < 20'000; ++i) {
    many += line("Ring 00 : 1 -> 0 -> 1");
  }
  const NcclLog log =
      read(start + line("Channel " + huge + "/1 : 0") + line("Channel 00/02 : " + huge) +
           line("Trees [" + huge + "] 1/1/1->0->1") + line("Channel -1/2 : 0 1") +
           line("comm 0xb rank 5 nranks 2 cudaDev 0 busId 1 commId 0x9 - Init START") +
           line("2000000 coll channels, 1 p2p channels, 1 p2p channels per peer") +
           line("AllReduce: 99999999999999999999 Bytes -> Algo RING proto LL") +
           line("AllReduce: 9223372036854775807 Bytes -> Algo RING proto LL") +
           line("AllReduce: 1 Bytes -> Algo 7 proto 0 time 1") +
           line("AllReduce: 1 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..2000000000}") +
           line("Pattern 99, crossNic 0, nChannels 9, bw 1/1, type SYS/SYS, sameChannels 1") +
           line("Pattern 4, crossNic 0, nChannels 9, bw nan/inf, type SYS/SYS, sameChannels 1") +
           line("=== System : maxBw 1e99 totalBw 1 ===") + many + std::string(huge, 0, 70'000));
  REQUIRE(log.communicators.size() == 1);
  CHECK(log.communicators[0].rings.empty());
  CHECK(log.communicators[0].choices.empty());
  CHECK(log.communicators[0].graphs.empty());
  CHECK_FALSE(log.communicators[0].channels.collective.has_value());
  CHECK(log.communicators[0].neighbours.size() == 4096);
  CHECK(log.truncated);
}

}  // namespace collsim::nccl
