// NCCL's log read line by line: what each kind of line says.

#include "algorithms/nccl/io/log_reader.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/algorithms/nccl/log_text.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

using test::complete;
using test::line;
using test::read;
using test::start;

/// The one communicator of a log in which rank 0 writes these lines.
LoggedCommunicator communicator(const std::vector<std::string>& lines) {
  std::string text = start;
  for (const std::string& one : lines) {
    text += line(one);
  }
  NcclLog log = read(text + complete);
  REQUIRE(log.communicators.size() == 1);
  CHECK(log.garbled == 0);
  return log.communicators.front();
}

}  // namespace

TEST_CASE("the version stands on a line of its own or behind a writer", "[nccl][log]") {
  const NcclLog alone = read("NCCL version 2.20.5+cuda12.4\n" + line("cudaDriverVersion 12020"));
  CHECK(alone.version == "2.20.5");
  CHECK(alone.cuda == "12.4");
  CHECK_FALSE(alone.rccl);
  CHECK(read(line("NCCL version 2.29.2+cuda13.1")).version == "2.29.2");
  const NcclLog amd = read("RCCL version 2.18.3+hip6.0\n" + line("x"));
  CHECK(amd.rccl);
  CHECK(amd.version == "2.18.3");
  CHECK(amd.cuda.empty());
  CHECK(read(line("NCCL version 2.27.3+cuda12.4") + line("NCCL version 2.28.9+cuda12.4"))
            .several_versions);
}

TEST_CASE("variables are told with their values", "[nccl][log]") {
  const NcclLog log =
      read(line("NCCL_CROSS_NIC set by environment to 1.") +
           line("NCCL_ALGO set by environment to Ring,Tree") + line("NCCL_IB_HCA set to mlx5_2.") +
           line("NCCL_CROSS_NIC set by environment to 1."));
  REQUIRE(log.environment.size() == 3);
  CHECK(log.environment[0].name == "NCCL_CROSS_NIC");
  CHECK(log.environment[0].value == "1");
  CHECK(log.environment[1].value == "Ring,Tree");
  CHECK(log.environment[2].value == "mlx5_2.");  // only a number's sentence ends with a stop
}

TEST_CASE("ranks, nodes and channel counts", "[nccl][log]") {
  const std::string counts =
      "24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels, 2 p2p channels "
      "per "
      "peer";
  const LoggedCommunicator found = communicator(
      {"comm 0xa rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0",
       "NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)",
       "P2P Chunksize set to 131072", "threadThresholds 8/8/64 | 16/8/64 | 512 | 512", counts});
  CHECK(found.ranks == 2);
  CHECK(found.nodes == 2);
  CHECK(found.local_ranks == 1);
  CHECK(found.ranks_seen == std::vector<int>{0});
  CHECK(found.nvls_available == true);
  CHECK(found.channels.collective == 24);
  CHECK(found.channels.nvls == 16);
  CHECK(found.channels.p2p == 32);
  CHECK(found.channels.per_peer == 2);
  CHECK(found.channels.p2p_chunk == 131072);
  CHECK(found.channels.thread_thresholds ==
        std::array<std::int64_t, 8>{8, 8, 64, 16, 8, 64, 512, 512});
  // Versions up to 2.17 have neither CollNet nor NVLS channels in the line.
  CHECK(communicator({"4 coll channels, 4 p2p channels, 2 p2p channels per peer"})
            .channels.per_peer == 2);
}

TEST_CASE("rings, neighbours and trees", "[nccl][log]") {
  const LoggedCommunicator found =
      communicator({"Channel 00/02 :    0   1", "Channel 01/02 : 0 1 2 1...",
                    "Channel 00/0 : 1[a1090] -> 0[81000] via P2P/IPC", "Ring 00 : 1 -> 0 -> 1",
                    "Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1", "Tree 0 : -1 -> 0 -> 1/-1/-1"});
  REQUIRE(found.rings.size() == 2);
  CHECK(found.rings[0].ranks == std::vector<int>{0, 1});
  // "1..." may be the beginning of 12: it is not taken for a rank.
  CHECK(found.rings[1].ranks == std::vector<int>{0, 1, 2});
  REQUIRE(found.neighbours.size() == 1);
  CHECK(found.neighbours[0].previous == 1);
  CHECK(found.neighbours[0].rank == 0);
  REQUIRE(found.trees.size() == 2);
  CHECK(found.trees[0].down == std::vector<int>{1});
  CHECK_FALSE(found.trees[0].up.has_value());
  CHECK(found.trees[1].up == 1);
  CHECK(found.trees[1].channel == 1);
}

