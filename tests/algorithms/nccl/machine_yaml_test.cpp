// A topology file imported as a description, from which NCCL must decide as from the file.

#include "algorithms/nccl/io/machine_yaml.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "algorithms/nccl/decisions.hpp"
#include "algorithms/nccl/io/topology_xml.hpp"
#include "algorithms/nccl/machine_of_node.hpp"
#include "algorithms/nccl/pci_devices.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/error.hpp"
#include "topology/io/load.hpp"

namespace collsim::nccl {

namespace {

Machine described(const std::string& yaml) {
  const ConfigPath shipped{{collsim::test::source_path("configs").string()}};
  return machine_of_node(build_cluster(parse_cluster(yaml, "x.yaml", {}, shipped)), NodeId(0));
}

Machine read(const std::string& xml) { return parse_topology_xml(xml, "x.xml").machine; }

std::string lines_of(const Graph& graph) {
  std::string text =
      std::to_string(static_cast<int>(graph.pattern)) + " " + std::to_string(graph.cross_nic) +
      " " + std::to_string(graph.bandwidth_intra) + "/" + std::to_string(graph.bandwidth_inter) +
      " " + std::to_string(graph.latency_inter) + " " + std::string(name(graph.type_intra)) + "/" +
      std::string(name(graph.type_inter)) + (graph.same_channels ? " same\n" : "\n");
  for (const GraphChannel& channel : graph.channels) {
    text += std::to_string(channel.nic_in.value_or(-1)) + ":";
    for (const int gpu : channel.gpus) {
      text += " " + std::to_string(gpu);
    }
    text += " :" + std::to_string(channel.nic_out.value_or(-1)) + "\n";
  }
  return text;
}

/// Graphs, channels and the table of everything that NCCL decides by.
std::string decisions_text(const Machine& machine, int nodes, const std::string& collnet) {
  DecisionInput input;
  input.machine = machine;
  input.nodes = nodes;
  input.constants = test::constants_of("2.28");
  parse_variable(input.configuration, "NCCL_COLLNET_ENABLE", collnet);
  const Decisions decisions(input);
  const GraphSet& graphs = decisions.graphs();
  std::string text = lines_of(graphs.ring) + lines_of(graphs.tree);
  for (const auto& graph : {graphs.nvls, graphs.collnet_chain, graphs.collnet_direct}) {
    text += graph ? lines_of(*graph) : "none\n";
  }
  const Channels& channels = decisions.tuning().channels;
  text += std::to_string(channels.collective.size()) + "/" + std::to_string(channels.nvls) + "/" +
          std::to_string(channels.p2p) + "/" + std::to_string(channels.per_peer) + "\n";
  for (const Function function : functions) {
    for (const Algorithm algorithm : algorithms) {
      for (const Protocol protocol : protocols) {
        const TuningEntry& entry = decisions.tuning().table[function][algorithm][protocol];
        text += std::to_string(entry.latency) + "/" + std::to_string(entry.bandwidth) + " ";
      }
    }
    text += "\n";
  }
  return text;
}

void check_same_decisions(const Machine& machine) {
  const Machine again = described(cluster_yaml(machine, "again").text);
  for (const int nodes : {1, 2}) {
    for (const std::string collnet : {"0", "1"}) {
      CAPTURE(nodes, collnet);
      CHECK(decisions_text(machine, nodes, collnet) == decisions_text(again, nodes, collnet));
    }
  }
}

std::vector<MachineNet> nets_of(const Machine& machine) {
  std::vector<MachineNet> nets;
  for (const MachinePci* pci : pci_devices(machine)) {
    if (pci->nic) {
      nets.insert(nets.end(), pci->nic->nets.begin(), pci->nic->nets.end());
    }
  }
  return nets;
}

/// Two GPUs below one switch each, whose NICs `nets` says.
std::string two_switches(const std::string& first, const std::string& second,
                         const std::string& gdr = "1") {
  const auto half = [&](const std::string& bus, const std::string& rank, const std::string& device,
                        const std::string& nets) {
    const std::string link = R"( link_speed="16.0 GT/s PCIe" link_width="16")";
    return R"(<pci busid="0000:)" + bus + R"(0:00.0" class="0x060400")" + link + ">" +
           R"(<pci busid="0000:)" + bus + R"(1:00.0" class="0x030200")" + link + R"(><gpu dev=")" +
           device + R"(" sm="80" rank=")" + rank + R"(" gdr=")" + gdr + R"("/></pci>)" + nets +
           "</pci>";
  };
  return R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="106">)" +
         half("1", "0", "3", first) + half("2", "1", "1", second) + "</cpu></system>";
}

