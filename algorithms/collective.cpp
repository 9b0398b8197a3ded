#include "algorithms/collective.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "topology/error.hpp"

namespace collsim {

namespace {

template <class Value>
using Names = std::pair<Value, std::string_view>;

constexpr std::array<Names<CollectiveKind>, 9> kinds{{
    {CollectiveKind::Broadcast, "broadcast"},
    {CollectiveKind::Scatter, "scatter"},
    {CollectiveKind::Gather, "gather"},
    {CollectiveKind::Reduce, "reduce"},
    {CollectiveKind::AllGather, "all_gather"},
    {CollectiveKind::ReduceScatter, "reduce_scatter"},
    {CollectiveKind::AllReduce, "all_reduce"},
    {CollectiveKind::AllToAll, "all_to_all"},
    {CollectiveKind::SendRecv, "send_recv"},
}};

// In the order of NCCL and nccl-tests, which `perf -o all` goes through.
constexpr std::array<Names<ReductionOp>, 5> reductions{{
    {ReductionOp::Sum, "sum"},
    {ReductionOp::Prod, "prod"},
    {ReductionOp::Max, "max"},
    {ReductionOp::Min, "min"},
    {ReductionOp::Avg, "avg"},
}};

// The first name of a type is the one nccl-tests prints.
constexpr std::array<Names<DataType>, 21> data_types{{
    {DataType::Int8, "int8"},           {DataType::Uint8, "uint8"},
    {DataType::Int32, "int32"},         {DataType::Uint32, "uint32"},
    {DataType::Int64, "int64"},         {DataType::Uint64, "uint64"},
    {DataType::Half, "half"},           {DataType::Float32, "float"},
    {DataType::Float64, "double"},      {DataType::Bfloat16, "bfloat16"},
    {DataType::Fp8E4m3, "f8e4m3"},      {DataType::Fp8E5m2, "f8e5m2"},
    {DataType::Int8, "char"},           {DataType::Int32, "int"},
    {DataType::Half, "float16"},        {DataType::Half, "fp16"},
    {DataType::Float32, "float32"},     {DataType::Float64, "float64"},
    {DataType::Bfloat16, "bf16"},       {DataType::Fp8E4m3, "float8_e4m3"},
    {DataType::Fp8E5m2, "float8_e5m2"},
}};
constexpr std::size_t data_type_count = 12;

/// Whether the text is the name in any case, with '_', '-' or nothing at each '_'.
bool is_spelling_of(std::string_view name, std::string_view text) {
  for (const char c : name) {
    if (c == '_') {
      if (text.starts_with('_') || text.starts_with('-')) {
        text.remove_prefix(1);
      }
      continue;
    }
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (!text.starts_with(c) && !text.starts_with(upper)) {
      return false;
    }
    text.remove_prefix(1);
  }
  return text.empty();
}

template <class Value, std::size_t Count>
std::string_view find_name(const std::array<Names<Value>, Count>& table, Value value) {
  for (const auto& [known, name] : table) {
    if (known == value) {
      return name;
    }
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

template <class Value, std::size_t Count>
std::optional<Value> find_value(const std::array<Names<Value>, Count>& table,
                                std::string_view text) {
  for (const auto& [value, name] : table) {
    if (is_spelling_of(name, text)) {
      return value;
    }
  }
  return std::nullopt;
}

template <class Value, std::size_t Count>
std::vector<std::string> first_names(const std::array<Names<Value>, Count>& table,
                                     std::size_t wanted) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < wanted; ++i) {
    names.emplace_back(table[i].second);
  }
  return names;
}

double gigabytes_per_second(Bytes size, Duration time) {
  if (time <= Duration::zero()) {
    return 0;
  }
  // bytes / ps = TB/s
  return static_cast<double>(size.count()) / static_cast<double>(time.count()) * 1e3;
}

}  // namespace

std::string_view name_of(CollectiveKind kind) { return find_name(kinds, kind); }
std::string_view name_of(ReductionOp op) { return find_name(reductions, op); }
std::string_view name_of(DataType type) { return find_name(data_types, type); }

std::optional<CollectiveKind> parse_collective(std::string_view text) {
  return find_value(kinds, text);
}
std::optional<ReductionOp> parse_reduction(std::string_view text) {
  return find_value(reductions, text);
}
std::optional<DataType> parse_data_type(std::string_view text) {
  return find_value(data_types, text);
}

std::vector<std::string> collective_names() { return first_names(kinds, kinds.size()); }
std::vector<std::string> reduction_names() { return first_names(reductions, reductions.size()); }
std::vector<std::string> data_type_names() { return first_names(data_types, data_type_count); }

Bytes size_of(DataType type) {
  switch (type) {
    case DataType::Int8:
    case DataType::Uint8:
    case DataType::Fp8E4m3:
    case DataType::Fp8E5m2:
      return Bytes(1);
    case DataType::Half:
    case DataType::Bfloat16:
      return Bytes(2);
    case DataType::Int32:
    case DataType::Uint32:
    case DataType::Float32:
      return Bytes(4);
    case DataType::Int64:
    case DataType::Uint64:
    case DataType::Float64:
      return Bytes(8);
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::Broadcast || kind == CollectiveKind::Scatter ||
         kind == CollectiveKind::Gather || kind == CollectiveKind::Reduce;
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::Reduce || kind == CollectiveKind::ReduceScatter ||
         kind == CollectiveKind::AllReduce;
}

bool allows_in_place(CollectiveKind kind) {
  return kind != CollectiveKind::AllToAll && kind != CollectiveKind::SendRecv;
}

Bytes CollectiveCall::block() const { return size_of(type) * count; }

bool CollectiveCall::blocked() const {
  return kind != CollectiveKind::AllReduce && kind != CollectiveKind::Broadcast &&
         kind != CollectiveKind::Reduce && kind != CollectiveKind::SendRecv;
}

Bytes CollectiveCall::size() const { return blocked() ? block() * ranks : block(); }

Bytes CollectiveCall::input_bytes(Rank rank) const {
  switch (kind) {
    case CollectiveKind::Broadcast:
    case CollectiveKind::Scatter:
      return rank == root ? size() : Bytes(0);
    case CollectiveKind::Gather:
    case CollectiveKind::AllGather:
    case CollectiveKind::SendRecv:
      return block();
    case CollectiveKind::Reduce:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllReduce:
    case CollectiveKind::AllToAll:
      return size();
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

Bytes CollectiveCall::output_bytes(Rank rank) const {
  switch (kind) {
    case CollectiveKind::Gather:
    case CollectiveKind::Reduce:
      return rank == root ? size() : Bytes(0);
    case CollectiveKind::Scatter:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::SendRecv:
      return block();
    case CollectiveKind::Broadcast:
    case CollectiveKind::AllGather:
    case CollectiveKind::AllReduce:
    case CollectiveKind::AllToAll:
      return size();
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

CollectiveCall call_for_size(CollectiveKind kind, std::uint32_t ranks, Bytes requested,
                             DataType type) {
  if (ranks == 0) {
    throw InputError("a collective needs at least 1 rank, got 0");
  }
  if (requested < Bytes(0)) {
    throw InputError("expected a size of 0 bytes or more, got " +
                     std::to_string(requested.count()));
  }
  CollectiveCall call;
  call.kind = kind;
  call.ranks = ranks;
  call.type = type;
  call.in_place = allows_in_place(kind) ? InPlace::Yes : InPlace::No;
  const std::int64_t elements = requested / size_of(type);
  if (call.blocked()) {
    const std::int64_t unit = Bytes(16) / size_of(type);
    call.count = elements / ranks / unit * unit;
  } else {
    call.count = elements;
  }
  return call;
}

double algorithm_bandwidth_GBps(Bytes size, Duration time) {
  return gigabytes_per_second(size, time);
}

double bus_bandwidth_GBps(CollectiveKind kind, std::uint32_t ranks, Bytes size, Duration time) {
  const double n = ranks;
  double factor = 1;
  switch (kind) {
    case CollectiveKind::AllReduce:
      factor = 2 * (n - 1) / n;
      break;
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllToAll:
    case CollectiveKind::Gather:
    case CollectiveKind::Scatter:
      factor = (n - 1) / n;
      break;
    case CollectiveKind::Broadcast:
    case CollectiveKind::Reduce:
    case CollectiveKind::SendRecv:
      break;
  }
  return gigabytes_per_second(size, time) * factor;
}

}  // namespace collsim
