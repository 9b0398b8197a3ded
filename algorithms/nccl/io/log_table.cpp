#include <algorithm>
#include <array>
#include <cstddef>

#include "algorithms/nccl/io/log_rank.hpp"
#include "algorithms/nccl/io/log_scanner.hpp"

namespace collsim::nccl {

namespace {

constexpr std::size_t algorithms_a_block = 3;
constexpr int most_channel = 4096;

template <class Words>
auto by_name(const Words& words, std::string_view text) {
  using Word = typename Words::value_type;
  for (const Word word : words) {
    if (name(word) == text) {
      return std::optional<Word>(word);
    }
  }
  return std::optional<Word>();
}

/// "NVLS_TREE" is NVLSTree.
bool same_letters(std::string_view printed, std::string_view word) {
  const auto plain = [](std::string_view text) {
    std::string letters;
    for (const char c : text) {
      if (c != '_') {
        letters.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
      }
    }
    return letters;
  };
  return plain(printed) == plain(word);
}

/// A name or a number.
template <class Words>
std::optional<typename Words::value_type> by_name_or_number(const Words& words,
                                                            std::string_view text) {
  LogScanner scanner(text);
  if (const auto number = scanner.number<std::size_t>()) {
    return scanner.at_end() && *number < words.size() ? std::optional(words.at(*number))
                                                      : std::nullopt;
  }
  for (const auto word : words) {
    if (same_letters(text, name(word))) {
      return word;
    }
  }
  return std::nullopt;
}

/// Which algorithms a block has columns for. Some releases lose names; the order of blocks is fixed.
void begin_block(LogScanner scanner, RankLog& rank) {
  rank.table_columns.clear();
  const std::size_t first = static_cast<std::size_t>(rank.table_blocks) * algorithms_a_block;
  bool named = true;
  std::vector<Algorithm> columns;
  while (scanner.literal("|")) {
    scanner.blanks();
    const auto algorithm = by_name(algorithms, scanner.until(" |"));
    scanner.blanks();
    if (scanner.at_end()) {
      break;
    }
    named = named && algorithm.has_value();
    if (algorithm) {
      columns.push_back(*algorithm);
    }
  }
  if (named && !columns.empty()) {
    rank.table_columns = columns;
  } else {
    for (std::size_t i = first; i < std::min(first + algorithms_a_block, algorithms.size()); ++i) {
      rank.table_columns.push_back(algorithms.at(i));
    }
  }
  ++rank.table_blocks;
}

/// "Latency/AlgBw |    Tree/    LL |    Tree/ LL128 | …": the one block of versions up to 2.17.
void begin_single_block(LogScanner scanner, RankLog& rank) {
  rank.table_columns.clear();
  std::size_t cells = 0;
  while (scanner.after("|")) {
    scanner.blanks();
    const std::string_view word = scanner.until("/|");
    if (cells++ % protocols.size() == 0) {
      for (const Algorithm algorithm : algorithms) {
        if (word == name(algorithm)) {
          rank.table_columns.push_back(algorithm);
        }
      }
    }
  }
}

/// "  7.2/   0.0 |", a cell an algorithm and protocol.
LineRead read_row(Function function, LogScanner scanner, RankLog& rank) {
  std::vector<LoggedEntry> entries;
  while (!scanner.blanks().at_end()) {
    const auto latency = scanner.decimal();
    const bool slash = scanner.literal("/");
    const auto bandwidth = scanner.blanks().decimal();
    if (!latency || !slash || !bandwidth || !scanner.blanks().literal("|")) {
      return LineRead::Garbled;
    }
    entries.push_back({*latency, *bandwidth});
  }
  if (entries.size() != rank.table_columns.size() * protocols.size()) {
    return LineRead::Garbled;
  }
  std::size_t cell = 0;
  for (const Algorithm algorithm : rank.table_columns) {
    for (const Protocol protocol : protocols) {
      rank.table[function][algorithm][protocol] = entries.at(cell++);
    }
  }
  rank.has_table = true;
  return LineRead::Read;
}

/// " channel{Lo..Hi}={0..15}", or " time 8.616".
bool read_channel_range(LogScanner& scanner, LoggedChoice& choice) {
  if (!scanner.literal("channel{Lo..Hi}={")) {
    return true;
  }
  const auto low = scanner.number<int>();
  const bool dots = scanner.literal("..");
  const auto high = scanner.number<int>();
  if (!low || !dots || !high || *low < 0 || *high < *low || *high > most_channel ||
      !scanner.literal("}")) {
    return false;
  }
  choice.channels = *high - *low + 1;
  return true;
}

std::optional<DataType> data_type(int number) {
  constexpr std::array<DataType, 12> types{
      DataType::Int8,    DataType::Uint8,    DataType::Int32,   DataType::Uint32,
      DataType::Int64,   DataType::Uint64,   DataType::Half,    DataType::Float32,
      DataType::Float64, DataType::Bfloat16, DataType::Fp8E4m3, DataType::Fp8E5m2};
  const auto at = static_cast<std::size_t>(number);
  return number >= 0 && at < types.size() ? std::optional(types.at(at)) : std::nullopt;
}

std::optional<ReductionOp> reduction(int number) {
  constexpr std::array<ReductionOp, 5> ops{ReductionOp::Sum, ReductionOp::Prod, ReductionOp::Max,
                                           ReductionOp::Min, ReductionOp::Avg};
  const auto at = static_cast<std::size_t>(number);
  return number >= 0 && at < ops.size() ? std::optional(ops.at(at)) : std::nullopt;
}

}  // namespace

LineRead read_table_line(std::string_view text, RankLog& rank) {
  LogScanner scanner(text);
  scanner.blanks();
  if (scanner.literal("Algorithm   ")) {
    if (rank.table_blocks > 0 && rank.has_table && rank.table_blocks >= 3) {
      rank.table_blocks = 0;  // another table
    }
    begin_block(scanner, rank);
    return LineRead::Read;
  }
  if (scanner.literal("Latency/AlgBw ")) {
    begin_single_block(scanner, rank);
    return LineRead::Read;
  }
  if (scanner.literal("Protocol    |") || scanner.literal("Max NThreads |")) {
    return LineRead::Read;
  }
  const auto function = by_name(functions, scanner.until(" :"));
  if (!function || !scanner.literal(" |")) {
    return LineRead::Other;
  }
  return rank.table_columns.empty() ? LineRead::Garbled : read_row(*function, scanner, rank);
}

std::optional<LoggedChoice> read_choice(std::string_view text) {
  if (text.find(" Bytes -> Algo ") == std::string_view::npos) {
    return std::nullopt;
  }
  LogScanner scanner(text);
  LoggedChoice choice;
  const std::size_t colon = text.find(": ");
  if (colon != std::string_view::npos) {
    choice.function = by_name(functions, text.substr(0, colon));
    if (!choice.function) {
      return std::nullopt;
    }
    scanner = LogScanner(text.substr(colon + 2));
  }
  const auto bytes = scanner.number<std::uint64_t>();
  if (!bytes || *bytes > (std::uint64_t{1} << 42) || !scanner.literal(" Bytes -> Algo ")) {
    return std::nullopt;
  }
  const std::string_view algorithm_word = scanner.until(" ");
  const auto algorithm = by_name_or_number(algorithms, algorithm_word);
  const bool proto = scanner.literal(" proto ");
  const auto protocol = by_name_or_number(protocols, scanner.until(" "));
  if (!algorithm || !proto || !protocol) {
    return std::nullopt;
  }
  choice.bytes = *bytes;
  choice.algorithm = *algorithm;
  choice.protocol = *protocol;
  choice.of_one_rank =
      algorithm_word.front() > '9';  // names since 2.24, with this meaning of bytes
  scanner.blanks();
  return read_channel_range(scanner, choice) ? std::optional(choice) : std::nullopt;
}

std::optional<CallLine> read_call_line(std::string_view text) {
  LogScanner scanner(text);
  const auto function = by_name(functions, scanner.until(":"));
  if (!function || !scanner.literal(": opCount ")) {
    return std::nullopt;
  }
  CallLine call;
  call.function = *function;
  const auto number = [&scanner](std::string_view before) {
    return scanner.after(before) ? scanner.number<int>() : std::nullopt;
  };
  const auto count = scanner.after(" count ") ? scanner.number<std::uint64_t>() : std::nullopt;
  const auto type = number(" datatype ");
  const auto op = number(" op ");
  if (!count || !type || !op || !scanner.after(" comm ")) {
    return std::nullopt;
  }
  call.count = *count;
  call.type = data_type(*type);
  call.op = reduction(*op);
  call.address = std::string(scanner.until(" "));
  return call;
}

}  // namespace collsim::nccl
