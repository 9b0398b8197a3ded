#include "kernels/copy_reduce.hpp"

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/operators.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::kernels;

namespace {

using Inputs = std::vector<const std::byte*>;
using Outputs = std::vector<std::byte*>;

// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): elements as bytes
template <class T>
const std::byte* bytes_of(const std::vector<T>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}
template <class T>
std::byte* bytes_of(std::vector<T>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

/// The loop of a type and operator on one pair of elements.
template <class T>
T reduce_one(DataType type, ReductionOp op, T a, T b) {
  std::vector<T> left{a};
  std::vector<T> right{b};
  std::vector<T> out(1);
  reduce_loop(type, op)(bytes_of(out), bytes_of(left), bytes_of(right), 1);
  return out.front();
}

template <class T>
float reduce_small(DataType type, ReductionOp op, float a, float b) {
  return static_cast<float>(reduce_one(type, op, T(a), T(b)));
}

// More than three tiles, and no multiple of any vector.
constexpr std::size_t many = 3 * 8192 / sizeof(std::int32_t) + 13;

std::vector<std::int32_t> counting_from(std::int32_t first) {
  std::vector<std::int32_t> values(many);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace

TEST_CASE("every operator is what its name says, on every kind of number") {
  CHECK(reduce_one<std::int8_t>(DataType::Int8, ReductionOp::Sum, 100, 100) == -56);   // 200 - 256
  CHECK(reduce_one<std::uint8_t>(DataType::Uint8, ReductionOp::Prod, 20, 20) == 144);  // 400 - 256
  CHECK(reduce_one<std::int8_t>(DataType::Int8, ReductionOp::Min, -1, 1) == -1);
  CHECK(reduce_one<std::uint8_t>(DataType::Uint8, ReductionOp::Min, 255, 1) == 1);
  CHECK(reduce_one<std::int32_t>(DataType::Int32, ReductionOp::Sum, 2147483647, 1) ==
        -2147483647 - 1);
  CHECK(reduce_one<std::uint32_t>(DataType::Uint32, ReductionOp::Max, 4294967295U, 1) ==
        4294967295U);
  CHECK(reduce_one<std::int64_t>(DataType::Int64, ReductionOp::Prod, -3, 5) == -15);
  CHECK(reduce_one<std::uint64_t>(DataType::Uint64, ReductionOp::Avg, 3, 5) ==
        8);  // divided at the end
  CHECK(reduce_one<float>(DataType::Float32, ReductionOp::Sum, 0.5F, 0.25F) == 0.75F);
  CHECK(reduce_one<double>(DataType::Float64, ReductionOp::Prod, 0.5, 0.25) == 0.125);
  for (const auto& [op, expected] :
       {std::pair(ReductionOp::Sum, 5.0F), std::pair(ReductionOp::Prod, 6.0F),
        std::pair(ReductionOp::Min, 2.0F), std::pair(ReductionOp::Max, 3.0F)}) {
    CHECK(reduce_small<Half>(DataType::Half, op, 2, 3) == expected);
    CHECK(reduce_small<Bfloat16>(DataType::Bfloat16, op, 2, 3) == expected);
    CHECK(reduce_small<Fp8E4m3>(DataType::Fp8E4m3, op, 2, 3) == expected);
    CHECK(reduce_small<Fp8E5m2>(DataType::Fp8E5m2, op, 2, 3) == expected);
  }
}

TEST_CASE("averages divide integers towards zero and round floats") {
  std::vector<std::int32_t> whole{7, -7, 6};
  divide_loop(DataType::Int32)(bytes_of(whole), 3, whole.size());
  CHECK(whole == std::vector<std::int32_t>{2, -2, 2});
  std::vector<std::uint8_t> small{255, 3};
  divide_loop(DataType::Uint8)(bytes_of(small), 2, small.size());
  CHECK(small == std::vector<std::uint8_t>{127, 1});
  std::vector<float> real{7, -1};
  divide_loop(DataType::Float32)(bytes_of(real), 2, real.size());
  CHECK(real == std::vector<float>{3.5F, -0.5F});
  std::vector<Half> half{Half(3), Half(-5)};
  divide_loop(DataType::Half)(bytes_of(half), 2, half.size());
  CHECK(static_cast<float>(half[0]) == 1.5F);
  CHECK(static_cast<float>(half[1]) == -2.5F);
}

TEST_CASE("any number of inputs goes to any number of outputs") {
  const CopyReduce sum(DataType::Int32, ReductionOp::Sum);
  const auto inputs = GENERATE(1, 2, 3, 5);
  const auto outputs = GENERATE(1, 2, 4);
  std::vector<std::vector<std::int32_t>> in;
  Inputs in_bytes;
  for (int i = 0; i < inputs; ++i) {
    in.push_back(counting_from(1000 * i));
  }
  for (const auto& values : in) {
    in_bytes.push_back(bytes_of(values));
  }
  std::vector<std::vector<std::int32_t>> out(static_cast<std::size_t>(outputs),
                                             std::vector<std::int32_t>(many, -1));
  Outputs out_bytes;
  for (auto& values : out) {
    out_bytes.push_back(bytes_of(values));
  }
  sum(in_bytes, out_bytes, many * sizeof(std::int32_t));
  // Element i of input k is 1000 k + i: the sum of n inputs is n i + 1000 (0 + … + n-1).
  std::vector<std::int32_t> expected(many);
  for (std::size_t i = 0; i < many; ++i) {
    expected[i] = inputs * static_cast<std::int32_t>(i) + 1000 * (inputs * (inputs - 1) / 2);
  }
  CAPTURE(inputs, outputs);
  for (const auto& values : out) {
    CHECK(values == expected);
  }
}

TEST_CASE("an output may be any one of the inputs") {
  const CopyReduce sum(DataType::Int32, ReductionOp::Sum);
  const auto which = GENERATE(0U, 1U, 2U);
  std::vector<std::vector<std::int32_t>> in{counting_from(0), counting_from(10), counting_from(20)};
  std::vector<std::int32_t> other(many);
  const Inputs inputs{bytes_of(in[0]), bytes_of(in[1]), bytes_of(in[2])};
  const Outputs outputs{bytes_of(in[which]), bytes_of(other)};
  sum(inputs, outputs, many * sizeof(std::int32_t));
  CHECK(in[which] == other);
  CHECK(other[0] == 30);
  CHECK(other[many - 1] == 3 * static_cast<std::int32_t>(many - 1) + 30);
}

TEST_CASE("no bytes are no work") {
  const CopyReduce sum(DataType::Half, ReductionOp::Sum);
  std::vector<std::uint16_t> value{7};
  const Inputs inputs{bytes_of(value)};
  std::vector<std::uint16_t> out{1};
  const Outputs outputs{bytes_of(out)};
  sum(inputs, outputs, 0);
  CHECK(out.front() == 1);
}
