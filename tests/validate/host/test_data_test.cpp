#include "validate/execution/test_data.hpp"

#include <array>
#include <cstring>
#include <vector>

#include "algorithms/check.hpp"
#include "tests/catch.hpp"

using namespace collsim;

namespace {

CollectiveCall all_reduce_of(DataType type, ReductionOp op, std::uint32_t ranks,
                             std::int64_t count) {
  CollectiveCall call;
  call.ranks = ranks;
  call.count = count;
  call.type = type;
  call.op = op;
  return call;
}

std::vector<std::byte> input_of(const TestData& data, const CollectiveCall& call,
                                std::uint32_t rank) {
  std::vector<std::byte> input(static_cast<std::size_t>(call.input_bytes(Rank(rank)).count()));
  data.fill_input(Rank(rank), input);
  return input;
}

template <class T>
std::vector<T> numbers(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
std::vector<std::byte> as_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("test data are the same for the same seed, and other ones for each rank and seed") {
  const CollectiveCall call = all_reduce_of(DataType::Int32, ReductionOp::Sum, 3, 100);
  const TestData data(call, "a");
  CHECK(input_of(data, call, 0) == input_of(TestData(call, "a"), call, 0));
  CHECK(input_of(data, call, 0) != input_of(data, call, 1));
  CHECK(input_of(data, call, 0) != input_of(TestData(call, "b"), call, 0));
}

TEST_CASE("the promised sum is the sum, and one that is a contribution short is found") {
  const CollectiveCall call = all_reduce_of(DataType::Float32, ReductionOp::Sum, 5, 200);
  TestData data(call, "seed");
  std::vector<float> sum(200);
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    const auto input = numbers<float>(input_of(data, call, rank));
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += input[i];
    }
  }
  CHECK_FALSE(data.check_output(Rank(2), as_bytes(sum)));
  const auto last = numbers<float>(input_of(data, call, 4));
  sum[7] -= last[7];
  sum[9] -= last[9];
  const auto wrong = data.check_output(Rank(2), as_bytes(sum));
  REQUIRE(wrong);
  CHECK(wrong->rank == Rank(2));
  CHECK(wrong->element == 7);
  CHECK(wrong->count == 2);
  CHECK(wrong->text() == "rank 2, element 7: expected " + std::to_string(sum[7] + last[7]) +
                             ", found " + std::to_string(sum[7]) + " (and 1 more)");
}

TEST_CASE("a result that is no number is wrong, whatever the tolerance") {
  const CollectiveCall call = all_reduce_of(DataType::Float64, ReductionOp::Avg, 2, 1);
  TestData data(call, "seed");
  const std::vector<double> nan{std::numeric_limits<double>::quiet_NaN()};
  CHECK(data.check_output(Rank(0), as_bytes(nan)).has_value());
}

TEST_CASE("data that are only moved are compared bit by bit") {
  CollectiveCall call = all_reduce_of(DataType::Float32, ReductionOp::Sum, 2, 3);
  call.kind = CollectiveKind::AllGather;
  TestData data(call, "seed");
  std::vector<std::byte> all = input_of(data, call, 0);
  const std::vector<std::byte> second = input_of(data, call, 1);
  all.insert(all.end(), second.begin(), second.end());
  CHECK_FALSE(data.check_output(Rank(1), all));
  all[20] ^= std::byte{1};  // of element 5
  const auto wrong = data.check_output(Rank(1), all);
  REQUIRE(wrong);
  CHECK(wrong->element == 5);
  CHECK(wrong->count == 1);
}

TEST_CASE("the tolerance is that of the roundings that the digits do not spare") {
  // float has 24 digits: whole numbers up to 2^24 / 4 have an exact sum of 4.
  CHECK(tolerance(DataType::Float32, ReductionOp::Sum, 4, 4194304) == 0);
  // One more could need a 25th digit: 3 roundings, each of at most 2^-24 of 4 · 4194305.
  CHECK(tolerance(DataType::Float32, ReductionOp::Sum, 4, 4194305) == 3 * 4 * 4194305.0 / 16777216);
  CHECK(tolerance(DataType::Int32, ReductionOp::Sum, 1000, 1e9) == 0);
  CHECK(tolerance(DataType::Half, ReductionOp::Max, 1000, 1e9) == 0);
  // The average of an exact sum: 11 digits, two roundings of a value up to 512.
  CHECK(tolerance(DataType::Half, ReductionOp::Avg, 4, 512) == 2 * 512.0 / 2048);
}
