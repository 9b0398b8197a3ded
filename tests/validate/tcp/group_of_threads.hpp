#pragma once

// Ranks that talk over loopback as processes would, each in a thread of the test.

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "topology/error.hpp"
#include "validate/tcp/join.hpp"

namespace collsim::test {

/// Rank 0's door is open already, on a port that was free.
class GroupOfThreads {
 public:
  explicit GroupOfThreads(std::uint32_t ranks)
      : ranks_(ranks), door_(listen_on({"127.0.0.1", 0})), texts_(ranks) {}

  /// A place in the group, with the time that a test may take.
  [[nodiscard]] TcpPlace place(std::uint32_t rank) {
    TcpPlace place;
    place.rank = rank;
    place.ranks = ranks_;
    place.master = local_endpoint(door_);
    place.secret = "open sesame";
    place.digest = 7;
    place.patience = std::chrono::seconds(60);
    place.listener = rank == 0 ? &door_ : nullptr;
    return place;
  }

  /// Runs each rank in a thread; by rank what it returned, or the text of its error.
  std::vector<std::string> run(const std::function<std::string(const TcpPlace&)>& work) {
    {
      std::vector<std::jthread> threads;
      threads.reserve(ranks_);
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        threads.emplace_back([this, rank, &work] {
          try {
            texts_[rank] = work(place(rank));
          } catch (const Error& error) {
            texts_[rank] = error.what();
          }
        });
      }
    }
    return texts_;
  }

 private:
  std::uint32_t ranks_;
  Socket door_;
  std::vector<std::string> texts_;
};

}  // namespace collsim::test
