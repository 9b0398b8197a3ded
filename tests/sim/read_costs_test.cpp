// Files of cost parameters: what they say, and every complaint about one.

#include "sim/io/read_costs.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "tests/sim/cost_sets.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

/// A folder of its own with parameters/, gone at the end.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("collsim-read-costs-test-" + std::to_string(::getpid()) + "-" +
               std::to_string(++count))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ / "parameters");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// parameters/NAME.yaml
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / "parameters" / (name + ".yaml");
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  [[nodiscard]] ConfigPath path() const { return ConfigPath{{path_.string()}}; }

 private:
  static inline int count = 0;
  std::filesystem::path path_;
};

const std::string some =
    "description: some\n"
    "ll:\n"
    "  hop_nvlink: { value: 0.59 us, source: fitted }\n"
    "simple:\n"
    "  channel_rate: { value: 34 GB/s, source: measured }\n"
    "share:\n"
    "  nvlink: { value: 0.842, source: literature }\n";

/// The message about a set, with the folder's name taken away; "accepted" if there is none.
std::string message(const Folder& folder, const std::string& name) {
  std::string text = "accepted";
  try {
    static_cast<void>(find_costs(folder.path(), name));
  } catch (const InputError& error) {
    text = error.render();
  }
  const std::string prefix = folder.path().directories.front() + "/parameters/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
    text.erase(at, prefix.size());
  }
  return text;
}

/// The message about a text, as x.yaml.
std::string message_about(const std::string& text) {
  const Folder folder;
  folder.write("x", text);
  return message(folder, "x");
}

}  // namespace

