#include "tools/text_table.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace collsim {
namespace {

TEST_CASE("columns are as wide as their widest cell, counted in characters") {
  TextTable table;
  table.add_column("name", Align::Left);
  table.add_column("n");
  table.add_row({"µs …", "1"});
  table.add_row({"b", "200"});
  CHECK(table.render("  ") ==
        "  name    n\n"
        "  ----  ---\n"
        "  µs …    1\n"
        "  b     200\n");
}

TEST_CASE("lines have no blanks at their end, and missing cells are empty") {
  TextTable table;
  table.add_column("a", Align::Left);
  table.add_column("b", Align::Left);
  table.add_row({"1"});
  CHECK(table.render() == "a  b\n-  -\n1\n");
}

TEST_CASE("cells that are too wide go on below") {
  TextTable table;
  table.add_column("what", Align::Left, 9);
  table.add_column("where", Align::Left);
  table.add_row({"one two three", "here"});
  table.add_row({"four", "there"});
  CHECK(table.render() ==
        "what     where\n"
        "-------  -----\n"
        "one two  here\n"
        "three\n"
        "four     there\n");
}

TEST_CASE("text wraps between words, and a long word stays whole") {
  CHECK(wrapped("", 5) == std::vector<std::string>{""});
  CHECK(wrapped("aa bb cc", 5) == std::vector<std::string>{"aa bb", "cc"});
  CHECK(wrapped("aa bbbbbbbb cc", 5) == std::vector<std::string>{"aa", "bbbbbbbb", "cc"});
}

TEST_CASE("bars have eighths and stay within their width") {
  CHECK(bar(0, 8).empty());
  CHECK(bar(1, 3) == "███");
  CHECK(bar(2, 3) == "███");
  // 4.5 of 8 columns are 36 eighths.
  CHECK(bar(0.5625, 8) == "████▌");
}

}  // namespace
}  // namespace collsim
