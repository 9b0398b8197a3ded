// Which GPUs a job runs on: what --placement takes, and the other options that choose them.

#include <optional>
#include <string_view>
#include <utility>

#include "tools/job_options.hpp"
#include "tools/placement_file.hpp"
#include "tools/whole_number.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// The seed of "random" (0) or "random:SEED"; absent for other words.
std::optional<std::uint64_t> random_seed(const std::string& placement) {
  constexpr std::string_view word = "random";
  if (placement == word) {
    return 0;
  }
  if (!placement.starts_with("random:")) {
    return std::nullopt;
  }
  const std::string text = placement.substr(word.size() + 1);
  const auto seed = whole_number<std::uint64_t>(text);
  if (!seed) {
    throw InputError("expected random:SEED with a whole number, got " + in_quotes(placement),
                     "--placement");
  }
  return seed;
}

/// Whether a placement is a list of nodes as Slurm writes it, and so no file.
bool is_node_list(const std::string& placement) {
  constexpr std::string_view stem = "node";
  return placement.starts_with(stem) && placement.size() > stem.size() &&
         placement.find_first_not_of("0123456789,-[]node") == std::string::npos;
}

/// Ranks node by node on the nodes of a list.
Communicator place_on_list(const Graph& graph, PlacementRequest request,
                           const std::string& placement) {
  if (!request.node_list.empty()) {
    throw InputError("a list of nodes beside that of --node-list", "--placement",
                     "name the nodes once");
  }
  request.node_list = placement;
  try {
    return place_ranks(graph, request);
  } catch (const InputError& error) {
    throw InputError(error.message(), error.path() == "--node-list" ? "--placement" : error.path(),
                     error.hint());
  }
}

}  // namespace

Communicator gpus_of(const Cluster& cluster, const JobOptions& options) {
  PlacementRequest request;
  request.nodes = options.nodes;
  request.gpus_per_node = options.gpus_per_node;
  request.ranks = options.ranks;
  request.node_list = options.node_list;
  if (options.placement == "cyclic") {
    request.order = Placement::Cyclic;
  } else if (const auto seed = random_seed(options.placement)) {
    request.order = Placement::Random;
    request.seed = *seed;
  } else if (is_node_list(options.placement)) {
    return place_on_list(cluster.graph(), std::move(request), options.placement);
  } else if (options.placement != "block") {
    request.order = Placement::Listed;
    request.listed = read_placement(options.placement);
    request.list_name = options.placement;
  }
  return place_ranks(cluster.graph(), request);
}

std::string placement_name(const JobOptions& options) {
  if (is_node_list(options.placement)) {
    return "block of " + options.placement;
  }
  return options.node_list.empty() ? options.placement
                                   : options.placement + " of " + options.node_list;
}

}  // namespace collsim
