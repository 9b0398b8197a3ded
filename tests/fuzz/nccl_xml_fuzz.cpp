// Any bytes as a topology file and as a graph file of NCCL. Nothing but InputError may come out; what is read is
// written and read back as it was, and becomes a system with its paths or is refused.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/io/graph_xml.hpp"
#include "algorithms/nccl/io/topology_xml.hpp"
#include "topology/error.hpp"

namespace {

void read_topology(std::string_view text) {
  const collsim::nccl::ReadMachine read = collsim::nccl::parse_topology_xml(text, "fuzz.xml");
  for (const collsim::InputError& warning : read.warnings) {
    static_cast<void>(warning.render("warning"));
  }
  static_cast<void>(collsim::nccl::detect(read.machine, collsim::nccl::NodeCount::Several));
  const std::string written = collsim::nccl::write_topology_xml(read.machine);
  if (collsim::nccl::parse_topology_xml(written, "again.xml").machine != read.machine) {
    std::abort();
  }
}

}  // namespace

// The name and the types are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as characters
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    read_topology(text);
  } catch (const collsim::InputError& error) {
    static_cast<void>(error.render());
  }
  try {
    static_cast<void>(
        collsim::nccl::write_graph_xml(collsim::nccl::parse_graph_xml(text, "fuzz.xml").graphs));
  } catch (const collsim::InputError& error) {
    static_cast<void>(error.render());
  }
  return 0;
}
