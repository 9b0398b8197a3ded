// What a description says of a machine for the sake of NCCL's choices: processors, compute
// capability, hosts, environment.

#include <string>

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
                 "node.hosts: expected a divisor of the 2 devices \"cpu\", got \"4\""));
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
