// Which devices a connection of NCCL's goes through, on shipped machines.

#include "algorithms/nccl/connection_paths.hpp"

#include <string>
#include <utility>
#include <vector>

#include "algorithms/nccl/machine_of_node.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/io/load.hpp"

namespace collsim::nccl {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

Decisions decisions_of(const std::string& cluster, int nodes, const Variables& variables = {}) {
  const ConfigPath configs{{collsim::test::source_path("configs").string()}};
  DecisionInput input;
  input.machine = machine_of_node(build_cluster(load_cluster(cluster, {}, configs)), NodeId(0));
  input.nodes = nodes;
  input.constants = nccl::test::constants_of("2.28");
  for (const auto& [name, value] : variables) {
    parse_variable(input.configuration, name, value);
  }
  return Decisions(input);
}

/// "via 3, nic 0 to 1, host out, host in"; "as routed".
std::string text_of(const Waypoints& waypoints) {
  std::string text;
  const auto add = [&text](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
  if (waypoints.through) {
    add("via " + std::to_string(waypoints.through->value()));
  }
  if (waypoints.nic_out && waypoints.nic_in) {
    add("nic " + std::to_string(*waypoints.nic_out) + " to " + std::to_string(*waypoints.nic_in));
  }
  if (waypoints.host_out) {
    add("host out");
  }
  if (waypoints.host_in) {
    add("host in");
  }
  return text.empty() ? "as routed" : text;
}

std::string way(const ConnectionTables& tables, int from, int to, std::uint32_t channel = 0) {
  return text_of(waypoints_of(tables, Rank(from), Rank(to), channel));
}

}  // namespace

// Search channel 0 is NIC 0 > 0 7 6 5 4 3 2 1 > NIC 1, channel 1 NIC 1 > 1 2 3 4 5 6 7 0 > NIC 0; node 1
// swaps the two. So ring 0 goes from rank 1 by NIC 1 to rank 9, and back from rank 8 by NIC 0 to rank 0.
TEST_CASE("rings of two rails in turn stay on their rails") {
  const ConnectionTables ring =
      algorithm_connections(decisions_of("dgx-h100-x4", 2), Algorithm::Ring);
  CHECK(way(ring, 1, 9, 0) == "nic 1 to 1");
  CHECK(way(ring, 8, 0, 0) == "nic 0 to 0");
  CHECK(way(ring, 0, 8, 1) == "nic 0 to 0");
  CHECK(way(ring, 7, 6, 0) == "as routed");
}

// With one rail (NCCL_CROSS_NIC=0) channel 0 is NIC 0 > 0 7 6 5 4 3 2 1 > NIC 0: rank 1 leaves by NIC 0,
// which is GPU 0's.
TEST_CASE("a ring that leaves by another GPU's NIC goes through that GPU") {
  const Variables one_rail{{"NCCL_CROSS_NIC", "0"}};
  const ConnectionTables ring =
      algorithm_connections(decisions_of("dgx-h100-x4", 2, one_rail), Algorithm::Ring);
  CHECK(way(ring, 1, 8, 0) == "via 0, nic 0 to 0");
  CHECK(way(ring, 9, 0, 0) == "via 8, nic 0 to 0");
}

TEST_CASE("without GPUDirect RDMA both sides go through the memory of the host") {
  // LOC: no path between a GPU and a NIC is that short.
  const ConnectionTables ring = algorithm_connections(
      decisions_of("dgx-h100-x4", 2, {{"NCCL_NET_GDR_LEVEL", "LOC"}, {"NCCL_CROSS_NIC", "0"}}),
      Algorithm::Ring);
  const std::string over = way(ring, 1, 8, 0);
  CHECK(over.find("host out, host in") != std::string::npos);
  CHECK(over.find("via") == std::string::npos);
}

// GPU g is the head of NVLS channel g and uses NIC g.
TEST_CASE("heads of NVLS trees use their own NICs, and nothing inside the node has waypoints") {
  const ConnectionTables tree =
      algorithm_connections(decisions_of("dgx-h100-x4", 4), Algorithm::NvlsTree);
  for (int head = 0; head < 8; ++head) {
    std::string expected = "nic ";
    expected.append(std::to_string(head)).append(" to ").append(std::to_string(head));
    CHECK(way(tree, head, head + 8, 3) == expected);
  }
  CHECK(way(tree, 0, 1, 0) == "as routed");
}

// NCCL_P2P_PXN_LEVEL 2: over NVLink to the GPU with the receiver's number, then rail to rail.
TEST_CASE("a send takes the receiver's rail through the GPU next to it") {
  const ConnectionTables sends = send_recv_connections(decisions_of("dgx-h100-x4", 4));
  CHECK(way(sends, 2, 13) == "via 5, nic 5 to 5");
  CHECK(way(sends, 13, 2) == "via 10, nic 2 to 2");
  CHECK(way(sends, 5, 13) == "nic 5 to 5");
  CHECK(way(sends, 2, 5) == "as routed");
}

TEST_CASE("without PXN a send leaves by its own NIC, or by the rail if it must stay there") {
  const auto ways = [](const Variables& variables) {
    return way(send_recv_connections(decisions_of("dgx-h100-x4", 4, variables)), 2, 13);
  };
  CHECK(ways({{"NCCL_PXN_DISABLE", "1"}}) == "nic 2 to 5");
  // GPU 2 and NIC 5 are at different sockets: no GPUDirect RDMA on the sender's side.
  CHECK(ways({{"NCCL_PXN_DISABLE", "1"}, {"NCCL_CROSS_NIC", "0"}}) == "nic 5 to 5, host out");
}

// GPU 0 and 1 of dgx-a100 share a PCIe switch with NICs 0 and 1. GPU d takes number (d with its lowest
// bit) of them; the mirrored bits of one bit are the bit itself.
TEST_CASE("GPUs that share NICs take one each") {
  const ConnectionTables sends = send_recv_connections(decisions_of("dgx-a100-x4", 4));
  CHECK(way(sends, 0, 8) == "nic 0 to 0");
  CHECK(way(sends, 1, 9) == "nic 1 to 1");
  CHECK(way(sends, 6, 15) == "via 7, nic 7 to 7");
}

// L40S: four GPUs at each of two CPUs of AMD, more than a pair, each at a root port of its own: PHB or SYS, beyond PXB.
TEST_CASE("GPUs without P2P talk through the memory of the receiver's host") {
  const ConnectionTables ring = algorithm_connections(decisions_of("l40s", 1), Algorithm::Ring);
  CHECK(way(ring, 0, 1) == "host in");
  CHECK(way(ring, 0, 7) == "host in");
  const ConnectionTables allowed =
      algorithm_connections(decisions_of("l40s", 1, {{"NCCL_P2P_LEVEL", "PHB"}}), Algorithm::Ring);
  CHECK(way(allowed, 0, 1) == "as routed");
  CHECK(way(allowed, 0, 7) == "host in");
}

// AMD's sockets are 16 GB/s apart, and GPUs reach NICs at 24 GB/s: so NCCL takes the GPUs of each socket for a
// node of its own. The first GPU of the second one is rank 4, its first NIC number 4.
TEST_CASE("without P2P, GPUs of a socket talk through its memory and sockets over their NICs") {
  const Variables off{{"NCCL_P2P_DISABLE", "1"}};
  const ConnectionTables sends = send_recv_connections(decisions_of("dgx-a100", 1, off));
  CHECK(way(sends, 0, 1) == "host in");
  CHECK(way(sends, 5, 4) == "host in");
  CHECK(way(sends, 0, 4) == "nic 0 to 4");
  CHECK(way(sends, 7, 2) == "nic 7 to 2");
  CHECK(way(send_recv_connections(decisions_of("dgx-a100", 1)), 0, 1) == "as routed");
}

// Two A100 at two AMD CPUs: up to SYS where there are at most two GPUs. The NIC is at the second CPU: PHB
// or SYS away, so no GPUDirect RDMA.
TEST_CASE("a pair at CPUs of AMD talks directly, a NIC behind the CPU through memory") {
  const Decisions decisions = decisions_of("a100-pcie-x2", 2);
  const ConnectionTables ring = algorithm_connections(decisions, Algorithm::Ring);
  CHECK(way(ring, 0, 1) == "as routed");
  CHECK(way(ring, 1, 2) == "nic 0 to 0, host out, host in");
}

// DGX-1V: GPU 0 has no NVLink to GPU 5. GPUs 1 and 4 have links to both, and by both the narrower part of
// the way is one link.
TEST_CASE("GPUs without a direct NVLink go through one that both have links to") {
  const ConnectionTables sends = send_recv_connections(decisions_of("dgx-1v", 1));
  CHECK(way(sends, 0, 4) == "as routed");
  const std::string relayed = way(sends, 0, 5);
  CHECK((relayed == "via 4" || relayed == "via 1"));
}

TEST_CASE("channels have the same transports if their NICs are the same") {
  const Decisions decisions = decisions_of("dgx-h100-x4", 4);
  // 16 channels of 8 search channels, each of which has other NICs.
  CHECK(connection_kinds(algorithm_connections(decisions, Algorithm::Ring), 16) ==
        std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
  // Every GPU has one NIC.
  CHECK(connection_kinds(send_recv_connections(decisions), 4) ==
        std::vector<std::size_t>{0, 0, 0, 0});
  // Inside a node nothing depends on the channel.
  CHECK(connection_kinds(algorithm_connections(decisions_of("l40s", 1), Algorithm::Ring), 2) ==
        std::vector<std::size_t>{0, 0});
}

}  // namespace collsim::nccl