TEST_CASE("a line of trees that NCCL cut loses its last one", "[nccl][log]") {
  std::string trees = "Trees";
  for (int channel = 0; trees.size() < 1000; ++channel) {
    trees += " [" + std::to_string(channel) + "] 1/-1/-1->0->-1";
  }
  const std::size_t whole = communicator({trees}).trees.size();
  // "->1" may be the beginning of "->12".
  CHECK(communicator({trees + " [99] 1/-1/-1->0->1"}).trees.size() == whole + 1);
  CHECK(communicator({trees + " [99] 1/-1/-1->0"}).trees.size() == whole + 1);
}

TEST_CASE("the system tree has parts, links and their bandwidths", "[nccl][log]") {
  const LoggedCommunicator found = communicator(
      {"=== System : maxBw 24.0 totalBw 240.0 ===", "CPU/0-1 (1/2/-1)",
       "+ PCI[24.0] - PCI/0-1000 (1000c0101000ffff)", "              + PCI[24.0] - GPU/0-81000 (0)",
       "                            + NVL[240.0] - NVS/0-0",
       "              + PCI[12.0] - NIC/0-d1000",
       "                            + NET[25.0] - NET/0-0 (1b2c3d/1/1/25.000000)",
       "+ SYS[16.0] - CPU/0-0", "==========================================",
       "GPU/0-81000 :GPU/0-81000 (0/5000.0/LOC) NET/0-0 (4/12.0/PXB) "});
  REQUIRE(found.system.has_value());
  const LoggedSystem& system = *found.system;
  CHECK(system.complete);
  CHECK(system.most_bandwidth == 24.0F);
  CHECK(system.total_bandwidth == 240.0F);
  REQUIRE(system.parts.size() == 5);
  CHECK(system.parts[0].cpu_vendor == 2);
  CHECK(system.parts[2].kind == PartKind::Gpu);
  CHECK(system.parts[2].rank == 0);
  CHECK(system.parts[2].above == 1);
  CHECK(system.parts[3].bandwidth == 12.0F);
  CHECK(system.parts[3].above == 1);
  CHECK(system.parts[4].network == 25.0F);
  CHECK(system.parts[4].above == 3);
  REQUIRE(system.links.size() == 2);
  CHECK(system.links[0].from == 2);
  CHECK(system.links[0].kind == PartLinkKind::Nvlink);
  CHECK(system.links[0].bandwidth == 240.0F);
  CHECK(system.links[1].from == 0);
  CHECK(system.links[1].to == "CPU/0-0");
  REQUIRE(found.paths.size() == 2);
  CHECK(found.paths[1].to == "NET/0-0");
  CHECK(found.paths[1].hops == 4);
  CHECK(found.paths[1].type == PathType::Pxb);
  CHECK(found.local_ranks == 1);  // the GPUs of the tree
}

TEST_CASE("the tree that ends in the middle is not complete", "[nccl][log]") {
  const LoggedCommunicator found =
      communicator({"=== System : maxBw 24.0 totalBw 24.0 ===", "CPU/1 (1/2/-1)"});
  REQUIRE(found.system.has_value());
  CHECK_FALSE(found.system->complete);
  CHECK_FALSE(found.local_ranks.has_value());
}

