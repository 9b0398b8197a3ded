#include "validate/measurement.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace collsim {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The number behind "-g ".
std::optional<std::uint32_t> gpus_option(std::string_view text) {
  const std::size_t at = text.find("-g ");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  std::uint32_t value = 0;
  const char* const begin = text.data() + at + 3;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  return error == std::errc{} && value > 0 ? std::optional(value) : std::nullopt;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) {
    return c == '-' || c == '_' ? ' ' : static_cast<char>(std::tolower(c));
  });
  return result;
}

MeasuredLaunch of_process(std::uint32_t gpus) {
  return {gpus > 1 ? LaunchMode::ProcessForSeveral : LaunchMode::ProcessPerGpu, gpus};
}

}  // namespace

std::string_view name_of(LaunchMode mode) {
  switch (mode) {
    case LaunchMode::Unknown:
      return "unknown";
    case LaunchMode::ProcessPerGpu:
      return "process-per-gpu";
    case LaunchMode::ProcessForSeveral:
      return "single-process";
    case LaunchMode::CudaGraph:
      return "cuda-graph";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

MeasuredLaunch parse_launch(std::string_view text, std::uint32_t ranks, std::uint32_t nodes) {
  const std::string words = lower(text);
  const std::uint32_t a_node = nodes == 0 ? ranks : std::max(ranks / nodes, 1U);
  const std::optional<std::uint32_t> option = gpus_option(text);
  if (contains(words, "graph")) {
    return {LaunchMode::CudaGraph, option.value_or(1)};
  }
  if (option) {
    return of_process(*option);
  }
  if (contains(words, "process per gpu") || contains(words, "process per node") ||
      contains(words, "thread per gpu")) {
    return of_process(1);
  }
  if (contains(words, "single process")) {
    return of_process(a_node);
  }
  return {};
}

}  // namespace collsim
