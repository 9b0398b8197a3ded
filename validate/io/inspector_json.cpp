#include "validate/io/inspector_json.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "validate/io/json_outline.hpp"
#include "validate/io/measurement_notes.hpp"
#include "validate/io/text_lines.hpp"

namespace collsim {

namespace {

using Json = nlohmann::json;

constexpr double ps_per_us = 1e6;
constexpr std::int64_t longest_us = 1'000'000'000'000;
constexpr std::uint32_t most_ranks = 1U << 20U;
constexpr std::size_t most_calls = 200'000;

/// One call, as far as lines tell of it.
struct Call {
  std::int64_t bytes = 0;
  std::int64_t time_us = 0;
  std::uint32_t line = 0;
  bool first = false;  ///< of its communicator
};

/// A line that says why it is of no use.
struct Sample {
  std::string communicator;
  std::int64_t number = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t nodes = 0;
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::int64_t bytes = 0;
  std::int64_t time_us = 0;
  std::string why_not;
};

const Json& member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) {
    return none;
  }
  const auto found = object.find(key);
  return found != object.end() ? *found : none;
}

std::int64_t whole_of(const Json& value) {
  return value.is_number_integer() &&
                 !(value.is_number_unsigned() && value.get<std::uint64_t>() >> 62U != 0)
             ? value.get<std::int64_t>()
             : -1;
}

/// nccl-tests' size of a call whose line gives the bytes of one rank's part, or of all: what the bandwidth is of.
std::optional<std::int64_t> size_of_call(std::int64_t bytes, std::int64_t time_us, double algbw,
                                         std::uint32_t ranks) {
  constexpr double bytes_per_us = 1e3;
  constexpr double tolerance = 0.01;  // six decimals, of which small bandwidths leave few digits
  const double moved = algbw * static_cast<double>(time_us) * bytes_per_us;
  for (const std::int64_t blocks : {std::int64_t{1}, std::int64_t{ranks}}) {
    if (bytes > (std::int64_t{1} << 62U) / blocks) {
      continue;
    }
    const auto size = static_cast<double>(bytes * blocks);
    const double rounding = 1e-6 * static_cast<double>(time_us) * bytes_per_us;
    if (std::abs(moved - size) <= tolerance * size + rounding) {
      return bytes * blocks;
    }
  }
  return std::nullopt;
}

/// Absent if the line is none of the inspector's collectives.
std::optional<Sample> sample_of(const Json& line) {
  const Json& header = member(line, "header");
  const Json& perf = member(line, "coll_perf");
  if (!header.is_object() || !perf.is_object()) {
    return std::nullopt;
  }
  Sample sample;
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  const std::int64_t ranks = whole_of(member(header, "n_ranks"));
  const std::int64_t nodes = whole_of(member(header, "nnodes"));
  const std::int64_t rank = whole_of(member(header, "rank"));
  const auto kind = parse_collective(text(member(perf, "coll")));
  sample.communicator = text(member(header, "id"));
  sample.number = whole_of(member(perf, "coll_sn"));
  sample.time_us = whole_of(member(perf, "coll_exec_time_us"));
  const std::int64_t bytes = whole_of(member(perf, "coll_msg_size_bytes"));
  const Json& algbw = member(perf, "coll_algobw_gbs");
  if (ranks < 2 || ranks >= most_ranks || rank < 0 || rank >= ranks) {
    sample.why_not = "no rank of a communicator of two or more";
  } else if (!kind) {
    sample.why_not = "not a collective that is modelled";
  } else if (text(member(perf, "coll_timing_source")) == "collective_cpu") {
    sample.why_not = "a time of the CPU: how long the call was known to the host";
  } else if (bytes <= 0 || sample.time_us <= 0 || sample.time_us > longest_us ||
             !algbw.is_number()) {
    sample.why_not = "no size, time or bandwidth above 0";
  } else if (const auto size = size_of_call(bytes, sample.time_us, algbw.get<double>(),
                                            static_cast<std::uint32_t>(ranks))) {
    sample.ranks = static_cast<std::uint32_t>(ranks);
    sample.rank = static_cast<std::uint32_t>(rank);
    sample.nodes = nodes > 0 && nodes <= ranks ? static_cast<std::uint32_t>(nodes) : 0;
    sample.kind = *kind;
    sample.bytes = *size;
  } else {
    sample.why_not = "the bandwidth contradicts size and time";
  }
  return sample;
}

