#pragma once

// A sweep's points spread over workers: the threads of this process and, where mpirun or srun began several of them,
// of all others. One process leads: it alone hands out points, takes lines in and writes. A process that has nothing
// to do asks for a point, so that slow points and slow machines hold nobody up.
//
// Under MPI no process is replaced: where one dies, Open MPI ends all, and --resume does what is left.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/worker_pool.hpp"

namespace collsim {

/// What all processes do alike.
struct SweepWork {
  std::size_t workers = 1;  ///< threads of this process, at most
  std::function<WorkerPool::Work()> make_worker;
};

class SweepProcesses {
 public:
  /// Joins the processes that were begun together. Throws: InputError where there are several and they cannot be
  /// joined: this program was built without MPI, or for another one than began them.
  SweepProcesses();
  ~SweepProcesses();
  SweepProcesses(const SweepProcesses&) = delete;
  SweepProcesses& operator=(const SweepProcesses&) = delete;

  [[nodiscard]] std::size_t count() const;
  /// Whether this one hands out points and writes.
  [[nodiscard]] bool leads() const;

  /// Whether all processes have the same text, which is not empty. All call it, and get the same answer.
  [[nodiscard]] bool agree(const std::string& text);

  using Take = std::function<void(FinishedLine)>;
  /// Of the one that leads: has the points done in their order, and takes each line as it comes.
  void lead(const SweepWork& work, const std::vector<std::size_t>& points, const Take& take);
  /// Of the others: does points until there are no more.
  void follow(const SweepWork& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How many processes mpirun or srun began together, as their variables say; 1 where there are none.
[[nodiscard]] std::size_t processes_begun();

/// The points on this process's threads alone.
void lead_alone(const SweepWork& work, const std::vector<std::size_t>& points,
                const SweepProcesses::Take& take);

}  // namespace collsim
