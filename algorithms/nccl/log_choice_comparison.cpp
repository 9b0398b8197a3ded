#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "algorithms/nccl/launch_shape.hpp"
#include "algorithms/nccl/log_findings.hpp"
#include "algorithms/nccl/tuning_terms.hpp"
#include "algorithms/nccl/work_split.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

bool is_of_parts(Function function) {
  return function == Function::AllGather || function == Function::ReduceScatter;
}

/// Channels that a call alone runs on: those that its bytes are dealt to.
int channels_of(const Decisions& decisions, const Call& call, Algorithm algorithm,
                Protocol protocol) {
  const Channels& channels = decisions.tuning().channels;
  const LaunchShape shape =
      launch_shape(decisions.input(), channels, algorithm, protocol, call.bytes);
  const bool by_chunk =
      is_collnet(algorithm) || (algorithm == Algorithm::Nvls && decisions.communicator().nodes > 1);
  const int ranks = decisions.communicator().ranks;
  const auto bytes =
      static_cast<std::int64_t>(call.bytes) / (is_of_parts(call.function) ? ranks : 1);
  if (by_chunk || bytes < 1) {
    return shape.channels;
  }
  const SplitTask task{call.function, protocol, bytes, 1, shape.channels};
  const int limit =
      is_nvls(algorithm) ? channels.nvls : static_cast<int>(channels.collective.size());
  return static_cast<int>(
      split_work({&task, 1}, ranks, std::max(limit, shape.channels)).front().size());
}

std::string choice_text(Algorithm algorithm, Protocol protocol, std::optional<int> channels) {
  std::string text = name(algorithm, protocol);
  if (channels) {
    text += ", " + std::to_string(*channels) + " channel" + (*channels == 1 ? "" : "s");
  }
  return text;
}

std::string predicted_choice(const Decisions& decisions, const LoggedChoice& logged) {
  Call call;
  call.function = *logged.function;
  const bool all_parts = logged.of_one_rank && is_of_parts(call.function);
  call.bytes =
      logged.bytes * (all_parts ? static_cast<std::uint64_t>(decisions.communicator().ranks) : 1U);
  call.type = logged.type.value_or(call.type);
  call.op = logged.op.value_or(call.op);
  try {
    const Contender winner = choose(decisions.input(), decisions.tuning(), call);
    return choice_text(winner.algorithm, winner.protocol,
                       logged.channels ? std::optional(channels_of(
                                             decisions, call, winner.algorithm, winner.protocol))
                                       : std::nullopt);
  } catch (const InputError&) {
    return "none is left";
  }
}

/// "AllReduce of 1024 B (float, sum)"; the last where the log tells it.
std::string call_text(const LoggedChoice& choice) {
  std::string text =
      std::string(name(*choice.function)) + " of " + std::to_string(choice.bytes) + " B";
  if (choice.of_one_rank && is_of_parts(*choice.function)) {
    text += " a rank";
  }
  if (choice.type) {
    text += ", " + std::string(name_of(*choice.type));
  }
  if (choice.op &&
      (*choice.function == Function::AllReduce || *choice.function == Function::ReduceScatter ||
       *choice.function == Function::Reduce)) {
    text += ", " + std::string(name_of(*choice.op));
  }
  return text;
}

}  // namespace

std::vector<LogFinding> compare_choices(const Decisions& decisions, const LoggedCommunicator& log) {
  Findings findings(LogSubject::Choices);
  if (log.choices.empty()) {
    findings.missing("choices");
    return findings.take();
  }
  std::map<std::string, int> different;  // ways in which equal calls were chosen for
  for (const LoggedChoice& choice : log.choices) {
    if (choice.function) {
      ++different[call_text(choice)];
    }
  }
  for (const LoggedChoice& choice : log.choices) {
    if (!choice.function) {
      findings.missing("function of a call of " + std::to_string(choice.bytes) + " B");
      continue;
    }
    const std::string ours = predicted_choice(decisions, choice);
    const std::string other = choice_text(choice.algorithm, choice.protocol, choice.channels);
    // Equal calls that were chosen for in different ways are findings of their own.
    std::string what = call_text(choice);
    const bool agree = ours == other;
    if (!agree && different.at(what) > 1) {
      what += ", chosen " + std::to_string(choice.times) + " times";
    }
    findings.compare(std::move(what), agree, ours, other);
  }
  return findings.take();
}

}  // namespace collsim::nccl
