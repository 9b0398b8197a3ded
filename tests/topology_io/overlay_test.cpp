#include "topology/io/overlay.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology_io/description.hpp"

namespace collsim {

using namespace collsim::literals;
using test::message;
using test::shipped;
using test::two_gpus;

namespace {

ClusterSpec spec_of(const std::string& text, const std::vector<std::string>& set) {
  return parse_cluster(text, "x.yaml", test::settings(set), shipped()).spec;
}

std::string refusal(const std::string& setting) {
  try {
    static_cast<void>(parse_setting(setting));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a setting is a path, an equals sign and a value", "[overlay]") {
  const Setting setting = parse_setting("node.links[0].bandwidth=100 GB/s=");
  CHECK(setting.path == "node.links[0].bandwidth");
  CHECK(setting.value == "100 GB/s=");
  const std::string expected = "error: --set: expected PATH=VALUE such as \"nodes=4\", got ";
  CHECK(refusal("nodes") == expected + "\"nodes\"");
  CHECK(refusal("=4") == expected + "\"=4\"");
  for (const std::string path : {"a..b", ".a", "a.", "[0]", "a[", "a[]", "a[x]", "a[-1]", "a]b",
                                 "a[1]b", "a[9999999999]", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q"}) {
    CHECK(refusal(path + "=1") ==
          "error: --set: \"" + path + "\" is not a path such as \"node.links[0].bandwidth\"");
  }
  CHECK_THROWS_AS(parse_cluster(two_gpus(), "x.yaml", {Setting{"a..b", "1"}}, shipped()),
                  InputError);
}

TEST_CASE("a setting replaces a value", "[overlay]") {
  const ClusterSpec spec = spec_of(two_gpus(), {"nodes=64", "node.links[0].bandwidth=100GB/s",
                                                "node.gpus=4", "node.links[0].bandwidth=200 GB/s"});
  CHECK(spec.nodes == 64);
  CHECK(spec.node.gpus == 4);
  CHECK(spec.node.links[0].bandwidth == 200_GBps);  // the last one counts
  CHECK(spec.node.links[0].latency == 1'000'000_ps);
}

TEST_CASE("a setting creates what is legal and not there", "[overlay]") {
  const ClusterSpec spec = spec_of(
      two_gpus(),
      {"description=words", "nodes=2", "node.devices[0].name=nic", "node.devices[0].kind=nic",
       "node.links[1]={from: gpu, to: nic, bandwidth: 1 GB/s, latency: 0 ns}",
       "fabric.kind=single-switch", "fabric.link={bandwidth: 1 GB/s, latency: 1 us}",
       "fabric.switch.latency=5 ns"});
  CHECK(spec.description == "words");
  CHECK(spec.node.devices.at(0).kind == DeviceKind::Nic);
  CHECK(spec.node.links.size() == 2);
  CHECK(spec.fabric.tiers.at(0).latency == 5'000_ps);
  // A key without a value counts as not there.
  CHECK(spec_of(two_gpus() + "fabric:\n", {"fabric.kind=none"}).fabric.kind == FabricKind::None);
}

TEST_CASE("settings reach into the file of a node", "[overlay]") {
  const std::string text = "name: a\nnode: dgx-h100\n";
  const ClusterSpec spec = spec_of(text, {"node.links[0].bandwidth=900 GB/s"});
  CHECK(spec.node.links[0].bandwidth == 900_GBps);
  CHECK(spec.node.links[1].bandwidth == 63_GBps);
  CHECK(spec_of("name: a\nnode: {gpus: 1}\n", {"node=dgx-h100"}).node.name == "dgx-h100");
  CHECK(spec_of("name: a\nnode: {gpus: 1}\n", {"node=dgx-h100", "node.name=b"}).node.gpus == 8);
}

TEST_CASE("gpus stands for node.gpus, and the last of them counts", "[overlay]") {
  const std::string shorthand = "gpus: 4\n" + two_gpus();
  CHECK(spec_of(shorthand, {}).node.gpus == 4);
  CHECK(spec_of(shorthand, {"node.gpus=5"}).node.gpus == 5);
  CHECK(spec_of(shorthand, {"node.gpus=5", "gpus=6"}).node.gpus == 6);
  CHECK(spec_of(shorthand, {"gpus=6", "node.gpus=5"}).node.gpus == 5);
  CHECK(spec_of("gpus: 4\nname: a\nnode: dgx-h100\n", {}).node.gpus == 4);
  CHECK(spec_of("gpus: 4\nname: a\nnode: {gpus: 1}\n", {"node=dgx-h100"}).node.gpus == 4);
  CHECK(spec_of("gpus: 4\nname: a\nnode: dgx-h100\n", {"node={gpus: 3}"}).node.gpus == 3);
  CHECK(message("gpus: x\nname: a\nnode: {gpus: 1}\n") ==
        "x.yaml:1:7: error: node.gpus: expected a whole number from 1 to 1048576, got \"x\"\n"
        "  gpus: x\n"
        "        ^");
  // What the shorthand takes the place of is checked all the same.
  CHECK(message("gpus: 4\nname: a\nnode: {gpus: banana}\n") ==
        "x.yaml:3:14: error: node.gpus: expected a whole number from 1 to 1048576, got "
        "\"banana\"\n"
        "  node: {gpus: banana}\n"
        "               ^");
  CHECK(message("gpus: 4\nname: a\nnode: {}\n", {"node.gpus.x=2"})
            .find("node.gpus: expected a whole number from 1 to 1048576, got a mapping") !=
        std::string::npos);
}

TEST_CASE("a mistake in a setting is shown in the setting", "[overlay]") {
  CHECK(message(two_gpus(), {"node.links[0].bandwidth=100"}) ==
        "--set node.links[0].bandwidth=100: error: node.links[0].bandwidth: expected a bandwidth "
        "such as \"450 GB/s\", got \"100\"\n"
        "hint: a number needs a unit; units: B/s, kB/s, MB/s, GB/s, TB/s, PB/s (bytes), KiB/s, "
        "MiB/s, "
        "GiB/s, TiB/s (powers of 1024), b/s, kb/s, Mb/s, Gb/s, Tb/s (bits)");
  CHECK(message(two_gpus(), {"node.gpus=none"}) ==
        "--set node.gpus=none: error: node.gpus: expected a whole number from 1 to 1048576, got "
        "\"none\"");
  CHECK(message(two_gpus(), {"nodes="}) ==
        "--set nodes=: error: nodes: expected a whole number from 1 to 1048576, got nothing");
  CHECK(
      message("name: a\nnodes: [{count: 2, node: dgx-h100}]\n", {"nodes=4"}) ==
      "--set nodes=4: error: nodes: expected a key \"node\" beside a number of nodes, got none\n"
      "hint: where groups of nodes are listed, give the number of one, as --set nodes[0].count=2");
  for (const std::string what :
       {"node.gpus=4", "node.links[0].bandwidth=1 GB/s", "node=dgx-a100"}) {
    std::string expected = "--set ";
    expected.append(what).append(
        ": error: node: does not apply where the nodes are a list of groups\n"
        "hint: name a group, as --set nodes[0].");
    expected.append(what);
    CHECK(message("name: a\nnodes: [{count: 2, node: dgx-h100}]\n", {what}) == expected);
  }
  CHECK(message(two_gpus(), {"name='a"}) ==
        "--set name='a: error: not valid YAML: illegal EOF in scalar");
  // The model's complaints too.
  CHECK(message(two_gpus(), {"node.links[0].bandwidth=0 GB/s"}) ==
        "--set node.links[0].bandwidth=0 GB/s: error: node.links[0].bandwidth: expected a "
        "bandwidth above 0, got 0 B/s");
}

TEST_CASE("a path that means nothing is named with the nearest one", "[overlay]") {
  CHECK(message(two_gpus(), {"nodez=2"}) ==
        "--set nodez=2: error: nodez: unknown key, did you mean \"nodes\"?\n"
        "hint: accepted: name, description, gpus, nodes, node, fabric, graph, environment or "
        "parameters");
  CHECK(message(two_gpus(), {"node.link[0].bandwidth=1 GB/s"}) ==
        "--set node.link[0].bandwidth=1 GB/s: error: node.link: unknown key, did you mean "
        "\"links\"?\n"
        "hint: accepted: name, description, gpus, compute_capability, parameters, gpudirect, "
        "cuda_devices, hosts, devices, links, gpu_memory or host_memory");
  CHECK(message(two_gpus(), {"node.links[0].bandwith=1 GB/s"}) ==
        "--set node.links[0].bandwith=1 GB/s: error: node.links[0].bandwith: unknown key, did you "
        "mean \"bandwidth\"?\n"
        "hint: accepted: from, to, connect, duplex, count, bonded, kind, bandwidth or latency");
  CHECK(message(two_gpus(), {"node.links[2].count=2"}) ==
        "--set node.links[2].count=2: error: node.links: has no item [2]: it has 1\n"
        "hint: items count from 0; [1] adds one");
  CHECK(message(two_gpus(), {"node.links.bandwidth=1 GB/s"}) ==
        "--set node.links.bandwidth=1 GB/s: error: node.links: has no key \"bandwidth\": it is a "
        "list");
  CHECK(message(two_gpus(), {"node[0]=1"}) ==
        "--set node[0]=1: error: node: has no item [0]: it is a mapping");
  CHECK(message(two_gpus(), {"name.x=1"}) ==
        "--set name.x=1: error: name: has no key \"x\": it is \"two\"");
}

TEST_CASE("a setting beside a document that is no mapping changes nothing", "[overlay]") {
  CHECK(message("- a\n", {"nodes=2"}).starts_with("x.yaml:1:1: error: expected a mapping"));
}

}  // namespace collsim
