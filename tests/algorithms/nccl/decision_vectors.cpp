#include "tests/algorithms/nccl/decision_vectors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace collsim::nccl::test {

namespace {

using nlohmann::json;

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// How often a text stands in another.
int occurrences(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// The value of the first attribute of that name.
std::string attribute(std::string_view xml, const std::string& name) {
  const std::size_t begin = xml.find(" " + name + "=\"") + name.size() + 3;
  return std::string(xml.substr(begin, xml.find('"', begin) - begin));
}

PathType path_type(const std::string& name) {
  constexpr std::array<std::string_view, 12> names{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                   "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
  const auto* const found = std::find(names.begin(), names.end(), name);
  return static_cast<PathType>(found - names.begin());
}

Pattern pattern(const std::string& name) {
  if (name == "ring") {
    return Pattern::Ring;
  }
  if (name == "nvls") {
    return Pattern::Nvls;
  }
  return name == "tree" ? Pattern::Tree : Pattern::BalancedTree;
}

Graph graph(const json& described) {
  Graph result;
  result.pattern = pattern(described["pattern"]);
  result.cross_nic = described["cross_nic"];
  result.same_channels = described["same_channels"];
  result.bandwidth_intra = described["bw_intra_GBps"];
  result.bandwidth_inter = described["bw_inter_GBps"];
  result.type_intra = path_type(described["type_intra"]);
  result.type_inter = path_type(described["type_inter"]);
  if (described.contains("heads")) {
    for (const int head : described["heads"]) {
      result.channels.push_back({{head}, {}, {}});
    }
  } else {
    for (const json& order : described["orders"]) {
      result.channels.push_back({order["gpus"].get<std::vector<int>>(), {}, {}});
    }
  }
  if (result.channels.size() != described["channels"].get<std::size_t>()) {
    throw std::runtime_error("a graph with other channels than it says");
  }
  return result;
}

/// In the vectors every GPU's NIC takes all of its link to the host, and of NVLink meshes the
/// weakest pair has one link.
void set_paths(Communicator& communicator, const std::string& xml) {
  const float link = communicator.min_sm >= 100 ? 40.1F : communicator.min_sm >= 90 ? 20.6F : 20.0F;
  const int gpus = communicator.max_ranks_per_node;
  if (xml.find("<nvlink") != std::string::npos && gpus > 1) {
    const int links = communicator.has_nvswitch ? std::stoi(attribute(xml, "count")) : 1;
    communicator.local_paths = {{PathType::Nvl, static_cast<float>(links) * link, link}};
  } else if (gpus > 1) {
    communicator.local_paths = {{PathType::Phb, 12.0F, 0.0F}};
  }
  communicator.nics = {{1, 12.0F}};
}

}  // namespace

std::vector<std::string> vector_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

json load_vector(const std::filesystem::path& folder, const std::string& name) {
  return json::parse(contents(folder / (name + ".json")));
}

VectorMachine vector_machine(const std::filesystem::path& folder, const json& vector) {
  VectorMachine machine;
  machine.name = vector["name"];
  for (const auto& [variable, value] : vector["env"].items()) {
    parse_variable(machine.configuration, variable, value.get<std::string>());
  }
  const json& graphs = vector["graphs"];
  machine.graphs.ring = graph(graphs["ring"]);
  machine.graphs.tree = graph(graphs["tree"]);
  if (graphs.contains("nvls")) {
    machine.graphs.nvls = graph(graphs["nvls"]);
  }

  const std::string xml = contents(folder / vector["topology"].get<std::string>());
  Communicator& communicator = machine.communicator;
  communicator.nodes = vector["nodes"];
  communicator.max_ranks_per_node = occurrences(xml, "<gpu ");
  communicator.min_ranks_per_node = communicator.max_ranks_per_node;
  communicator.ranks = communicator.nodes * communicator.max_ranks_per_node;
  communicator.min_sm = std::stoi(attribute(xml, "sm"));
  communicator.max_sm = communicator.min_sm;
  communicator.cpu_vendor =
      attribute(xml, "vendor") == "AuthenticAMD" ? HostVendor::Amd : HostVendor::Intel;
  communicator.has_nvswitch = xml.find("tclass=\"0x068000\"") != std::string::npos;
  communicator.supports_nvls = graphs.contains("nvls");
  set_paths(communicator, xml);
  return machine;
}

}  // namespace collsim::nccl::test