std::string nic(const std::string& bus, const std::string& nets) {
  return R"(<pci busid="0000:)" + bus +
         R"(:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16"><nic>)" + nets +
         "</nic></pci>";
}

}  // namespace

TEST_CASE("from an imported topology file NCCL decides as from the file") {
  std::size_t files = 0;
  for (const std::string_view folder : {"vectors/nccl", "samples/nccl-topo-xml"}) {
    const auto path = collsim::test::shared_path(folder);
    if (!path) {
      return;
    }
    for (const auto& entry : std::filesystem::directory_iterator(*path)) {
      if (entry.path().extension() != ".xml") {
        continue;
      }
      CAPTURE(entry.path().filename().string());
      const Machine machine = load_topology_xml(entry.path().string()).machine;
      if (!ranked_gpus(machine).empty()) {
        ++files;
        check_same_decisions(machine);
      }
    }
  }
  // 45 vectors, and of the 14 samples the 8 that are no templates.
  CHECK(files == 53);
}

TEST_CASE("what network devices can do and share comes through an import") {
  // A card of two ports with one guid; two cards of other speed, latency and number, one of which
  // reduces and neither of which does GPUDirect.
  const std::string ports = nic(
      "12", R"(<net name="a" dev="0" speed="200000" port="1" guid="0xabcdef0123456789" gdr="1"/>)"
            R"(<net name="b" dev="1" speed="200000" port="1" guid="0xabcdef0123456789" gdr="1"/>)");
  const std::string others =
      nic("22",
          R"(<net name="c" dev="5" speed="100000" port="2" guid="7" latency="2.5" coll="1"/>)") +
      nic("23", R"(<net name="d" dev="3" speed="200000" port="1" guid="0x8"/>)");
  const Machine machine = read(two_switches(ports, others, "0"));
  const MachineYaml yaml = cluster_yaml(machine, "x");
  CHECK_THAT(
      yaml.text,
      Catch::Matchers::ContainsSubstring("  gpudirect: false\n"
                                         "  cuda_devices: [3, 1]\n") &&
          Catch::Matchers::ContainsSubstring(
              "    - { name: nic0, kind: nic, card: 0, guid: 0xabcdef0123456789, port: 1 }\n"
              "    - { name: nic1, kind: nic, card: 0, guid: 0xabcdef0123456789, port: 1 }\n"
              "    - { name: nic2, kind: nic, speed: 12.5 GB/s, latency: 2.5 us, gpudirect: false, "
              "collnet: true, number: 5 }\n"
              "    - { name: nic3, kind: nic, gpudirect: false }\n"));
  CHECK(yaml.notes ==
        std::vector<std::string>{
            "the NICs differ in speed: NCCL's choices go by each one's, the cables all carry "
            "25 GB/s",
            "NICs of one card are one PCIe device in NCCL's choices; in simulated time each has "
            "the card's PCIe link to itself",
            "the NICs join one switch that nothing in the file tells of"});

  const Machine again = described(yaml.text);
  const std::vector<MachineNet> nets = nets_of(again);
  REQUIRE(nets.size() == 4);
  CHECK(nets[0].guid == nets[1].guid);
  CHECK(nets[2].guid != nets[3].guid);
  CHECK(nets[2].speed == 100000);
  CHECK(nets[2].latency == 2.5F);
  CHECK(nets[2].collective);
  CHECK(nets[2].dev == 5);
  CHECK(nets[3].speed == 200000);
  CHECK_FALSE(nets[3].gdr);
  CHECK(nets[0].gdr);
  for (const MachinePci* gpu : ranked_gpus(again)) {
    CHECK_FALSE(gpu->gpu->gdr);
  }
  check_same_decisions(machine);
}

