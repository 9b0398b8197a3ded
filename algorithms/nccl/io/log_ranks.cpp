#include "algorithms/nccl/io/log_ranks.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/nccl/io/log_scanner.hpp"

namespace collsim::nccl {

namespace {

// What a hostile file may make us keep.
constexpr std::size_t most_rank_logs = 65536;
constexpr std::size_t most_streams = 262144;
constexpr std::size_t most_choices = 20'000;
constexpr std::size_t most_variables = 1000;

std::string_view without_blanks_at_end(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

bool is_name_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// NCCL ends the sentence behind a number, but not behind a text.
std::string_view variable_value(std::string_view text) {
  if (text.ends_with('.')) {
    LogScanner number(text);
    if (number.number<std::int64_t>() && number.rest() == ".") {
      text.remove_suffix(1);
    }
  }
  return text;
}

std::string choice_key(const LogWriter& writer, const std::string& address,
                       const LoggedChoice& choice) {
  const auto text = [](auto value) { return std::to_string(static_cast<long>(value)) + " "; };
  std::string key = writer.host + " " + text(writer.process) + text(writer.device) + address + " ";
  key += choice.function ? text(*choice.function) : "- ";
  key += std::to_string(choice.bytes) + " " + text(choice.of_one_rank ? 1 : 0);
  key += text(choice.algorithm) + text(choice.protocol) + text(choice.channels.value_or(-1));
  key += choice.type ? text(*choice.type) : "- ";
  key += choice.op ? text(*choice.op) : "- ";
  return key;
}

/// Whether a call's line speaks of the call that was chosen for.
bool is_of(const CallLine& call, const LoggedChoice& choice) {
  if (choice.function && *choice.function != call.function) {
    return false;
  }
  if (!choice.of_one_rank || !call.type) {
    return true;
  }
  const auto size = static_cast<std::uint64_t>(size_of(*call.type).count());
  return call.count <= choice.bytes && call.count * size == choice.bytes;
}

LineRead read_rank_line(std::string_view text, RankLog& rank) {
  LineRead read = read_topology_line(text, rank);
  if (read == LineRead::Other) {
    read = read_channel_line(without_blanks_at_end(text), rank);
  }
  if (read == LineRead::Other) {
    read = read_table_line(text, rank);
  }
  return read;
}

}  // namespace

bool LogRanks::take_version(std::string_view text) {
  LogScanner scanner(text);
  const bool amd = scanner.literal("RCCL version ");
  if (!amd && !scanner.literal("NCCL version ")) {
    return false;
  }
  rccl_ = rccl_ || amd;
  std::string version(scanner.until(" +-\t"));
  const bool is_version =
      !version.empty() && version.size() < 16 &&
      std::ranges::all_of(version, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  if (!is_version) {
    return true;
  }
  several_versions_ = several_versions_ || (!version_.empty() && version_ != version);
  if (version_.empty()) {
    version_ = std::move(version);
    if (scanner.literal("+cuda")) {
      cuda_ = std::string(scanner.until(" \t").substr(0, 16));
    }
  }
  return true;
}

bool LogRanks::take_variable(std::string_view text) {
  if (!text.starts_with("NCCL_")) {
    return false;
  }
  const auto* const end = std::ranges::find_if_not(text, is_name_character);
  LoggedVariable variable;
  variable.name = std::string(text.begin(), end);
  LogScanner scanner(text.substr(variable.name.size()));
  if (!scanner.literal(" set by environment to ") && !scanner.literal(" set to ")) {
    return false;
  }
  variable.value = std::string(variable_value(without_blanks_at_end(scanner.rest())));
  const bool known =
      std::ranges::find(environment_, variable.name, &LoggedVariable::name) != environment_.end();
  if (!known && environment_.size() < most_variables) {
    environment_.push_back(std::move(variable));
  }
  return true;
}

bool LogRanks::take_choice(const LogWriter& writer, Stream& stream, std::string_view text) {
  if (auto call = read_call_line(text)) {
    stream.call = std::move(call);
    return true;
  }
  auto choice = read_choice(text);
  if (!choice) {
    const bool garbled = text.find(" Bytes -> Algo ") != std::string_view::npos;
    garbled_ += garbled ? 1U : 0U;
    return garbled;
  }
  std::string address;
  if (stream.call && is_of(*stream.call, *choice)) {
    choice->function = stream.call->function;
    choice->type = stream.call->type;
    choice->op = stream.call->op;
    address = stream.call->address;
  }
  const std::string key = choice_key(writer, address, *choice);
  const auto known = choice_of_key_.find(key);
  if (known != choice_of_key_.end()) {
    ++choices_[known->second].choice.times;
  } else if (choices_.size() < most_choices) {
    choice_of_key_.emplace(key, choices_.size());
    choices_.push_back({writer, std::move(address), *choice});
  } else {
    ++uncounted_choices_;
  }
  return true;
}

WrittenRank* LogRanks::add_rank(const LogWriter& writer, Stream& stream) {
  if (ranks_.size() >= most_rank_logs) {
    stream.rank.reset();
    return nullptr;
  }
  stream.rank = ranks_.size();
  ranks_.push_back({writer, {}});
  return &ranks_.back();
}

void LogRanks::take_init(const LogWriter& writer, Stream& stream, const InitLine& line) {
  const auto is_another = [&line](const RankLog& log) {
    return log.complete || (!log.address.empty() && log.address != line.address);
  };
  WrittenRank* rank = stream.rank ? &ranks_[*stream.rank] : nullptr;
  if (rank == nullptr || is_another(rank->log)) {
    rank = add_rank(writer, stream);
  }
  if (rank == nullptr) {
    return;
  }
  RankLog& log = rank->log;
  log.address = line.address;
  log.rank = line.rank;
  log.ranks = line.ranks;
  if (!line.id.empty()) {
    log.id = line.id;
  }
  if (!line.bus.empty()) {
    log.bus = line.bus;
  }
  if (line.event == InitLine::Event::Layout) {
    log.nodes = line.nodes;
    log.local_ranks = line.local_ranks;
  }
  log.begun = log.begun || line.event == InitLine::Event::Start;
  log.complete = line.event == InitLine::Event::Complete;
}

void LogRanks::take_rank_line(const LogWriter& writer, Stream& stream, std::string_view text) {
  RankLog* log = stream.rank ? &ranks_[*stream.rank].log : nullptr;
  if (log != nullptr && !log->complete) {
    garbled_ += read_rank_line(text, *log) == LineRead::Garbled ? 1U : 0U;
    return;
  }
  // The set-up of a communicator that the log has not named yet.
  RankLog fresh;
  const LineRead read = read_rank_line(text, fresh);
  garbled_ += read == LineRead::Garbled ? 1U : 0U;
  if (read == LineRead::Read) {
    if (WrittenRank* rank = add_rank(writer, stream)) {
      rank->log = std::move(fresh);
    }
  }
}

void LogRanks::take(const LogWriter& writer, std::string_view text) {
  if (take_version(text) || take_variable(text)) {
    return;
  }
  if (streams_.size() >= most_streams && !streams_.contains(writer)) {
    return;
  }
  Stream& stream = streams_[writer];
  if (take_choice(writer, stream, text)) {
    return;
  }
  if (const auto line = read_init_line(without_blanks_at_end(text))) {
    take_init(writer, stream, *line);
    return;
  }
  take_rank_line(writer, stream, text);
}

}  // namespace collsim::nccl
