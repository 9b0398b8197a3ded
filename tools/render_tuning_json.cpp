#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>

#include "algorithms/nccl/call_geometry.hpp"
#include "algorithms/nccl/p2p_schedule.hpp"
#include "algorithms/nccl/rings.hpp"
#include "algorithms/nccl/send_recv.hpp"
#include "algorithms/nccl/trees.hpp"
#include "tools/json_text.hpp"
#include "tools/render_tuning.hpp"
#include "tools/tuning_graphs.hpp"

namespace collsim {

namespace {

using nlohmann::ordered_json;

/// A larger communicator's rings fill megabytes: they are there on request.
constexpr int most_nodes_with_rings = 4;

/// A float by its own digits: 45.1, where the double would be 45.099998.
double plain(float value) {
  std::string text(32, '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  text.resize(static_cast<std::size_t>(end.ptr - text.data()));
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

ordered_json graph_json(const NamedGraph& named) {
  const nccl::Graph& graph = *named.graph;
  ordered_json json{{"pattern", pattern_word(graph.pattern)},
                    {"cross_nic", graph.cross_nic},
                    {"channels", graph.channels.size()},
                    {"bw_intra_GBps", plain(graph.bandwidth_intra)},
                    {"bw_inter_GBps", plain(graph.bandwidth_inter)},
                    {"same_channels", graph.same_channels},
                    {"type_intra", nccl::name(graph.type_intra)},
                    {"type_inter", nccl::name(graph.type_inter)}};
  if (has_heads(named)) {
    json["heads"] = nccl::heads(graph);
    return json;
  }
  json["orders"] = ordered_json::array();
  for (const nccl::GraphChannel& channel : graph.channels) {
    ordered_json order{{"gpus", channel.gpus}};
    if (channel.nic_in && channel.nic_out) {
      order["nic_in"] = std::to_string(*channel.nic_in);
      order["nic_out"] = std::to_string(*channel.nic_out);
    }
    json["orders"].push_back(std::move(order));
  }
  return json;
}

ordered_json table_json(const TuningView& view) {
  ordered_json rows = ordered_json::array();
  for (const nccl::Function function : view.functions) {
    for (const nccl::Algorithm algorithm : nccl::algorithms) {
      for (const nccl::Protocol protocol : nccl::protocols) {
        const auto& entry = view.decisions->tuning().table[function][algorithm][protocol];
        if (!entry.excluded) {
          rows.push_back({{"collective", name_of(nccl::collective_of(function))},
                          {"algorithm", nccl::name(algorithm)},
                          {"protocol", nccl::name(protocol)},
                          {"latency_us", plain(entry.latency)},
                          {"bandwidth_GBps", plain(entry.bandwidth)}});
        }
      }
    }
  }
  return rows;
}

ordered_json choices_json(const TuningView& view) {
  ordered_json all = ordered_json::object();
  for (const nccl::Function function : view.functions) {
    ordered_json list = ordered_json::array();
    for (const nccl::Crossover& crossover :
         choices_of(view, function).value_or(std::vector<nccl::Crossover>())) {
      list.push_back({{"from_bytes", crossover.from_bytes},
                      {"algorithm", nccl::name(crossover.algorithm)},
                      {"protocol", nccl::name(crossover.protocol)}});
    }
    all[std::string(name_of(nccl::collective_of(function)))] = std::move(list);
  }
  return all;
}

ordered_json call_json(const TuningView& view) {
  const TunedCall& tuned = *view.call;
  const nccl::TuningInput input = view.decisions->input();
  const nccl::Tuning& tuning = view.decisions->tuning();
  const nccl::TunedChoice chosen = nccl::choose_with_tuner(input, tuning, tuned.call, view.tuner);
  const nccl::Contender& winner = chosen.contender;
  const nccl::CallGeometry geometry = nccl::call_geometry(input, tuning, tuned.call, chosen);
  ordered_json json{{"collective", name_of(tuned.collective)},
                    {"bytes", tuned.size.count()},
                    {"algorithm", nccl::name(winner.algorithm)},
                    {"protocol", nccl::name(winner.protocol)},
                    {"by_tuner", chosen.rule != nullptr},
                    {"channels", geometry.shape.channels},
                    {"threads", geometry.shape.threads},
                    {"chunk_bytes", geometry.chunk.bytes},
                    {"chunk_steps", geometry.chunk.steps},
                    {"slice_steps", geometry.chunk.slice_steps},
                    {"loops", geometry.chunk.loops},
                    {"element_bytes", geometry.element_size}};
  json["parts"] = ordered_json::array();
  for (const nccl::ChannelPart& part : geometry.parts) {
    json["parts"].push_back({{"channel", part.channel}, {"count", part.count}});
  }
  json["candidates"] = ordered_json::array();
  for (const nccl::Contender& contender : nccl::contenders(input, tuning, tuned.call)) {
    ordered_json candidate{{"algorithm", nccl::name(contender.algorithm)},
                           {"protocol", nccl::name(contender.protocol)}};
    if (contender.excluded) {
      candidate["excluded"] = nccl::rule(*contender.excluded);
    } else {
      candidate["time_us"] = plain(contender.time);
      candidate["latency_us"] = plain(contender.latency);
      candidate["bandwidth_GBps"] = plain(contender.bandwidth);
    }
    json["candidates"].push_back(std::move(candidate));
  }
  return json;
}

ordered_json rounds_json(const TuningView& view) {
  ordered_json json = ordered_json::array();
  for (const SendRecvRound& round : send_recv_rounds(view)) {
    ordered_json& entry = json.emplace_back(ordered_json{{"round", round.round}});
    if (round.sends) {
      entry["send_to"] = round.sends->peer.value();
      entry["send_channels"] = round.sends->channels;
    }
    if (round.receives) {
      entry["receive_from"] = round.receives->peer.value();
      entry["receive_channels"] = round.receives->channels;
    }
  }
  return json;
}

ordered_json send_recv_json(const TuningView& view) {
  const TunedSendRecv& tuned = *view.send_recv;
  const nccl::Communicator& communicator = view.decisions->communicator();
  ordered_json json{{"collective", name_of(tuned.call.kind)},
                    {"bytes", tuned.call.size().count()},
                    {"bytes_to_a_peer", tuned.each.count()}};
  const auto add = [&](const char* name, nccl::PeerIs peer) {
    const nccl::SendRecvShape shape = nccl::send_recv_shape(
        view.decisions->input(), view.decisions->tuning().channels, tuned.each.count(), peer);
    json[name] = {{"protocol", nccl::name(shape.protocol)},
                  {"channels", shape.parts},
                  {"channel_bytes", shape.part},
                  {"chunk_bytes", shape.chunk}};
  };
  if (communicator.max_ranks_per_node > 1) {
    add("local", nccl::PeerIs::Local);
  }
  if (communicator.nodes > 1) {
    add("remote", nccl::PeerIs::Remote);
  }
  json["group"] = nccl::p2p_group_size(communicator, view.decisions->configuration());
  json["rounds_rank0"] = rounds_json(view);
  return json;
}

ordered_json rings_json(const nccl::Decisions& decisions) {
  ordered_json rings = ordered_json::array();
  for (const std::vector<Rank>& ring : nccl::build_rings(decisions.graphs(), decisions.layout(),
                                                         decisions.tuning().channels.collective)) {
    ordered_json ranks = ordered_json::array();
    for (const Rank rank : ring) {
      ranks.push_back(rank.value());
    }
    rings.push_back(std::move(ranks));
  }
  return rings;
}

ordered_json trees_json(const nccl::Decisions& decisions) {
  ordered_json trees = ordered_json::array();
  for (const nccl::TreeLinks& links :
       nccl::tree_links(decisions.graphs().tree, decisions.layout(),
                        decisions.tuning().channels.collective, Rank(0))) {
    ordered_json down = ordered_json::array();
    for (const Rank rank : links.down) {
      down.push_back(rank.value());
    }
    trees.push_back({{"down", std::move(down)},
                     {"up", links.up ? ordered_json(links.up->value()) : ordered_json(nullptr)}});
  }
  return trees;
}

}  // namespace

std::string render_tuning_json(const TuningView& view) {
  const nccl::Decisions& decisions = *view.decisions;
  const nccl::Communicator& communicator = decisions.communicator();
  ordered_json document{{"schema", "collsim/tuning/1"},
                        {"version", COLLSIM_VERSION},
                        {"cluster", view.machine->cluster.name()},
                        {"input_digest", view.machine->loaded.digest},
                        {"nccl", view.version},
                        {"constants", decisions.constants().name},
                        {"nodes", communicator.nodes},
                        {"ranks", communicator.ranks}};
  document["environment"] = ordered_json::object();
  for (const NcclVariable& variable : view.variables) {
    document["environment"][variable.name] = variable.value;
  }
  for (const NamedGraph& named : named_graphs(decisions.graphs())) {
    document["graphs"][named.name] = graph_json(named);
  }
  const nccl::Channels& channels = decisions.tuning().channels;
  document["channels"] = {{"collective", channels.collective.size()},
                          {"nvls", channels.nvls},
                          {"p2p", channels.p2p},
                          {"per_peer", channels.per_peer}};
  document["table"] = table_json(view);
  document["choices"] = choices_json(view);
  if (view.call) {
    document["call"] = call_json(view);
  }
  if (view.send_recv) {
    document["send_recv"] = send_recv_json(view);
  }
  if (view.rings || communicator.nodes <= most_nodes_with_rings) {
    document["rings"] = rings_json(decisions);
  }
  document["trees_rank0"] = trees_json(decisions);
  if (view.log) {
    document["log"] = log_json(*view.log);
  }
  return json_text(document);
}

}  // namespace collsim
