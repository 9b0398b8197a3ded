#include "study/job_keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <system_error>

#include "algorithms/collective.hpp"
#include "algorithms/nccl/vocabulary.hpp"
#include "algorithms/table.hpp"
#include "study/nccl_job.hpp"
#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

[[noreturn]] void refuse_word(std::string_view what, const std::string& word,
                              const std::vector<std::string>& accepted) {
  const std::string close = did_you_mean(word.substr(0, 64), accepted);
  throw InputError(
      "unknown " + std::string(what) + " " + in_quotes(word) + (close.empty() ? "" : ", " + close),
      {}, "accepted: " + one_of(accepted));
}

void any(const std::string& /*value*/) {}

template <std::uint64_t Least>
void whole_number(const std::string& value) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || stop != value.data() + value.size() || number < Least) {
    throw InputError("expected a whole number from " + std::to_string(Least) + " on, got " +
                     in_quotes(value));
  }
}

void size(const std::string& value) { static_cast<void>(parse_size_argument(value)); }

void collective(const std::string& value) {
  if (!parse_collective(value)) {
    refuse_word("collective", value, collective_names());
  }
}

void data_type(const std::string& value) {
  if (!parse_data_type(value)) {
    refuse_word("data type", value, data_type_names());
  }
}

void reduction(const std::string& value) {
  if (!parse_reduction(value)) {
    refuse_word("reduction", value, reduction_names());
  }
}

void algorithm(const std::string& value) {
  std::vector<std::string> names{"auto", "best"};
  for (const Algorithm& one : algorithms()) {
    names.emplace_back(one.name);
  }
  for (const NcclAlgorithm& one : nccl_algorithms()) {
    names.emplace_back(one.name);
  }
  if (std::ranges::find(names, value) == names.end()) {
    refuse_word("algorithm", value, names);
  }
}

void protocol(const std::string& value) {
  std::vector<std::string> names;
  names.reserve(nccl::protocols.size());
  for (const nccl::Protocol one : nccl::protocols) {
    names.emplace_back(nccl::name(one));
  }
  const bool known = std::ranges::any_of(
      names, [&value](const std::string& name) { return same_letters(name, value); });
  if (!known) {
    refuse_word("protocol", value, names);
  }
}

void network_model(const std::string& value) {
  if (value != "flow" && value != "ideal") {
    refuse_word("network model", value, {"flow", "ideal"});
  }
}

void fold(const std::string& value) {
  const std::vector<std::string> words{"auto", "off", "require"};
  if (std::ranges::find(words, value) == words.end()) {
    refuse_word("word", value, words);
  }
}

void yes_or_no(const std::string& value) {
  if (value != "yes" && value != "no") {
    throw InputError("expected yes or no, got " + in_quotes(value));
  }
}

enum class File : std::uint8_t { Never, Maybe };

struct JobKey {
  std::string_view name;
  void (*check)(const std::string& value);
  File file = File::Never;
};

constexpr std::array<JobKey, 25> keys{{{"cluster", any, File::Maybe},
                                       {"collective", collective},
                                       {"bytes", size},
                                       {"algorithm", algorithm},
                                       {"protocol", protocol},
                                       {"nodes", whole_number<1>},
                                       {"gpus_per_node", whole_number<1>},
                                       {"ranks", whole_number<1>},
                                       {"node_list", any},
                                       {"placement", any, File::Maybe},
                                       {"groups", any},
                                       {"channels", whole_number<1>},
                                       {"chunks", whole_number<1>},
                                       {"network_model", network_model},
                                       {"fold", fold},
                                       {"datatype", data_type},
                                       {"redop", reduction},
                                       {"root", whole_number<0>},
                                       {"out_of_place", yes_or_no},
                                       {"nccl", any},
                                       {"tuner", any, File::Maybe},
                                       {"parameters", any},
                                       {"network_parameters", any},
                                       {"max_transfers", whole_number<0>},
                                       {"max_memory", size}}};

}  // namespace

const std::vector<std::string>& job_keys() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(keys.size());
    for (const JobKey& key : keys) {
      all.emplace_back(key.name);
    }
    return all;
  }();
  return names;
}

bool is_job_key(std::string_view key) {
  const auto goes_on = [key](std::string_view prefix) {
    return key.starts_with(prefix) && key.size() > prefix.size();
  };
  return goes_on(setting_prefix) || goes_on(variable_prefix) ||
         std::ranges::find(keys, key, &JobKey::name) != keys.end();
}

bool names_file(std::string_view key) {
  const auto* const found = std::ranges::find(keys, key, &JobKey::name);
  return found != keys.end() && found->file == File::Maybe;
}

void check_job_value(const std::string& key, const std::string& value) {
  const auto* const found = std::ranges::find(keys, key, &JobKey::name);
  if (found != keys.end()) {
    found->check(value);
  }
}

}  // namespace collsim
