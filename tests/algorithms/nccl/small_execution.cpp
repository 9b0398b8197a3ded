#include "tests/algorithms/nccl/small_execution.hpp"

#include <algorithm>

#include "algorithms/check.hpp"
#include "tests/algorithms/program_laws.hpp"

namespace collsim::test {

std::vector<std::uint32_t> rank_counts() {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t ranks = 2; ranks <= 16; ++ranks) {
    counts.push_back(ranks);
  }
  counts.insert(counts.end(), {24, 32, 64});
  return counts;
}

nccl::Execution make(nccl::Algorithm algorithm, const SmallExecution& small) {
  nccl::Execution execution;
  execution.call.kind = small.kind;
  execution.call.ranks = small.ranks;
  execution.call.count = small.count;
  execution.call.type = small.type;
  execution.call.in_place = small.in_place;
  execution.algorithm = algorithm;
  execution.threads = 640;
  const std::int64_t part = (small.count + small.channels - 1) / small.channels;
  for (std::uint32_t channel = 0; channel < small.channels; ++channel) {
    const std::int64_t first = part * channel;
    const std::int64_t count = std::min(part, small.count - first);
    if (count > 0) {
      execution.work.push_back({channel, 1, first, count, small.chunk});
    }
  }
  return execution;
}

MultimemTraffic multimem_traffic(const Program& program) {
  const std::uint32_t ranks = program.call().ranks;
  MultimemTraffic traffic{std::vector<Bytes>(ranks), std::vector<Bytes>(ranks)};
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::uint32_t lane = 0; lane < program.lane_count(Rank(r)); ++lane) {
      for (std::uint64_t index = 0; index < program.step_count(Rank(r), lane); ++index) {
        const Step step = program.step(Rank(r), lane, index);
        if (step.movement != Movement::Multimem) {
          continue;
        }
        if (step.receives.count > 0) {
          traffic.up[r] += step.source ? step.bytes : Bytes(0);
          traffic.down[r] += step.bytes;
          for (std::uint32_t i = 0; i < step.receives.count; ++i) {
            const Rank from = program.receive_from(Rank(r), lane, step.receives.first + i).peer;
            traffic.up[from.index()] += step.bytes;
          }
        }
        if (step.sends.count > 0) {
          traffic.up[r] += step.bytes;
          traffic.down[r] += step.destination ? step.bytes : Bytes(0);
          for (std::uint32_t i = 0; i < step.sends.count; ++i) {
            const Rank to = program.send_to(Rank(r), lane, step.sends.first + i).peer;
            traffic.down[to.index()] += step.bytes;
          }
        }
      }
    }
  }
  return traffic;
}

std::string fault_of(const Program& program) {
  if (std::string breach = first_breach(program); !breach.empty()) {
    return describe(program) + ": " + breach;
  }
  const CheckReport report = check_program(program, 1);
  if (!report.ok()) {
    return describe(program) + ": " + report.failures.front().text;
  }
  return {};
}

}  // namespace collsim::test
