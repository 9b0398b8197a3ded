#pragma once

// One rank of a group of processes that run programs over TCP: one process a rank.
//
// The same interpreter of steps as every real executor. What is measured is the network's and the kernels' doing: latency of
// sockets, goodput of links, copies in and out of the kernel. All ranks must make the same calls in the same order.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/program.hpp"
#include "validate/execution/outcome.hpp"
#include "validate/execution/process_group.hpp"
#include "validate/tcp/heart.hpp"
#include "validate/tcp/join.hpp"
#include "validate/tcp/mesh.hpp"

namespace collsim {

class TcpGroup final : public ProcessGroup {
 public:
  /// Joins. Throws: as join_group.
  explicit TcpGroup(const TcpPlace& place);

  [[nodiscard]] std::uint32_t rank() const override { return rank_; }
  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }

  /// Times a program and checks its data, together with all other ranks; returns the same outcome on each.
  /// Throws: ExecutionError where a peer is lost, or nothing moves for too long: who waits for whom.
  ExecutionOutcome execute(const Program& program, const ExecutionRequest& request);
  std::vector<std::string> exchange(std::string own) override;
  void require_peers() override;

 private:
  class Run;

  [[nodiscard]] std::string joined_texts(std::string own);

  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::chrono::milliseconds patience_;
  Mesh mesh_;
  Heart heart_;
};

}  // namespace collsim
