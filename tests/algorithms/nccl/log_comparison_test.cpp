// A log beside a prediction. Logs are made from predictions here: one made with an input changed must
// differ, and that input, and no other of its kind, must explain it.

#include "algorithms/nccl/log_comparison.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/nccl/launch_shape.hpp"
#include "algorithms/nccl/log_explanation.hpp"
#include "algorithms/nccl/machine_changes.hpp"
#include "algorithms/nccl/node_facts.hpp"
#include "algorithms/nccl/rings.hpp"
#include "algorithms/nccl/send_recv.hpp"
#include "algorithms/nccl/trees.hpp"
#include "tests/algorithms/nccl/machines.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

using Change = std::function<void(DecisionInput&)>;

/// Two nodes of 4 H100 with a NIC of 400 Gb/s each.
DecisionInput h100s() {
  DecisionInput input;
  input.machine = collsim::test::nic_per_gpu(4, 90, 18, 400'000, "32.0 GT/s PCIe");
  input.nodes = 2;
  input.constants = test::constants_of("2.28");
  return input;
}

Change variable(const std::string& name, const std::string& value) {
  return [=](DecisionInput& input) { parse_variable(input.configuration, name, value); };
}

int number(CpuVendor vendor) { return static_cast<int>(vendor); }

/// The tree of a system as far as node_facts reads it.
LoggedSystem system_of(const Decisions& decisions) {
  const DetectedNode& node = decisions.node();
  const NodeFacts facts = node_facts(node);
  LoggedSystem system;
  system.most_bandwidth = node.most_bandwidth;
  system.total_bandwidth = node.total_bandwidth;
  LoggedPart cpu;
  cpu.kind = PartKind::Cpu;
  cpu.cpu_architecture = 1;
  cpu.cpu_vendor = number(facts.cpu.vendor);  // Intel is 1, AMD 2: NCCL's numbers
  cpu.cpu_model = static_cast<int>(facts.cpu.model);
  system.parts.push_back(cpu);
  for (std::size_t i = 0; i < facts.pcie.size(); ++i) {
    LoggedPart gpu;
    gpu.kind = PartKind::Gpu;
    gpu.rank = static_cast<int>(i);
    gpu.bandwidth = facts.pcie[i];
    system.links.push_back({system.parts.size(), PartLinkKind::Nvlink, "NVS/0", facts.nvlink[i]});
    system.parts.push_back(gpu);
  }
  for (const float bandwidth : facts.nics) {
    LoggedPart net;
    net.kind = PartKind::Net;
    net.network = bandwidth;
    system.parts.push_back(net);
  }
  system.complete = true;
  return system;
}

LoggedChannels channels_of(const Decisions& decisions) {
  const Channels& channels = decisions.tuning().channels;
  LoggedChannels logged;
  logged.collective = static_cast<int>(channels.collective.size());
  logged.nvls = channels.nvls;
  logged.p2p = channels.p2p;
  logged.per_peer = channels.per_peer;
  logged.p2p_chunk = send_recv_slot(decisions.input());
  return logged;
}

void add_lines(const Decisions& decisions, LoggedCommunicator& log) {
  const auto& channels = decisions.tuning().channels.collective;
  int channel = 0;
  for (const auto& ring : build_rings(decisions.graphs(), decisions.layout(), channels)) {
    LoggedRing line{channel++, {}};
    for (const Rank rank : ring) {
      line.ranks.push_back(static_cast<int>(rank.value()));
    }
    log.neighbours.push_back(
        {line.channel, line.ranks[1], line.ranks[0], line.ranks[2 % line.ranks.size()]});
    log.rings.push_back(std::move(line));
  }
  channel = 0;
  for (const TreeLinks& links :
       tree_links(decisions.graphs().tree, decisions.layout(), channels, Rank(0))) {
    LoggedTree line{channel++, 0, {}, {}};
    if (links.up) {
      line.up = static_cast<int>(links.up->value());
    }
    for (const Rank rank : links.down) {
      line.down.push_back(static_cast<int>(rank.value()));
    }
    log.trees.push_back(std::move(line));
  }
}

/// What a run would log that decides so.
LoggedCommunicator log_of(const Decisions& decisions) {
  LoggedCommunicator log;
  log.ranks = decisions.communicator().ranks;
  log.nodes = decisions.communicator().nodes;
  log.local_ranks = decisions.communicator().max_ranks_per_node;
  log.channels = channels_of(decisions);
  log.system = system_of(decisions);
  const GraphSet& graphs = decisions.graphs();
  log.graphs.push_back({graphs.ring, graphs.ring.channels.size()});
  log.graphs.push_back({graphs.tree, graphs.tree.channels.size()});
  if (graphs.nvls) {
    log.graphs.push_back({*graphs.nvls, graphs.nvls->channels.size()});
  }
  add_lines(decisions, log);
  for (const Function function : functions) {
    for (const Algorithm algorithm : algorithms) {
      for (const Protocol protocol : protocols) {
        const TuningEntry& entry = decisions.tuning().table[function][algorithm][protocol];
        log.table[function][algorithm][protocol] =
            LoggedEntry{entry.latency, entry.excluded ? 0 : entry.bandwidth};
      }
    }
  }
  log.has_table = true;
  return log;
}

LoggedCommunicator log_with(const std::vector<Change>& changes) {
  DecisionInput input = h100s();
  for (const Change& change : changes) {
    change(input);
  }
  return log_of(Decisions(input));
}

LogQuestion question() {
  LogQuestion asked;
  asked.input = h100s();
  for (const char* version : {"2.18", "2.20", "2.27", "2.30"}) {
    asked.versions.push_back({version, test::constants_of(version), false});
  }
  return asked;
}

/// The inputs that alone explain all that differs.
std::vector<std::string> explaining(const LogReport& report) {
  std::vector<std::string> texts;
  for (const LogExplanation& explanation : report.single) {
    if (explanation.left.empty()) {
      texts.push_back(explanation.changes.front());
    }
  }
  return texts;
}

bool holds(const std::vector<std::string>& texts, const std::string& text) {
  return std::ranges::find(texts, text) != texts.end();
}

const LogFinding& finding(const std::vector<LogFinding>& findings, const std::string& what) {
  const auto found = std::ranges::find(findings, what, &LogFinding::what);
  REQUIRE(found != findings.end());
  return *found;
}

}  // namespace

