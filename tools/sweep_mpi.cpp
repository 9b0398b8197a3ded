// Messages between the process that leads (rank 0) and the others:
//   Ready    follower → leader   a worker is free
//   Point    leader → follower   the number of a point for it
//   Line     follower → leader   {"point": …}, and the worker is free again
//   Stop     leader → follower   there are no more
// Nobody waits inside MPI, which would keep a core busy: all look for messages, and wait for their own threads
// in between.

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "tools/sweep_processes.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr int leader = 0;
constexpr std::chrono::milliseconds between_looks(1);

enum class Tag : std::uint8_t { Ready, Point, Line, Stop };

int number(Tag tag) { return static_cast<int>(tag); }

struct Message {
  int from = 0;
  Tag tag = Tag::Ready;
  std::string text;
};

void send(int to, Tag tag, const std::string& text) {
  MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, number(tag), MPI_COMM_WORLD);
}

/// A message that is there.
std::optional<Message> receive() {
  int is_there = 0;
  MPI_Status status{};
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
  if (is_there == 0) {
    return std::nullopt;
  }
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  Message message{status.MPI_SOURCE, static_cast<Tag>(status.MPI_TAG),
                  std::string(static_cast<std::size_t>(size), '\0')};
  MPI_Recv(message.text.data(), size, MPI_CHAR, message.from, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return message;
}

/// A line with its point in front, as it travels.
std::string packed(const FinishedLine& line) {
  return std::to_string(line.index) + " " + line.line;
}

FinishedLine unpacked(const std::string& text) {
  const std::size_t blank = text.find(' ');
  return {std::stoull(text.substr(0, blank)), text.substr(blank + 1)};
}

}  // namespace

struct SweepProcesses::State {
  int rank = 0;
  int count = 1;
};

SweepProcesses::SweepProcesses() : state_(std::make_unique<State>()) {
  const std::size_t begun = processes_begun();
  if (begun <= 1) {
    return;
  }
  int provided = 0;
  // One thread calls MPI, others compute.
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  COLLSIM_ENSURE(provided >= MPI_THREAD_FUNNELED, "MPI lets other threads be");
  MPI_Comm_rank(MPI_COMM_WORLD, &state_->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &state_->count);
  if (state_->count == 1) {
    MPI_Finalize();
    throw InputError(
        std::to_string(begun) + " processes were begun together, and MPI joins none of them", "",
        "the mpirun of the MPI that collsim was built with; srun --mpi=pmix");
  }
}

SweepProcesses::~SweepProcesses() {
  if (state_->count > 1) {
    MPI_Finalize();
  }
}

std::size_t SweepProcesses::count() const { return static_cast<std::size_t>(state_->count); }

bool SweepProcesses::leads() const { return state_->rank == leader; }

bool SweepProcesses::agree(const std::string& text) {
  if (state_->count == 1) {
    return !text.empty();
  }
  auto size = static_cast<std::uint64_t>(text.size());
  MPI_Bcast(&size, 1, MPI_UINT64_T, leader, MPI_COMM_WORLD);
  std::string leaders(size, '\0');
  if (leads()) {
    leaders = text;
  }
  MPI_Bcast(leaders.data(), static_cast<int>(size), MPI_CHAR, leader, MPI_COMM_WORLD);
  const int mine = !text.empty() && text == leaders ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

void SweepProcesses::lead(const SweepWork& work, const std::vector<std::size_t>& points,
                          const Take& take) {
  if (state_->count == 1) {
    lead_alone(work, points, take);
    return;
  }
  WorkerPool pool(work.workers, work.make_worker);
  std::deque<int> free;  ///< followers, as often as they have free workers
  std::size_t next = 0;
  for (std::size_t done = 0; done < points.size();) {
    while (next < points.size() && pool.free() > 0) {
      pool.submit(points[next++]);
    }
    while (const std::optional<Message> message = receive()) {
      free.push_back(message->from);
      if (message->tag == Tag::Line) {
        take(unpacked(message->text));
        ++done;
      }
    }
    for (; next < points.size() && !free.empty(); free.pop_front()) {
      send(free.front(), Tag::Point, std::to_string(points[next++]));
    }
    if (std::optional<FinishedLine> line = pool.take(between_looks)) {
      take(*std::move(line));
      ++done;
    }
  }
  for (int rank = leader + 1; rank < state_->count; ++rank) {
    send(rank, Tag::Stop, {});
  }
}

void SweepProcesses::follow(const SweepWork& work) {
  WorkerPool pool(work.workers, work.make_worker);
  for (std::size_t i = 0; i < pool.workers(); ++i) {
    send(leader, Tag::Ready, {});
  }
  while (true) {
    if (const std::optional<Message> message = receive()) {
      if (message->tag == Tag::Stop) {
        return;
      }
      pool.submit(std::stoull(message->text));
    }
    if (const std::optional<FinishedLine> line = pool.take(between_looks)) {
      send(leader, Tag::Line, packed(*line));
    }
  }
}

}  // namespace collsim
