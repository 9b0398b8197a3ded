// One size looked at closely: why it runs as it does, and how it is laid out.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/nccl/call_geometry.hpp"
#include "algorithms/nccl/send_recv.hpp"
#include "algorithms/nccl/send_recv_plan.hpp"
#include "tools/format_text.hpp"
#include "tools/render_tuning.hpp"
#include "tools/text_table.hpp"

namespace collsim {

namespace {

/// "  a channel does 352 KiB (the last one 96 KiB), in chunks of 32 KiB"
std::string layout_text(nccl::Function function, const nccl::CallGeometry& geometry) {
  const std::string chunks = "in chunks of " + human_bytes(Bytes(geometry.chunk.bytes));
  if (geometry.parts.empty()) {
    return "  channels share the whole, " + chunks + "\n";
  }
  const bool dealt =
      function == nccl::Function::AllGather || function == nccl::Function::ReduceScatter;
  const auto bytes = [&geometry](const nccl::ChannelPart& part) {
    return human_bytes(Bytes(part.count * geometry.element_size));
  };
  std::string text = "  a channel does " + bytes(geometry.parts.front());
  if (geometry.parts.back().count != geometry.parts.front().count) {
    text += " (the last one " + bytes(geometry.parts.back()) + ")";
  }
  return text + (dealt ? " of each rank's block, " : ", ") + chunks + "\n";
}

/// "0-3 12-15": runs of channels that follow one another.
std::string channels_text(const std::vector<std::uint32_t>& channels) {
  std::string text;
  for (std::size_t i = 0; i < channels.size();) {
    std::size_t last = i;
    while (last + 1 < channels.size() && channels[last + 1] == channels[last] + 1) {
      ++last;
    }
    text += (text.empty() ? "" : " ") + std::to_string(channels[i]);
    text += last > i ? "-" + std::to_string(channels[last]) : "";
    i = last + 1;
  }
  return text;
}

std::string rounds_text(const TuningView& view) {
  constexpr std::size_t most_shown = 16;
  TextTable table;
  table.add_column("round");
  table.add_column("sends to");
  table.add_column("on channels", Align::Left);
  table.add_column("receives from");
  table.add_column("on channels", Align::Left);
  const auto name = [](const std::optional<PeerChannels>& with) {
    return !with                   ? std::string()
           : with->peer == Rank(0) ? std::string("itself")
                                   : std::to_string(with->peer.value());
  };
  const auto channels = [](const std::optional<PeerChannels>& with) {
    return with ? channels_text(with->channels) : std::string();
  };
  const std::vector<SendRecvRound> rounds = send_recv_rounds(view);
  for (std::size_t i = 0; i < std::min(rounds.size(), most_shown); ++i) {
    const SendRecvRound& round = rounds[i];
    table.add_row({std::to_string(round.round), name(round.sends), channels(round.sends),
                   name(round.receives), channels(round.receives)});
  }
  std::string text = "\nRounds of rank 0\n" + table.render("  ");
  if (rounds.size() > most_shown) {
    text += fmt::format("  and {} more\n", grouped(rounds.size() - most_shown));
  }
  return text;
}

}  // namespace

std::string tuned_call_text(const TuningView& view) {
  const TunedCall& tuned = *view.call;
  const nccl::TuningInput input = view.decisions->input();
  const nccl::Tuning& tuning = view.decisions->tuning();
  const nccl::TunedChoice chosen = nccl::choose_with_tuner(input, tuning, tuned.call, view.tuner);
  const nccl::CallGeometry geometry = nccl::call_geometry(input, tuning, tuned.call, chosen);
  const nccl::LaunchShape& shape = geometry.shape;
  std::string text = fmt::format("\n{} of {}: {}, on {} channel{} of {} threads{}\n",
                                 name_of(tuned.collective), human_bytes(tuned.size),
                                 nccl::name(chosen.contender.algorithm, chosen.contender.protocol),
                                 shape.channels, shape.channels == 1 ? "" : "s", shape.threads,
                                 chosen.rule != nullptr ? ", because the tuner file says so" : "");
  text += layout_text(tuned.call.function, geometry);
  TextTable table;
  table.add_column("candidate", Align::Left);
  table.add_column("latency us");
  table.add_column("bytes / bandwidth us");
  table.add_column("time us");
  table.add_column("", Align::Left, 60);
  std::vector<nccl::Contender> contenders = nccl::contenders(input, tuning, tuned.call);
  std::ranges::stable_sort(contenders, [](const nccl::Contender& a, const nccl::Contender& b) {
    if (a.excluded || b.excluded) {
      return !a.excluded && b.excluded;
    }
    return a.time < b.time;
  });
  for (const nccl::Contender& contender : contenders) {
    const std::string name = nccl::name(contender.algorithm, contender.protocol);
    if (contender.excluded == nccl::Exclusion::NotImplemented ||
        contender.excluded == nccl::Exclusion::SimpleOnly) {
      continue;
    }
    if (contender.excluded) {
      table.add_row({name, "", "", "", std::string(nccl::rule(*contender.excluded))});
      continue;
    }
    const bool wins = contender.algorithm == chosen.contender.algorithm &&
                      contender.protocol == chosen.contender.protocol;
    table.add_row({name, fmt::format("{:.1f}", contender.latency),
                   fmt::format("{:.1f}", contender.time - contender.latency),
                   fmt::format("{:.1f}", contender.time), wins ? "chosen" : ""});
  }
  return text + table.render("  ");
}

std::vector<SendRecvRound> send_recv_rounds(const TuningView& view) {
  if (view.send_recv->call.ranks < 2) {
    return {};
  }
  const nccl::SendRecvPlan plan =
      nccl::send_recv_plan(view.decisions->input(), view.send_recv->call);
  const auto with = [&plan](Rank peer, std::uint32_t round) {
    PeerChannels result{peer, {}};
    const auto parts = static_cast<std::uint32_t>(plan.shape(Rank(0), peer).parts);
    for (std::uint32_t part = 0; part < parts; ++part) {
      result.channels.push_back(plan.channel(round, part));
    }
    return result;
  };
  std::vector<SendRecvRound> rounds;
  for (const nccl::RoundWork& work : nccl::rounds_of(plan, Rank(0))) {
    SendRecvRound& round = rounds.emplace_back(SendRecvRound{work.round, {}, {}});
    if (work.sends) {
      round.sends = with(plan.schedule.send_to(Rank(0), work.round), work.round);
    }
    if (work.receives) {
      round.receives = with(plan.schedule.receive_from(Rank(0), work.round), work.round);
    }
  }
  return rounds;
}

std::string send_recv_text(const TuningView& view) {
  const TunedSendRecv& tuned = *view.send_recv;
  std::string text =
      fmt::format("\n{} of {}: {} from a rank to another\n", name_of(tuned.call.kind),
                  human_bytes(tuned.call.size()), human_bytes(tuned.each));
  TextTable table;
  table.add_column("peer", Align::Left);
  table.add_column("protocol", Align::Left);
  table.add_column("channels");
  table.add_column("a channel");
  table.add_column("chunk");
  for (const nccl::PeerIs peer : {nccl::PeerIs::Local, nccl::PeerIs::Remote}) {
    const bool remote = peer == nccl::PeerIs::Remote;
    const nccl::Communicator& communicator = view.decisions->communicator();
    if (remote ? communicator.nodes == 1 : communicator.max_ranks_per_node == 1) {
      continue;
    }
    const nccl::SendRecvShape shape = nccl::send_recv_shape(
        view.decisions->input(), view.decisions->tuning().channels, tuned.each.count(), peer);
    table.add_row({remote ? "on another node" : "on the same node",
                   std::string(nccl::name(shape.protocol)), std::to_string(shape.parts),
                   human_bytes(Bytes(shape.part)), human_bytes(Bytes(shape.chunk))});
  }
  if (table.empty()) {
    return text + "  a rank alone sends nothing\n";
  }
  return text + table.render("  ") + rounds_text(view);
}

}  // namespace collsim