TEST_CASE("a log of what is predicted agrees in every point", "[nccl][log]") {
  const LogReport report = explain_log(question(), {}, log_with({}));
  CHECK(report.differing == 0);
  CHECK(report.agreeing > 105);  // the table alone has 105
  CHECK(report.single.empty());
  for (const LogFinding& found : report.findings) {
    if (found.what != "thread thresholds" && found.what != "choices") {
      CHECK(found.agreement == Agreement::Agrees);
    }
  }
}

TEST_CASE("points that a log has not are told as such", "[nccl][log]") {
  const std::vector<LogFinding> findings = compare_with_log(Decisions(h100s()), {});
  for (const LogFinding& found : findings) {
    // An NVLS channel count is in every log of a version that has it.
    CHECK(found.agreement == Agreement::NotInLog);
  }
  for (const char* what : {"ranks", "system tree", "graphs", "collective channels", "rings",
                           "trees", "tuning table", "choices"}) {
    CHECK(finding(findings, what).agreement == Agreement::NotInLog);
  }
}

TEST_CASE("an input that was another one explains the log", "[nccl][log]") {
  struct Case {
    std::string explanation;
    Change change;
  };
  const std::vector<Case> cases{
      {"--nccl 2.20", [](DecisionInput& input) { input.constants = test::constants_of("2.20"); }},
      {"--nccl 2.18", [](DecisionInput& input) { input.constants = test::constants_of("2.18"); }},
      {"--nodes 4", [](DecisionInput& input) { input.nodes = 4; }},
      {"--gpus-per-node 2", [](DecisionInput& input) { keep_gpus(input.machine, 2); }},
      {"--env NCCL_NVLS_ENABLE=0", variable("NCCL_NVLS_ENABLE", "0")},
      {"--env NCCL_MAX_NCHANNELS=4", variable("NCCL_MAX_NCHANNELS", "4")},
      {"--env NCCL_MAX_P2P_NCHANNELS=4", variable("NCCL_MAX_P2P_NCHANNELS", "4")},
      {"--env NCCL_P2P_DISABLE=1", variable("NCCL_P2P_DISABLE", "1")},
      {"--env NCCL_ALGO=Tree", variable("NCCL_ALGO", "Tree")},
      {"--env NCCL_PROTO=Simple", variable("NCCL_PROTO", "Simple")},
      {"the CPUs of the log's system tree",
       [](DecisionInput& input) {
         set_cpus(input.machine, {CpuArchitecture::X86, CpuVendor::Amd, CpuModel::Other});
       }},
      {"NICs of 25.0 GB/s, as in the log's tree",
       [](DecisionInput& input) { set_nic_speed(input.machine, 25.0F); }},
      {"8 NVLinks a GPU, as in the log's tree",
       [](DecisionInput& input) { REQUIRE(set_nvlinks(input.machine, 8)); }},
  };
  for (const Case& one : cases) {
    INFO(one.explanation);
    const LogReport report = explain_log(question(), {}, log_with({one.change}));
    CHECK(report.differing > 0);
    CHECK(holds(explaining(report), one.explanation));
    CHECK(report.together.changes.empty());
  }
}

