#pragma once
// NCCL's words: the collectives its tuning model knows, its algorithms and its protocols, and tables
// indexed by them. The order of each is NCCL's, since the first of equal candidates wins.
//
// Send/recv (and all-to-all, gather, scatter, which are made of it) has no algorithm to choose and
// so no word here. Source: NCCL 2.28.9, src/include/nccl_common.h.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "algorithms/collective.hpp"

namespace collsim::nccl {

enum class Function : std::uint8_t { Broadcast, Reduce, AllGather, ReduceScatter, AllReduce };

enum class Algorithm : std::uint8_t {
  Tree,
  Ring,
  CollNetDirect,
  CollNetChain,
  Nvls,
  NvlsTree,
  Pat,
};

enum class Protocol : std::uint8_t { LL, LL128, Simple };

inline constexpr std::array functions{Function::Broadcast, Function::Reduce, Function::AllGather,
                                      Function::ReduceScatter, Function::AllReduce};
inline constexpr std::array algorithms{
    Algorithm::Tree,         Algorithm::Ring, Algorithm::CollNetDirect,
    Algorithm::CollNetChain, Algorithm::Nvls, Algorithm::NvlsTree,
    Algorithm::Pat};
inline constexpr std::array protocols{Protocol::LL, Protocol::LL128, Protocol::Simple};

/// NCCL's spelling: "AllReduce", "CollNetDirect", "LL128".
[[nodiscard]] std::string_view name(Function function);
[[nodiscard]] std::string_view name(Algorithm algorithm);
[[nodiscard]] std::string_view name(Protocol protocol);
/// "Ring LL128".
[[nodiscard]] std::string name(Algorithm algorithm, Protocol protocol);

/// The function that a collective is for NCCL; none where it is made of sends and receives.
[[nodiscard]] std::optional<Function> function_of(CollectiveKind kind);
[[nodiscard]] CollectiveKind collective_of(Function function);

/// One value for each of the first `Count` enumerators of `Key`.
template <class Key, class Value, std::size_t Count>
class EnumTable {
 public:
  constexpr EnumTable() = default;
  explicit constexpr EnumTable(const std::array<Value, Count>& values) : values_(values) {}

  [[nodiscard]] constexpr Value& operator[](Key key) {
    return values_[static_cast<std::size_t>(key)];
  }
  [[nodiscard]] constexpr const Value& operator[](Key key) const {
    return values_[static_cast<std::size_t>(key)];
  }

 private:
  std::array<Value, Count> values_{};
};

template <class Value>
using ByFunction = EnumTable<Function, Value, functions.size()>;
template <class Value>
using ByAlgorithm = EnumTable<Algorithm, Value, algorithms.size()>;
template <class Value>
using ByProtocol = EnumTable<Protocol, Value, protocols.size()>;

}  // namespace collsim::nccl
