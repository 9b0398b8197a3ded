// Ranks as processes, each with a GPU or a share of one: their memory by CUDA's handles.

#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "algorithms/table.hpp"
#include "kernels/cuda_error.hpp"
#include "tools/gpu_check/stages.hpp"
#include "validate/execution/every_call.hpp"
#include "validate/execution/execution_error.hpp"
#include "validate/tcp/tcp_group.hpp"

namespace collsim {

namespace {

constexpr std::chrono::seconds patience{20};

/// One program a collective over each wire; what went wrong, a line each.
std::string failures_of_rank(ProcessGroup& group) {
  std::string failures;
  const std::vector<std::string> hosts(group.ranks(), "here");
  const std::uint32_t gpu = gpu_of_process(hosts, group.rank(), GpuUse::Peers);
  for (const CollectiveKind kind : all_kinds) {
    ProgramRequest request;
    request.call.kind = kind;
    request.call.ranks = group.ranks();
    request.call.count = 1'003;
    request.call.in_place = InPlace::No;
    const Algorithm& algorithm = *applicable_algorithms(request).front();
    const auto program = build_program(algorithm, request);
    for (const LaneWire wire : {LaneWire::Simple, LaneWire::Lines, LaneWire::WideLines}) {
      ExecutionRequest asked;
      asked.timed = 1;
      asked.patience = patience;
      CudaOptions options;
      options.wire = wire;
      const ExecutionOutcome outcome = execute_on_gpus(*program, asked, options, group, gpu);
      for (const WrongData& wrong : outcome.wrong) {
        failures += std::string(algorithm.name) + " " + std::string(name_of(kind)) +
                    ": wrong data: " + wrong.text() + "\n";
      }
    }
  }
  return failures;
}

std::string be_rank(const TcpPlace& place) {
  try {
    TcpGroup group(place);
    return failures_of_rank(group);
  } catch (const Error& error) {
    return std::string(error.what()) + "\n";
  }
}

std::string text_from(int pipe_end) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count = 1; count > 0;) {
    count = read(pipe_end, part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(count > 0 ? count : 0));
  }
  close(pipe_end);
  return text;
}

}  // namespace

StageOutcome check_processes(std::uint32_t ranks) {
  StageOutcome stage;
  Socket door = listen_on({"127.0.0.1", 0});
  TcpPlace place;
  place.ranks = ranks;
  place.master = local_endpoint(door);
  place.secret = "gpu check " + std::to_string(getpid());
  place.patience = patience;
  std::vector<std::array<int, 2>> pipes(ranks);
  std::vector<pid_t> children;
  for (place.rank = 0; place.rank < ranks; ++place.rank) {
    std::array<int, 2>& ends = pipes[place.rank];
    if (pipe(ends.data()) != 0) {
      throw ExecutionError("cannot make a pipe");
    }
    const pid_t child = fork();
    if (child == 0) {
      place.listener = place.rank == 0 ? &door : nullptr;
      const std::string text = be_rank(place);
      _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    children.push_back(child);
  }
  door.close();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string text = text_from(pipes[rank][0]);
    int status = 1;
    waitpid(children[rank], &status, 0);
    if (!text.empty() || status != 0) {
      stage.failures.push_back("rank " + std::to_string(rank) + ": " +
                               (text.empty() ? "ended badly" : text.substr(0, text.find('\n'))));
    } else {
      ++stage.done;
    }
  }
  return stage;
}

}  // namespace collsim