TEST_CASE("Broadcom's switches of two levels stay one to NCCL") {
  const std::string link = R"( link_speed="16.0 GT/s PCIe" link_width="16")";
  const std::string broadcom = R"( vendor="0x1000" device="0xc010" subsystem_vendor="0x1000")";
  const auto pci = [&](const std::string& bus, const std::string& more, const std::string& below) {
    return R"(<pci busid="0000:)" + bus + R"(:00.0")" + more + link + ">" + below + "</pci>";
  };
  const auto gpu = [&](const std::string& bus, const std::string& rank) {
    return pci(bus, R"( class="0x030200")",
               R"(<gpu dev=")" + rank + R"(" sm="80" rank=")" + rank + R"(" gdr="1"/>)");
  };
  const std::string of_class = R"( class="0x060400")" + broadcom;
  const Machine machine = read(
      R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="25" modelid="1">)" +
      pci("10", of_class + R"( subsystem_device="0xa003")",
          pci("11", of_class + R"( subsystem_device="0xa0b4")", gpu("12", "0")) +
              pci("13", of_class + R"( subsystem_device="0xa0b4")",
                  nic("14", R"(<net name="a" dev="0" speed="200000" gdr="1"/>)") +
                      gpu("15", "1"))) +
      "</cpu></system>");
  const MachineYaml yaml = cluster_yaml(machine, "x");
  CHECK_THAT(
      yaml.text,
      Catch::Matchers::ContainsSubstring(
          "    - { name: pcie-switch0, kind: pcie-switch, pci_ids: \"1000:c010:1000:a003\" }\n"));
  check_same_decisions(machine);
  // Without the numbers the two levels count as two switches.
  std::string nameless = yaml.text;
  for (std::size_t at = nameless.find(", pci_ids"); at != std::string::npos;
       at = nameless.find(", pci_ids")) {
    nameless.erase(at, nameless.find(" }", at) - at);
  }
  CHECK(decisions_text(machine, 2, "0") != decisions_text(described(nameless), 2, "0"));
}

TEST_CASE("what a description has no word for is noted") {
  const auto notes_of = [](const std::string& xml) {
    std::string text;
    for (const std::string& note : cluster_yaml(read(xml), "x").notes) {
      text += note + "\n";
    }
    return text;
  };
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const std::string plain = two_switches("", "");
  CHECK(notes_of(plain).empty());
  CHECK(notes_of(with(plain, R"(rank="1" gdr="1")", R"(rank="1" gdr="0")")) ==
        "the GPUs differ in GPUDirect RDMA (gdr): that of the first is kept\n");
  CHECK(notes_of(with(plain, R"(sm="80" rank="1")", R"(sm="90" rank="1")")) ==
        "the GPUs differ in compute capability: that of the first is kept\n");
  CHECK(notes_of(with(plain, "GenuineIntel", "HygonGenuine")) ==
        "cpu0 is none that NCCL knows: taken as Intel's, which has slower links\n");
  CHECK(notes_of(with(plain, "</pci></cpu>", R"(<pcilink target="0000:10:00.0"/></pci></cpu>)")) ==
        "links between PCIe switches (pcilink) are left out: NCCL uses them\n");
  CHECK(notes_of(with(plain, R"(rank="1" gdr="1"/>)",
                      R"(rank="1" gdr="1"><nvlink target="0000:00:00.0" count="2" )"
                      R"(tclass="0x068001"/></gpu>)")) ==
        "NVLinks between GPUs and CPUs are left out: NCCL uses them\n");
}

TEST_CASE("NICs of one card hang at one device") {
  const std::string yaml =
      "name: x\n"
      "node:\n"
      "  gpus: 2\n"
      "  compute_capability: 9.0\n"
      "  devices:\n"
      "    - {name: cpu, kind: cpu, count: 2, processor: {vendor: arm}}\n"
      "    - {name: nic, kind: nic, count: 2, card: 4}\n"
      "  links:\n"
      "    - {from: gpu, to: cpu, connect: one-to-one, kind: pcie, bandwidth: 32 GB/s, latency: 1 "
      "us}\n"
      "    - {from: nic, to: cpu, connect: one-to-one, kind: pcie, bandwidth: 32 GB/s, latency: 1 "
      "us}\n"
      "    - {from: cpu, to: cpu, connect: mesh, kind: socket, bandwidth: 32 GB/s, latency: 1 "
      "us}\n";
  try {
    described(yaml);
    FAIL("expected an error");
  } catch (const InputError& error) {
    CHECK(error.message() ==
          "nic1 is of card 4, and not linked over PCIe to cpu0 as others of the card");
    CHECK(error.hint() ==
          "NICs of one card are one PCIe device: give them links to the same device");
  }
}

}  // namespace collsim::nccl
