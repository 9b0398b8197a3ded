#include "algorithms/nccl/io/graph_xml.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "algorithms/nccl/io/xml_reader.hpp"
#include "algorithms/nccl/io/xml_tree.hpp"
#include "algorithms/nccl/io/xml_writer.hpp"
#include "topology/io/source.hpp"

namespace collsim::nccl {

namespace {

constexpr NumberRange flag{0, 1};
constexpr std::int64_t most_dev = 65535;

bool has_hexadecimal(const XmlElement& element) {
  if (const XmlAttribute* dev = element.attribute("dev");
      dev != nullptr && dev->value.starts_with("0x")) {
    return true;
  }
  return std::any_of(element.children.begin(), element.children.end(), has_hexadecimal);
}

class GraphReader {
 public:
  GraphReader(const XmlTree& tree, const std::vector<int>& gpu_devs)
      : tree_(tree), reader_(tree), gpu_devs_(gpu_devs), hexadecimal_(has_hexadecimal(tree.root)) {}

  ReadGraphs read() {
    const XmlElement& root = tree_.root;
    if (root.name != "graphs") {
      reader_.fail(root, "", "expected the root element \"graphs\", got " + in_quotes(root.name));
    }
    if (const std::string version = reader_.required_text(root, "version"); version != "1") {
      reader_.fail(root, "version", "expected \"1\", got " + in_quotes(version));
    }
    ReadGraphs read;
    for (const XmlElement& child : root.children) {
      if (child.name == "graph") {
        read_graph(child, read);
      } else {
        reader_.warn(child, "", "NCCL passes over such an element here");
      }
    }
    read.warnings = reader_.warnings();
    return read;
  }

 private:
  void read_graph(const XmlElement& element, ReadGraphs& read) {
    const int id = reader_.required_number(element, "id", {0, 65535});
    const int pattern = reader_.required_number(element, "pattern", {0, 65535});
    if (id > static_cast<int>(GraphRole::CollNetDirect)) {
      reader_.warn(element, "id", "no graph of NCCL has this number: left out");
      return;
    }
    if (pattern < static_cast<int>(Pattern::BalancedTree) ||
        pattern > static_cast<int>(Pattern::CollNetDirect)) {
      reader_.warn(element, "pattern", "no pattern of NCCL has this number: graph left out");
      return;
    }
    if (!ids_.insert(id).second) {
      reader_.fail(element, "id", "two graphs have the number " + std::to_string(id),
                   "NCCL reads one of each");
    }
    GraphOfFile result;
    result.role = static_cast<GraphRole>(id);
    Graph& graph = result.graph;
    graph.pattern = static_cast<Pattern>(pattern);
    graph.cross_nic = reader_.required_number(element, "crossnic", {0, 2});
    graph.latency_inter = reader_.decimal(element, "latencyinter").value_or(0.0F);
    graph.type_intra = path_type(element, "typeintra");
    graph.type_inter = path_type(element, "typeinter");
    graph.same_channels = reader_.required_number(element, "samechannels", flag) == 1;
    for (const XmlElement& child : element.children) {
      if (child.name == "channel") {
        graph.channels.push_back(read_channel(child));
      }
    }
    graph.bandwidth_intra = speed(element, "speedintra", graph);
    graph.bandwidth_inter = speed(element, "speedinter", graph);
    const int channels = reader_.required_number(element, "nchannels", {0, 65535});
    if (static_cast<std::size_t>(channels) != graph.channels.size()) {
      reader_.warn(element, "nchannels",
                   "the graph has " + std::to_string(graph.channels.size()) + " channels, not " +
                       std::to_string(channels) + ": those that are there count");
    }
    if (graph.pattern == Pattern::Ring) {
      check_rings(element, graph);
    }
    read.graphs.push_back(std::move(result));
  }

  /// GB/s a channel; 0 where there is none.
  float speed(const XmlElement& element, std::string_view attribute, const Graph& graph) const {
    constexpr float most = 100'000;
    const auto value = reader_.decimal(element, attribute);
    if (!value) {
      reader_.fail(element, attribute, "is missing");
    }
    if (*value > most || (*value == 0 && !graph.channels.empty())) {
      reader_.fail(element, attribute,
                   "expected GB/s of a channel, more than 0 and at most 100000, got " +
                       in_quotes(*reader_.text(element, attribute)));
    }
    return *value;
  }

  PathType path_type(const XmlElement& element, std::string_view attribute) {
    const std::string text = reader_.required_text(element, attribute);
    for (int type = 0; type <= static_cast<int>(PathType::Dis); ++type) {
      if (text == name(static_cast<PathType>(type))) {
        return static_cast<PathType>(type);
      }
    }
    reader_.warn(element, attribute, in_quotes(text) + " is no type of path: counts as LOC");
    return PathType::Loc;
  }

