#pragma once
// Gathers NCCL's lines by rank and communicator: which thread sets up which communicator, which calls
// belong to it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "algorithms/nccl/io/log_lines.hpp"
#include "algorithms/nccl/io/log_rank.hpp"

namespace collsim::nccl {

/// A rank with who wrote it.
struct WrittenRank {
  LogWriter writer{};
  RankLog log{};
};

/// A choice with who made it.
struct WrittenChoice {
  LogWriter writer{};
  std::string address{};  ///< of the communicator, where the call's own line tells it
  LoggedChoice choice{};
};

class LogRanks {
 public:
  void take(const LogWriter& writer, std::string_view text);

  [[nodiscard]] std::vector<WrittenRank>& ranks() { return ranks_; }
  [[nodiscard]] const std::vector<WrittenChoice>& choices() const { return choices_; }
  [[nodiscard]] const std::vector<LoggedVariable>& environment() const { return environment_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] const std::string& cuda() const { return cuda_; }
  [[nodiscard]] bool rccl() const { return rccl_; }
  [[nodiscard]] bool several_versions() const { return several_versions_; }
  [[nodiscard]] std::size_t garbled() const { return garbled_; }
  [[nodiscard]] std::size_t uncounted_choices() const { return uncounted_choices_; }

 private:
  struct Stream {
    std::optional<std::size_t> rank{};  ///< being set up: position in ranks_
    std::optional<CallLine> call{};     ///< the last one
  };

  bool take_version(std::string_view text);
  bool take_variable(std::string_view text);
  bool take_choice(const LogWriter& writer, Stream& stream, std::string_view text);
  void take_init(const LogWriter& writer, Stream& stream, const InitLine& line);
  void take_rank_line(const LogWriter& writer, Stream& stream, std::string_view text);
  WrittenRank* add_rank(const LogWriter& writer, Stream& stream);

  std::vector<WrittenRank> ranks_{};
  std::map<LogWriter, Stream> streams_{};
  std::vector<WrittenChoice> choices_{};
  std::map<std::string, std::size_t> choice_of_key_{};
  std::vector<LoggedVariable> environment_{};
  std::string version_{};
  std::string cuda_{};
  bool rccl_ = false;
  bool several_versions_ = false;
  std::size_t garbled_ = 0;
  std::size_t uncounted_choices_ = 0;
};

}  // namespace collsim::nccl
