// The path classes of shipped nodes against what nvidia-smi printed on such machines.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology_io/description.hpp"
#include "topology/path_class.hpp"

namespace collsim {

namespace {

/// Cells by row and column name.
using Matrix = std::map<std::pair<std::string, std::string>, std::string>;

std::string lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A matrix as `nvidia-smi topo -m` prints it, with tabs between the cells. What follows the columns
/// of devices (affinity) is left out.
Matrix parse_matrix(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::string> columns;
  Matrix matrix;
  for (std::string line; std::getline(lines, line) && !line.starts_with("Legend");) {
    std::istringstream cells(line);
    std::string row;
    if (line.starts_with("\tGPU")) {
      columns.assign(std::istream_iterator<std::string>(cells), {});
      std::erase_if(columns, [](const std::string& name) {
        return !name.starts_with("GPU") && !name.starts_with("mlx5");
      });
      continue;
    }
    cells >> row;
    std::string cell;
    for (std::size_t i = 0; i < columns.size() && cells >> cell; ++i) {
      matrix[{row, columns[i]}] = cell;
    }
  }
  return matrix;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string path_type(const Graph& graph, const std::string& from, const std::string& to) {
  const std::vector<DeviceId> target{*graph.find_device(to)};
  return to_text(path_types(graph, *graph.find_device(from), target).front());
}

/// A box of 8 GPUs, two a PCIe switch, two switches a socket, with the NVLinks of a matrix.
std::string box_with_nvlinks(const Matrix& matrix) {
  std::string text =
      "name: box\n"
      "node:\n"
      "  gpus: 8\n"
      "  devices:\n"
      "    - {name: pcie, kind: pcie-switch, count: 4}\n"
      "    - {name: cpu, kind: cpu, count: 2}\n"
      "  links:\n"
      "    - {from: gpu, to: pcie, connect: grouped, kind: pcie, bandwidth: 15.75 GB/s, latency: 1 "
      "us}\n"
      "    - {from: pcie, to: cpu, connect: grouped, kind: pcie, bandwidth: 15.75 GB/s, latency: 1 "
      "us}\n"
      "    - {from: cpu, to: cpu, connect: mesh, kind: socket, bandwidth: 38.4 GB/s, latency: 1 "
      "us}\n";
  for (const auto& [pair, cell] : matrix) {
    if (pair.first < pair.second && cell.starts_with("NV")) {
      text += "    - {from: " + lower(pair.first) + ", to: " + lower(pair.second) +
              ", kind: nvlink, bonded: " + cell.substr(2) +
              ", bandwidth: 25 GB/s, latency: 1 us}\n";
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a box of eight V100 wired in another order has the matrix that nvidia-smi printed",
          "[paths]") {
  const auto file = test::shared_path("measurements/v100_1n8g_cubemesh_ar.topo.txt");
  if (!file) {
    return;
  }
  const Matrix matrix = parse_matrix(lines_of(*file));
  REQUIRE(matrix.size() == 64);
  const Cluster cluster = build_cluster(parse_cluster(box_with_nvlinks(matrix), "x.yaml", {}, {}));
  for (const auto& [pair, cell] : matrix) {
    CAPTURE(pair.first, pair.second);
    CHECK(path_type(cluster.graph(), lower(pair.first), lower(pair.second)) == cell);
  }
}

// A DGX-1 with its four NICs, mlx5_0 to mlx5_3 at the switches in order.
TEST_CASE("a DGX-1V has the matrix that nvidia-smi printed, NICs included", "[paths]") {
  const auto file =
      test::shared_path("samples/nvidia-smi-topo/dgx1-v100-mlx5-columns-cpu-affinity-only.txt");
  if (!file) {
    return;
  }
  const Matrix matrix = parse_matrix(lines_of(*file));
  REQUIRE(matrix.size() == 12 * 12);
  const Cluster cluster = build_cluster(load_cluster("dgx-1v", {}, test::shipped()));
  const auto ours = [](const std::string& name) {
    return name.starts_with("mlx5_") ? "nic" + name.substr(5) : lower(name);
  };
  for (const auto& [pair, cell] : matrix) {
    CAPTURE(pair.first, pair.second);
    CHECK(path_type(cluster.graph(), ours(pair.first), ours(pair.second)) == cell);
  }
}

// Links of a GPU to its NVSwitches, or to each other GPU, as the makers give them; see the comments
// in configs/nodes.
TEST_CASE("GPUs on NVLink have the maker's number of links", "[paths]") {
  const std::map<std::string, std::string> types{
      {"dgx-2", "NV6"},     {"dgx-a100", "NV12"},      {"dgx-h100", "NV18"},
      {"dgx-h200", "NV18"}, {"dgx-b200", "NV18"},      {"hgx-b300", "NV18"},
      {"hgx-h800", "NV8"},  {"gb200-nvl72", "NV18"},   {"gb300-nvl72", "NV18"},
      {"gh200-x4", "NV6"},  {"rtx3090-bridge", "NV4"}, {"a100-pcie-bridge", "NV12"},
      {"mi300x", "XGMI"},   {"mi355x", "XGMI"},        {"h100-pcie-bridge", "NV12"},
  };
  for (const auto& [name, type] : types) {
    CAPTURE(name);
    const Cluster cluster = build_cluster(load_cluster(name, {}, test::shipped()));
    CHECK(path_type(cluster.graph(), "gpu0", "gpu1") == type);
    CHECK(path_type(cluster.graph(), "gpu1", "gpu0") == type);
  }
}

// By their descriptions: which GPUs are on a switch, which at a CPU.
TEST_CASE("GPUs without NVLink have the class of their PCIe", "[paths]") {
  struct Expected {
    std::string cluster;
    std::string near;  ///< gpu0 and gpu1
    std::string far;   ///< gpu0 and the last one
    std::string last;
  };
  const std::vector<Expected> all{
      {"rtx-pro-6000", "PIX", "PHB", "gpu7"},    // four a switch, two switches at one CPU
      {"rtx3090", "PHB", "SYS", "gpu7"},         // peers go over the CPU; two sockets
      {"rtx4090", "PHB", "SYS", "gpu7"},         // likewise
      {"l40s", "PHB", "SYS", "gpu7"},            // each at a CPU, four a socket
      {"rtx3090-bridge", "NV4", "PHB", "gpu3"},  // bridges join pairs, all at one CPU
  };
  for (const Expected& expected : all) {
    CAPTURE(expected.cluster);
    const Cluster cluster = build_cluster(load_cluster(expected.cluster, {}, test::shipped()));
    CHECK(path_type(cluster.graph(), "gpu0", "gpu1") == expected.near);
    CHECK(path_type(cluster.graph(), "gpu0", expected.last) == expected.far);
  }
}

// Printed on eight B200 in a box of the same shape as a DGX H100: each GPU and its NIC on a switch
// of their own, four switches a socket.
TEST_CASE("a DGX H100 has the classes that nvidia-smi printed on its like", "[paths]") {
  const auto file = test::shared_path("measurements/b200_1n8g_issue333_ar_local_graph.topo.txt");
  if (!file) {
    return;
  }
  const std::string text = lines_of(*file);
  CHECK(text.find("every GPU pair is NV18") != std::string::npos);
  CHECK(text.find("Nearest NIC (PXB)") != std::string::npos);
  CHECK(text.find("other same-socket NICs NODE, far NICs SYS") != std::string::npos);
  const Cluster cluster = build_cluster(load_cluster("dgx-h100", {}, test::shipped()));
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      CAPTURE(i, j);
      const std::string gpu = "gpu" + std::to_string(i);
      CHECK(path_type(cluster.graph(), gpu, "gpu" + std::to_string(j)) == (i == j ? "X" : "NV18"));
      // nvidia-smi sees the bridge on the NIC's card, and the several bridges of a CPU: it says PXB
      // for our PIX and NODE for our PHB.
      const bool same_socket = i / 4 == j / 4;
      CHECK(path_type(cluster.graph(), gpu, "nic" + std::to_string(j)) ==
            (i == j ? "PIX" : (same_socket ? "PHB" : "SYS")));
    }
  }
}

// NCCL's dump of two A100 for PCIe, each at a CPU of its own, the NIC at the second one's. NCCL
// counts the CPU between GPU and NIC as PHB.
TEST_CASE("GPUs at two sockets are SYS, and the NIC at the same CPU is PHB", "[paths]") {
  const auto local = test::shared_path("measurements/a100pcie_1n2g_simula_ar_local.topo.txt");
  const auto remote = test::shared_path("measurements/a100pcie_2n1g_simula_ar_ib_gdr.topo.txt");
  if (!local || !remote) {
    return;
  }
  CHECK(lines_of(*local).find("GPU/1000 <-> GPU/81000: distance SYS") != std::string::npos);
  CHECK(lines_of(*remote).find("GPU/81000 <-> NET/0: distance PHB") != std::string::npos);
  const Cluster cluster = build_cluster(parse_cluster(
      "name: box\n"
      "node:\n"
      "  gpus: 2\n"
      "  devices: [{name: cpu, kind: cpu, count: 2}, {name: nic, kind: nic}]\n"
      "  links:\n"
      "    - {from: gpu, to: cpu, connect: one-to-one, kind: pcie, bandwidth: 24 GB/s, latency: 1 "
      "us}\n"
      "    - {from: nic, to: cpu1, kind: pcie, bandwidth: 24 GB/s, latency: 1 us}\n"
      "    - {from: cpu, to: cpu, connect: mesh, kind: socket, bandwidth: 16 GB/s, latency: 1 "
      "us}\n",
      "x.yaml", {}, {}));
  CHECK(path_type(cluster.graph(), "gpu0", "gpu1") == "SYS");
  CHECK(path_type(cluster.graph(), "gpu1", "nic") == "PHB");
}

}  // namespace collsim
