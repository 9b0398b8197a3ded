#include "topology/io/load.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "tests/catch.hpp"
#include "tests/topology_io/description.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

using namespace collsim::literals;
using test::replaced;
using test::shipped;
using test::two_gpus;

/// The message about a cluster that is named.
std::string message_of(const std::string& name, const ConfigPath& path,
                       const std::vector<std::string>& set = {}) {
  try {
    static_cast<void>(load_cluster(name, test::settings(set), path));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

std::string digest_of(const std::string& text, const std::vector<std::string>& set = {}) {
  return parse_cluster(text, "x.yaml", test::settings(set), shipped()).digest;
}

/// A folder of its own with clusters/ and nodes/, gone at the end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("collsim-load-test-" + name + "-" + std::to_string(++count))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ / "clusters");
    std::filesystem::create_directories(path_ / "nodes");
    std::filesystem::create_directories(path_ / "gpus");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// Writes a file; gives its path.
  std::string write(const std::string& relative, const std::string& text) const {
    std::ofstream(path_ / relative, std::ios::binary) << text;
    return (path_ / relative).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  static inline int count = 0;
  std::filesystem::path path_;
};

const Link& link_between(const Graph& graph, const std::string& from, const std::string& to) {
  const DeviceId source = graph.find_device(from).value();
  const DeviceId target = graph.find_device(to).value();
  for (const LinkId id : graph.links_out(source)) {
    if (graph.link(id).target == target) {
      return graph.link(id);
    }
  }
  throw InternalError(__FILE__, __LINE__, "link", "no link from " + from + " to " + to);
}

}  // namespace

TEST_CASE("textbook-star is 8 GPUs around a switch", "[clusters]") {
  for (const std::string name : {"textbook-star", "textbook-star-8"}) {
    const Cluster cluster = build_cluster(load_cluster(name, {}, shipped()));
    CHECK(cluster.name() == "textbook-star");
    CHECK(cluster.graph().gpus().size() == 8);
    CHECK(cluster.graph().links().size() == 16);  // 8 cables, each way
    for (const Link& link : cluster.graph().links()) {
      CHECK(link.bandwidth == 50_GBps);
      CHECK(link.latency == 500'000_ps);
    }
  }
}

TEST_CASE("textbook-mesh has a link for every ordered pair", "[clusters]") {
  for (const std::string name : {"textbook-mesh", "textbook-mesh-8"}) {
    const Cluster cluster = build_cluster(load_cluster(name, {}, shipped()));
    CHECK(cluster.graph().devices().size() == 8);
    CHECK(cluster.graph().links().size() == 56);  // 8 · 7
    for (const Link& link : cluster.graph().links()) {
      CHECK(link.bandwidth == 50_GBps);
      CHECK(link.latency == 1'000'000_ps);
    }
  }
}

TEST_CASE("textbook-2x4 leaves a node over 12.5 GB/s and 1 us", "[clusters]") {
  const Cluster cluster = build_cluster(load_cluster("textbook-2x4", {}, shipped()));
  const Graph& graph = cluster.graph();
  CHECK(graph.nodes() == 2);
  CHECK(graph.gpus().size() == 8);
  // In a node: GPU, switch, GPU, at 500 ns each.
  const Route inside = cluster.router().route(graph.gpus()[0], graph.gpus()[3]);
  CHECK(inside.latency == 1'000'000_ps);
  CHECK(compare(inside.full_rate(graph), Rate(50_GBps)) == std::strong_ordering::equal);
  // Between nodes: 500 ns to the switch, 0 to the NIC, 1 us to the network switch, and back down.
  const Route between = cluster.router().route(graph.gpus()[0], graph.gpus()[4]);
  CHECK(between.hops.size() == 6);
  CHECK(between.latency == 3'000'000_ps);
  CHECK(compare(between.full_rate(graph), Rate(parse_bandwidth("12.5 GB/s"))) ==
        std::strong_ordering::equal);
}

TEST_CASE("dgx-h100 is 8 GPUs on NVSwitch with a NIC each", "[clusters]") {
  const Cluster cluster = build_cluster(load_cluster("dgx-h100", {}, shipped()));
  const Graph& graph = cluster.graph();
  CHECK(graph.gpus().size() == 8);
  CHECK(graph.nics(NodeId(0)).size() == 8);
  CHECK(link_between(graph, "gpu3", "nvswitch").bandwidth == 450_GBps);
  CHECK(link_between(graph, "gpu3", "pcie-switch3").bandwidth == 63_GBps);
  CHECK(link_between(graph, "pcie-switch3", "cpu0").kind == LinkKind::Pcie);
  CHECK(link_between(graph, "pcie-switch4", "cpu1").kind == LinkKind::Pcie);
  CHECK(link_between(graph, "cpu0", "cpu1").kind == LinkKind::Socket);
  // 235 ns one way between two GPUs, over NVLink and not over PCIe.
  const Route route = cluster.router().route(graph.gpus()[0], graph.gpus()[7]);
  CHECK(route.latency == 235'000_ps);
  CHECK(compare(route.full_rate(graph), Rate(450_GBps)) == std::strong_ordering::equal);
}

TEST_CASE("dgx-a100 has two GPUs and two NICs a PCIe switch", "[clusters]") {
  const Cluster cluster = build_cluster(load_cluster("dgx-a100", {}, shipped()));
  const Graph& graph = cluster.graph();
  CHECK(graph.gpus().size() == 8);
  CHECK(graph.nics(NodeId(0)).size() == 8);
  for (const std::string device : {"gpu6", "gpu7", "nic6", "nic7"}) {
    CHECK(link_between(graph, device, "pcie-switch3").bandwidth == parse_bandwidth("31.5 GB/s"));
  }
  CHECK(link_between(graph, "pcie-switch1", "cpu0").kind == LinkKind::Pcie);
  CHECK(link_between(graph, "pcie-switch2", "cpu1").kind == LinkKind::Pcie);
  // 12 links of 25 GB/s; 150 ns to the switch and as much from it.
  const Route route = cluster.router().route(graph.gpus()[0], graph.gpus()[7]);
  CHECK(route.latency == 300'000_ps);
  CHECK(compare(route.full_rate(graph), Rate(300_GBps)) == std::strong_ordering::equal);
}

TEST_CASE("dgx-b200 is 8 GPUs on NVSwitch with a NIC each", "[clusters]") {
  const Cluster cluster = build_cluster(load_cluster("dgx-b200", {}, shipped()));
  const Graph& graph = cluster.graph();
  CHECK(graph.gpus().size() == 8);
  CHECK(graph.nics(NodeId(0)).size() == 8);
  CHECK(link_between(graph, "nic5", "pcie-switch5").bandwidth == 63_GBps);
  CHECK(link_between(graph, "cpu0", "cpu1").kind == LinkKind::Socket);
  // 18 links of 50 GB/s; 300 ns to the switch and as much from it.
  const Route route = cluster.router().route(graph.gpus()[0], graph.gpus()[7]);
  CHECK(route.latency == 600'000_ps);
  CHECK(compare(route.full_rate(graph), Rate(900_GBps)) == std::strong_ordering::equal);
}

TEST_CASE("dgx-h100-x4 joins 32 NICs on one switch", "[clusters]") {
  const Cluster cluster = build_cluster(load_cluster("dgx-h100-x4", {}, shipped()));
  const Graph& graph = cluster.graph();
  CHECK(graph.nodes() == 4);
  CHECK(graph.gpus().size() == 32);
  // GPU 5 of node 0 to GPU 2 of node 3: by NIC 5 and NIC 2, 1200 ns (see the node's file).
  const DeviceId from = graph.find_device("node0.gpu5").value();
  const DeviceId to = graph.find_device("node3.gpu2").value();
  CHECK(graph.name(cluster.router().nics_of(from)[0]) == "node0.nic5");
  CHECK(graph.name(cluster.router().nics_of(to)[0]) == "node3.nic2");
  const Route route = cluster.router().route(from, to);
  CHECK(route.latency == 1'200'000_ps);
  CHECK(compare(route.full_rate(graph), Rate(50_GBps)) == std::strong_ordering::equal);
}

TEST_CASE("every shipped cluster and node has a line that describes it", "[clusters]") {
  const std::vector<ConfigEntry> clusters = list_clusters(shipped());
  CHECK(clusters.size() >= 7);
  CHECK(list_nodes(shipped()).size() >= 1);
  for (const ConfigEntry& entry : clusters) {
    CAPTURE(entry.name);
    CHECK_FALSE(entry.description.empty());
    CHECK(message_of(entry.name, shipped()) == "accepted");
  }
  for (const ConfigEntry& entry : list_nodes(shipped())) {
    CHECK_FALSE(entry.description.empty());
  }
  for (const ConfigEntry& entry : list_gpus(shipped())) {
    CHECK_FALSE(entry.description.empty());
  }
}

TEST_CASE("an unknown cluster is named with the nearest known one", "[load]") {
  const Folder folder("unknown");
  folder.write("clusters/alpha.yaml", two_gpus());
  folder.write("clusters/beta.yaml", two_gpus());
  const ConfigPath path{{folder.path()}};
  CHECK(message_of("alfa", path) ==
        "error: unknown cluster \"alfa\"\n"
        "hint: known: alpha, beta");
  CHECK(message_of("alph", path) ==
        "error: unknown cluster \"alph\", did you mean \"alpha\"?\n"
        "hint: known: alpha, beta");
  CHECK(message_of("alpha", ConfigPath{}) ==
        "error: unknown cluster \"alpha\"\n"
        "hint: no cluster is known by name");
}

TEST_CASE("of many known names those that contain the word are shown", "[load]") {
  const Folder folder("many");
  for (char last = 'a'; last < 'n'; ++last) {
    folder.write(std::string("clusters/box-") + last + ".yaml", two_gpus());
  }
  folder.write("clusters/dgx-h100.yaml", two_gpus());
  folder.write("clusters/dgx-h100-x4.yaml", two_gpus());
  const ConfigPath path{{folder.path()}};
  CHECK(message_of("h100", path) ==
        "error: unknown cluster \"h100\"\n"
        "hint: known: dgx-h100, dgx-h100-x4; `collsim list clusters` shows all 15");
  // In all, or in more than a line shows.
  CHECK(message_of("x", path) ==
        "error: unknown cluster \"x\"\n"
        "hint: `collsim list clusters` shows all 15");
  CHECK(message_of("cray", path) ==
        "error: unknown cluster \"cray\"\n"
        "hint: `collsim list clusters` shows all 15");
}

TEST_CASE("what is inside a GPU may stand in a file of its own", "[load]") {
  const Folder folder("gpus");
  folder.write("gpus/big.yaml",
               "name: big\n"
               "description: much memory\n"
               "memory:\n"
               "  - level: memory\n"
               "    capacity: {value: 96 GB, source: nominal}\n");
  folder.write("nodes/box.yaml", "gpus: 1\ngpu_memory: big\n");
  folder.write("clusters/one.yaml", "name: one\nnode: box\n");
  const ConfigPath path{{folder.path()}};
  const auto capacity = [&path](const std::vector<std::string>& set) {
    const LoadedCluster loaded = load_cluster("one", test::settings(set), path);
    return loaded.spec.node.gpu_memory.at(0).capacity->value;
  };
  CHECK(capacity({}) == Bytes(96'000'000'000));
  CHECK(capacity({"node.gpu_memory[0].capacity.value=80 GB"}) == Bytes(80'000'000'000));
  CHECK(capacity({"node={gpus: 2, gpu_memory: big}"}) == Bytes(96'000'000'000));
  CHECK(list_gpus(path).at(0).description == "much memory");

  CHECK(message_of("one", path, {"node.gpu_memory=bog"}) ==
        "--set node.gpu_memory=bog: error: node.gpu_memory: unknown gpu \"bog\", did you mean "
        "\"big\"?\n"
        "hint: known: big");
  const std::string file = folder.write("gpus/big.yaml", "name: big\nmemry: []\n");
  CHECK(message_of("one", path) == file +
                                       ":2:1: error: memry: unknown key, did you mean \"memory\"?\n"
                                       "  memry: []\n"
                                       "  ^\n"
                                       "hint: accepted: name, description or memory");
  folder.write("gpus/big.yaml", "name: big\n");
  CHECK(message_of("one", path) == file +
                                       ":1:1: error: missing key \"memory\"\n"
                                       "  name: big\n"
                                       "  ^");
}

TEST_CASE("of two clusters of a name the first directory's is taken", "[load]") {
  const Folder first("first");
  const Folder second("second");
  first.write("clusters/a.yaml", replaced(two_gpus(), "name: two", "name: first"));
  second.write("clusters/a.yaml", replaced(two_gpus(), "name: two", "name: second"));
  second.write("clusters/b.yaml", replaced(two_gpus(), "name: two", "description: b\nname: b"));
  second.write("clusters/c.yaml", "name: [");
  second.write("clusters/note.txt", "no description");
  const ConfigPath path{{"no such directory", first.path(), second.path()}};
  CHECK(load_cluster("a", {}, path).spec.name == "first");
  const std::vector<ConfigEntry> entries = list_clusters(path);
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].name == "a");
  CHECK(entries[0].file == first.path() + "/clusters/a.yaml");
  CHECK(entries[1].name == "b");
  CHECK(entries[1].description == "b");
  CHECK(entries[2].name == "c");
  CHECK(entries[2].description == "cannot be read: not valid YAML: end of sequence flow not found");
}

TEST_CASE("a cluster is named by its path too", "[load]") {
  const Folder folder("path");
  const std::string file = folder.write("any.yaml", two_gpus());
  CHECK(load_cluster(file, {}, ConfigPath{}).spec.name == "two");
  CHECK(message_of(folder.path() + "/none.yaml", ConfigPath{}) ==
        "error: cannot read \"" + folder.path() + "/none.yaml\": no such file");
  CHECK(message_of(folder.path() + "/clusters", ConfigPath{}) ==
        "error: cannot read \"" + folder.path() + "/clusters\": it is a directory");
  CHECK(message_of("/dev/zero", ConfigPath{}) ==
        "error: cannot read \"/dev/zero\": it is not a regular file");
  const std::string empty = folder.write("empty.yaml", "");
  CHECK(message_of(empty, ConfigPath{}) == empty + ": error: empty: expected a YAML mapping");
}

TEST_CASE("a file that may not be read is refused", "[load]") {
  const Folder folder("permission");
  const std::string file = folder.write("secret.yaml", two_gpus());
  std::filesystem::permissions(file, std::filesystem::perms::none);
  if (std::ifstream(file)) {
    return;  // whoever runs this may read everything
  }
  CHECK(message_of(file, ConfigPath{}) == "error: cannot read \"" + file + "\": Permission denied");
}

TEST_CASE("a node is a name, a path from the cluster's file, or written out", "[load]") {
  const Folder folder("node");
  folder.write("nodes/one.yaml", "name: one\ngpus: 1\n");
  const std::string by_path =
      folder.write("clusters/path.yaml", "name: a\nnode: ../nodes/one.yaml\n");
  const ConfigPath path{{folder.path()}};
  CHECK(load_cluster(by_path, {}, ConfigPath{}).spec.node.name == "one");
  const std::string by_name = folder.write("clusters/name.yaml", "name: a\nnode: one\n");
  CHECK(load_cluster("name", {}, path).spec.node.name == "one");
  CHECK(message_of("name", path, {"node=on"}) ==
        "--set node=on: error: node: unknown node \"on\", did you mean \"one\"?\nhint: known: one");
  CHECK(message_of(by_name, ConfigPath{}) == by_name +
                                                 ":2:7: error: node: unknown node \"one\"\n"
                                                 "  node: one\n"
                                                 "        ^\n"
                                                 "hint: no node is known by name");
  const std::string missing = folder.write("clusters/missing.yaml", "name: a\nnode: no/file\n");
  CHECK(message_of("missing", path) == missing + ":2:7: error: node: cannot read \"" +
                                           folder.path() +
                                           "/clusters/no/file\": no such file\n"
                                           "  node: no/file\n"
                                           "        ^");
}

TEST_CASE("a mistake in a node's file is shown there", "[load]") {
  const Folder folder("node-mistake");
  const std::string node = folder.write("nodes/bad.yaml", "gpus: 1\nlink: []\n");
  folder.write("clusters/a.yaml", "name: a\nnode: bad\n");
  const ConfigPath path{{folder.path()}};
  CHECK(message_of("a", path) ==
        node +
            ":2:1: error: node.link: unknown key, did you mean \"links\"?\n"
            "  link: []\n"
            "  ^\n"
            "hint: accepted: name, description, gpus, compute_capability, parameters, gpudirect, "
            "cuda_devices, hosts, devices, links, gpu_memory or host_memory");
  folder.write("nodes/bad.yaml", "");
  CHECK(message_of("a", path) == node + ": error: empty: expected a YAML mapping");
  // The model's complaints too.
  folder.write("nodes/bad.yaml", "gpus: 2\n");
  try {
    static_cast<void>(build_cluster(load_cluster("a", {}, path)));
    FAIL("two GPUs without a link were accepted");
  } catch (const InputError& error) {
    CHECK(error.location().file == node);
    CHECK(error.location().line == 1);
  }
}

TEST_CASE("an alias is the cluster that it names", "[load]") {
  const Folder folder("alias");
  folder.write("clusters/real.yaml", two_gpus());
  folder.write("clusters/other.yaml", "alias: real\n");
  const ConfigPath path{{folder.path()}};
  CHECK(load_cluster("other", {}, path).spec.name == "two");
  CHECK(load_cluster("other", {}, path).digest == load_cluster("real", {}, path).digest);
  CHECK(load_cluster("other", {parse_setting("gpus=4")}, path).spec.node.gpus == 4);
  CHECK(list_clusters(path)[0].description == "the same as real");

  const std::string file = folder.write("clusters/loop.yaml", "alias: loop\n");
  CHECK(message_of("loop", path) == file +
                                        ":1:8: error: alias: \"loop\" is an alias itself\n"
                                        "  alias: loop\n"
                                        "         ^");
  folder.write("clusters/loop.yaml", "alias: real\nnodes: 2\n");
  CHECK(message_of("loop", path) == file +
                                        ":2:1: error: nodes: unknown key\n"
                                        "  nodes: 2\n"
                                        "  ^\n"
                                        "hint: accepted: alias or description");
  folder.write("clusters/loop.yaml", "alias: reel\n");
  CHECK(message_of("loop", path) ==
        file +
            ":1:8: error: alias: unknown cluster \"reel\", did you mean \"real\"?\n"
            "  alias: reel\n"
            "         ^\n"
            "hint: known: loop, other, real");
}

TEST_CASE("the digest is of the effective description", "[load]") {
  const std::string digest = digest_of(two_gpus());
  CHECK(digest.size() == 32);
  // Comments, layout, order of keys, other spellings of a quantity, defaults written out.
  CHECK(digest_of("# a comment\n" + two_gpus()) == digest);
  CHECK(digest_of("node: {links: [{to: gpu, from: gpu, latency: 1000 ns, bandwidth: 0.05 TB/s, "
                  "connect: mesh}], gpus: 2}\nname: two\n") == digest);
  CHECK(digest_of(two_gpus() + "nodes: 1\nfabric: {kind: none}\ndescription: words\n") == digest);
  CHECK(digest_of(replaced(two_gpus(), "  gpus: 2\n", ""), {"gpus=2"}) == digest);
  // How many links of the maker work as one.
  CHECK(digest_of(two_gpus(), {"node.links[0].bonded=18"}) == digest);
  // What changes a result.
  CHECK(digest_of(two_gpus(), {"gpus=3"}) != digest);
  CHECK(digest_of(replaced(two_gpus(), "1 us", "2 us")) != digest);
  CHECK(digest_of(replaced(two_gpus(), "50 GB/s", "51 GB/s")) != digest);
}

TEST_CASE("errors of the model without a place of their own get the nearest one", "[load]") {
  const LoadedCluster loaded = parse_cluster(two_gpus(), "x.yaml", {}, shipped());
  const auto place = [&loaded](const std::string& path) {
    const SourceLocation location = loaded.source_map.locate(InputError("wrong", path)).location();
    return std::to_string(location.line) + ":" + std::to_string(location.column);
  };
  CHECK(place("node.links[0].bandwidth") == "8:18");
  CHECK(place("node.links[0].count") == "5:7");  // a default: the link's place
  CHECK(place("node.links[3]") == "5:5");        // no such item: the list's
  CHECK(place("node.gpus") == "3:9");
  CHECK(place("fabric.kind") == "1:1");
  CHECK(place("") == "1:1");
  const InputError placed("wrong", "node.gpus", "", SourceLocation{"elsewhere", 7, 1, ""});
  CHECK(loaded.source_map.locate(placed).location().file == "elsewhere");
}

}  // namespace collsim