TEST_CASE("graphs name GPUs by rank, and later by bus", "[nccl][log]") {
  const LoggedCommunicator old = communicator(
      {"Pattern 4, crossNic 1, nChannels 1, bw 12.000000/6.000000, type PHB/PIX, sameChannels 1",
       " 0 : NET/3 GPU/9 GPU/8 NET/10"});
  REQUIRE(old.graphs.size() == 1);
  const Graph& ring = old.graphs[0].graph;
  CHECK(old.graphs[0].stated_channels == 1);
  CHECK(ring.pattern == Pattern::Ring);
  CHECK(ring.cross_nic == 1);
  CHECK(ring.same_channels);
  CHECK(ring.bandwidth_intra == 12.0F);
  CHECK(ring.bandwidth_inter == 6.0F);
  CHECK(ring.type_intra == PathType::Phb);
  CHECK(ring.type_inter == PathType::Pix);
  REQUIRE(ring.channels.size() == 1);
  CHECK(ring.channels[0].gpus == std::vector<int>{1, 0});  // within the node
  CHECK(ring.channels[0].nic_in == 3);
  CHECK(ring.channels[0].nic_out == 10);

  const std::string pattern =
      "Pattern 5, crossNic 0, nChannels 2, bw 30.000000/30.000000, type NVL/PIX, sameChannels 0";
  const LoggedCommunicator later = communicator(
      {"=== System : maxBw 24.0 totalBw 24.0 ===", "CPU/0-0 (1/1/3)",
       "+ PCI[24.0] - GPU/0-81000 (0)", "+ PCI[24.0] - GPU/0-a1000 (1)", "=====", pattern,
       " 0 : NET/0-a GPU/0-a1000 GPU/0-a1000 NET/0-a", " 1 : GPU/0-81000"});
  REQUIRE(later.graphs.size() == 1);
  REQUIRE(later.graphs[0].graph.channels.size() == 2);
  CHECK(later.graphs[0].graph.channels[0].gpus == std::vector<int>{1});  // NVLS: the head alone
  CHECK(later.graphs[0].graph.channels[0].nic_in == 10);                 // hexadecimal
  // A bus that no line gives a rank: the orders are not known, the rest is.
  const LoggedCommunicator unknown = communicator({pattern, " 0 : GPU/0-a1000"});
  CHECK(unknown.graphs[0].graph.channels.empty());
  CHECK(unknown.graphs[0].stated_channels == 2);
}

TEST_CASE("the tuning table by blocks, with or without names", "[nccl][log]") {
  const std::string cells3 =
      "     1.0/   0.0 |     2.0/   2.5 |     3.0/   0.0 |     4.0/   4.5 |     5.0/   5.5 |     "
      "6.0/   6.5 |     0.0/   0.0 |     0.0/   0.0 |     9.0/   9.5 |";
  const std::string names =
      "  Algorithm   |                            Tree                  |                          "
      "  "
      "Ring                  |                   CollNetDirect                  |";
  const LoggedCommunicator found =
      communicator({names, "  Protocol    |             LL |          LL128 |         Simple |",
                    " Max NThreads |            512 |            640 |            512 |",
                    "    AllReduce |" + cells3, "  Algorithm   |        |      |    |",
                    "    AllReduce |" + cells3,
                    "  Algorithm   |                             PAT                  |",
                    "    AllGather |     0.0/   0.0 |     0.0/   0.0 |    17.0/ 117.5 |"});
  CHECK(found.has_table);
  const auto& row = found.table[Function::AllReduce];
  CHECK(row[Algorithm::Tree][Protocol::LL128]->latency == 2.0F);
  CHECK(row[Algorithm::Tree][Protocol::LL128]->bandwidth == 2.5F);
  CHECK(row[Algorithm::Ring][Protocol::Simple]->bandwidth == 6.5F);
  CHECK(row[Algorithm::CollNetDirect][Protocol::Simple]->bandwidth == 9.5F);
  // The second block has lost its names: it is that of the next three algorithms.
  CHECK(row[Algorithm::Nvls][Protocol::Simple]->bandwidth == 6.5F);
  CHECK(row[Algorithm::NvlsTree][Protocol::Simple]->bandwidth == 9.5F);
  CHECK_FALSE(row[Algorithm::Pat][Protocol::Simple].has_value());
  CHECK(found.table[Function::AllGather][Algorithm::Pat][Protocol::Simple]->bandwidth == 117.5F);
}

