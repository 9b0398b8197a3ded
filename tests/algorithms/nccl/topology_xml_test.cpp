#include "algorithms/nccl/io/topology_xml.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/graph_search.hpp"
#include "algorithms/nccl/io/machine_yaml.hpp"
#include "tests/algorithms/nccl/machines.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// A file of one CPU around what is given.
std::string with_cpu(const std::string& inside) {
  return "<system version=\"1\">\n"
         "  <cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" "
         "modelid=\"1\">\n" +
         inside +
         "  </cpu>\n"
         "</system>\n";
}

std::string pci(const std::string& bus_id, const std::string& inside) {
  return "    <pci busid=\"" + bus_id +
         "\" class=\"0x030200\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">\n" + inside +
         "    </pci>\n";
}

std::string gpu(int dev, const std::string& inside = "") {
  const std::string number = std::to_string(dev);
  return "      <gpu dev=\"" + number + "\" sm=\"80\" rank=\"" + number + "\" gdr=\"1\">" + inside +
         "</gpu>\n";
}

std::string message_of(const std::string& text) {
  try {
    static_cast<void>(parse_topology_xml(text, "node.xml"));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

/// A line each, without the source line.
std::string warnings_of(const std::string& text) {
  std::string lines;
  for (const InputError& warning : parse_topology_xml(text, "node.xml").warnings) {
    const std::string rendered = warning.render("warning");
    lines += rendered.substr(0, rendered.find('\n')) + "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("a topology file is read in its order") {
  const ReadMachine read = parse_topology_xml(
      with_cpu(pci("0000:01:00.0",
                   gpu(0,
                       "<nvlink target=\"0000:02:00.0\" count=\"4\" tclass=\"0x030200\"/>"
                       "<c2c bw=\"44712\" count=\"10\"/>")) +
               "    <nic>\n"
               "      <net name=\"eth0\" dev=\"0\" latency=\"2.5\" speed=\"100000\" port=\"1\" "
               "guid=\"0x1f\" "
               "maxconn=\"64\" gdr=\"1\" coll=\"1\"/>\n"
               "    </nic>\n" +
               pci("0000:02:00.0",
                   gpu(1, "<nvlink target='0000:01:00.0' count='4' tclass='0x030200'/>"))),
      "node.xml");
  CHECK(read.warnings.empty());
  REQUIRE(read.machine.cpus.size() == 1);
  const MachineCpu& cpu = read.machine.cpus[0];
  CHECK(cpu.vendor == "AuthenticAMD");
  REQUIRE(cpu.devices.size() == 3);
  const auto& first = std::get<MachinePci>(cpu.devices[0]);
  CHECK(first.bus_id == "0000:01:00.0");
  CHECK(first.link_width == 16);
  REQUIRE(first.gpu);
  CHECK(first.gpu->sm == 80);
  CHECK(first.gpu->rank == 0);
  CHECK(first.gpu->nvlinks == std::vector<MachineNvlink>{{"0000:02:00.0", 4, "0x030200"}});
  CHECK(first.gpu->c2cs == std::vector<MachineC2c>{{44712, 10}});
  const MachineNet& net = std::get<MachineNic>(cpu.devices[1]).nets.at(0);
  CHECK(net == MachineNet{"eth0", 0, 100000, 2.5F, 1, "0x1f", 64, true, true});
  CHECK(std::get<MachinePci>(cpu.devices[2]).gpu->dev == 1);
}

TEST_CASE("what is written is read back as it was") {
  for (const Machine& machine :
       {test::nic_per_gpu(8, 90, 18, 400000, "32.0 GT/s PCIe"), test::grace_domain(8)}) {
    const std::string text = write_topology_xml(machine);
    const ReadMachine read = parse_topology_xml(text, "node.xml");
    CHECK(read.machine == machine);
    CHECK(read.warnings.empty());
    CHECK(write_topology_xml(read.machine) == text);
  }
}

TEST_CASE("a file is written as NCCL's own reader takes it") {
  Machine machine{{test::intel_cpu(1, 143)}};
  MachinePci pci_switch = test::pci_device(16, "0x060400", "16.0 GT/s PCIe");
  pci_switch.vendor = "0x1000";
  pci_switch.peer_switches.emplace_back("0000:30:00.0");
  pci_switch.children.push_back(test::gpu_device(32, 0, 90, 18, "32.0 GT/s PCIe"));
  machine.cpus[0].devices.emplace_back(pci_switch);
  CHECK(
      write_topology_xml(machine) ==
      "<system version=\"1\">\n"
      "  <cpu host_hash=\"0x0\" numaid=\"1\" affinity=\"ffff\" arch=\"x86_64\" "
      "vendor=\"GenuineIntel\" "
      "familyid=\"6\" modelid=\"143\">\n"
      "    <pci busid=\"0000:10:00.0\" class=\"0x060400\" vendor=\"0x1000\" link_speed=\"16.0 GT/s "
      "PCIe\" link_width=\"16\">\n"
      "      <pcilink target=\"0000:30:00.0\"/>\n"
      "      <pci busid=\"0000:20:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" "
      "link_width=\"16\">\n"
      "        <gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\">\n"
      "          <nvlink target=\"0000:fe:00.0\" count=\"18\" tclass=\"0x068000\"/>\n"
      "        </gpu>\n"
      "      </pci>\n"
      "    </pci>\n"
      "  </cpu>\n"
      "</system>\n");
}

TEST_CASE("a text that NCCL's reader cannot take is not written") {
  Machine machine{{test::intel_cpu(0, 143)}};
  machine.cpus[0].vendor = "a \"quote\"";
  try {
    static_cast<void>(write_topology_xml(machine));
    FAIL("written");
  } catch (const InputError& error) {
    CHECK(error.render() ==
          "error: cpu.vendor: the value \"a \"quote\"\" cannot stand in a file of NCCL\n"
          "hint: at most 254 bytes without quotes, '<', '&' and control characters");
  }
}

TEST_CASE("a wrong topology file is refused at its place") {
  CHECK(message_of("<system version=\"1\"><cpu>") ==
        "node.xml:1:25: error: this is no well-formed XML: Start-end tags mismatch\n"
        "  <system version=\"1\"><cpu>\n"
        "                          ^");
  CHECK(message_of("<graphs version=\"1\"/>") ==
        "node.xml:1:2: error: graphs: this is a graph file (NCCL_GRAPH_FILE), not a topology file\n"
        "  <graphs version=\"1\"/>\n"
        "   ^");
  CHECK(message_of("<system version=\"3\"/>") ==
        "node.xml:1:18: error: system.version: expected \"1\" (or \"2\", which is RCCL's), got "
        "\"3\"\n"
        "  <system version=\"3\"/>\n"
        "                   ^");
  CHECK(message_of("<system version=\"1\"/>") ==
        "node.xml:1:2: error: system: has no cpu element\n"
        "  <system version=\"1\"/>\n"
        "   ^");
  CHECK(message_of(with_cpu("    <pci class=\"0x060400\"/>\n")) ==
        "node.xml:3:6: error: pci.busid: is missing\n"
        "      <pci class=\"0x060400\"/>\n"
        "       ^");
  CHECK(message_of(with_cpu("    <pci busid=\"front\"/>\n")) ==
        "node.xml:3:17: error: pci.busid: expected a PCI bus id such as \"0000:1b:00.0\", got "
        "\"front\"\n"
        "      <pci busid=\"front\"/>\n"
        "                  ^");
  CHECK(message_of(with_cpu(pci("0000:01:00.0", "      <gpu dev=\"0\" sm=\"eighty\"/>\n"))) ==
        "node.xml:4:24: error: gpu.sm: expected a whole number from 1 to 9999, got \"eighty\"\n"
        "        <gpu dev=\"0\" sm=\"eighty\"/>\n"
        "                         ^");
}

TEST_CASE("a count of NVLinks is positive, and a bus id has one place") {
  const std::string zero = with_cpu(
      pci("0000:01:00.0", gpu(0, "<nvlink target=\"x\" count=\"0\" tclass=\"0x068000\"/>")));
  CHECK_THAT(message_of(zero),
             Catch::Matchers::ContainsSubstring(
                 "error: nvlink.count: expected a whole number from 1 to 1024, got \"0\""));
  const std::string twice = with_cpu(
      pci("0000:01:00.0", gpu(0)) +
      "    <pci busid=\"0000:05:00.0\" class=\"0x060400\" link_speed=\"16.0 GT/s PCIe\">\n" +
      pci("0000:01:00.0", gpu(1)) + "    </pci>\n");
  CHECK_THAT(message_of(twice),
             Catch::Matchers::ContainsSubstring("node.xml:7:17: error: pci.busid: two devices have "
                                                "this bus id, below different parents"));
}

TEST_CASE("what NCCL assumes is said, once for each kind") {
  CHECK(warnings_of("<system version=\"1\">\n"
                    "<cpu numaid=\"0\">\n"
                    "<pci busid=\"0000:01:00.0\"/>\n"
                    "<pci busid=\"0000:02:00.0\"/>\n"
                    "</cpu>\n"
                    "</system>\n") ==
        "node.xml:2:2: warning: cpu.arch: is missing: taken as \"x86_64\"\n"
        "node.xml:2:2: warning: cpu.vendor: is missing: taken as \"GenuineIntel\"\n"
        "node.xml:2:2: warning: cpu.familyid: is missing: links between CPUs count as the "
        "slowest of Intel, 6 GB/s\n"
        "node.xml:3:2: warning: pci.class: is missing: counts as a PCIe switch (and 1 more)\n"
        "node.xml:3:2: warning: pci.link_speed: \"\" is not known to NCCL: counts as 8 GT/s "
        "(Gen3) (and 1 more)\n"
        "node.xml:1:2: warning: system: no GPUs: a template, to which NCCL adds the GPUs it "
        "finds\n");
}

TEST_CASE("doubtful NVLinks are said") {
  CHECK(warnings_of(with_cpu(
            pci("0000:01:00.0",
                gpu(0,
                    "<nvlink target=\"0000:02:00.0\" count=\"2\" tclass=\"0x030200\"/>"
                    "<nvlink target=\"0000:09:00.0\" count=\"1\" tclass=\"0x030200\"/>")) +
            pci("0000:02:00.0",
                gpu(1, "<nvlink target=\"0000:01:00.0\" count=\"1\" tclass=\"0x030200\"/>")))) ==
        "node.xml:4:82: warning: nvlink.count: 2 links there, but 1 back\n"
        "node.xml:4:120: warning: nvlink.target: this GPU is not in the "
        "file: NCCL leaves the link "
        "out\n"
        "node.xml:7:82: warning: nvlink.count: 1 links there, but 2 back\n");
  CHECK(warnings_of(with_cpu(
            pci("0000:01:00.0",
                gpu(0, "<nvlink target=\"0000:01:00.0\" count=\"2\" tclass=\"0x030200\"/>")))) ==
        "node.xml:4:61: warning: nvlink.target: leads from the GPU to itself: no way takes it\n");
}

TEST_CASE("a rank is one GPU's, whatever its host") {
  const std::string text = with_cpu(pci("0000:01:00.0", gpu(3)) + pci("0000:02:00.0", gpu(3)));
  CHECK(message_of(text) ==
        "node.xml:7:34: error: gpu.rank: two GPUs have rank 3\n"
        "        <gpu dev=\"3\" sm=\"80\" rank=\"3\" gdr=\"1\"></gpu>\n"
        "                                   ^\n"
        "hint: a rank is one GPU's");
}

TEST_CASE("devices that NCCL reads differently are said") {
  CHECK(warnings_of(with_cpu(pci("0000:01:00.0", gpu(0)) +
                             "<nic>\n"
                             "<net name=\"a\" dev=\"0\" speed=\"-1\"/>\n"
                             "<net name=\"b\" dev=\"0\" speed=\"10000\"/>\n"
                             "<net name=\"c\" speed=\"10000\"/>\n"
                             "</nic>\n"
                             "<fan/>\n")) ==
        "node.xml:7:30: warning: net.speed: not positive: counts as 10000 Mb/s\n"
        "node.xml:8:20: warning: net.dev: two network devices have this number: the first is "
        "used\n"
        "node.xml:9:2: warning: net.dev: is missing: NCCL does not use the device\n"
        "node.xml:11:2: warning: fan: NCCL passes over such an element here\n");
}

TEST_CASE("interfaces of containers are left out unless asked for") {
  const std::string text = with_cpu(pci("0000:01:00.0", gpu(0)) +
                                    "<nic>\n"
                                    "<net name=\"eth0\" dev=\"0\" speed=\"10000\"/>\n"
                                    "<net name=\"cali1234\" dev=\"1\" speed=\"10000\"/>\n"
                                    "<net name=\"br-77\" dev=\"2\" speed=\"10000\"/>\n"
                                    "</nic>\n");
  const ReadMachine without = parse_topology_xml(text, "node.xml");
  CHECK(std::get<MachineNic>(without.machine.cpus[0].devices[1]).nets.size() == 1);
  REQUIRE(without.warnings.size() == 1);
  CHECK_THAT(without.warnings[0].render("warning"),
             Catch::Matchers::ContainsSubstring(
                 "net: interfaces of containers and bridges are left out (and 1 more)"));
  const ReadMachine with = parse_topology_xml(text, "node.xml", ContainerInterfaces::Keep);
  CHECK(std::get<MachineNic>(with.machine.cpus[0].devices[1]).nets.size() == 3);
}

TEST_CASE("proper XML that NCCL's own reader refuses is read, and said") {
  const std::string warnings = warnings_of(
      "\xEF\xBB\xBF<?xml version=\"1.0\"?>\r\n<system version=\"1\">\r\n\t<cpu numaid=\"0\"  "
      "arch=\"arm64\">\r\n" +
      pci("0000:01:00.0", gpu(0)) + "</cpu></system>");
  CHECK(warnings ==
        "node.xml:1:1: warning: NCCL itself does not read an XML declaration\n"
        "node.xml:3:1: warning: NCCL itself does not read a tab before an element\n"
        "node.xml:3:18: warning: NCCL itself does not read more than one blank, a "
        "tab or the end of a "
        "line between attributes\n");
}

TEST_CASE("what is no XML is refused where it stands") {
  const std::string node = "<system version=\"1\"><cpu numaid=\"0\"/></system>";
  CHECK(message_of(node + "\n\n  more\n") ==
        "node.xml:3:3: error: this is no well-formed XML: text behind the root element\n"
        "    more\n"
        "    ^");
  CHECK_THAT(message_of("less " + node),
             Catch::Matchers::ContainsSubstring(
                 "node.xml:1:1: error: this is no well-formed XML: text before the root element"));
  const auto entity = [](const std::string& value) {
    return message_of("<system version=\"1\"><cpu numaid=\"0\" vendor=\"" + value +
                      "\"/></system>");
  };
  const std::string expected =
      "node.xml:1:45: error: this is no well-formed XML: expected &amp; or "
      "another entity of XML's own, got ";
  for (const std::string wrong : {"&foo;", "&#;", "&#x;", "&#xg;", "&;"}) {
    CHECK_THAT(entity(wrong), Catch::Matchers::ContainsSubstring(
                                  expected + "\"" + wrong.substr(0, wrong.size() - 1) + "\""));
  }
  CHECK_THAT(entity("a &amp b"), !Catch::Matchers::ContainsSubstring("accepted"));
  for (const std::string good : {"&amp;", "&lt;&gt;", "&quot;&apos;", "&#65;", "&#x1F;"}) {
    CAPTURE(good);
    CHECK(entity(good) == "accepted");
  }
  // Neither is an entity in a comment, a declaration or CDATA.
  CHECK(message_of("<?xml version=\"1.0\"?><!-- &foo; --><system version=\"1\"><cpu numaid=\"0\">"
                   "<![CDATA[ > &foo; ]]></cpu></system>") == "accepted");
}

TEST_CASE("bytes that are no text are refused and not shown") {
  CHECK(message_of(std::string("<system version=\"1\">\n<cpu nu\0maid=\"0\"/></system>", 47)) ==
        "node.xml:2:8: error: not a text file: control character 0");
  CHECK(message_of("<system version=\"1\x1B[31m\"/>") ==
        "node.xml:1:19: error: not a text file: control character 27");
  CHECK(message_of("<system version=\"\xFF\"/>") ==
        "node.xml:1:18: error: not a text file: not UTF-8");
}

TEST_CASE("places are right in a file of one line, too") {
  // Four elements, of which the last is wrong, behind characters of two bytes.
  CHECK_THAT(message_of("<system version=\"1\"><cpu numaid=\"0\" affinity=\"\xC3\xA4\xC3\xA4\"/>"
                        "<cpu numaid=\"1\"/><cpu numaid=\"x\"/></system>"),
             Catch::Matchers::ContainsSubstring("node.xml:1:82: error: cpu.numaid: "));
}

TEST_CASE("hostile files end in an error") {
  std::string deep = "<system version=\"1\"><cpu numaid=\"0\">";
  for (int level = 0; level < 100; ++level) {
    deep += "<pci busid=\"0000:01:00.0\">";
  }
  for (int level = 0; level < 100; ++level) {
    deep += "</pci>";
  }
  deep += "</cpu></system>";
  CHECK_THAT(message_of(deep),
             Catch::Matchers::ContainsSubstring("elements stand in one another more than 64 deep"));
  std::string many = "<system version=\"1\">";
  for (int element = 0; element < 66000; ++element) {
    many += "<a/>";
  }
  many += "</system>";
  CHECK_THAT(message_of(many), Catch::Matchers::ContainsSubstring("more than 65536 elements"));
  CHECK_THAT(message_of("<system version=\"" + std::string(300, '1') + "\"/>"),
             Catch::Matchers::ContainsSubstring("a value has 300 bytes; at most 254 are accepted"));
  CHECK_THAT(
      message_of("<system version=\"1\" version=\"1\"/>"),
      Catch::Matchers::ContainsSubstring("attribute \"version\" stands twice in one element"));
  CHECK_THAT(message_of("<system version=\"1\"/><system/>"),
             Catch::Matchers::ContainsSubstring("a second root element"));
  std::string attributes = "<system";
  for (int number = 0; number < 100; ++number) {
    attributes += " a" + std::to_string(number) + "=\"1\"";
  }
  CHECK_THAT(message_of(attributes + "/>"),
             Catch::Matchers::ContainsSubstring("an element has more than 64 attributes"));
  CHECK_THAT(message_of(""), Catch::Matchers::ContainsSubstring("error: "));
  CHECK_THAT(message_of(std::string("<system\0version", 15)),
             Catch::Matchers::ContainsSubstring("error: "));
  CHECK_THAT(
      message_of(with_cpu("<pci busid=\"0000:01:00.0\" link_width=\"99999999999999999999\"/>")),
      Catch::Matchers::ContainsSubstring(
          "pci.link_width: expected a whole number from 0 to 1024, got \"99999999999999999999\""));
}

TEST_CASE("RCCL's files are read and written: xGMI links, GPUs by gcn") {
  const std::string text =
      "<system version=\"2\">\n"
      "<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" modelid=\"1\">\n"
      "<pci busid=\"0000:01:00.0\" class=\"0x120000\" link_speed=\"32.0 GT/s PCIe\" "
      "link_width=\"16\">\n"
      "<gpu dev=\"0\" sm=\"94\" gcn=\"940\" rank=\"0\" gdr=\"1\">\n"
      "<xgmi target=\"0000:02:00.0\" count=\"1\" tclass=\"0x120000\"/></gpu></pci>\n"
      "<pci busid=\"0000:02:00.0\" class=\"0x120000\" link_speed=\"32.0 GT/s PCIe\" "
      "link_width=\"16\">\n"
      "<gpu dev=\"1\" sm=\"94\" gcn=\"940\" rank=\"1\" gdr=\"1\">\n"
      "<xgmi target=\"0000:01:00.0\" count=\"1\" tclass=\"0x120000\"/></gpu></pci>\n"
      "</cpu>\n</system>\n";
  const ReadMachine read = parse_topology_xml(text, "amd.xml");
  CHECK(read.machine.maker == Maker::Amd);
  CHECK(read.warnings.empty());
  const auto& pci = std::get<MachinePci>(read.machine.cpus.at(0).devices.at(0));
  CHECK(pci.gpu->gcn == "940");
  CHECK(pci.gpu->nvlinks.at(0).target == "0000:02:00.0");
  CHECK(parse_topology_xml(write_topology_xml(read.machine), "again.xml").machine == read.machine);
  CHECK_THROWS_WITH(make_system(read.machine, {}),
                    "the GPUs are AMD's: what RCCL decides is not modelled");
  // An MI300X has 64 GB/s a link.
  const std::string yaml = cluster_yaml(read.machine, "amd").text;
  CHECK_THAT(yaml, Catch::Matchers::ContainsSubstring(
                       "{ from: gpu0, to: gpu1, kind: xgmi, bandwidth: 64 GB/s"));
  CHECK_THAT(yaml, !Catch::Matchers::ContainsSubstring("compute_capability"));
}

TEST_CASE("every file that people have is read or refused with a reason") {
  for (const char* folder : {"samples/nccl-topo-xml", "samples/rccl-topo-xml"}) {
    const auto path = test::shared_path(folder);
    if (!path) {
      return;
    }
    for (const auto& entry : std::filesystem::directory_iterator(*path)) {
      if (entry.path().extension() != ".xml") {
        continue;
      }
      INFO(entry.path().filename().string());
      try {
        const ReadMachine read = load_topology_xml(entry.path().string());
        CHECK(parse_topology_xml(write_topology_xml(read.machine), "again.xml").machine ==
              read.machine);
        const GraphSet graphs = search_graphs(detect(read.machine, NodeCount::Several));
        CHECK(!graphs.ring.channels.empty());
      } catch (const InputError& error) {
        // Templates of clouds have no GPUs; the search is NCCL's, not RCCL's.
        CHECK((error.message() == "the node has no GPU" ||
               error.message() == "the GPUs are AMD's: what RCCL decides is not modelled"));
      }
    }
  }
}

}  // namespace collsim::nccl
