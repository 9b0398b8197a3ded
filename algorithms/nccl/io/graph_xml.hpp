#pragma once
// NCCL's graph file (NCCL_GRAPH_FILE, NCCL_GRAPH_DUMP_FILE): the graphs of one node, read and written.
// It names GPUs by their number on the host and network devices by the plugin's.
//
// Numbers are hexadecimal behind "0x"; files of old versions have plain decimals.
//
// Format: NCCL 2.28.9, src/graph/search.cc, src/graph/xml.cc.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/nccl/graph.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

/// Which of NCCL's graphs: the values are those of the file.
enum class GraphRole : std::uint8_t {
  Ring = 0,
  Tree = 1,
  CollNetChain = 2,
  Nvls = 3,
  CollNetDirect = 4,
};

struct GraphOfFile {
  GraphRole role{GraphRole::Ring};
  Graph graph{};
};

struct ReadGraphs {
  std::vector<GraphOfFile> graphs{};
  std::vector<InputError> warnings{};  ///< render("warning")
};

/// Shapes: `gpu_devs[rank]`, ranks within the node; if empty, the numbers of the file are the ranks.
/// Throws: InputError at its place, also for a ring that leaves out a GPU or visits one twice.
[[nodiscard]] ReadGraphs parse_graph_xml(std::string_view text, const std::string& file,
                                         const std::vector<int>& gpu_devs = {});

/// The same from a file.
[[nodiscard]] ReadGraphs load_graph_xml(const std::string& path,
                                        const std::vector<int>& gpu_devs = {});

/// As NCCL writes it. Shapes: as parse_graph_xml, which gives the same graphs back.
[[nodiscard]] std::string write_graph_xml(const std::vector<GraphOfFile>& graphs,
                                          const std::vector<int>& gpu_devs = {});

}  // namespace collsim::nccl
