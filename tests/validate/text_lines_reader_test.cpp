#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "topology/error.hpp"
#include "validate/io/launcher_prefix.hpp"
#include "validate/io/printed_number.hpp"
#include "validate/io/text_lines.hpp"

using namespace collsim;

namespace {

using Numbered = std::vector<std::pair<std::uint32_t, std::string>>;

Numbered numbered(const std::string& bytes) {
  const std::string text = cleaned_text(bytes);
  Numbered lines;
  for (const TextLine& line : lines_of(text)) {
    lines.emplace_back(line.number, line.text);
  }
  return lines;
}

/// Rank and rest: "3|text", "-|text".
std::string stripped(const std::string& line) {
  const StrippedLine found = strip_launcher_prefix(line);
  return (found.rank ? std::to_string(*found.rank) : "-") + "|" + std::string(trimmed(found.text));
}

}  // namespace

TEST_CASE("lines keep their numbers whatever ends them") {
  CHECK(numbered("a\n\nb\n") == Numbered{{1, "a"}, {3, "b"}});
  CHECK(numbered("a\r\n\r\nb") == Numbered{{1, "a"}, {3, "b"}});
  // A progress bar rewrites its line; an editor counts one.
  CHECK(numbered("1 %\r2 %\rdone\nb\n") == Numbered{{1, "1 %"}, {1, "2 %"}, {1, "done"}, {2, "b"}});
  CHECK(numbered("a\rb\rc") == Numbered{{1, "a"}, {2, "b"}, {3, "c"}});  // an old Mac's
  CHECK(numbered("").empty());
}

TEST_CASE("what terminals and editors add goes") {
  CHECK(cleaned_text("\xEF\xBB\xBF"
                     "a\tb\n") == "a\tb\n");
  CHECK(cleaned_text(std::string("\xFF\xFE"
                                 "a\0b\0\n\0",
                                 8)) == "ab\n");  // UTF-16 of what is ASCII
  CHECK(cleaned_text("\x1b[1;32mgreen\x1b[0m") == "green");
  CHECK(cleaned_text("\x1b]0;title\atext\x1b]0;again\x1b\\.") == "text.");
  CHECK(cleaned_text("\x1b(text") == "text");
  CHECK(cleaned_text("open \x1b[1;3\nnext") == "open \nnext");  // none goes on in the next line
  CHECK(cleaned_text("b\x07\x7f\x01"
                     "ell \xff\xc3") == "bell \xff\xc3");
}

TEST_CASE("prefixes of launchers are stripped, alone and stacked") {
  CHECK(stripped(" 0: # size") == "0|# size");
  CHECK(stripped("12:") == "12|");
  CHECK(stripped("[1,3]<stdout>:# size") == "3|# size");
  CHECK(stripped("[prterun-a-host-17@1,15]<stdout>: x") == "15|x");
  CHECK(stripped("[3] x") == "3|x");
  CHECK(stripped("[rank3]: x") == "3|x");
  CHECK(stripped("2025-03-01T12:00:00.25Z x") == "-|x");
  CHECK(stripped("[2025-03-01 12:00:00] x") == "-|x");
  CHECK(stripped("2025/03/01 12:00:00,123+0100 x") == "-|x");
  CHECK(stripped("12:00:00 x") == "-|x");
  CHECK(stripped("> > x") == "-|x");
  CHECK(stripped("2025-03-01T12:00:00Z 7: [1,7]<stderr>:x") == "7|x");
}

TEST_CASE("what only looks like a prefix stays") {
  for (const std::string line : {"  1024  256", "12:x", "1234567: x", "host:1:2 [0] NCCL INFO x",
                                 "rank 3: x", "2025-03-01 x", "[3,x", "12:00:00x"}) {
    CHECK(stripped(line) == "-|" + std::string(trimmed(line)));
  }
}

TEST_CASE("lines belong to the process that wrote them") {
  const std::string text = "0: a\n1: b\n0: c\n1: d\nplain\n";
  std::vector<std::uint32_t> streams;
  for (const TextLine& line : lines_of(text)) {
    streams.push_back(line.stream);
  }
  CHECK(streams == std::vector<std::uint32_t>{1, 2, 1, 2, 0});
  // Numbers that no two lines share are those of the lines.
  const std::string numbers = "1: a\n2: b\n3: c\n4: d\n";
  for (const TextLine& line : lines_of(numbers)) {
    CHECK(line.stream == 0);
  }
}

TEST_CASE("a prefix that only this file has is told by the header of a table") {
  const std::string text =
      "worker-0: # nThread 1\n"
      "worker-0: #  size  count  type  time  algbw  busbw\n"
      "worker-0:    1024    256 float 1.00 1.02 1.02\n"
      "other: 1\n";
  CHECK(numbered(text) == Numbered{{1, " # nThread 1"},
                                   {2, " #  size  count  type  time  algbw  busbw"},
                                   {3, "    1024    256 float 1.00 1.02 1.02"},
                                   {4, "other: 1"}});
}

TEST_CASE("a line too long for a row is left out, and lines are counted") {
  CHECK(numbered(std::string(70'000, 'x') + "\nb\n") == Numbered{{2, "b"}});
  std::string many;
  for (int i = 0; i < 2'000'001; ++i) {
    many += "x\n";
  }
  CHECK_THROWS_WITH(lines_of(many), "more than 2000000 lines");
}

TEST_CASE("a printed number knows the unit of its last digit") {
  const auto unit = [](const char* text) { return printed_number(text).value().unit; };
  CHECK(unit("35.10") == Approx(0.01));
  CHECK(unit("4023.8") == Approx(0.1));
  CHECK(unit("13552") == Approx(1));
  CHECK(unit("1.2e+07") == Approx(1e6));
  CHECK(unit("2e-07") == Approx(1e-7));
  CHECK(printed_number("1.2e+07")->value == Approx(1.2e7));
  for (const char* text : {"", "-1", "N/A", "nan", "inf", "1.0x", "1e99", "0x10", ".5", "+1"}) {
    CHECK_FALSE(printed_number(text));
  }
}