TEST_CASE("choices in the words of each version", "[nccl][log]") {
  const LoggedCommunicator named = communicator(
      {"AllGather: 4096 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={2..17}",
       "AllGather: 4096 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={2..17}"});
  REQUIRE(named.choices.size() == 1);
  CHECK(named.choices[0].function == Function::AllGather);
  CHECK(named.choices[0].bytes == 4096);
  CHECK(named.choices[0].of_one_rank);
  CHECK(named.choices[0].algorithm == Algorithm::NvlsTree);
  CHECK(named.choices[0].protocol == Protocol::Simple);
  CHECK(named.choices[0].channels == 16);
  CHECK(named.choices[0].times == 2);

  const LoggedCommunicator numbered =
      communicator({"AllReduce: 64 Bytes -> Algo 1 proto 0 time 8.616000",
                    "128 Bytes -> Algo 0 proto 2 time 8.616000"});
  REQUIRE(numbered.choices.size() == 2);
  CHECK_FALSE(numbered.choices[0].function.has_value());
  CHECK(numbered.choices[0].algorithm == Algorithm::Tree);
  CHECK(numbered.choices[1].algorithm == Algorithm::Ring);
  CHECK(numbered.choices[1].protocol == Protocol::LL);
  CHECK_FALSE(numbered.choices[1].of_one_rank);
  CHECK_FALSE(numbered.choices[1].channels.has_value());
}

TEST_CASE("the call's own line tells what is chosen for", "[nccl][log]") {
  const std::string call =
      "AllReduce: opCount 1f sendbuff 0x1 recvbuff 0x2 count 32 datatype 9 op 2 root 0 comm 0xa "
      "[nranks=2] stream 0x3";
  const LoggedCommunicator old = communicator({call, "64 Bytes -> Algo 1 proto 0 time 1.0"});
  REQUIRE(old.choices.size() == 1);
  CHECK(old.choices[0].function == Function::AllReduce);
  CHECK(old.choices[0].type == DataType::Bfloat16);
  CHECK(old.choices[0].op == ReductionOp::Max);
  // 32 elements of 2 bytes: it is the call of 64 B, and not that of 128 B.
  CHECK(communicator({call, "AllReduce: 64 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}"})
            .choices[0]
            .type == DataType::Bfloat16);
  CHECK_FALSE(
      communicator({call, "AllReduce: 128 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}"})
          .choices[0]
          .type.has_value());
}

TEST_CASE("communicators are told apart, and calls find theirs", "[nccl][log]") {
  const std::string second =
      "host:10:12 [0] NCCL INFO comm 0xb rank 0 nranks 4 cudaDev 0 busId 81000 commId 0x8 - Init "
      "COMPLETE\n";
  const auto call = [](const std::string& address) {
    return "host:10:10 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 16 "
           "datatype "
           "7 op 0 root 0 comm " +
           address + " [nranks=2] stream 0x3\n";
  };
  const std::string choice =
      "host:10:10 [0] NCCL INFO AllReduce: 64 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}\n";
  const NcclLog log = read(start + std::string(complete) + second + call("0xb") + choice);
  REQUIRE(log.communicators.size() == 2);
  CHECK(log.communicators[0].ranks == 2);
  CHECK(log.communicators[1].ranks == 4);
  CHECK(log.communicators[0].choices.empty());
  CHECK(log.communicators[1].choices.size() == 1);
  CHECK(log.unplaced == 0);
  // Without the call's line it could be either's.
  const NcclLog unclear = read(start + std::string(complete) + second + choice + choice);
  CHECK(unclear.communicators[0].choices.empty());
  CHECK(unclear.communicators[1].choices.empty());
  CHECK(unclear.unplaced == 2);
}

TEST_CASE("what all ranks print is the lowest rank's", "[nccl][log]") {
  const auto rank = [](int number, const std::string& speed) {
    const std::string writer =
        "host:" + std::to_string(10 + number) + ":1 [" + std::to_string(number) + "] NCCL INFO ";
    return writer + "comm 0xa rank " + std::to_string(number) +
           " nranks 2 cudaDev 0 busId 1000 commId 0x7 - Init START\n" + writer +
           "Pattern 4, crossNic 0, nChannels 1, bw " + speed +
           "/1.0, type SYS/SYS, sameChannels 1\n" + writer + "Trees [0] -1/-1/-1->" +
           std::to_string(number) + "->-1\n";
  };
  const NcclLog log = read(rank(1, "9.0") + rank(0, "7.0"));
  REQUIRE(log.communicators.size() == 1);
  CHECK(log.communicators[0].ranks_seen == std::vector<int>{0, 1});
  REQUIRE(log.communicators[0].graphs.size() == 1);
  CHECK(log.communicators[0].graphs[0].graph.bandwidth_intra == 7.0F);
  CHECK(log.communicators[0].trees.size() == 2);  // each rank has its own
  CHECK(log.communicators[0].unfinished == 2);
}

}  // namespace collsim::nccl
