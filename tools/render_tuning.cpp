#include "tools/render_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "algorithms/nccl/launch_shape.hpp"
#include "tools/format_text.hpp"
#include "tools/render_csv.hpp"
#include "tools/text_table.hpp"
#include "tools/tuning_graphs.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

std::string headline(const TuningView& view) {
  const nccl::Communicator& communicator = view.decisions->communicator();
  const auto number = [](int count) { return static_cast<std::uint64_t>(count); };
  std::string text =
      fmt::format("{}: {} of {}, as NCCL {} decides\n", view.machine->cluster.name(),
                  counted(number(communicator.nodes), "node"),
                  counted(number(communicator.max_ranks_per_node), "GPU"),
                  view.version == view.decisions->constants().name
                      ? view.version
                      : view.version + " (constants of " + view.decisions->constants().name + ")");
  if (const std::size_t parts = view.decisions->node().part_ranks.size(); parts > 1) {
    text += fmt::format(
        "  GPUs of a host reach each other sooner over its NICs: NCCL takes each host "
        "for {} nodes\n",
        parts);
  }
  for (const NcclVariable& variable : view.variables) {
    text += fmt::format("  {}={} ({})\n", printable(variable.name), printable(variable.value),
                        printable(variable.origin));
  }
  return text;
}

std::string graphs_text(const TuningView& view) {
  TextTable table;
  table.add_column("graph", Align::Left);
  table.add_column("pattern", Align::Left);
  table.add_column("channels");
  table.add_column("GB/s each inside");
  table.add_column("to other nodes");
  table.add_column("paths", Align::Left);
  table.add_column("rails", Align::Left);
  table.add_column("first channel", Align::Left, 44);
  for (const NamedGraph& named : named_graphs(view.decisions->graphs())) {
    const nccl::Graph& graph = *named.graph;
    const bool several = view.decisions->communicator().nodes > 1;
    table.add_row({named.name, std::string(pattern_word(graph.pattern)),
                   std::to_string(graph.channels.size()), fmt::format("{}", graph.bandwidth_intra),
                   several ? fmt::format("{}", graph.bandwidth_inter) : "",
                   std::string(nccl::name(graph.type_intra)) +
                       (several ? "/" + std::string(nccl::name(graph.type_inter)) : ""),
                   several ? std::string(rail_word(graph.cross_nic)) : "", channel_text(named)});
  }
  return "\nGraphs of a node (search channels)\n" + table.render("  ");
}

std::string channels_text(const TuningView& view) {
  const nccl::Channels& channels = view.decisions->tuning().channels;
  return fmt::format("\nChannels: {} collective, {} NVLS, {} send/recv, {} for each peer\n",
                     channels.collective.size(), channels.nvls, channels.p2p, channels.per_peer);
}

/// The layout of NCCL's own log, three algorithms side by side.
std::string block_text(const TuningView& view, std::size_t first) {
  const std::size_t end = std::min(first + 3, nccl::algorithms.size());
  std::string heads = "  Algorithm   |";
  std::string words = "  Protocol    |";
  std::string threads = " Max NThreads |";
  for (std::size_t a = first; a < end; ++a) {
    const nccl::Algorithm algorithm = nccl::algorithms.at(a);
    heads += fmt::format(" {:>14}   {:>14}   {:>14} |", "", nccl::name(algorithm), "");
    for (const nccl::Protocol protocol : nccl::protocols) {
      words += fmt::format(" {:>14} |", nccl::name(protocol));
      // As NCCL prints it: only Tree and Ring have more than Simple.
      const bool has_protocol = algorithm == nccl::Algorithm::Tree ||
                                algorithm == nccl::Algorithm::Ring ||
                                protocol == nccl::Protocol::Simple;
      const int most = nccl::max_threads(view.decisions->input(), algorithm, protocol);
      threads += fmt::format(" {:>14} |", has_protocol ? most : 0);
    }
  }
  std::string text = heads + "\n" + words + "\n" + threads + "\n";
  for (const nccl::Function function : view.functions) {
    text += fmt::format("{:>13} |", nccl::name(function));
    for (std::size_t a = first; a < end; ++a) {
      for (const nccl::Protocol protocol : nccl::protocols) {
        const nccl::TuningEntry& entry =
            view.decisions->tuning().table[function][nccl::algorithms.at(a)][protocol];
        text += fmt::format(" {:7.1f}/{:6.1f} |", entry.latency, entry.bandwidth);
      }
    }
    text += "\n";
  }
  return text;
}

std::string table_text(const TuningView& view) {
  std::string text = "\nTuning table: latency in us / bandwidth in GB/s; no bandwidth: excluded\n";
  for (std::size_t first = 0; first < nccl::algorithms.size(); first += 3) {
    text += block_text(view, first);
  }
  return text;
}

std::string crossovers_text(const std::vector<nccl::Crossover>& crossovers) {
  std::string text;
  for (const nccl::Crossover& crossover : crossovers) {
    if (!text.empty()) {
      text += ", from " + human_bytes(Bytes(static_cast<std::int64_t>(crossover.from_bytes))) + " ";
    }
    text += nccl::name(crossover.algorithm, crossover.protocol);
  }
  return text;
}

std::string choices_text(const TuningView& view) {
  std::string text = "\nChoice by size (bytes of nccl-tests' size column)\n";
  for (const nccl::Function function : view.functions) {
    const auto crossovers = choices_of(view, function);
    text += fmt::format("  {:15}{}\n", name_of(nccl::collective_of(function)),
                        crossovers ? crossovers_text(*crossovers)
                                   : "none: NCCL_ALGO and NCCL_PROTO leave nothing, calls fail");
  }
  return text;
}

}  // namespace

std::optional<std::vector<nccl::Crossover>> choices_of(const TuningView& view,
                                                       nccl::Function function) {
  nccl::Call call;
  call.function = function;
  try {
    return nccl::choices_with_tuner(view.decisions->input(), view.decisions->tuning(), call,
                                    view.tuner);
  } catch (const InputError&) {
    if (view.functions.size() == 1) {
      throw;
    }
    return std::nullopt;
  }
}

std::string render_tuning_table(const TuningView& view) {
  std::string text = headline(view);
  if (!view.log) {
    text += graphs_text(view) + channels_text(view);
  }
  if (!view.log && !view.functions.empty()) {
    text += table_text(view) + choices_text(view);
  }
  if (view.call) {
    text += tuned_call_text(view);
  }
  if (view.send_recv) {
    text += send_recv_text(view);
  }
  if (view.rings) {
    text += rings_text(*view.decisions);
  }
  if (view.log) {
    text += log_text(*view.log);
  }
  return text;
}

std::string render_tuning_csv(const TuningView& view) {
  std::string text = "collective,algorithm,protocol,latency_us,bandwidth_GBps,excluded\n";
  for (const nccl::Function function : view.functions) {
    for (const nccl::Algorithm algorithm : nccl::algorithms) {
      for (const nccl::Protocol protocol : nccl::protocols) {
        const nccl::TuningEntry& entry =
            view.decisions->tuning().table[function][algorithm][protocol];
        text +=
            fmt::format("{},{},{},{},{},{}\n", name_of(nccl::collective_of(function)),
                        nccl::name(algorithm), nccl::name(protocol), entry.latency, entry.bandwidth,
                        entry.excluded ? csv_field(std::string(nccl::rule(*entry.excluded))) : "");
      }
    }
  }
  return text;
}

}  // namespace collsim
