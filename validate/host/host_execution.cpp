#include "validate/host/host_execution.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>

#include "validate/execution/port_pairs.hpp"

namespace collsim {

namespace {

/// Some microseconds: longer than a peer on another core takes to move a small message.
constexpr std::uint32_t looks_with_own_core = 300;

}  // namespace

/// A rank's ports as channels. Rings whoever waits at the other end.
class HostExecution::SharedWire final : public Wire {
 public:
  struct End {
    Channel* channel = nullptr;
    Doorbell* peer = nullptr;
  };
  std::vector<End> in;
  std::vector<End> out;

  bool arrived(std::uint32_t port) override { return in[port].channel->arrived(); }
  bool has_credit(std::uint32_t port) override { return out[port].channel->has_credit(); }
  std::span<const std::byte> message(std::uint32_t port) override {
    return in[port].channel->message();
  }
  void release(std::uint32_t port) override {
    in[port].channel->release();
    in[port].peer->ring();
  }
  std::byte* slot(std::uint32_t port) override { return out[port].channel->slot(); }
  void send(std::uint32_t port, std::size_t bytes) override {
    out[port].channel->send(bytes);
    out[port].peer->ring();
  }
};

struct HostExecution::RankState {
  RankState(const Program& program, Rank rank)
      : script(script_of(program, rank)),
        memory(program, rank),
        run(program, script, memory, wire) {}

  RankScript script;
  RankMemory memory;
  SharedWire wire;
  Doorbell bell;
  RankRun run;
  std::chrono::nanoseconds time{};
};

/// What the threads of one run share.
struct HostExecution::Start {
  std::atomic<bool> go = false;
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::condition_variable ended;  ///< signalled by each thread at its end
  std::size_t running = 0;
  std::exception_ptr failure;  ///< the first
};

HostExecution::HostExecution(std::shared_ptr<const Program> program, const HostOptions& options)
    : program_(std::move(program)),
      options_(options),
      looks_(program_->call().ranks <= std::thread::hardware_concurrency() ? looks_with_own_core
                                                                           : 0) {
  ranks_.reserve(program_->call().ranks);
  for (std::uint32_t rank = 0; rank < program_->call().ranks; ++rank) {
    ranks_.push_back(std::make_unique<RankState>(*program_, Rank(rank)));
  }
  connect();
}

HostExecution::~HostExecution() = default;

std::size_t HostExecution::memory_of(const Program& program) {
  std::size_t bytes = 0;
  for (std::uint32_t rank = 0; rank < program.call().ranks; ++rank) {
    bytes += memory_of(program, Rank(rank));
  }
  return bytes;
}

std::size_t HostExecution::memory_of(const Program& program, Rank rank) {
  const CollectiveCall& call = program.call();
  const RankScript script = script_of(program, rank);
  std::size_t bytes = script.steps.size() * sizeof(Step);
  bytes += static_cast<std::size_t>(
      (call.input_bytes(rank) + call.output_bytes(rank) + program.scratch_bytes(rank)).count());
  for (const Port& port : script.out) {
    bytes += Channel::footprint(port.slots(), static_cast<std::size_t>(port.largest.count()));
  }
  return bytes;
}

void HostExecution::connect() {
  std::vector<const RankScript*> scripts;
  scripts.reserve(ranks_.size());
  for (const auto& rank : ranks_) {
    rank->wire.in.resize(rank->script.in.size());
    rank->wire.out.resize(rank->script.out.size());
    scripts.push_back(&rank->script);
  }
  const auto pairs = port_pairs(scripts);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    RankState& rank = *ranks_[i];
    for (std::size_t out = 0; out < rank.script.out.size(); ++out) {
      const Port& port = rank.script.out[out];
      if (port.messages == 0) {
        continue;
      }
      RankState& peer = *ranks_[port.peer.peer.index()];
      const std::uint32_t in = pairs[i][out];
      const Bytes largest = std::max(port.largest, peer.script.in[in].largest);
      channels_.push_back(
          std::make_unique<Channel>(port.slots(), static_cast<std::size_t>(largest.count())));
      rank.wire.out[out] = {channels_.back().get(), &peer.bell};
      peer.wire.in[in] = {channels_.back().get(), &rank.bell};
    }
  }
}

RankMemory& HostExecution::memory(Rank rank) { return ranks_[rank.index()]->memory; }

std::uint64_t HostExecution::emulated_steps() const {
  std::uint64_t steps = 0;
  for (const auto& rank : ranks_) {
    steps += rank->script.emulated;
  }
  return steps;
}

std::vector<std::chrono::nanoseconds> HostExecution::run(std::uint32_t calls) {
  Start start;
  start.running = ranks_.size();
  {
    const std::vector<std::jthread> threads = start_threads(calls, start);
    start.go.store(true, std::memory_order_release);
    start.go.notify_all();
    watch(start);
  }
  if (start.failure) {
    std::rethrow_exception(start.failure);
  }
  if (start.stop) {
    throw stalled();
  }
  std::vector<std::chrono::nanoseconds> times;
  times.reserve(ranks_.size());
  for (const auto& rank : ranks_) {
    times.push_back(rank->time);
  }
  return times;
}