  GraphChannel read_channel(const XmlElement& element) {
    GraphChannel channel;
    for (const XmlElement& child : element.children) {
      if (child.name == "net") {
        const int dev = device(child);
        channel.nic_out = dev;
        channel.nic_in = channel.nic_in.value_or(dev);
      } else if (child.name == "gpu") {
        channel.gpus.push_back(rank(child));
      } else {
        reader_.warn(child, "", "NCCL passes over such an element here");
      }
    }
    if (channel.gpus.empty()) {
      reader_.fail(element, "", "has no GPU");
    }
    return channel;
  }

  int device(const XmlElement& element) {
    std::string text = reader_.required_text(element, "dev");
    const std::string digits = text.starts_with("0x") ? text.substr(2) : text;
    std::int64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, value, hexadecimal_ ? 16 : 10);
    if (result.ec != std::errc{} || result.ptr != end || value < 0 || value > most_dev) {
      reader_.fail(element, "dev", "expected the number of a device, got " + in_quotes(text),
                   "files of NVLink domains over several hosts are not read");
    }
    if (!hexadecimal_ && value >= 10) {
      reader_.warn(
          element, "dev",
          "read as decimal, since the file has no \"0x\"; NCCL since 2.23 reads hexadecimal");
    }
    return static_cast<int>(value);
  }

  int rank(const XmlElement& element) {
    const int dev = device(element);
    if (gpu_devs_.empty()) {
      return dev;
    }
    const auto found = std::find(gpu_devs_.begin(), gpu_devs_.end(), dev);
    if (found == gpu_devs_.end()) {
      reader_.fail(element, "dev", "the node has no GPU " + std::to_string(dev));
    }
    return static_cast<int>(found - gpu_devs_.begin());
  }

  void check_rings(const XmlElement& element, const Graph& graph) {
    std::set<int> all;
    for (std::size_t rank = 0; rank < gpu_devs_.size(); ++rank) {
      all.insert(static_cast<int>(rank));
    }
    for (const GraphChannel& channel : graph.channels) {
      all.insert(channel.gpus.begin(), channel.gpus.end());
    }
    std::size_t number = 0;
    for (const XmlElement& child : element.children) {
      if (child.name != "channel") {
        continue;
      }
      const std::vector<int>& gpus = graph.channels[number++].gpus;
      const std::set<int> visited(gpus.begin(), gpus.end());
      if (visited.size() != gpus.size()) {
        reader_.fail(child, "", "the ring visits a GPU twice");
      }
      if (visited != all) {
        reader_.fail(child, "",
                     "the ring visits " + std::to_string(visited.size()) + " of " +
                         std::to_string(all.size()) + " GPUs");
      }
    }
  }

  const XmlTree& tree_;
  XmlReader reader_;
  const std::vector<int>& gpu_devs_;
  bool hexadecimal_;
  std::set<int> ids_{};  ///< of graphs that were read
};

/// As C's "%#x": "0", "0x1", "0x1f".
std::string hexadecimal(int number) {
  std::string text(16, '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, 16);
  text.resize(static_cast<std::size_t>(end.ptr - text.data()));
  return number == 0 ? text : "0x" + text;
}

void write_device(XmlWriter& writer, const std::string& kind, int dev) {
  writer.open(kind);
  writer.attribute("dev", hexadecimal(dev));
  writer.close();
}

}  // namespace

ReadGraphs parse_graph_xml(std::string_view text, const std::string& file,
                           const std::vector<int>& gpu_devs) {
  const XmlTree tree = parse_xml(text, file);
  return GraphReader(tree, gpu_devs).read();
}

ReadGraphs load_graph_xml(const std::string& path, const std::vector<int>& gpu_devs) {
  return parse_graph_xml(read_file(path), path, gpu_devs);
}

std::string write_graph_xml(const std::vector<GraphOfFile>& graphs,
                            const std::vector<int>& gpu_devs) {
  XmlWriter writer;
  writer.open("graphs");
  writer.attribute("version", 1);
  for (const auto& [role, graph] : graphs) {
    writer.open("graph");
    writer.attribute("id", static_cast<int>(role));
    writer.attribute("pattern", static_cast<int>(graph.pattern));
    writer.attribute("crossnic", graph.cross_nic);
    writer.attribute("nchannels", static_cast<int>(graph.channels.size()));
    writer.attribute("speedintra", std::optional<float>(graph.bandwidth_intra));
    writer.attribute("speedinter", std::optional<float>(graph.bandwidth_inter));
    writer.attribute("latencyinter", std::optional<float>(graph.latency_inter));
    writer.attribute("typeintra", std::string(name(graph.type_intra)));
    writer.attribute("typeinter", std::string(name(graph.type_inter)));
    writer.attribute("samechannels", graph.same_channels ? 1 : 0);
    for (const GraphChannel& channel : graph.channels) {
      writer.open("channel");
      if (channel.nic_in) {
        write_device(writer, "net", *channel.nic_in);
      }
      for (const int rank : channel.gpus) {
        write_device(writer, "gpu",
                     gpu_devs.empty() ? rank : gpu_devs.at(static_cast<std::size_t>(rank)));
      }
      if (channel.nic_out) {
        write_device(writer, "net", *channel.nic_out);
      }
      writer.close();
    }
    writer.close();
  }
  writer.close();
  return writer.text();
}

}  // namespace collsim::nccl
