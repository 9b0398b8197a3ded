#include "tools/nccl_tests_table.hpp"

#include <chrono>

#include "tests/catch.hpp"

namespace collsim {
namespace {

TEST_CASE("numbers lose decimals, then become exponents, as they grow") {
  // Real logs have 9440.67, 17735.5 and 158724 in 7 columns, 98.21 and 106.56 in 6.
  CHECK(nccl_tests_number(0, 7) == "   0.00");
  CHECK(nccl_tests_number(0.004, 7) == "   0.00");
  CHECK(nccl_tests_number(31.264, 7) == "  31.26");
  CHECK(nccl_tests_number(9440.67, 7) == "9440.67");
  CHECK(nccl_tests_number(17735.46, 7) == "17735.5");
  CHECK(nccl_tests_number(158724.2, 7) == " 158724");
  CHECK(nccl_tests_number(1234567.8, 7) == "1234568");
  CHECK(nccl_tests_number(12345678, 7) == "1.2e+07");
  CHECK(nccl_tests_number(98.21, 6) == " 98.21");
  CHECK(nccl_tests_number(106.56, 6) == "106.56");
  CHECK(nccl_tests_number(1065.62, 6) == "1065.6");
  CHECK(nccl_tests_number(10656.2, 6) == " 10656");
  CHECK(nccl_tests_number(1234567, 6) == " 1e+06");
}

TEST_CASE("a power of ten counts as one digit more") {
  CHECK(nccl_tests_number(9999.99, 7) == "9999.99");
  CHECK(nccl_tests_number(10000, 7) == "10000.0");
  // Nine tenths of a cent below, rounding makes it a column wider than foreseen; so does nccl-tests.
  CHECK(nccl_tests_number(9999.999, 7) == "10000.00");
}

TEST_CASE("a failed check fails the footer") {
  PerfHeader header;
  PerfRow row;
  row.out_of_place.busbw_GBps = 10;
  row.in_place.busbw_GBps = 20;
  row.out_of_place.wrong = 0;
  row.in_place.wrong = 3;
  CHECK(nccl_tests_footer(header, {row}) ==
        "# Out of bounds values : 3 FAILED\n# Avg bus bandwidth    : 15 \n#\n"
        "# Collective test concluded: all_reduce_perf\n#\n\n");
}

TEST_CASE("a row that counts wrong elements") {
  PerfRow row;
  row.size = Bytes(33554432);
  row.count = 8388608;
  row.redop = "sum";
  row.out_of_place = {std::chrono::microseconds(100), 335.54, 587.2, 12};
  row.in_place = {std::chrono::microseconds(100), 335.54, 587.2, std::nullopt};
  CHECK(nccl_tests_row({}, row) ==
        "    33554432       8388608     float     sum      -1   100.00  335.54  587.20      12"
        "   100.00  335.54  587.20    N/A\n");
}

}  // namespace
}  // namespace collsim
