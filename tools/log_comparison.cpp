#include "tools/log_comparison.hpp"

#include <algorithm>

#include "algorithms/nccl/io/find_constants.hpp"
#include "algorithms/nccl/io/log_reader.hpp"

namespace collsim {

namespace {

/// Those of other versions than the given one, each once, with the log's own by its full number.
std::vector<nccl::KnownVersion> other_versions(const ConfigPath& path, const LogView& view) {
  std::vector<nccl::KnownVersion> others;
  for (const nccl::ListedConstants& listed : nccl::list_constants(path)) {
    if (listed.name == view.constants_given) {
      continue;
    }
    const bool of_log = listed.name == view.constants_of_log;
    const std::string version = of_log ? view.log.version : nccl::to_text(listed.versions.last);
    others.push_back({version, nccl::find_constants(path, version), of_log});
  }
  return others;
}

std::string constants_of(const ConfigPath& path, const std::string& version) {
  const auto parsed = nccl::parse_version(version);
  for (const nccl::ListedConstants& listed : nccl::list_constants(path)) {
    if (parsed && listed.versions.contains(*parsed)) {
      return listed.name;
    }
  }
  return {};
}

/// How many things a log tells of a communicator.
std::size_t told(const nccl::LoggedCommunicator& communicator) {
  return communicator.graphs.size() + communicator.rings.size() + communicator.trees.size() +
         communicator.choices.size() + (communicator.has_table ? 1U : 0U) +
         (communicator.channels.collective ? 1U : 0U);
}

/// The one with the most ranks; of those the one that most is told of, and of those the first.
std::size_t largest(const std::vector<nccl::LoggedCommunicator>& communicators) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < communicators.size(); ++i) {
    const auto key = [&](std::size_t at) {
      return std::pair(communicators[at].ranks.value_or(0), told(communicators[at]));
    };
    best = key(i) > key(best) ? i : best;
  }
  return best;
}

}  // namespace

LogView compare_log(const std::string& file, const nccl::DecisionInput& input,
                    const NcclOptions& options, const ClusterOptions& cluster,
                    const std::vector<NcclVariable>& variables) {
  LogView view;
  view.file = file;
  view.log = nccl::load_nccl_log(file);
  if (view.log.communicators.empty()) {
    view.log.communicators.emplace_back();
  }
  view.communicator = largest(view.log.communicators);
  const ConfigPath path = config_path(cluster);
  view.version_given = options.version;
  view.constants_given = input.constants.name;
  view.constants_of_log = constants_of(path, view.log.version);
  nccl::LogQuestion question;
  question.input = input;
  for (const NcclVariable& variable : variables) {
    question.variables.push_back({variable.name, variable.value});
  }
  question.versions = other_versions(path, view);
  view.report = nccl::explain_log(question, view.log, view.log.communicators[view.communicator]);
  return view;
}

}  // namespace collsim
