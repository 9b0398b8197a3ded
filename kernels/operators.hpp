#pragma once

// The reductions of two elements, and loops over them: what every executor's steps are made of.
//
// Sums and products of integers wrap around, so that they do not depend on the order. Small floats are computed with as
// float. An average is a sum that is divided at the end.
// The loops take the first element and a stride: threads of a GPU share an array so; a processor takes (0, 1).

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/elements.hpp"

namespace collsim::kernels {

struct Sum {
  template <class T>
  COLLSIM_HOST_DEVICE static T of(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Prod {
  template <class T>
  COLLSIM_HOST_DEVICE static T of(T a, T b) {
    return static_cast<T>(a * b);
  }
};
struct Min {
  template <class T>
  COLLSIM_HOST_DEVICE static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  COLLSIM_HOST_DEVICE static T of(T a, T b) {
    return a < b ? b : a;
  }
};

/// Whether overflow of the operator must wrap.
template <class Operator>
inline constexpr bool wraps = std::is_same_v<Operator, Sum> || std::is_same_v<Operator, Prod>;

template <class Operator, class T>
COLLSIM_HOST_DEVICE inline T reduced(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Number = std::conditional_t<wraps<Operator>, std::make_unsigned_t<T>, T>;
    return static_cast<T>(Operator::of(static_cast<Number>(a), static_cast<Number>(b)));
  } else if constexpr (std::is_floating_point_v<T>) {
    return Operator::of(a, b);
  } else {
    return T(Operator::of(static_cast<float>(a), static_cast<float>(b)));
  }
}

/// out[i] = a[i] operator b[i]. `out` may be `a` or `b`; other overlap is not allowed.
template <class Operator, class T>
COLLSIM_HOST_DEVICE inline void reduce_elements(T* out, const T* a, const T* b, std::size_t count,
                                                std::size_t first, std::size_t stride) {
  for (std::size_t i = first; i < count; i += stride) {
    out[i] = reduced<Operator>(a[i], b[i]);
  }
}

/// data[i] /= divisor: of integers towards zero, of floats rounded once more.
template <class T>
COLLSIM_HOST_DEVICE inline void divide_elements(T* data, std::uint32_t divisor, std::size_t count,
                                                std::size_t first, std::size_t stride) {
  for (std::size_t i = first; i < count; i += stride) {
    if constexpr (std::is_integral_v<T>) {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      data[i] = static_cast<T>(static_cast<Wide>(data[i]) / static_cast<Wide>(divisor));
    } else if constexpr (std::is_same_v<T, double>) {
      data[i] /= static_cast<double>(divisor);
    } else {
      data[i] = static_cast<T>(static_cast<float>(data[i]) / static_cast<float>(divisor));
    }
  }
}

}  // namespace collsim::kernels
