#include "algorithms/nccl/io/graph_xml.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/graph_search.hpp"
#include "tests/algorithms/nccl/machines.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"

namespace collsim::nccl {

namespace {

std::string graph(const std::string& attributes, const std::string& channels) {
  return "<graphs version=\"1\">\n<graph id=\"0\" pattern=\"4\" crossnic=\"0\" speedintra=\"20\" "
         "speedinter=\"20\" typeinter=\"PIX\" samechannels=\"1\" " +
         attributes + ">\n" + channels + "</graph>\n</graphs>\n";
}

std::string message_of(const std::string& text, const std::vector<int>& devs = {}) {
  try {
    static_cast<void>(parse_graph_xml(text, "graph.xml", devs));
  } catch (const InputError& error) {
    const std::string rendered = error.render();
    return rendered.substr(0, rendered.find('\n'));
  }
  return "accepted";
}

const std::string two = "<channel><gpu dev=\"0\"/><gpu dev=\"1\"/></channel>\n";

}  // namespace

TEST_CASE("graphs are written as NCCL does and read back as they were") {
  const DetectedNode node =
      detect(test::nic_per_gpu(2, 90, 18, 400000, "32.0 GT/s PCIe"), NodeCount::Several);
  const GraphSet graphs = search_graphs(node);
  REQUIRE(graphs.nvls);
  const std::vector<GraphOfFile> all{{GraphRole::Ring, graphs.ring},
                                     {GraphRole::Tree, graphs.tree},
                                     {GraphRole::Nvls, *graphs.nvls}};
  const std::string text = write_graph_xml(all);
  const ReadGraphs read = parse_graph_xml(text, "graph.xml");
  CHECK(read.warnings.empty());
  REQUIRE(read.graphs.size() == 3);
  CHECK(read.graphs[2].role == GraphRole::Nvls);
  CHECK(read.graphs[0].graph.channels.size() == graphs.ring.channels.size());
  CHECK(read.graphs[0].graph.channels[1].nic_out == graphs.ring.channels[1].nic_out);
  CHECK(write_graph_xml(read.graphs) == text);
}

TEST_CASE("devices of a graph file are hexadecimal, and ranks stand for them") {
  GraphOfFile one;
  one.graph.channels = {{{0, 1}, 16, 0}};
  one.graph.bandwidth_intra = 45.1F;
  one.graph.bandwidth_inter = 24;
  const std::string text = write_graph_xml({one}, {10, 17});
  CHECK(text ==
        "<graphs version=\"1\">\n"
        "  <graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"1\" speedintra=\"45.1\" "
        "speedinter=\"24\" latencyinter=\"0\" typeintra=\"LOC\" typeinter=\"LOC\" "
        "samechannels=\"0\">\n"
        "    <channel>\n"
        "      <net dev=\"0x10\"/>\n"
        "      <gpu dev=\"0xa\"/>\n"
        "      <gpu dev=\"0x11\"/>\n"
        "      <net dev=\"0\"/>\n"
        "    </channel>\n"
        "  </graph>\n"
        "</graphs>\n");
  const ReadGraphs read = parse_graph_xml(text, "graph.xml", {10, 17});
  CHECK(read.graphs.at(0).graph.channels.at(0).gpus == std::vector<int>{0, 1});
  CHECK(read.graphs.at(0).graph.channels.at(0).nic_in == 16);
}

TEST_CASE("numbers of an old graph file are decimal") {
  const std::string ten = "<channel><gpu dev=\"10\"/></channel>\n";
  const ReadGraphs read =
      parse_graph_xml(graph("typeintra=\"NVL\" nchannels=\"1\"", ten), "graph.xml");
  CHECK(read.graphs.at(0).graph.channels.at(0).gpus == std::vector<int>{10});
  REQUIRE(read.warnings.size() == 1);
  CHECK_THAT(read.warnings[0].message(),
             Catch::Matchers::ContainsSubstring("read as decimal, since the file has no \"0x\""));
}

TEST_CASE("a wrong graph file is refused at its place") {
  CHECK(message_of("<graphs version=\"3\"/>") ==
        "graph.xml:1:18: error: graphs.version: expected \"1\", got \"3\"");
  CHECK(message_of("<system version=\"1\"/>") ==
        "graph.xml:1:2: error: system: expected the root element \"graphs\", got \"system\"");
  const std::string typed = "typeintra=\"NVL\" nchannels=\"1\"";
  CHECK(message_of(graph(typed, two), {0, 1, 2}) ==
        "graph.xml:3:2: error: channel: the ring visits 2 of 3 GPUs");
  CHECK(message_of(graph(typed, "<channel><gpu dev=\"0\"/><gpu dev=\"0\"/></channel>\n")) ==
        "graph.xml:3:2: error: channel: the ring visits a GPU twice");
  CHECK(message_of(graph(typed, two), {0, 4}) ==
        "graph.xml:3:34: error: gpu.dev: the node has no GPU 1");
  CHECK(message_of(graph(typed, "<channel/>\n")) == "graph.xml:3:2: error: channel: has no GPU");
  CHECK(message_of(graph("nchannels=\"1\"", two)) ==
        "graph.xml:2:2: error: graph.typeintra: is missing");
  CHECK(message_of(graph(typed, "<channel><gpu dev=\"0x1000000000000000\"/></channel>\n")) ==
        "graph.xml:3:20: error: gpu.dev: expected the number of a device, got "
        "\"0x1000000000000000\"");
}

TEST_CASE("a graph file has one graph of a number") {
  const std::string typed = "typeintra=\"NVL\" nchannels=\"1\"";
  const std::string text = graph(typed, two);
  const std::string twice = text.substr(0, text.find("</graphs>")) +
                            text.substr(text.find('\n') + 1, text.find("</graphs>"));
  CHECK(message_of(twice) == "graph.xml:5:12: error: graph.id: two graphs have the number 0");
}

TEST_CASE("the speed of a graph is one that a channel can have") {
  const auto with = [](const std::string& intra, const std::string& inter,
                       const std::string& channels) {
    return "<graphs version=\"1\">\n<graph id=\"1\" pattern=\"3\" crossnic=\"0\" nchannels=\"" +
           std::string(channels.empty() ? "0" : "1") + "\" speedintra=\"" + intra +
           "\" speedinter=\"" + inter +
           "\" typeintra=\"NVL\" typeinter=\"PIX\" samechannels=\"1\">" + channels +
           "</graph>\n</graphs>\n";
  };
  CHECK(message_of(with("20", "0.12", two)) == "accepted");
  CHECK(message_of(with("5000", "5000", two)) == "accepted");
  // Where nothing was found.
  CHECK(message_of(with("0", "0", "")) == "accepted");
  const std::string expected = "expected GB/s of a channel, more than 0 and at most 100000, got ";
  CHECK(message_of(with("0", "20", two)) ==
        "graph.xml:2:66: error: graph.speedintra: " + expected + "\"0\"");
  CHECK(message_of(with("20", "0.0", two)) ==
        "graph.xml:2:82: error: graph.speedinter: " + expected + "\"0.0\"");
  CHECK(message_of(with("1e30", "20", two)) ==
        "graph.xml:2:66: error: graph.speedintra: " + expected + "\"1e30\"");
  for (const std::string wrong : {"-1", "inf", "nan", "1e99", ""}) {
    CHECK(message_of(with(wrong, "20", two)) ==
          "graph.xml:2:66: error: graph.speedintra: expected a number such as \"2.5\", got \"" +
              wrong + "\"");
  }
}

TEST_CASE("doubtful graph files are read with warnings") {
  const ReadGraphs read =
      parse_graph_xml(graph("typeintra=\"FAR\" nchannels=\"2\"", two), "graph.xml");
  REQUIRE(read.warnings.size() == 2);
  CHECK(read.warnings[0].message() == "\"FAR\" is no type of path: counts as LOC");
  CHECK(read.warnings[1].message() ==
        "the graph has 1 channels, not 2: those that are there count");
}

TEST_CASE("every graph file that people have is read") {
  const auto folder = test::shared_path("samples/nccl-graph-xml");
  if (!folder) {
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    if (entry.path().extension() == ".xml") {
      INFO(entry.path().filename().string());
      const ReadGraphs read = load_graph_xml(entry.path().string());
      CHECK(!read.graphs.empty());
      CHECK(parse_graph_xml(write_graph_xml(read.graphs), "again.xml").graphs.size() ==
            read.graphs.size());
    }
  }
}

}  // namespace collsim::nccl
