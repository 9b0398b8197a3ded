#pragma once

// Every collective, data type and reduction, for what runs all of them.

#include <array>

#include "algorithms/collective.hpp"

namespace collsim {

inline constexpr std::array all_kinds{
    CollectiveKind::Broadcast, CollectiveKind::Scatter,   CollectiveKind::Gather,
    CollectiveKind::Reduce,    CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
    CollectiveKind::AllReduce, CollectiveKind::AllToAll,  CollectiveKind::SendRecv};
inline constexpr std::array all_types{DataType::Int8,     DataType::Uint8,   DataType::Int32,
                                      DataType::Uint32,   DataType::Int64,   DataType::Uint64,
                                      DataType::Half,     DataType::Float32, DataType::Float64,
                                      DataType::Bfloat16, DataType::Fp8E4m3, DataType::Fp8E5m2};
inline constexpr std::array all_ops{ReductionOp::Sum, ReductionOp::Prod, ReductionOp::Min,
                                    ReductionOp::Max, ReductionOp::Avg};

}  // namespace collsim
