#pragma once

// `tuning --log`: the log of a real run beside the prediction, as tables and JSON.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/nccl/log_explanation.hpp"
#include "tools/cluster_options.hpp"
#include "tools/nccl_options.hpp"

namespace collsim {

/// A log, compared.
struct LogView {
  std::string file;
  nccl::NcclLog log;
  std::size_t communicator = 0;  ///< which one of the log's is compared
  std::string version_given;     ///< --nccl
  std::string constants_given;   ///< the file of constants that version means
  std::string constants_of_log;  ///< that of the log's version; empty: there is none
  nccl::LogReport report;

  [[nodiscard]] bool version_agrees() const { return constants_given == constants_of_log; }
};

/// Reads the log and compares it. Throws: InputError for what is no log of NCCL, and as nccl::Decisions.
[[nodiscard]] LogView compare_log(const std::string& file, const nccl::DecisionInput& input,
                                  const NcclOptions& options, const ClusterOptions& cluster,
                                  const std::vector<NcclVariable>& variables);

[[nodiscard]] std::string log_text(const LogView& view);
[[nodiscard]] nlohmann::ordered_json log_json(const LogView& view);

}  // namespace collsim