std::vector<std::jthread> HostExecution::start_threads(std::uint32_t calls, Start& start) const {
  std::vector<std::jthread> threads;
  threads.reserve(ranks_.size());
  // Those that wait for the rest would wait for ever.
  const auto give_up = [&] {
    start.stop = true;
    start.go.store(true, std::memory_order_release);
    start.go.notify_all();
    threads.clear();
  };
  try {
    for (const auto& rank : ranks_) {
      threads.emplace_back([this, &start, &rank, calls] { work(*rank, calls, start); });
    }
  } catch (const std::system_error& error) {
    const std::size_t started = threads.size();
    give_up();
    throw too_few_threads(started, ranks_.size(), error);
  } catch (const std::bad_alloc&) {
    give_up();
    throw;
  }
  return threads;
}

void HostExecution::work(RankState& rank, std::uint32_t calls, Start& start) const {
  try {
    start.go.wait(false, std::memory_order_acquire);
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint32_t call = 0; call < calls && !start.stop; ++call) {
      rank.run.restart();
      while (!rank.run.finished()) {
        // Read before `stop`: who stops us rings afterwards.
        const std::uint32_t seen = rank.bell.count();
        if (start.stop) {
          break;
        }
        if (!rank.run.advance() && !rank.run.take_messages()) {
          rank.bell.wait(seen, looks_);
        }
      }
      rank.run.finish_output();
    }
    rank.time = std::chrono::steady_clock::now() - begin;
  } catch (const std::exception&) {
    const std::scoped_lock lock(start.mutex);
    if (!start.failure) {
      start.failure = std::current_exception();
    }
  }
  // Signalled under the lock: the condition variable may be gone once it is free.
  const std::scoped_lock lock(start.mutex);
  --start.running;
  start.ended.notify_all();
}

void HostExecution::watch(Start& start) {
  std::uint64_t seen = work_done();
  std::unique_lock lock(start.mutex);
  auto since = std::chrono::steady_clock::now();
  constexpr std::chrono::milliseconds look_again{100};
  while (start.running > 0 && !start.stop) {
    start.ended.wait_for(lock, std::min(look_again, options_.patience));
    const std::uint64_t now = work_done();
    const auto time = std::chrono::steady_clock::now();
    if (now != seen) {
      seen = now;
      since = time;
    }
    if (start.failure || time - since > options_.patience) {
      start.stop = true;
    }
  }
  lock.unlock();
  if (start.stop) {
    for (const auto& rank : ranks_) {
      rank->bell.ring();
    }
  }
}

std::uint64_t HostExecution::work_done() const {
  std::uint64_t work = 0;
  for (const auto& rank : ranks_) {
    work += rank->run.work_done();
  }
  return work;
}

ExecutionError HostExecution::stalled() const {
  constexpr std::size_t most_shown = 4;
  std::string text;
  std::size_t count = 0;
  for (const auto& rank : ranks_) {
    for (const std::string& wait : rank->run.waits()) {
      if (++count <= most_shown) {
        text += "; " + wait;
      }
    }
  }
  if (count > most_shown) {
    text += "; and " + std::to_string(count - most_shown) + " more";
  }
  return ExecutionError("nothing moved for " + std::to_string(options_.patience.count()) + " ms" +
                        text);
}

namespace {

void fill(HostExecution& host, const TestData& data, std::uint32_t ranks) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    host.memory(Rank(rank)).poison();
    data.fill_input(Rank(rank), host.memory(Rank(rank)).input());
  }
}

}  // namespace

InputError too_few_threads(std::size_t started, std::size_t wanted, const std::system_error& why) {
  return InputError("could start " + std::to_string(started) + " of " + std::to_string(wanted) +
                        " threads: " + why.code().message(),
                    "--ranks", "fewer ranks, or a higher limit of processes (ulimit -u) or memory");
}

ExecutionOutcome execute_on_host(const std::shared_ptr<const Program>& program,
                                 const ExecutionRequest& request) {
  const CollectiveCall& call = program->call();
  HostExecution host(program, HostOptions{request.patience});
  TestData data(call, request.seed);
  ExecutionOutcome outcome;
  outcome.emulated_steps = host.emulated_steps();
  fill(host, data, call.ranks);
  host.run(request.warmup);
  std::chrono::nanoseconds total{};
  for (const std::chrono::nanoseconds time : host.run(request.timed)) {
    total += time;
  }
  outcome.time = Duration(total) / (std::int64_t{call.ranks} * request.timed);
  if (!request.check) {
    return outcome;
  }
  fill(host, data, call.ranks);
  host.run(1);
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
    if (auto wrong = data.check_output(Rank(rank), host.memory(Rank(rank)).output())) {
      outcome.wrong.push_back(*std::move(wrong));
    }
  }
  return outcome;
}

}  // namespace collsim
