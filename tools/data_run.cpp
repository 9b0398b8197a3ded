#include "tools/data_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/table.hpp"
#include "kernels/with_element.hpp"
#include "tools/json_text.hpp"
#include "tools/measure_calls.hpp"
#include "tools/measure_run.hpp"
#include "topology/error.hpp"
#include "validate/host/host_execution.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* option = "--inputs";

void refuse_unknown_keys(const Json& document) {
  for (const auto& [key, value] : document.items()) {
    if (key != "inputs") {
      throw InputError("unknown key " + in_quotes(key) + "; expected inputs", option,
                       did_you_mean(key, {"inputs"}));
    }
  }
}

std::vector<Json> read_inputs(const std::string& file) {
  constexpr std::size_t largest_file = std::size_t{256} << 20U;
  const Json document = Json::parse(contents_of(file, option, largest_file), nullptr, false);
  if (document.is_object()) {
    refuse_unknown_keys(document);
  }
  const bool fits = document.is_object() && document.contains("inputs") &&
                    document["inputs"].is_array() && !document["inputs"].empty();
  if (!fits) {
    throw InputError(
        "expected {\"inputs\": [[…], …]}, a list of numbers a rank, in " + in_quotes(file), option);
  }
  std::vector<Json> inputs;
  inputs.reserve(document["inputs"].size());
  for (const Json& list : document["inputs"]) {
    const bool numbers = list.is_array() && std::ranges::all_of(list, &Json::is_number);
    if (!numbers) {
      throw InputError(fmt::format("rank {} has no list of numbers", inputs.size()), option);
    }
    inputs.push_back(list);
  }
  return inputs;
}

/// The call that takes a list as long as that of the root, or of rank 0.
CollectiveCall call_for(const MeasureCommand& command, const std::vector<Json>& inputs) {
  CollectiveCall call;
  call.kind = collective_of(command.job.collective);
  call.ranks = static_cast<std::uint32_t>(inputs.size());
  call.type = data_type_of(command.datatype, "-d");
  call.op = reduction_of(command.redop, "-o");
  call.in_place = InPlace::No;
  const std::vector<std::int64_t> roots = roots_of(command.root, call.kind, call.ranks);
  if (roots.size() != 1) {
    throw InputError("one call has one root", "-r");
  }
  call.root = Rank(std::max<std::int64_t>(roots.front(), 0));
  const auto length = static_cast<std::int64_t>(inputs[call.root.index()].size());
  const bool one_block_a_rank = call.kind == CollectiveKind::ReduceScatter ||
                                call.kind == CollectiveKind::AllToAll ||
                                call.kind == CollectiveKind::Scatter;
  call.count = one_block_a_rank ? length / call.ranks : length;
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
    const std::int64_t wanted = call.input_bytes(Rank(rank)) / size_of(call.type);
    const auto found = static_cast<std::int64_t>(inputs[rank].size());
    if (found != wanted && !(wanted == 0 && call.root != Rank(rank))) {
      throw InputError(fmt::format("{} takes {} numbers of rank {}, found {}", name_of(call.kind),
                                   wanted, rank, found),
                       option);
    }
  }
  return call;
}

/// The largest finite value; of the small floats: OCP's specification, IEEE 754 for half.
template <class T>
constexpr double largest = static_cast<double>(std::numeric_limits<T>::max());
template <>
constexpr double largest<kernels::Half> = 0x1.ffcp15;
template <>
constexpr double largest<kernels::Bfloat16> = 0x1.fep127;
template <>
constexpr double largest<kernels::Fp8E4m3> = 0x1.cp8;
template <>
constexpr double largest<kernels::Fp8E5m2> = 0x1.cp15;

/// Whether the type holds the number; floats round.
template <class T>
bool holds(const Json& number) {
  if constexpr (std::is_integral_v<T>) {
    if (number.is_number_unsigned()) {
      return std::in_range<T>(number.get<std::uint64_t>());
    }
    if (number.is_number_integer()) {
      return std::in_range<T>(number.get<std::int64_t>());
    }
    // Both ends are exact as double: 0 or powers of two.
    const auto value = number.get<double>();
    return value == std::trunc(value) &&
           value >= static_cast<double>(std::numeric_limits<T>::min()) &&
           value < std::ldexp(1.0, std::numeric_limits<T>::digits);
  } else {
    return std::abs(number.get<double>()) <= largest<T>;
  }
}

/// What it holds, in words.
template <class T>
std::string held() {
  if constexpr (std::is_integral_v<T>) {
    return fmt::format("whole numbers from {} to {}", std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max());
  } else {
    return fmt::format("numbers from {} to {}", -largest<T>, largest<T>);
  }
}

void require_held(const std::vector<Json>& inputs, DataType type) {
  kernels::with_element(type, [&]<class T>() {
    for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
      for (std::size_t i = 0; i < inputs[rank].size(); ++i) {
        if (!holds<T>(inputs[rank][i])) {
          throw InputError(fmt::format("rank {}, element {}: {} is no {}, which holds {}", rank, i,
                                       inputs[rank][i].dump(), name_of(type), held<T>()),
                           option);
        }
      }
    }
  });
}

template <class T>
T from_json(const Json& number) {
  if constexpr (std::is_arithmetic_v<T>) {
    return number.get<T>();
  } else {
    return T(number.get<float>());
  }
}
template <class T>
Json to_json(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else {
    return static_cast<float>(value);
  }
}

void fill(RankMemory& memory, const Json& numbers, DataType type) {
  memory.poison();
  kernels::with_element(type, [&]<class T>() {
    for (std::size_t i = 0; i < memory.input().size() / sizeof(T); ++i) {
      const T value = from_json<T>(numbers[i]);
      std::memcpy(memory.input().data() + i * sizeof(T), &value, sizeof(T));
    }
  });
}

Json read(RankMemory& memory, DataType type) {
  Json numbers = Json::array();
  kernels::with_element(type, [&]<class T>() {
    for (std::size_t i = 0; i < memory.output().size() / sizeof(T); ++i) {
      T value{};
      std::memcpy(&value, memory.output().data() + i * sizeof(T), sizeof(T));
      numbers.push_back(to_json(value));
    }
  });
  return numbers;
}

}  // namespace

std::string run_on_data(const MeasureCommand& command, const std::string& file) {
  const std::vector<Json> inputs = read_inputs(file);
  require_threads(static_cast<std::uint32_t>(inputs.size()), option);
  const CollectiveCall call = call_for(command, inputs);
  require_held(inputs, call.type);
  const MeasuredProgram program = program_for(command, call);
  HostExecution host(program.program, {std::chrono::seconds(command.timeout)});
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
    fill(host.memory(Rank(rank)), inputs[rank], call.type);
  }
  host.run(1);
  Json document;
  document["schema"] = "collsim/data/1";
  document["collective"] = name_of(call.kind);
  document["algorithm"] = program.algorithm;
  document["datatype"] = name_of(call.type);
  document["outputs"] = Json::array();
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
    document["outputs"].push_back(read(host.memory(Rank(rank)), call.type));
  }
  return json_text(document);
}

}  // namespace collsim
