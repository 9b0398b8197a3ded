#include "validate/execution/test_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "algorithms/promised_data.hpp"
#include "kernels/operators.hpp"
#include "kernels/with_element.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// A bijection of 64 bits that leaves no pattern. Source: splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// FNV-1a.
constexpr std::uint64_t seed_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  }
  return hash;
}

template <class T>
constexpr int digits_of() {
  if constexpr (std::is_arithmetic_v<T>) {
    return std::numeric_limits<T>::digits;
  } else {
    return T::precision;
  }
}

/// A number as the type has it.
template <class T>
T rounded_to(double value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}
template <class T>
double number(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

/// Summands are whole numbers up to this one.
template <class T>
std::uint64_t largest_summand(std::uint32_t ranks) {
  if constexpr (std::is_integral_v<T>) {
    return 0;  // sums wrap, whatever is summed
  } else {
    constexpr std::uint64_t exact = std::uint64_t{1} << static_cast<unsigned>(digits_of<T>());
    return std::max<std::uint64_t>(1, exact / ranks);
  }
}

/// The element of a rank's input, from its random bits.
template <class T>
T test_number(std::uint64_t bits, ReductionOp op, std::uint32_t rank, std::uint32_t ranks) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else {
    const double sign = (bits & 1U) == 0 ? 1.0 : -1.0;
    const std::uint64_t random = bits >> 1U;
    if (op == ReductionOp::Prod) {
      // Six ranks at most have an exponent: partial products stay within 2^±6.
      const std::uint32_t every = (ranks + 5) / 6;
      const int exponent = rank % every == 0 ? static_cast<int>(random % 3) - 1 : 0;
      return rounded_to<T>(sign * std::ldexp(1.0, exponent));
    }
    const bool sums = op == ReductionOp::Sum || op == ReductionOp::Avg;
    return rounded_to<T>(sign *
                         static_cast<double>(1 + random % largest_summand<T>(sums ? ranks : 1)));
  }
}

/// The reduction of the same element of all ranks: exact, then rounded once.
template <class T>
class Expected {
 public:
  explicit Expected(ReductionOp op) : op_(op) {}

  void add(T value) {
    if (first_) {
      whole_ = value;
      sum_ = number(value);
      first_ = false;
    } else if constexpr (std::is_integral_v<T>) {
      whole_ = reduced(whole_, value);
    } else {
      sum_ = reduced(sum_, number(value));
    }
  }
  [[nodiscard]] T value(std::uint32_t ranks) const {
    T result = whole_;
    if constexpr (std::is_integral_v<T>) {
      if (op_ == ReductionOp::Avg) {
        kernels::divide_elements(&result, ranks, 1, 0, 1);
      }
    } else {
      result = rounded_to<T>(op_ == ReductionOp::Avg ? sum_ / ranks : sum_);
    }
    return result;
  }

 private:
  template <class Number>
  [[nodiscard]] Number reduced(Number a, Number b) const {
    switch (op_) {
      case ReductionOp::Sum:
      case ReductionOp::Avg:
        return kernels::reduced<kernels::Sum>(a, b);
      case ReductionOp::Prod:
        return kernels::reduced<kernels::Prod>(a, b);
      case ReductionOp::Min:
        return kernels::reduced<kernels::Min>(a, b);
      case ReductionOp::Max:
        return kernels::reduced<kernels::Max>(a, b);
    }
    return a;
  }

  ReductionOp op_;
  bool first_ = true;
  T whole_{};
  double sum_ = 0;
};

template <class T>
std::string text_of(T value) {
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    std::string text = std::to_string(number(value));
    return text;
  }
}

