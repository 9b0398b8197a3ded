#include "algorithms/nccl/configuration.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

Configuration with(std::string_view name, std::string_view value) {
  Configuration configuration;
  parse_variable(configuration, name, value);
  return configuration;
}

std::string refusal(std::string_view name, std::string_view value) {
  try {
    static_cast<void>(with(name, value));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

/// The words a restriction leaves to a function: "Tree Ring".
std::string algorithms_of(std::string_view value, Function function) {
  const Restriction restriction = with("NCCL_ALGO", value).algorithms;
  std::string text;
  for (const Algorithm algorithm : algorithms) {
    if (restriction.allows(function, static_cast<std::size_t>(algorithm))) {
      text += (text.empty() ? "" : " ") + std::string(name(algorithm));
    }
  }
  return text;
}

constexpr std::string_view all_algorithms =
    "Tree Ring CollNetDirect CollNetChain NVLS NVLSTree PAT";

/// A variable that is a whole number: what it accepts, and where it goes.
struct Number {
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
  std::int64_t (*read)(const Configuration&);
};

template <auto Member>
std::int64_t read(const Configuration& configuration) {
  return static_cast<std::int64_t>((configuration.*Member).value());
}

template <auto Member>
std::int64_t read_plain(const Configuration& configuration) {
  return static_cast<std::int64_t>(configuration.*Member);
}

using C = Configuration;

const std::vector<Number>& numbers() {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  static const std::vector<Number> list{
      {"NCCL_MIN_NCHANNELS", 1, 64, read<&C::min_channels>},
      {"NCCL_MAX_NCHANNELS", 1, 64, read<&C::max_channels>},
      {"NCCL_MIN_CTAS", 1, 64, read<&C::min_ctas>},
      {"NCCL_MAX_CTAS", 1, 64, read<&C::max_ctas>},
      {"NCCL_NVLS_NCHANNELS", 1, 64, read<&C::nvls_channels>},
      {"NCCL_MIN_P2P_NCHANNELS", 1, 64, read<&C::min_p2p_channels>},
      {"NCCL_MAX_P2P_NCHANNELS", 1, 64, read<&C::max_p2p_channels>},
      {"NCCL_NCHANNELS_PER_NET_PEER", 1, 64, read<&C::channels_per_net_peer>},
      {"NCCL_NTHREADS", 64, 512, read<&C::threads>},
      {"NCCL_LL128_NTHREADS", 160, 640, read<&C::ll128_threads>},
      {"NCCL_BUFFSIZE", 4096, gib, read<&C::buffer>},
      {"NCCL_LL_BUFFSIZE", 256, gib, read<&C::ll_buffer>},
      {"NCCL_LL128_BUFFSIZE", 16384, gib, read<&C::ll128_buffer>},
      {"NCCL_P2P_NET_CHUNKSIZE", 512, gib, read<&C::net_chunk>},
      {"NCCL_P2P_PCI_CHUNKSIZE", 512, gib, read<&C::pci_chunk>},
      {"NCCL_P2P_NVL_CHUNKSIZE", 512, gib, read<&C::nvlink_chunk>},
      {"NCCL_CHUNK_SIZE", 512, gib, read<&C::send_recv_chunk>},
      {"NCCL_NVLS_CHUNKSIZE", 512, gib, read<&C::nvls_chunk>},
      {"NCCL_NVLSTREE_MAX_CHUNKSIZE", 512, gib, read<&C::nvls_tree_chunk>},
      {"NCCL_SYM_CTAS", 0, 64, read<&C::symmetric_ctas>},
      {"NCCL_P2P_LL_THRESHOLD", 0, gib, read<&C::p2p_ll_threshold>},
      {"NCCL_ALLOC_P2P_NET_LL_BUFFERS", 0, 1, read_plain<&C::ll_buffers_for_network>},
      {"NCCL_P2P_SCHEDULE_GROUP_SIZE", 1, 1024, read<&C::schedule_group>},
      {"NCCL_NVLS_ENABLE", 0, 2, read_plain<&C::nvls>},
      {"NCCL_PAT_ENABLE", 0, 2, read_plain<&C::pat>},
      {"NCCL_COLLNET_ENABLE", 0, 1, read_plain<&C::collnet>},
      {"NCCL_COLLNET_NODE_THRESHOLD", 1, 2147483647, read_plain<&C::collnet_nodes>},
      {"NCCL_LL128_C2C", 0, 1, read_plain<&C::ll128_over_c2c>},
      {"NCCL_NET_OVERHEAD", 0, 1000000000, read<&C::net_overhead_ns>},
      {"NCCL_CROSS_NIC", 0, 2, read<&C::cross_nic>},
      {"NCCL_PXN_DISABLE", 0, 1, read_plain<&C::pxn_disabled>},
      {"NCCL_P2P_DISABLE", 0, 1, read_plain<&C::p2p_disabled>},
      {"NCCL_SHM_DISABLE", 0, 1, read_plain<&C::shm_disabled>}};
  return list;
}

}  // namespace

TEST_CASE("variables: numbers are taken from the least to the greatest") {
  for (const Number& number : numbers()) {
    INFO(number.name);
    CHECK(number.read(with(number.name, std::to_string(number.least))) == number.least);
    CHECK(number.read(with(number.name, std::to_string(number.most))) == number.most);
    CHECK(refusal(number.name, std::to_string(number.least - 1)) != "accepted");
    CHECK(refusal(number.name, std::to_string(number.most + 1)) != "accepted");
    CHECK(refusal(number.name, "") != "accepted");
    CHECK(refusal(number.name, std::to_string(number.least) + "x") != "accepted");
  }
}

TEST_CASE("variables: what a refusal of a number says") {
  CHECK(refusal("NCCL_MAX_NCHANNELS", "0") ==
        "error: NCCL_MAX_NCHANNELS: expected a whole number from 1 to 64, got \"0\"");
  CHECK(refusal("NCCL_NTHREADS", "100") ==
        "error: NCCL_NTHREADS: expected a multiple of 32 from 64 to 512, got \"100\"");
  CHECK(refusal("NCCL_LL128_NTHREADS", "200") ==
        "error: NCCL_LL128_NTHREADS: expected a multiple of 32 from 160 to 640, got \"200\"");
  CHECK(refusal("NCCL_BUFFSIZE", "4M") ==
        "error: NCCL_BUFFSIZE: expected a whole number from 4096 to 1073741824, got \"4M\"");
}

TEST_CASE("variables: defaults leave all to NCCL") {
  const Configuration none;
  CHECK(none.nvls == Switch::Auto);
  CHECK(none.pat == Switch::Auto);
  CHECK_FALSE(none.collnet);
  CHECK(none.collnet_nodes == 2);
  CHECK(none.ll128_over_c2c);
  CHECK_FALSE(none.max_channels);
  CHECK(none.algorithms.allows(Function::AllReduce, 0));
}

TEST_CASE("variables: path levels by name and by NCCL's old numbers") {
  CHECK(with("NCCL_P2P_LEVEL", "NVL").p2p_level == PathType::Nvl);
  CHECK(with("NCCL_P2P_LEVEL", "SYS").p2p_level == PathType::Sys);
  CHECK(with("NCCL_P2P_LEVEL", "0").p2p_level == PathType::Loc);
  CHECK(with("NCCL_P2P_LEVEL", "1").p2p_level == PathType::Pix);
  CHECK(with("NCCL_P2P_LEVEL", "3").p2p_level == PathType::Phb);
  CHECK(with("NCCL_P2P_LEVEL", "5").p2p_level == PathType::Sys);
  CHECK(with("NCCL_NET_GDR_LEVEL", "PXB").net_gdr_level == PathType::Pxb);
  const std::string accepted =
      "expected LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB or SYS, or a number from 0 on, got ";
  CHECK(refusal("NCCL_P2P_LEVEL", "-1") == "error: NCCL_P2P_LEVEL: " + accepted + "\"-1\"");
  CHECK(refusal("NCCL_NET_GDR_LEVEL", "pxb") ==
        "error: NCCL_NET_GDR_LEVEL: " + accepted + "\"pxb\"\nhint: did you mean \"PXB\"?");
}

TEST_CASE("variables: files") {
  CHECK(with("NCCL_TOPO_FILE", "a.xml").topo_file == "a.xml");
  CHECK(with("NCCL_GRAPH_FILE", "b.xml").graph_file == "b.xml");
  CHECK(refusal("NCCL_GRAPH_FILE", "") == "error: NCCL_GRAPH_FILE: expected a file, got \"\"");
}

TEST_CASE("variables: thread thresholds are six numbers") {
  CHECK(with("NCCL_THREAD_THRESHOLDS", "1 2 3  4 5 -1 ").thread_thresholds ==
        std::array<std::int64_t, 6>{1, 2, 3, 4, 5, -1});
  for (const std::string_view wrong :
       {"1 2 3 4 5", "1 2 3 4 5 6 7", "1 2 3 4 5 x", "", "1 2 3 4 5 1073741825"}) {
    CHECK(refusal("NCCL_THREAD_THRESHOLDS", wrong) ==
          "error: NCCL_THREAD_THRESHOLDS: expected six whole numbers up to 1073741824 with blanks "
          "between them, got \"" +
              std::string(wrong) +
              "\"\nhint: bytes a thread for Tree LL, LL128, Simple, Ring LL, LL128, Simple; "
              "negative: NCCL's own");
  }
}

TEST_CASE("variables: a list names what is left, or with ^ what is not") {
  CHECK(algorithms_of("Ring", Function::AllReduce) == "Ring");
  CHECK(algorithms_of("ring,TREE", Function::Broadcast) == "Tree Ring");
  CHECK(algorithms_of("^nvls,NVLSTree", Function::AllGather) ==
        "Tree Ring CollNetDirect CollNetChain PAT");
  CHECK(with("NCCL_PROTO", "^LL").protocols.allows(Function::AllReduce, 1));
  CHECK_FALSE(with("NCCL_PROTO", "^LL").protocols.allows(Function::AllReduce, 0));
}

// The examples of NCCL's own description of the grammar.
TEST_CASE("variables: entries for functions replace what was said of them") {
  const std::string_view value = "ring,collnetdirect;allreduce:tree,collnetdirect;broadcast:ring";
  CHECK(algorithms_of(value, Function::AllReduce) == "Tree CollNetDirect");
  CHECK(algorithms_of(value, Function::Broadcast) == "Ring");
  CHECK(algorithms_of(value, Function::Reduce) == "Ring CollNetDirect");
  CHECK(with("NCCL_ALGO", value).algorithms.names_functions);
  CHECK_FALSE(with("NCCL_ALGO", "ring").algorithms.names_functions);

  CHECK(algorithms_of("ALLREDUCE:^ring", Function::AllReduce) ==
        "Tree CollNetDirect CollNetChain NVLS NVLSTree PAT");
  CHECK(algorithms_of("ALLREDUCE:^ring", Function::AllGather) == all_algorithms);

  const Restriction restriction = with("NCCL_PROTO", "^LL128;allreduce:LL128").protocols;
  CHECK(restriction.allowed[Function::AllReduce] == 0b010);
  CHECK(restriction.allowed[Function::Reduce] == 0b101);
}

TEST_CASE("variables: what a refusal of a list says") {
  const std::string words =
      "\nhint: accepted: Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree or PAT";
  CHECK(refusal("NCCL_ALGO", "ring,tre") ==
        "error: NCCL_ALGO: unknown word \"tre\", did you mean \"Tree\"?" + words);
  CHECK(refusal("NCCL_ALGO", "") == "error: NCCL_ALGO: unknown word \"\"" + words);
  CHECK(refusal("NCCL_ALGO", "ring,") == "error: NCCL_ALGO: unknown word \"\"" + words);
  CHECK(refusal("NCCL_ALGO", "^") == "error: NCCL_ALGO: unknown word \"\"" + words);
  CHECK(refusal("NCCL_ALGO", "ring,^tree") ==
        "error: NCCL_ALGO: unknown word \"^tree\", did you mean \"Tree\"?" + words);
  CHECK(refusal("NCCL_ALGO", "Symmetric") ==
        "error: NCCL_ALGO: unknown word \"Symmetric\"" + words);
  CHECK(refusal("NCCL_PROTO", "LL64") ==
        "error: NCCL_PROTO: unknown word \"LL64\"\n"
        "hint: accepted: LL, LL128 or Simple");
  CHECK(refusal("NCCL_ALGO", "alltoall:ring") ==
        "error: NCCL_ALGO: unknown function \"alltoall\"\n"
        "hint: accepted: Broadcast, Reduce, AllGather, ReduceScatter or AllReduce");
  CHECK(refusal("NCCL_ALGO", "allreduce:tree;ring") ==
        "error: NCCL_ALGO: only the first entry may lack a function, got \"ring\"\n"
        "hint: write `function:list`; functions: Broadcast, Reduce, AllGather, ReduceScatter or "
        "AllReduce");
}

TEST_CASE("variables: names must be whole, known and modelled") {
  const auto first_line = [](std::string_view name) {
    const std::string message = refusal(name, "1");
    return message.substr(0, message.find('\n'));
  };
  CHECK(refusal("MAX_NCHANNELS", "1") ==
        "error: expected the full name of an NCCL variable, got \"MAX_NCHANNELS\"\n"
        "hint: write NCCL_MAX_NCHANNELS");
  CHECK(refusal("algo", "ring") ==
        "error: expected the full name of an NCCL variable, got \"algo\"\nhint: write NCCL_ALGO");
  CHECK(refusal("PATH", "1") == "error: expected the full name of an NCCL variable, got \"PATH\"");
  CHECK(first_line("NCCL_MAX_NCHANELS") ==
        "error: unknown variable \"NCCL_MAX_NCHANELS\", did you mean \"NCCL_MAX_NCHANNELS\"?");
  CHECK(first_line("NCCL_DEBUG") ==
        "error: NCCL_DEBUG: NCCL has this variable, but it is not modelled");
  CHECK(first_line("NCCL_IB_TIMEOUT") ==
        "error: NCCL_IB_TIMEOUT: NCCL has this variable, but it is not modelled");
}

TEST_CASE("variables: NCCL_SYM_KERNEL takes the names of kernels") {
  Configuration configuration;
  parse_variable(configuration, "NCCL_SYM_KERNEL", "AllGather_STMC");
  CHECK(configuration.symmetric_kernel == "AllGather_STMC");
  CHECK(refusal("NCCL_SYM_KERNEL", "AllGather_STMD").find("did you mean \"AllGather_STMC\"?") !=
        std::string::npos);
}

TEST_CASE("variables: every modelled one is in the list and accepted by its name") {
  const std::vector<std::string> names = variable_names();
  // The numbers above; ALGO, PROTO, SYM_KERNEL, THREAD_THRESHOLDS, two levels and two files.
  CHECK(names.size() == numbers().size() + 8);
  for (const std::string& name : names) {
    CHECK(refusal(name, "no value").find("unknown variable") == std::string::npos);
  }
}

}  // namespace collsim::nccl
