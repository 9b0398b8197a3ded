// What a description says of a machine for the sake of NCCL's choices: processors, compute
// capability, hosts, environment.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology_io/description.hpp"

namespace collsim {

using test::message;
using test::replaced;

namespace {

const std::string box =
    "name: box\n"
    "node:\n"
    "  gpus: 4\n"
    "  compute_capability: 9.0\n"
    "  hosts: 2\n"
    "  devices:\n"
    "    - {name: cpu, kind: cpu, count: 2, processor: {vendor: intel, family: 6, model: 143}}\n"
    "  links:\n"
    "    - {from: gpu, to: cpu, connect: grouped, kind: pcie, bandwidth: 1 GB/s, latency: 1 us}\n"
    "    - {from: cpu, to: cpu, connect: mesh, kind: socket, bandwidth: 1 GB/s, latency: 1 us}\n"
    "environment: {NCCL_ALGO: Ring, NCCL_P2P_DISABLE: 1}\n";

ClusterSpec spec_of(const std::string& text) {
  return parse_cluster(text, "x.yaml", {}, test::shipped()).spec;
}

}  // namespace

TEST_CASE("what NCCL asks of a machine is read") {
  const ClusterSpec spec = spec_of(box);
  CHECK(spec.node.compute_capability == 90U);
  CHECK(spec.node.hosts == 2);
  REQUIRE(spec.node.devices[0].processor);
  CHECK(spec.node.devices[0].processor->vendor == ProcessorVendor::Intel);
  CHECK(spec.node.devices[0].processor->family == 6);
  CHECK(spec.node.devices[0].processor->model == 143);
  REQUIRE(spec.environment.size() == 2);
  CHECK(spec.environment[0].name == "NCCL_ALGO");
  CHECK(spec.environment[0].value == "Ring");
  CHECK(spec.environment[1].value == "1");
}

TEST_CASE("what NCCL asks of a machine may be absent") {
  const ClusterSpec spec = spec_of("name: a\nnode: {gpus: 1}\n");
  CHECK_FALSE(spec.node.compute_capability);
  CHECK(spec.node.hosts == 1);
  CHECK(spec.environment.empty());
}

TEST_CASE("a compute capability has one digit behind the point") {
  CHECK(spec_of(replaced(box, "9.0", "10.3")).node.compute_capability == 103U);
  CHECK(message(replaced(box, "9.0", "ninety")) ==
        "x.yaml:4:23: error: node.compute_capability: expected a compute capability such as 9.0, "
        "got \"ninety\"\n"
        "    compute_capability: ninety\n"
        "                        ^");
  for (const std::string wrong :
       {"90", "9.", ".5", "9.00", "0.5", "100.0", "-9.0", "9.x", "+9.0"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(spec_of(replaced(box, "9.0", wrong)), InputError);
  }
}

TEST_CASE("processors of Arm have no numbers, and only CPUs are processors") {
  CHECK(spec_of(replaced(box, "vendor: intel, family: 6, model: 143", "vendor: arm"))
            .node.devices[0]
            .processor->vendor == ProcessorVendor::Arm);
  CHECK_THAT(message(replaced(box, "vendor: intel", "vendor: arm")),
             Catch::Matchers::ContainsSubstring(
                 "node.devices[0].processor.family: only x86 processors have one"));
  CHECK_THAT(
      message(replaced(box, ", model: 143", "")),
      Catch::Matchers::ContainsSubstring("node.devices[0].processor: missing key \"model\""));
  CHECK_THAT(message(replaced(box, "intel", "intl")),
             Catch::Matchers::ContainsSubstring("hint: did you mean \"intel\"?"));
  CHECK_THAT(message(replaced(box, "kind: cpu", "kind: nic")),
             Catch::Matchers::ContainsSubstring(
                 "node.devices[0].processor: only devices of kind cpu are processors"));
}

TEST_CASE("hosts share a node's devices evenly") {
  CHECK_THAT(message(replaced(box, "hosts: 2", "hosts: 3")),
             Catch::Matchers::ContainsSubstring(
                 "x.yaml:5:10: error: node.hosts: expected a divisor of the 4 GPUs, got \"3\""));
  CHECK_THAT(message(replaced(box, "hosts: 2", "hosts: 4")),
             Catch::Matchers::ContainsSubstring(
                 "node.hosts: expected a divisor of the 2 devices of kind cpu, got \"4\""));
}

TEST_CASE("what NICs and PCIe switches tell NCCL of themselves is read") {
  const std::string text =
      "name: a\n"
      "node:\n"
      "  gpus: 2\n"
      "  gpudirect: false\n"
      "  cuda_devices: [3, 1]\n"
      "  devices:\n"
      "    - {name: cpu, kind: cpu}\n"
      "    - {name: s, kind: pcie-switch, pci_ids: \"1000:c030:1000:100B\"}\n"
      "    - {name: a, kind: nic, speed: 100 Gb/s, latency: 2 us, gpudirect: false,\n"
      "       collnet: true, card: 2, guid: 0x0200000000000011, port: 0, number: 7}\n"
      "    - {name: b, kind: nic}\n"
      "  links:\n"
      "    - {from: gpu, to: cpu, kind: pcie, bandwidth: 1 GB/s, latency: 1 us}\n";
  const NodeSpec node = spec_of(text).node;
  CHECK_FALSE(node.gpudirect);
  CHECK(node.cuda_devices == std::vector<std::uint32_t>{3, 1});
  REQUIRE(node.devices[1].pci_ids);
  CHECK(node.devices[1].pci_ids->vendor == 0x1000);
  CHECK(node.devices[1].pci_ids->device == 0xc030);
  CHECK(node.devices[1].pci_ids->subsystem_device == 0x100b);
  const NicSpec& nic = node.devices[2].nic;
  CHECK(nic.speed == Bandwidth::bytes_per_second(12'500'000'000));
  CHECK(nic.latency == Duration(2'000'000));
  CHECK_FALSE(nic.gpudirect);
  CHECK(nic.collnet);
  CHECK(nic.card == 2U);
  CHECK(nic.guid == "0x0200000000000011");
  CHECK(nic.port == 0);
  CHECK(nic.number == 7U);
  const NicSpec& plain = node.devices[3].nic;
  CHECK_FALSE(plain.speed);
  CHECK(plain.gpudirect);
  CHECK_FALSE(plain.collnet);
  CHECK(plain.port == 1);

  const auto says = [&](const std::string& from, const std::string& to, const std::string& error) {
    CAPTURE(to);
    CHECK_THAT(message(replaced(text, from, to)), Catch::Matchers::ContainsSubstring(error));
  };
  says("[3, 1]", "[3]",
       "x.yaml:5:17: error: node.cuda_devices: expected a number for each of the 2 "
       "GPUs, got 1");
  says("[3, 1]", "[3, x]",
       "x.yaml:5:21: error: node.cuda_devices[1]: expected a whole number from "
       "0 to 65535, got \"x\"");
  says("[3, 1]", "[3, -1]", "node.cuda_devices[1]: expected a whole number from 0 to 65535");
  says("[3, 1]", "[3, [1]]",
       "node.cuda_devices[1]: expected a whole number from 0 to 65535, got a "
       "list");
  says("gpudirect: false\n  cuda", "gpudirect: no\n  cuda",
       "x.yaml:4:14: error: node.gpudirect: expected true or false, got \"no\"");
  says("{name: b, kind: nic}", "{name: b, kind: cpu, card: 1}",
       "node.devices[3].card: only devices of kind nic have one");
  says("{name: b, kind: nic}", "{name: b, kind: nic, pci_ids: \"1:2:3:4\"}",
       "node.devices[3].pci_ids: only devices of kind pcie-switch have one");
  says("100 Gb/s", "0 Gb/s", "node.devices[2].speed: expected more than 0");
  says("0x0200000000000011", "17",
       "node.devices[2].guid: expected a hexadecimal number of 64 bits "
       "such as 0x1f, got \"17\"");
  says("0x0200000000000011", "0x10200000000000011",
       "node.devices[2].guid: expected a hexadecimal number of 64 bits");
  says("card: 2", "card: -1", "node.devices[2].card: expected a whole number from 0 to 65535");
  for (const std::string wrong : {"1000:c030:1000", "1000:c030:1000:x", "1000:c030:1000:10000",
                                  "1000::1000:1", "1:2:3:4:5"}) {
    says("1000:c030:1000:100B", wrong,
         "node.devices[1].pci_ids: expected vendor, device, subsystem vendor and device as "
         "hexadecimal numbers, such as \"1000:c030:1000:1004\", got \"" +
             wrong + "\"");
  }
}

TEST_CASE("an environment is a mapping of names to text") {
  CHECK_THAT(message("name: a\nnode: {gpus: 1}\nenvironment: [NCCL_ALGO]\n"),
             Catch::Matchers::ContainsSubstring(
                 "x.yaml:3:14: error: environment: expected a mapping, got a list"));
  CHECK_THAT(
      message("name: a\nnode: {gpus: 1}\nenvironment: {NCCL_ALGO: [1]}\n"),
      Catch::Matchers::ContainsSubstring("environment.NCCL_ALGO: expected text, got a list"));
}

}  // namespace collsim