template <class T>
T element_at(std::span<const std::byte> bytes, std::size_t index) {
  T value{};
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void set_element(std::span<std::byte> bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

/// Adds to `wrong` the elements of `found` that are not those of `expected`. `first` is the number of the first one.
template <class T>
void compare(std::span<const std::byte> expected, std::span<const std::byte> found, double allowed,
             std::int64_t first, std::optional<WrongData>& wrong) {
  if (allowed == 0 && std::memcmp(expected.data(), found.data(), found.size()) == 0) {
    return;
  }
  for (std::size_t i = 0; i < found.size() / sizeof(T); ++i) {
    const T is = element_at<T>(found, i);
    const T must_be = element_at<T>(expected, i);
    const bool same_bits = std::ranges::equal(found.subspan(i * sizeof(T), sizeof(T)),
                                              expected.subspan(i * sizeof(T), sizeof(T)));
    // Not "greater": NaN is never near.
    if (same_bits || std::abs(number(is) - number(must_be)) <= allowed) {
      continue;
    }
    if (!wrong) {
      wrong = WrongData{{}, first + static_cast<std::int64_t>(i), text_of(must_be), text_of(is), 0};
    }
    ++wrong->count;
  }
}

}  // namespace

std::string WrongData::text() const {
  std::string text = "rank " + std::to_string(rank.value()) + ", element " +
                     std::to_string(element) + ": expected " + expected + ", found " + found;
  if (count > 1) {
    text += " (and " + std::to_string(count - 1) + " more)";
  }
  return text;
}

double tolerance(DataType type, ReductionOp op, std::uint32_t ranks, double magnitude) {
  if (op != ReductionOp::Sum && op != ReductionOp::Avg) {
    return 0;
  }
  return kernels::with_element(type, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      return 0.0;
    } else {
      const double unit = std::ldexp(1.0, -digits_of<T>());
      const bool exact = static_cast<double>(ranks) * magnitude <= std::ldexp(1.0, digits_of<T>());
      const double of_sum = exact ? 0 : (ranks - 1) * unit * ranks * magnitude;
      if (op == ReductionOp::Sum) {
        return of_sum;
      }
      return of_sum / ranks + 2 * unit * magnitude;
    }
  });
}

TestData::TestData(const CollectiveCall& call, std::string_view seed)
    : call_(call), seed_(seed_of(seed)) {}

bool TestData::is_reduced() const { return reduces(call_.kind); }

void TestData::fill_input(Rank rank, std::span<std::byte> input) const { fill(rank, 0, input); }

void TestData::fill(Rank rank, std::int64_t origin, std::span<std::byte> out) const {
  kernels::with_element(call_.type, [&]<class T>() {
    const std::uint64_t stream = mixed(seed_ + rank.value());
    const std::uint64_t first = static_cast<std::uint64_t>(origin) / sizeof(T);
    for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
      const std::uint64_t bits = mixed(stream + first + i);
      if (is_reduced()) {
        set_element(out, i, test_number<T>(bits, call_.op, rank.value(), call_.ranks));
      } else {
        std::memcpy(out.data() + i * sizeof(T), &bits, sizeof(T));
      }
    }
  });
}

void TestData::reduce_inputs() {
  const auto bytes = static_cast<std::size_t>(call_.input_bytes(Rank(0)).count());
  reduced_.resize(bytes);
  constexpr std::size_t most_at_once = 1 << 16;  // elements
  kernels::with_element(call_.type, [&]<class T>() {
    std::vector<std::byte> input(std::min(bytes, most_at_once * sizeof(T)));
    for (std::size_t begin = 0; begin < bytes; begin += input.size()) {
      input.resize(std::min(input.size(), bytes - begin));
      std::vector<Expected<T>> results(input.size() / sizeof(T), Expected<T>(call_.op));
      for (std::uint32_t rank = 0; rank < call_.ranks; ++rank) {
        fill(Rank(rank), static_cast<std::int64_t>(begin), input);
        for (std::size_t i = 0; i < results.size(); ++i) {
          results[i].add(element_at<T>(input, i));
        }
      }
      const std::span<std::byte> here = std::span(reduced_).subspan(begin, input.size());
      for (std::size_t i = 0; i < results.size(); ++i) {
        set_element(here, i, results[i].value(call_.ranks));
      }
    }
  });
}

std::optional<WrongData> TestData::check_output(Rank rank, std::span<const std::byte> output) {
  if (is_reduced() && reduced_.empty()) {
    reduce_inputs();
  }
  detail::RankSets sets;
  const detail::SymbolicData promised = detail::promised_output(call_, rank, sets);
  std::optional<WrongData> wrong;
  std::vector<std::byte> moved;
  std::size_t begin = 0;
  kernels::with_element(call_.type, [&]<class T>() {
    const double allowed = is_reduced()
                               ? tolerance(call_.type, call_.op, call_.ranks,
                                           static_cast<double>(largest_summand<T>(call_.ranks)))
                               : 0;
    for (const detail::SymbolicPiece& piece : promised.pieces()) {
      const auto bytes = static_cast<std::size_t>(piece.bytes);
      std::span<const std::byte> expected;
      if (is_reduced()) {
        expected = std::span(reduced_).subspan(static_cast<std::size_t>(piece.value.origin), bytes);
      } else {
        moved.resize(bytes);
        fill(*sets.common(piece.value.contributors, piece.value.contributors), piece.value.origin,
             moved);
        expected = moved;
      }
      compare<T>(expected, output.subspan(begin, bytes), allowed,
                 static_cast<std::int64_t>(begin / sizeof(T)), wrong);
      begin += bytes;
    }
  });
  if (wrong) {
    wrong->rank = rank;
  }
  return wrong;
}

}  // namespace collsim