/// Gathers the calls of all communicators.
class Calls {
 public:
  void add(const Sample& sample, std::uint32_t line) {
    const Key key{sample.communicator, sample.kind, sample.ranks, sample.nodes};
    Group& group = groups_[key];
    group.line = group.line == 0 ? line : group.line;
    ranks_.insert(sample.rank);
    const auto [at, is_new] = group.calls.try_emplace({sample.number, sample.bytes}, Call{});
    if (is_new && ++calls_ > most_calls) {
      throw InputError("more than " + std::to_string(most_calls) + " calls");
    }
    Call& call = at->second;
    call.bytes = sample.bytes;
    call.time_us = std::max(call.time_us, sample.time_us);
    call.first = sample.number == 0;
    call.line = call.line == 0 ? line : call.line;
  }

  void add_runs(const MeasurementHints& hints, Measurements& result) const;

 private:
  using Key = std::tuple<std::string, CollectiveKind, std::uint32_t, std::uint32_t>;
  struct Group {
    std::uint32_t line = 0;
    std::map<std::pair<std::int64_t, std::int64_t>, Call> calls;  ///< by number and bytes
  };

  std::map<Key, Group> groups_;
  std::set<std::uint32_t> ranks_;
  std::size_t calls_ = 0;
};

void Calls::add_runs(const MeasurementHints& hints, Measurements& result) const {
  for (const auto& [key, group] : groups_) {
    MeasuredRun run;
    run.collective = std::get<1>(key);
    run.ranks = std::get<2>(key);
    run.nodes = std::get<3>(key);
    run.type = hints.datatype.value_or(DataType::Float32);
    run.software.nccl = hints.nccl;
    run.software.launch = hints.launch;
    run.software.mode = parse_launch(hints.launch, run.ranks, run.nodes);
    run.source = "NCCL inspector";
    run.notes = "single calls of a production run, in whole microseconds";
    for (const auto& [number, call] : group.calls) {
      MeasuredRow row;
      row.bytes = Bytes(call.bytes);
      row.time = Duration(std::llround(static_cast<double>(call.time_us) * ps_per_us));
      row.suspect = call.first;
      run.rows.push_back(row);
      if (call.first) {
        add_note(result, call.line,
                 "the first call of a communicator, which sets things up: suspect");
      }
    }
    result.runs.push_back(std::move(run));
  }
  if (groups_.empty()) {
    return;
  }
  const std::uint32_t line = groups_.begin()->second.line;
  if (ranks_.size() == 1) {
    add_note(
        result, line,
        "one rank alone: its times, not the longest of all ranks (join the files of all ranks)");
  }
  add_note(result, line, "single calls, sampled: not the mean of calls back to back");
  add_note(result, line,
           std::string("not told: launch (--launch), version of NCCL (--nccl), data type "
                       "(--datatype; float is assumed)"));
}

void read_lines(std::string_view text, const MeasurementHints& hints, Measurements& result) {
  Calls calls;
  const std::vector<TextLine> lines = lines_of(text);
  for (const TextLine& line : lines) {
    if (!trimmed(line.text).starts_with('{')) {
      continue;
    }
    require_shallow_json(line.text);
    const Json document = Json::parse(line.text, nullptr, false);
    if (document.is_discarded()) {
      const bool last = &line == &lines.back();
      result.truncated = result.truncated || last;
      add_dropped(result, line.number, last ? "the file is cut here" : "no whole line of JSON");
      continue;
    }
    if (const auto sample = sample_of(document)) {
      if (sample->why_not.empty()) {
        calls.add(*sample, line.number);
      } else {
        add_dropped(result, line.number, sample->why_not);
      }
    }
  }
  calls.add_runs(hints, result);
  require_runs(result);
}

}  // namespace

Measurements parse_inspector_json(std::string_view bytes, const std::string& file,
                                  const MeasurementHints& hints) {
  const std::string text = cleaned_text(bytes);
  return read_measurements(file, [&](Measurements& result) { read_lines(text, hints, result); });
}

}  // namespace collsim
