// The shipped constants by version, and what is refused in such files.

#include "algorithms/nccl/constants.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "algorithms/nccl/io/find_constants.hpp"
#include "algorithms/nccl/io/read_constants.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/error.hpp"
#include "topology/io/source.hpp"

namespace collsim::nccl {

namespace {

namespace fs = std::filesystem;

using test::constants_of;

ConfigPath shipped() { return {{collsim::test::source_path("configs").string()}}; }

std::string refusal(const ConfigPath& path, const std::string& version) {
  try {
    static_cast<void>(find_constants(path, version));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

std::string shipped_text() {
  return read_file(collsim::test::source_path("configs/parameters/nccl-tuning-2.28.yaml").string());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The message about a text of constants, less the lines that show the place.
std::string message(const std::string& text) {
  try {
    const ConstantsFile file = parse_constants(text, "x.yaml");
    static_cast<void>(read_head(file));
    TuningConstants constants;
    read_constants(file, constants);
  } catch (const InputError& error) {
    return error.path() + ": " + error.message() + (error.location().line > 0 ? "" : " (no place)");
  }
  return "accepted";
}

/// The message where the shipped file says something else.
std::string changed(const std::string& from, const std::string& to) {
  return message(replaced(shipped_text(), from, to));
}

/// A folder of its own with parameters/, gone at the end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(fs::temp_directory_path() / ("collsim-constants-test-" + name)) {
    fs::remove_all(path_);
    fs::create_directories(path_ / "parameters");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / "parameters" / ("nccl-tuning-" + name + ".yaml")) << text;
  }
  [[nodiscard]] ConfigPath path() const { return {{path_.string()}}; }
  [[nodiscard]] std::string text() const { return path_.string(); }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("constants: versions as text") {
  CHECK(parse_version("2.28") == NcclVersion{2, 28, std::nullopt});
  CHECK(parse_version("2.28.9") == NcclVersion{2, 28, 9});
  CHECK(parse_version("2.28.9-1") == NcclVersion{2, 28, 9});
  for (const std::string_view wrong : {"", "2", "2.", "2.28.", "2.x", "v2.28", "2.28.9.1", "-2.28",
                                       "2.28.9-", "2.28.9-x", "2.28 ", "2.99999"}) {
    INFO(wrong);
    CHECK_FALSE(parse_version(wrong));
  }
  CHECK(to_text(NcclVersion{2, 28, 9}) == "2.28.9");
  CHECK(to_text(VersionRange{{2, 29, 2}, {2, 29, 3}}) == "2.29.2-2.29.3");
}

TEST_CASE("constants: a version lies in the file that lists it") {
  const auto file_of = [](const std::string& version) { return constants_of(version).name; };
  CHECK(file_of("2.7.3") == "2.7");
  CHECK(file_of("2.18") == "2.18");
  CHECK(file_of("2.18.5") == "2.18");
  CHECK(file_of("2.19.3") == "2.19");
  CHECK(file_of("2.20.5") == "2.20");
  CHECK(file_of("2.21.5") == "2.21-2.22");
  CHECK(file_of("2.22") == "2.21-2.22");
  CHECK(file_of("2.23.4") == "2.23");
  CHECK(file_of("2.24.3") == "2.24");
  CHECK(file_of("2.25.1") == "2.25");
  CHECK(file_of("2.26") == "2.26");
  CHECK(file_of("2.27.7") == "2.27");
  CHECK(file_of("2.28.3") == "2.28");
  CHECK(file_of("2.29.2") == "2.29.2");
  CHECK(file_of("2.29.3") == "2.29.2");
  CHECK(file_of("2.29.7") == "2.29.7");
  CHECK(file_of("2.29.99") == "2.29.7");
  CHECK(file_of("2.29") == "2.29.7");  // the last of its series
  CHECK(file_of("2.30.7") == "2.30");
}

TEST_CASE("constants: other versions are refused with what is known") {
  const std::string known =
      "\nhint: known: 2.7, 2.18, 2.19, 2.20, 2.21-2.22, 2.23, 2.24, 2.25, 2.26, 2.27, 2.28, "
      "2.29.2-2.29.3, 2.29.7-2.29.x or 2.30";
  CHECK(refusal(shipped(), "2.17") ==
        "error: --nccl: the decisions of NCCL 2.17 are not known" + known);
  CHECK(refusal(shipped(), "2.29.4") ==
        "error: --nccl: the decisions of NCCL 2.29.4 are not known" + known);
  CHECK(refusal(shipped(), "2.29.1") ==
        "error: --nccl: the decisions of NCCL 2.29.1 are not known" + known);
  CHECK(refusal(shipped(), "2.31") ==
        "error: --nccl: the decisions of NCCL 2.31 are not known" + known);
  CHECK(refusal(shipped(), "3.28.9") ==
        "error: --nccl: the decisions of NCCL 3.28.9 are not known" + known);
  CHECK(refusal(shipped(), "latest") ==
        "error: --nccl: expected a version such as \"2.28\" or \"2.28.9\", got \"latest\"" + known);
  CHECK(refusal({{"/nonexistent"}}, "2.28") ==
        "error: --nccl: the decisions of NCCL 2.28 are not known\n"
        "hint: no file of constants was found");
}

TEST_CASE("constants: what is listed does not overlap") {
  const std::vector<ListedConstants> listed = list_constants(shipped());
  REQUIRE(listed.size() == 14);
  for (const ListedConstants& one : listed) {
    for (const ListedConstants& other : listed) {
      INFO(one.name << " and " << other.name);
      CHECK((one.name == other.name || !other.versions.contains(one.versions.first)));
      CHECK((one.name == other.name || !other.versions.contains(one.versions.last)));
    }
  }
}

TEST_CASE("constants: a range of versions that runs back is refused") {
  const std::string head = "description: x\nversions: ";
  CHECK_THROWS_WITH(
      read_head(parse_constants(head + "{ first: \"2.98\", last: \"2.97\" }\n", "x")),
      Catch::Matchers::ContainsSubstring("expected 2.98 or a later version, got \"2.97\""));
}

// Release notes: the links of Sapphire and Emerald Rapids are new in 2.26.
TEST_CASE("constants: links between CPUs") {
  CHECK(find_constants(shipped(), "2.25").sapphire_rapids_sockets == 10);
  CHECK(find_constants(shipped(), "2.26").sapphire_rapids_sockets == 22);
  CHECK(find_constants(shipped(), "2.28").emerald_rapids_sockets == 40);
}

// Differences that NCCL's sources and release notes state.
TEST_CASE("constants: what changed from version to version") {
  const auto hop = [](const char* version, Hop kind, Algorithm algorithm) {
    return constants_of(version).hop_latency[kind][algorithm][Protocol::Simple];
  };
  CHECK(hop("2.18", Hop::NvLink, Algorithm::Tree) == 4);
  CHECK(hop("2.18", Hop::Pci, Algorithm::Tree) == 6);
  CHECK(hop("2.18", Hop::Network, Algorithm::Tree) == 14);
  CHECK(hop("2.19", Hop::Network, Algorithm::Tree) == 28);
  CHECK(hop("2.22", Hop::NvLink, Algorithm::Tree) == 28);
  CHECK(hop("2.23", Hop::NvLink, Algorithm::Tree) == 4);
  CHECK(hop("2.18", Hop::Network, Algorithm::CollNetDirect) == 10.7);
  CHECK(hop("2.18", Hop::NvLink, Algorithm::CollNetChain) == 4.75);
  CHECK(hop("2.18", Hop::Network, Algorithm::NvlsTree) == 19);
  CHECK(hop("2.19", Hop::Network, Algorithm::NvlsTree) == 14);
  CHECK(hop("2.27", Hop::Network, Algorithm::NvlsTree) == 14);
  CHECK(hop("2.28", Hop::Network, Algorithm::NvlsTree) == 20.9);
  CHECK(hop("2.20", Hop::NvLink, Algorithm::Nvls) == 23);
  CHECK(hop("2.21", Hop::NvLink, Algorithm::Nvls) == 25);
  CHECK(constants_of("2.22").base_latency[Algorithm::Tree][Protocol::Simple] == 0);
  CHECK(constants_of("2.23").base_latency[Algorithm::Tree][Protocol::Simple] == 8.4);
  CHECK(constants_of("2.18").base_latency[Algorithm::Nvls][Protocol::Simple] == 23);

  CHECK(constants_of("2.20").ll_cap[Generation::Hopper][Scale::OneNode] == 87.7);
  CHECK(constants_of("2.21").ll_cap[Generation::Hopper][Scale::OneNode] == 141);
  CHECK(constants_of("2.27").tree_ll128_cap[Generation::Blackwell][Scale::MoreNodes] == 58);
  CHECK(constants_of("2.28").tree_ll128_cap[Generation::Blackwell][Scale::MoreNodes] == 20);
  CHECK(constants_of("2.29.2").ring_ll128_cap[Generation::Blackwell][Scale::TwoNodes] == 34.6);
  CHECK(constants_of("2.29.7").nvls_tree_cap[Generation::Blackwell][Scale::MoreNodes] == 43.8);
  CHECK(constants_of("2.30").nvls_tree_cap[Generation::Blackwell][Scale::MoreNodes] == 80);

  CHECK(constants_of("2.24").max_channels == 32);
  CHECK(constants_of("2.25").max_channels == 64);
  CHECK(constants_of("2.20").max_nvls_heads == 8);
  CHECK(constants_of("2.21").max_nvls_heads == 32);
  CHECK(constants_of("2.27").blackwell_nvls.one_node == 24);
  CHECK_FALSE(constants_of("2.22").has_pat);
  CHECK(constants_of("2.23").has_pat);
  CHECK(constants_of("2.28").send_recv_ll == SendRecvLL::ChannelsPerPeer);
  CHECK(constants_of("2.29.2").send_recv_ll == SendRecvLL::ChannelsUsed);
  CHECK(constants_of("2.28").send_recv_batches == SendRecvBatches::AnyRounds);
  CHECK(constants_of("2.30").send_recv_batches == SendRecvBatches::SameEight);
  CHECK(constants_of("2.29").path_preference == PathPreference::FewestLinks);
  CHECK(constants_of("2.30").path_preference == PathPreference::BestType);
}

// src/graph/tuning.cc at v2.20.3-1, v2.21.5-1, v2.22.3-1, v2.25.1-1 and v2.26.2-1.
TEST_CASE("constants: formulas that changed between 2.20 and 2.26") {
  CHECK(constants_of("2.20").ring_ll == RingLL::QuarterOrThird);
  for (const char* version : {"2.20.3", "2.21.5", "2.22.3"}) {
    INFO(version);
    const TuningConstants& constants = constants_of(version);
    CHECK(constants.ring_ll128_share_one_gpu == 0.7);
    CHECK(constants.ring_network_hops == RingNetworkHops::Nodes);
    CHECK(constants.nvls_gather_converted);
    CHECK_FALSE(constants.one_gpu_uses_tree_latency);
  }
  for (const char* version : {"2.25.1", "2.26.2"}) {
    INFO(version);
    const TuningConstants& constants = constants_of(version);
    CHECK(constants.ring_ll128_share_one_gpu == 0.92);
    CHECK(constants.ring_network_hops == RingNetworkHops::Links);
    CHECK_FALSE(constants.nvls_gather_converted);
    CHECK(constants.one_gpu_uses_tree_latency);
  }
  for (const char* version : {"2.21.5", "2.22.3", "2.25.1", "2.26.2"}) {
    CHECK(constants_of(version).ring_ll == RingLL::Half);
  }
}

TEST_CASE("constants: links and search speeds") {
  const auto link = [](const char* version, int sm) {
    double bandwidth = 0;
    for (const NvlinkRow& row : constants_of(version).nvlink) {
      bandwidth = sm >= row.from_sm ? row.bandwidth : bandwidth;
    }
    return bandwidth;
  };
  CHECK(link("2.28", 60) == 18.0);
  CHECK(link("2.28", 86) == 12.0);
  CHECK(link("2.19", 90) == 20.0);
  CHECK(link("2.20", 90) == 20.6);
  CHECK(link("2.26", 100) == 40.0);
  CHECK(link("2.27", 100) == 40.1);
  const auto fastest = [](const char* version) {
    const SpeedLadder& blackwell = constants_of(version).speeds.back();
    return std::vector<double>(blackwell.several_nodes.begin(),
                               blackwell.several_nodes.begin() + 4);
  };
  CHECK(constants_of("2.28").speeds.back().one_node.at(4) == 50);
  CHECK(constants_of("2.28").speeds.back().one_node.at(5) == 40);
  CHECK(constants_of("2.29.2").speeds.back().one_node.at(5) == 45);
  CHECK(fastest("2.28") == std::vector<double>{96, 48, 45.1, 42});
  CHECK(fastest("2.29.7") == std::vector<double>{96, 80, 48, 45.1});
  CHECK(fastest("2.30") == std::vector<double>{96, 86, 80, 48});
}

TEST_CASE("constants: a file without a base has every key") {
  CHECK(message(shipped_text()) == "accepted");
  CHECK(changed("  ll: half  ", "  # ") == "ring: missing key \"ll\"");
  CHECK(changed("channels:\n  max: 64", "#") == ": missing key \"channels\"");
  CHECK(changed("    PAT: [8.0, 8.0, 8.0]\n", "") == "latency.base: missing key \"PAT\"");
  CHECK(changed("description: What NCCL 2.28 decides with\n", "") ==
        ": missing key \"description\"");
}

TEST_CASE("constants: what a file refuses") {
  CHECK(changed("max: 64", "most: 64") == "channels.most: unknown key");
  CHECK(changed("    PAT: [8.0, 8.0, 8.0]", "    PAT: [8.0, 8.0]") ==
        "latency.base.PAT: expected 3 numbers, got 2");
  CHECK(changed("    PAT: [8.0, 8.0, 8.0]", "    PAT: 8.0") ==
        "latency.base.PAT: expected a list, got \"8.0\"");
  CHECK(changed("    PAT: [8.0, 8.0, 8.0]", "    PAT: [8.0, -1, 8.0]") ==
        "latency.base.PAT[1]: expected a number from 0 to 1000000, got \"-1\"");
  CHECK(changed("    PAT: [8.0, 8.0, 8.0]", "    PAT: [8.0, 8 us, 8.0]") ==
        "latency.base.PAT[1]: expected a number from 0 to 1000000, got \"8 us\"");
  CHECK(changed("pat_step_share: 3.5", "pat_step_share: .inf") ==
        "latency.pat_step_share: expected a number from 0 to 1000000, got \".inf\"");
  CHECK(changed("max: 64", "max: 65") ==
        "channels.max: expected a whole number from 1 to 64, got \"65\"");
  CHECK(changed("ll: half", "ll: third") ==
        "ring.ll: expected half or quarter or third, got \"third\"");
  CHECK(changed("pat: true", "pat: yes") == "rules.pat: expected false or true, got \"yes\"");
  CHECK(changed("{ from_sm: 60, ", "{ from_sm: 0, ") ==
        "nvlink[1].from_sm: expected more than the row before has, 0");
  CHECK(changed("ll128_function_caps: []", "ll128_function_caps: [1, 2]") ==
        "ring.ll128_function_caps: expected none, or one a function");
  CHECK(changed("remote_channels: nics ", "remote_channels: bandwidth ") ==
        "send_recv.channel_bandwidth: expected at least 1 GB/s");
  CHECK(changed("first: \"2.28\"", "first: \"two\"") ==
        "versions.first: expected a version such as \"2.28.9\", got \"two\"");
  CHECK(message("") == ": expected a mapping, got nothing (no place)");
}

TEST_CASE("constants: a file with a base says what differs") {
  const Folder folder("base");
  folder.write("2.28", shipped_text());
  folder.write("2.40",
               "description: x\nversions: { first: \"2.40\", last: \"2.40\" }\nbase: \"2.28\"\n"
               "channels: { max: 7 }\nlatency: { base: { Ring: [1, 2, 3] } }\n");
  const TuningConstants constants = find_constants(folder.path(), "2.40");
  CHECK(constants.name == "2.40");
  CHECK(constants.max_channels == 7);
  CHECK(constants.base_latency[Algorithm::Ring][Protocol::LL128] == 2);
  CHECK(constants.base_latency[Algorithm::Tree][Protocol::LL128] == 14);
}

TEST_CASE("constants: bases that are missing or go round in a circle") {
  const Folder folder("circle");
  const auto file = [](const std::string& version, const std::string& base) {
    return "description: x\nversions: { first: \"" + version + "\", last: \"" + version +
           "\" }\nbase: \"" + base + "\"\n";
  };
  folder.write("2.40", file("2.40", "2.41"));
  folder.write("2.41", file("2.41", "2.40"));
  folder.write("2.42", file("2.42", "2.43"));
  const std::string at = folder.text() + "/parameters/nccl-tuning-2.4";
  CHECK(refusal(folder.path(), "2.42") ==
        at + "2.yaml: error: base: no such file of constants: \"2.43\"");
  CHECK(refusal(folder.path(), "2.40") == at + "0.yaml: error: base: bases go round in a circle");
}

}  // namespace collsim::nccl
