#pragma once

// NCCL's decisions, as `tuning` prints them.

#include <optional>
#include <string>
#include <vector>

#include "algorithms/nccl/decisions.hpp"
#include "algorithms/nccl/tuner.hpp"
#include "tools/log_comparison.hpp"
#include "tools/nccl_options.hpp"
#include "topology/units.hpp"

namespace collsim {

/// One size of one collective, looked at closely.
struct TunedCall {
  CollectiveKind collective{CollectiveKind::AllReduce};
  Bytes size{};     ///< nccl-tests' size column
  nccl::Call call;  ///< as NCCL's model takes it
};

/// A size of sends and receives, or of a collective that is made of them.
struct TunedSendRecv {
  CollectiveCall call{};
  Bytes each{};  ///< from one rank to another
};

/// What a rank does in a round of sends and receives.
struct PeerChannels {
  Rank peer{};
  std::vector<std::uint32_t> channels{};  ///< one a part, in their order
};
struct SendRecvRound {
  std::uint32_t round{0};
  std::optional<PeerChannels> sends{};
  std::optional<PeerChannels> receives{};
};

/// What is shown.
struct TuningView {
  const Machine* machine = nullptr;
  const nccl::Decisions* decisions = nullptr;
  std::string version;                    ///< as it was asked for
  std::vector<NcclVariable> variables;    ///< in force
  std::vector<nccl::Function> functions;  ///< those that are asked for
  std::vector<nccl::TunerRule> tuner;     ///< of a tuner file
  std::optional<TunedCall> call;
  std::optional<TunedSendRecv> send_recv;
  std::optional<LogView> log;
  bool rings = false;  ///< also the rings of all channels, and the trees of rank 0
};

/// The choices of a function; nothing if the variables leave it none and others are shown, too.
/// Throws: InputError if it is the only one.
[[nodiscard]] std::optional<std::vector<nccl::Crossover>> choices_of(const TuningView& view,
                                                                     nccl::Function function);

/// Why a call runs as it does, and how it is laid out. Requires: view.call.
[[nodiscard]] std::string tuned_call_text(const TuningView& view);
/// The rounds of rank 0 in which the call has it do anything. Requires: view.send_recv.
[[nodiscard]] std::vector<SendRecvRound> send_recv_rounds(const TuningView& view);
/// How sends and receives are cut. Requires: view.send_recv.
[[nodiscard]] std::string send_recv_text(const TuningView& view);

/// Graphs, channels, the table as NCCL's own log prints it, choices; with a call why. With a log its
/// comparison in place of the first four.
[[nodiscard]] std::string render_tuning_table(const TuningView& view);
/// collsim/tuning/1; docs/output.md lists the fields.
[[nodiscard]] std::string render_tuning_json(const TuningView& view);
/// A line a collective, algorithm and protocol.
[[nodiscard]] std::string render_tuning_csv(const TuningView& view);

}  // namespace collsim
