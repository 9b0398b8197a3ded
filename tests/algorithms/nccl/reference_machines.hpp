#pragma once

// Machines whose graphs and decisions NCCL's own code gave for NCCL 2.28.9; the tests say which
// figures they check.

#include <string>
#include <string_view>
#include <vector>

#include "algorithms/nccl/choice.hpp"

namespace collsim::nccl::test {

/// A machine, with settings to change, and what NCCL makes of it.
class ReferenceMachine {
 public:
  Communicator communicator;
  GraphSet graphs;
  Configuration configuration;
  TuningConstants constants;

  ReferenceMachine& set(std::string_view variable, std::string_view value) {
    parse_variable(configuration, variable, value);
    return *this;
  }
  [[nodiscard]] TuningInput input() const {
    return {constants, configuration, communicator, graphs};
  }
  [[nodiscard]] TuningEntry entry(Function function, Algorithm algorithm, Protocol protocol) const {
    return tuning_table(input())[function][algorithm][protocol];
  }
  /// "15.0/80.6" as NCCL logs it, or the rule that excludes it.
  [[nodiscard]] std::string cell(Function function, Algorithm algorithm, Protocol protocol) const;
  /// The cells of LL, LL128 and Simple with blanks between.
  [[nodiscard]] std::string row(Function function, Algorithm algorithm) const;
  /// "1024 Ring LL, 2097152 NVLS Simple".
  [[nodiscard]] std::string choices_of(Call call) const;
  /// "24/16/32/32": collective, NVLS, send/recv channels, those of a peer.
  [[nodiscard]] std::string channels() const;
};

/// The shipped constants of a version; read once.
const TuningConstants& constants_of(const std::string& version);

/// 8 H100 a node on NVSwitch; several nodes: 8 NICs of 400 Gb/s, Intel.
ReferenceMachine h100(int nodes);
/// The first GPUs of one such node.
ReferenceMachine few_h100(int gpus, float nvls_speed);
/// One H100 and one NIC of 400 Gb/s a node.
ReferenceMachine single_h100(int nodes);
/// 8 A100 a node, AMD; several nodes: 8 NICs of 200 Gb/s.
ReferenceMachine a100(int nodes);
/// One NVLink domain of sm 100.
ReferenceMachine nvlink_domain(int gpus);
/// Two domains of 72 GPUs, Grace, a NIC of 400 Gb/s a GPU.
ReferenceMachine two_nvl72();
/// 4 GPUs below one Intel CPU, PCIe gen 4.
ReferenceMachine pcie4();

/// Adds a CollNet plugin and its graphs (heads: as many first GPUs) and switches it on.
void add_collnet(ReferenceMachine& machine, int heads, CollNetPlugin plugin);

/// "%.1f".
std::string one_decimal(double value);

}  // namespace collsim::nccl::test
