#pragma once

// From a data type that is known at run time to the C++ type of its elements.

#include <cstdint>

#include "algorithms/collective.hpp"
#include "kernels/elements.hpp"
#include "topology/error.hpp"

namespace collsim::kernels {

/// Calls visit.operator()<T>() with the type's element.
template <class Visit>
auto with_element(DataType type, Visit&& visit) {
  switch (type) {
    case DataType::Int8:
      return visit.template operator()<std::int8_t>();
    case DataType::Uint8:
      return visit.template operator()<std::uint8_t>();
    case DataType::Int32:
      return visit.template operator()<std::int32_t>();
    case DataType::Uint32:
      return visit.template operator()<std::uint32_t>();
    case DataType::Int64:
      return visit.template operator()<std::int64_t>();
    case DataType::Uint64:
      return visit.template operator()<std::uint64_t>();
    case DataType::Half:
      return visit.template operator()<Half>();
    case DataType::Float32:
      return visit.template operator()<float>();
    case DataType::Float64:
      return visit.template operator()<double>();
    case DataType::Bfloat16:
      return visit.template operator()<Bfloat16>();
    case DataType::Fp8E4m3:
      return visit.template operator()<Fp8E4m3>();
    case DataType::Fp8E5m2:
      return visit.template operator()<Fp8E5m2>();
  }
  COLLSIM_ENSURE(false, "every data type has an element");
}

}  // namespace collsim::kernels
