#include "algorithms/nccl/vocabulary.hpp"

namespace collsim::nccl {

namespace {

constexpr ByFunction<std::string_view> function_names{
    {"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"}};
constexpr ByAlgorithm<std::string_view> algorithm_names{
    {"Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"}};
constexpr ByProtocol<std::string_view> protocol_names{{"LL", "LL128", "Simple"}};
constexpr ByFunction<CollectiveKind> kinds{
    {CollectiveKind::Broadcast, CollectiveKind::Reduce, CollectiveKind::AllGather,
     CollectiveKind::ReduceScatter, CollectiveKind::AllReduce}};

}  // namespace

std::string_view name(Function function) { return function_names[function]; }
std::string_view name(Algorithm algorithm) { return algorithm_names[algorithm]; }
std::string_view name(Protocol protocol) { return protocol_names[protocol]; }
std::string name(Algorithm algorithm, Protocol protocol) {
  return std::string(name(algorithm)) + " " + std::string(name(protocol));
}

std::optional<Function> function_of(CollectiveKind kind) {
  for (const Function function : functions) {
    if (kinds[function] == kind) {
      return function;
    }
  }
  return std::nullopt;
}

CollectiveKind collective_of(Function function) { return kinds[function]; }

}  // namespace collsim::nccl