TEST_CASE("a file sets what it says, with sources, and leaves the rest free", "[costs]") {
  const Folder folder;
  const std::string file = folder.write("some", some);
  for (const std::string& name : {std::string("some"), file}) {
    const CostParameters costs = find_costs(folder.path(), name);
    CHECK(costs.name == "some");
    CHECK(costs.description == "some");
    CHECK(costs.time(CostItem::LLHopNvlink) == ns(590));
    CHECK(costs.value(CostItem::LLHopNvlink).source == CostSource::Fitted);
    CHECK(costs.rate(CostItem::SimpleChannelRate) == 34_GBps);
    CHECK(costs.value(CostItem::SimpleChannelRate).source == CostSource::Measured);
    CHECK(costs.share(CostItem::ShareNvlink) == 842'000);
    CHECK(costs.value(CostItem::ShareNvlink).source == CostSource::Literature);
    CHECK(costs.time(CostItem::LLHopPcie) == Duration{});
    CHECK_FALSE(costs.rate(CostItem::SimpleLocalRate).has_value());
    CHECK(costs.share(CostItem::SharePcie) == 1'000'000);
  }
}

TEST_CASE("a file with a base says only what differs", "[costs]") {
  const Folder folder;
  folder.write("some", some);
  folder.write("next",
               "description: next\nbase: some\nll: { hop_pcie: { value: 1 us, source: nominal } }\n"
               "share: { nvlink: { value: 1, source: nominal } }\n");
  const std::string last = folder.write("last", "description: last\nbase: next\n");
  folder.write("by-path", "description: by path\nbase: ./last.yaml\n");
  const CostParameters costs = find_costs(folder.path(), "last");
  CHECK(costs.name == "last");
  CHECK(costs.description == "last");
  CHECK(costs.time(CostItem::LLHopNvlink) == ns(590));
  CHECK(costs.time(CostItem::LLHopPcie) == us(1));
  CHECK(costs.share(CostItem::ShareNvlink) == 1'000'000);
  CHECK(costs.rate(CostItem::SimpleChannelRate) == 34_GBps);
  // A path is relative to the file that says it, as in descriptions of clusters.
  CHECK(find_costs(folder.path(), "by-path").time(CostItem::LLHopPcie) == us(1));
}

TEST_CASE("the sets that ship are read, and those NCCL chooses with are left out", "[costs]") {
  const ConfigPath shipped{{source_path("configs").string()}};
  const std::vector<ListedCosts> listed = list_costs(shipped);
  for (const std::string name :
       {"nccl-ampere", "nccl-blackwell", "nccl-hopper", "nccl-volta", "nccl-hopper-generation"}) {
    INFO(name);
    CHECK(std::ranges::find(listed, name, &ListedCosts::name) != listed.end());
    const CostParameters costs = find_costs(shipped, name);
    CHECK(costs.time(CostItem::LaunchCollective) > Duration{});
    CHECK(costs.share(CostItem::ShareNvlink) < 1'000'000);
  }
  CHECK(std::ranges::none_of(
      listed, [](const ListedCosts& costs) { return costs.name.starts_with("nccl-tuning"); }));
  // A set of a generation's own has its base's values where it says nothing.
  CHECK(find_costs(shipped, "nccl-volta").time(CostItem::LLHopNvlink) ==
        find_costs(shipped, "nccl-nominal").time(CostItem::LLHopNvlink));
  CHECK(find_costs(shipped, "nccl-hopper").tier == ParameterTier::Fitted);
  CHECK(find_costs(shipped, "nccl-hopper").records.size() == 1);
  CHECK(find_costs(shipped, "nccl-volta").share(CostItem::ShareNvlink) == 800'000);
}

TEST_CASE("complaints about keys name the place and what is accepted", "[costs]") {
  CHECK(message_about("description: x\nsimpel: {}\n") ==
        "x.yaml:2:1: error: simpel: unknown key, did you mean \"simple\"?\n"
        "  simpel: {}\n"
        "  ^\n"
        "hint: accepted: description, base, tier, calibrated, launch, ll, ll128, multicast, "
        "simple, copy_engine, send_recv, symmetric, "
        "host, network or share");
  CHECK(message_about("description: x\nll:\n  hop_nvlnk: { value: 1 us, source: fitted }\n") ==
        "x.yaml:3:3: error: ll.hop_nvlnk: unknown key, did you mean \"hop_nvlink\"?\n"
        "    hop_nvlnk: { value: 1 us, source: fitted }\n"
        "    ^\n"
        "hint: accepted: start, wide_copy, wide_reduce, pass_copy, pass_reduce, hop_nvlink, "
        "hop_pcie, hop_host, hop_network or network_rate");
  CHECK(message_about("description: x\nll:\n  hop_nvlink: { value: 1 us }\n") ==
        "x.yaml:3:15: error: ll.hop_nvlink: missing key \"source\"\n"
        "    hop_nvlink: { value: 1 us }\n"
        "                ^");
  CHECK(message_about("description: x\nll:\n  hop_nvlink: { source: fitted }\n") ==
        "x.yaml:3:15: error: ll.hop_nvlink: missing key \"value\"\n"
        "    hop_nvlink: { source: fitted }\n"
        "                ^");
  CHECK(message_about("description: x\nll:\n  hop_nvlink: 1 us\n") ==
        "x.yaml:3:15: error: ll.hop_nvlink: expected a mapping, got \"1 us\"\n"
        "    hop_nvlink: 1 us\n"
        "                ^\n"
        "hint: keys: value, source or error");
  CHECK(message_about("ll: {}\n") ==
        "x.yaml:1:1: error: missing key \"description\"\n"
        "  ll: {}\n"
        "  ^");
}

TEST_CASE("complaints about values say what one looks like", "[costs]") {
  CHECK(message_about("description: x\nll:\n  hop_nvlink: { value: 1, source: fitted }\n") ==
        "x.yaml:3:24: error: ll.hop_nvlink.value: expected a duration such as \"1.2 us\", got "
        "\"1\"\n"
        "    hop_nvlink: { value: 1, source: fitted }\n"
        "                         ^\n"
        "hint: a number needs a unit; units: ps, ns, us, ms, s");
  CHECK(message_about("description: x\nll:\n  hop_nvlink: { value: -1 us, source: fitted }\n") ==
        "x.yaml:3:24: error: ll.hop_nvlink.value: expected a duration such as \"1.2 us\", got "
        "\"-1 us\"\n"
        "    hop_nvlink: { value: -1 us, source: fitted }\n"
        "                         ^\n"
        "hint: a duration cannot be negative");
  CHECK(message_about("description: x\nll:\n  hop_nvlink: { value: 1 us, source: guess }\n") ==
        "x.yaml:3:38: error: ll.hop_nvlink.source: expected nominal, literature, estimate, "
        "measured or fitted, got \"guess\"\n"
        "    hop_nvlink: { value: 1 us, source: guess }\n"
        "                                       ^");
  // Without a value there is no limit; a limit of nothing is a slip.
  CHECK(
      message_about("description: x\nsimple:\n  local_rate: { value: 0 GB/s, source: fitted }\n") ==
      "x.yaml:3:24: error: simple.local_rate.value: expected a bandwidth above 0, got \"0 "
      "GB/s\"\n"
      "    local_rate: { value: 0 GB/s, source: fitted }\n"
      "                         ^");
}

TEST_CASE("a share is above 0 and up to 1", "[costs]") {
  const auto share = [](const std::string& value) {
    return message_about("description: x\nshare:\n  pcie: { value: " + value +
                         ", source: fitted }\n");
  };
  CHECK(share("1") == "accepted");
  CHECK(share("0.000001") == "accepted");
  for (const std::string value : {"0", "1.01", "-0.5", "85 %", "nan"}) {
    std::string expected =
        "x.yaml:3:18: error: share.pcie.value: expected a share above 0 and up to 1, got \"";
    expected += value;
    expected += "\"\n    pcie: { value: ";
    expected += value;
    expected += ", source: fitted }\n                   ^";
    CHECK(share(value) == expected);
  }
}

TEST_CASE("blocks may be even, though a base has it otherwise", "[costs]") {
  const Folder folder;
  folder.write("uneven",
               "description: x\nsimple: { unevenness: { value: 0.5, source: fitted } }\n");
  folder.write("even",
               "description: x\nbase: uneven\n"
               "simple: { unevenness: { value: 0, source: nominal } }\n");
  CHECK(find_costs(folder.path(), "uneven").share(CostItem::SimpleUnevenness) == 500'000);
  CHECK(find_costs(folder.path(), "even").share(CostItem::SimpleUnevenness) == 0);
  CHECK(message_about("description: x\nsimple: { unevenness: { value: 2, source: fitted } }\n") ==
        "x.yaml:2:32: error: simple.unevenness.value: expected a share from 0 to 1, got \"2\"\n"
        "  simple: { unevenness: { value: 2, source: fitted } }\n"
        "                                 ^");
}

TEST_CASE("complaints about a base", "[costs]") {
  const Folder folder;
  folder.write("a", "description: a\nbase: b\n");
  folder.write("b", "description: b\nbase: a\n");
  folder.write("own", "description: own\nbase: own\n");
  folder.write("c", "description: c\nbase: nowhere\n");
  CHECK(message(folder, "a") ==
        "a.yaml:2:7: error: base: bases go round in a circle\n"
        "  base: b\n"
        "        ^");
  CHECK(message(folder, "own") ==
        "own.yaml:2:7: error: base: bases go round in a circle\n"
        "  base: own\n"
        "        ^");
  CHECK(message(folder, "c") ==
        "c.yaml:2:7: error: base: unknown parameter \"nowhere\"\n"
        "  base: nowhere\n"
        "        ^\n"
        "hint: known: a, b, c, own");
}

TEST_CASE("complaints about a name leave out what NCCL chooses with", "[costs]") {
  const Folder folder;
  folder.write("nccl-hopper", some);
  folder.write("nccl-tuning-2.28", "x: 1\n");
  CHECK(
      message(folder, "nccl-tuning-2.28") ==
      "error: \"nccl-tuning-2.28\" are the constants that NCCL chooses with, not what its kernels "
      "cost\n"
      "hint: choose them by --nccl");
  CHECK(message(folder, "nccl-hoper") ==
        "error: unknown parameter \"nccl-hoper\", did you mean \"nccl-hopper\"?\n"
        "hint: known: nccl-hopper");
  CHECK(message(folder, "tuning-2.28") ==
        "error: unknown parameter \"tuning-2.28\"\n"
        "hint: known: nccl-hopper");
}

TEST_CASE("a network's file holds what it says and no more", "[costs]") {
  const Folder folder;
  folder.write("net-base",
               "description: base\nll: { hop_network: { value: 2 us, source: estimate } }\n"
               "network: { message: { value: 1 us, source: estimate } }\n");
  folder.write("net-x",
               "description: x\nbase: net-base\nnetwork:\n"
               "  message: { value: 3 us, source: fitted }\n"
               "  eager: { value: 4 KiB, source: literature }\n");
  const NetworkCosts network = find_network_costs(folder.path(), "net-x");
  CHECK(network.name == "net-x");
  CHECK(network.description == "x");
  REQUIRE(network.items.size() == 3);
  CostParameters costs;
  costs.lay_over(network);
  CHECK(costs.time(CostItem::LLHopNetwork) == us(2));
  CHECK(costs.time(CostItem::NetworkMessage) == us(3));
  CHECK(costs.bytes(CostItem::NetworkEager) == 4096_B);
  CHECK(costs.value(CostItem::NetworkEager).source == CostSource::Literature);
}

TEST_CASE("GPUs' and networks' files are not taken for each other", "[costs]") {
  const Folder folder;
  folder.write("net-x", "description: x\n");
  folder.write("net-y", "description: y\nll:\n  hop_nvlink: { value: 1 us, source: fitted }\n");
  CHECK(message(folder, "net-x") ==
        "error: \"net-x\" are costs of a network, not of GPUs\n"
        "hint: choose them by --network-parameters, or fabric.parameters of the cluster");
  CHECK_THROWS_WITH(find_network_costs(folder.path(), "net-y"),
                    Catch::Matchers::ContainsSubstring("ll.hop_nvlink: is not of the network"));
}

TEST_CASE("the networks that ship are read", "[costs]") {
  const ConfigPath shipped{{source_path("configs").string()}};
  int networks = 0;
  for (const ListedCosts& listed : list_costs(shipped)) {
    if (listed.name.starts_with("net-")) {
      INFO(listed.name);
      ++networks;
      CHECK_FALSE(find_network_costs(shipped, listed.name).items.empty());
    }
  }
  CHECK(networks > 5);
}
