#include "validate/tcp/tcp_group.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "validate/execution/execution_error.hpp"
#include "validate/execution/joint_outcome.hpp"
#include "validate/execution/rank_run.hpp"
#include "validate/tcp/tcp_wire.hpp"

namespace collsim {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

/// One program on this rank.
class TcpGroup::Run {
 public:
  Run(TcpGroup& group, const Program& program, std::chrono::milliseconds patience)
      : group_(group),
        script_(script_of(program, Rank(group.rank_))),
        memory_(program, Rank(group.rank_)),
        wire_(script_, group.mesh_),
        run_(program, script_, memory_, wire_),
        patience_(patience) {
    group.mesh_.set_sink(&wire_);
  }
  ~Run() { group_.mesh_.set_sink(nullptr); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  RankMemory& memory() { return memory_; }
  [[nodiscard]] std::uint64_t emulated() const { return script_.emulated; }

  /// All ranks begin together; how long the calls of this one took.
  std::chrono::nanoseconds calls(std::uint32_t count) {
    group_.meet();
    const auto begin = Clock::now();
    for (std::uint32_t call = 0; call < count; ++call) {
      run_.restart();
      until([this] { return run_.finished(); });
      run_.finish_output();
    }
    const auto time = Clock::now() - begin;
    // Credits that come late would be taken for those of the next program.
    until([this] { return wire_.is_settled() && group_.mesh_.is_flushed(); });
    return time;
  }

 private:
  template <class Done>
  void until(Done done) {
    Mesh& mesh = group_.mesh_;
    constexpr std::chrono::milliseconds no_nap{0};
    const std::chrono::milliseconds nap = Mesh::nap(patience_);
    auto since = Clock::now();
    while (!done()) {
      if (run_.advance()) {
        mesh.progress();
        since = Clock::now();
        continue;
      }
      // Where a peer is gone, only what is here already may still help.
      const auto lost = mesh.lost_peer();
      if (run_.take_messages() || mesh.progress(lost ? no_nap : nap)) {
        since = Clock::now();
      } else if (lost) {
        throw ExecutionError("lost rank " + std::to_string(*lost) + ": it closed the connection" +
                             waits());
      } else if (Clock::now() - since > patience_) {
        throw ExecutionError("rank " + std::to_string(group_.rank_) + ": nothing moved for " +
                             std::to_string(patience_.count()) + " ms" + waits());
      }
    }
  }

  [[nodiscard]] std::string waits() const {
    constexpr std::size_t most_shown = 4;
    const std::vector<std::string> all = run_.waits();
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), most_shown); ++i) {
      text += "; " + all[i];
    }
    if (all.size() > most_shown) {
      text += "; and " + std::to_string(all.size() - most_shown) + " more";
    }
    return text;
  }

  TcpGroup& group_;
  RankScript script_;
  RankMemory memory_;
  TcpWire wire_;
  RankRun run_;
  std::chrono::milliseconds patience_;
};

TcpGroup::TcpGroup(const TcpPlace& place)
    : rank_(place.rank),
      ranks_(place.ranks),
      patience_(place.patience),
      mesh_(join_group(place)),
      heart_(mesh_, place.patience) {}

std::vector<std::string> TcpGroup::exchange(std::string own) {
  const std::string all = joined_texts(std::move(own));
  std::vector<std::string> texts;
  texts.reserve(ranks_);
  std::size_t at = 0;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const std::size_t colon = all.find(':', at);
    std::size_t length = 0;
    std::from_chars(all.data() + at, all.data() + std::min(colon, all.size()), length);
    if (colon == std::string::npos || length > all.size() - colon - 1) {
      throw ExecutionError("rank 0 sent no texts of all ranks");
    }
    texts.push_back(all.substr(colon + 1, length));
    at = colon + 1 + length;
  }
  return texts;
}

/// One after the other by rank, each preceded by its length and a colon.
std::string TcpGroup::joined_texts(std::string own) {
  if (rank_ != 0) {
    mesh_.send_control(0, std::move(own));
    return mesh_.receive_control(0, patience_);
  }
  std::string all = std::to_string(own.size()) + ":" + own;
  for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
    const std::string text = mesh_.receive_control(rank, patience_);
    all += std::to_string(text.size()) + ":" + text;
  }
  for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
    mesh_.send_control(rank, all);
  }
  mesh_.drain(patience_);
  return all;
}

void TcpGroup::require_peers() {
  mesh_.progress();
  if (const auto lost = mesh_.lost_peer()) {
    throw ExecutionError("lost rank " + std::to_string(*lost) + ": it closed the connection");
  }
}

ExecutionOutcome TcpGroup::execute(const Program& program, const ExecutionRequest& request) {
  TestData data(program.call(), request.seed);
  Run run(*this, program, request.patience);
  const auto fill = [&] {
    run.memory().poison();
    data.fill_input(Rank(rank_), run.memory().input());
  };
  fill();
  run.calls(request.warmup);
  const std::chrono::nanoseconds time = run.calls(request.timed);
  std::optional<WrongData> wrong;
  if (request.check) {
    fill();
    run.calls(1);
    wrong = data.check_output(Rank(rank_), run.memory().output());
  }

  ExecutionOutcome outcome = joint_outcome(*this, Duration(time), request.timed, wrong);
  outcome.emulated_steps = run.emulated();
  return outcome;
}

}  // namespace collsim