TEST_CASE("an input that changes nothing there explains nothing", "[nccl][log]") {
  const LogReport report =
      explain_log(question(), {}, log_with({variable("NCCL_NVLS_ENABLE", "0")}));
  CHECK_FALSE(holds(explaining(report), "--nccl 2.20"));
  for (const LogExplanation& explanation : report.single) {
    CHECK(explanation.explained > 0);
    CHECK(explanation.explained + explanation.left.size() == report.differing);
  }
}

TEST_CASE("a variable of the log that is not given is tried, and said to be stated",
          "[nccl][log]") {
  NcclLog log;
  log.environment = {{"NCCL_BUFFSIZE", "1048576"},
                     {"NCCL_MIN_NCHANNELS", "32"},
                     {"NCCL_IB_HCA", "mlx5"},
                     {"NCCL_CROSS_NIC", "0"}};
  LogQuestion asked = question();
  asked.variables = {{"NCCL_CROSS_NIC", "0"}};
  parse_variable(asked.input.configuration, "NCCL_CROSS_NIC", "0");
  const LogReport report = explain_log(
      asked, log,
      log_with({variable("NCCL_MIN_NCHANNELS", "32"), variable("NCCL_CROSS_NIC", "0")}));
  REQUIRE(holds(explaining(report), "--env NCCL_MIN_NCHANNELS=32"));
  CHECK(report.single.front().stated);
  REQUIRE(report.variables.size() == 4);
  CHECK(report.variables[0].state == VariableFinding::State::NotGiven);
  CHECK(report.variables[2].state == VariableFinding::State::Unmodelled);
  CHECK(report.variables[2].logged.empty());  // it may be private
  CHECK(report.variables[3].state == VariableFinding::State::Same);
}

TEST_CASE("a variable that the run had not is found out", "[nccl][log]") {
  LogQuestion asked = question();
  asked.variables = {{"NCCL_MAX_NCHANNELS", "4"}, {"NCCL_CROSS_NIC", "0"}};
  for (const LoggedVariable& given : asked.variables) {
    parse_variable(asked.input.configuration, given.name, given.value);
  }
  const LogReport report = explain_log(asked, {}, log_with({variable("NCCL_CROSS_NIC", "0")}));
  CHECK(holds(explaining(report), "without NCCL_MAX_NCHANNELS"));
}

TEST_CASE("two inputs together, where one is not enough", "[nccl][log]") {
  const LogReport report = explain_log(
      question(), {}, log_with({variable("NCCL_MAX_P2P_NCHANNELS", "4"), [](DecisionInput& input) {
                                  set_nic_speed(input.machine, 12.5F);
                                }}));
  CHECK(explaining(report).empty());
  REQUIRE(report.together.changes.size() == 2);
  CHECK(report.together.left.empty());
  CHECK(report.together.explained == report.differing);
  CHECK(holds(report.together.changes, "NICs of 12.5 GB/s, as in the log's tree"));
  CHECK(holds(report.together.changes, "--env NCCL_MAX_P2P_NCHANNELS=4"));
}

TEST_CASE("what no input explains stays unexplained", "[nccl][log]") {
  LoggedCommunicator log = log_with({});
  log.table[Function::AllReduce][Algorithm::Ring][Protocol::LL] = LoggedEntry{1234.5F, 6.7F};
  const LogReport report = explain_log(question(), {}, log);
  CHECK(report.differing == 1);
  CHECK(report.tried > 20);
  CHECK(report.single.empty());
  CHECK(report.together.changes.empty());
  const LogFinding& found = finding(report.findings, "AllReduce Ring LL");
  CHECK(found.agreement == Agreement::Differs);
  CHECK(found.logged == "1234.5 us, 6.7 GB/s");
}

TEST_CASE("entries agree to a tenth, and excluded ones whatever their latency", "[nccl][log]") {
  const Decisions decisions((h100s()));
  const auto agreement = [&](float more_latency, float more_bandwidth) {
    LoggedCommunicator log = log_of(decisions);
    auto& entry = log.table[Function::AllReduce][Algorithm::Ring][Protocol::Simple];
    entry->latency += more_latency;
    entry->bandwidth += more_bandwidth;
    return finding(compare_with_log(decisions, log), "AllReduce Ring Simple").agreement;
  };
  CHECK(agreement(0.04F, -0.04F) == Agreement::Agrees);
  CHECK(agreement(0.1F, 0) == Agreement::Differs);
  CHECK(agreement(0, 0.1F) == Agreement::Differs);
  LoggedCommunicator log = log_of(decisions);
  log.table[Function::Broadcast][Algorithm::Tree][Protocol::LL] = LoggedEntry{99, 0};
  CHECK(finding(compare_with_log(decisions, log), "Broadcast Tree LL").agreement ==
        Agreement::Agrees);
}

TEST_CASE("the bytes of a choice are those of its version", "[nccl][log]") {
  const Decisions decisions((h100s()));
  // A size at which the choice for the whole and that for one of 8 parts differ.
  Call call;
  call.function = Function::AllGather;
  const auto crossovers = choices(decisions.input(), decisions.tuning(), call);
  REQUIRE(crossovers.size() > 1);
  call.bytes = crossovers[1].from_bytes;
  const Contender winner = choose(decisions.input(), decisions.tuning(), call);

  LoggedChoice choice;
  choice.function = Function::AllGather;
  choice.algorithm = winner.algorithm;
  choice.protocol = winner.protocol;
  const auto agreement = [&](std::uint64_t bytes, bool of_one_rank) {
    LoggedCommunicator log;
    choice.bytes = bytes;
    choice.of_one_rank = of_one_rank;
    log.choices = {choice};
    const auto findings = compare_with_log(decisions, log);
    return std::ranges::find(findings, LogSubject::Choices, &LogFinding::subject)->agreement;
  };
  CHECK(agreement(call.bytes / 8, true) == Agreement::Agrees);
  CHECK(agreement(call.bytes, false) == Agreement::Agrees);
  CHECK(agreement(call.bytes / 8, false) == Agreement::Differs);
}

TEST_CASE("the channels of a choice are those that its bytes are dealt to", "[nccl][log]") {
  const Decisions decisions((h100s()));
  const auto predicted = [&](std::uint64_t bytes) {
    LoggedChoice choice;
    choice.function = Function::AllReduce;
    choice.bytes = bytes;
    choice.of_one_rank = true;
    choice.channels = 99;
    LoggedCommunicator log;
    log.choices = {choice};
    for (const LogFinding& found : compare_with_log(decisions, log)) {
      if (found.subject == LogSubject::Choices) {
        return found.predicted;
      }
    }
    return std::string();
  };
  // 8 B: less than a cell, which is not divided.
  CHECK(predicted(8).ends_with(", 1 channel"));
  const std::string all =
      ", " + std::to_string(decisions.tuning().channels.collective.size()) + " channels";
  CHECK(predicted(std::uint64_t{1} << 33).ends_with(all));
}

TEST_CASE("a ring that the log cuts is compared as far as it goes", "[nccl][log]") {
  const Decisions decisions((h100s()));
  LoggedCommunicator log = log_of(decisions);
  log.rings.front().ranks.resize(6);
  CHECK(finding(compare_with_log(decisions, log), "ring 0").agreement == Agreement::Agrees);
  std::swap(log.rings.front().ranks[4], log.rings.front().ranks[5]);
  CHECK(finding(compare_with_log(decisions, log), "ring 0").agreement == Agreement::Differs);
  log.rings.front().channel = 500;
  CHECK(finding(compare_with_log(decisions, log), "ring 500").predicted == "no such channel");
}

}  // namespace collsim::nccl
