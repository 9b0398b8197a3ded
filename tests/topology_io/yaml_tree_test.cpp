// Text that is no YAML, or YAML that a description does not need, and what protects the reader.

#include "topology/io/yaml_tree.hpp"

#include <string>

#include "tests/catch.hpp"
#include "tests/topology_io/description.hpp"

namespace collsim {

using test::message;
using test::replaced;
using test::two_gpus;

TEST_CASE("the description that the other cases break is accepted", "[yaml]") {
  CHECK(message(two_gpus()) == "accepted");
}

TEST_CASE("an empty text is refused", "[yaml]") {
  const std::string expected = "x.yaml: error: empty: expected a YAML mapping";
  CHECK(message("") == expected);
  CHECK(message("\n\n# nothing but a comment\n") == expected);
  CHECK(message("\xEF\xBB\xBF") == expected);
  CHECK(message("---\n") == expected);
  CHECK(message("~\n") == expected);
}

TEST_CASE("text that is no YAML is refused where the parser stops", "[yaml]") {
  CHECK(message("name: [a, b\n") ==
        "x.yaml:1:12: error: not valid YAML: end of sequence flow not found\n"
        "  name: [a, b\n"
        "             ^");
  // yaml-cpp overlooks the open quote if the text ends in a line break.
  CHECK(message("name: \"a\n\n") ==
        "x.yaml:1:9: error: not valid YAML: illegal EOF in scalar\n"
        "  name: \"a\n"
        "          ^");
  CHECK(message("name: a: b\n") ==
        "x.yaml:1:8: error: not valid YAML: illegal map value\n"
        "  name: a: b\n"
        "         ^");
  CHECK(message("node:\n  gpus: 1\n\tlinks: 2\n") ==
        "x.yaml:3:1: error: not valid YAML: illegal tab when looking for indentation\n"
        "  \tlinks: 2\n"
        "  ^");
  CHECK(message("- a\nb: c\n") ==
        "x.yaml:2:1: error: more than one YAML document in a file\n"
        "  b: c\n"
        "  ^");
  // yaml-cpp 0.8 adds the anchor's name.
  CHECK(
      message("name: *nobody\n")
          .starts_with("x.yaml:1:7: error: not valid YAML: the referenced anchor is not defined"));
}

TEST_CASE("binary files are refused", "[yaml]") {
  CHECK(message(std::string("name: a\nx\0y", 11)) ==
        "x.yaml:2:2: error: not a text file: control character 0");
  CHECK(message("\x7F"
                "ELF\x02\x01") == "x.yaml:1:1: error: not a text file: control character 127");
  CHECK(message("name: \x1b[1m") == "x.yaml:1:7: error: not a text file: control character 27");
  // U+009B, an escape sequence in one character.
  CHECK(message("name: \xC2\x9B") == "x.yaml:1:7: error: not a text file: control character 155");
  // UTF-16.
  CHECK(message(std::string("\xFF\xFEn\0", 4)) == "x.yaml:1:1: error: not a text file: not UTF-8");
}

TEST_CASE("text that is not UTF-8 is refused", "[yaml]") {
  const std::string expected = "x.yaml:1:3: error: not a text file: not UTF-8";
  CHECK(message("a \xE4") == expected);              // Latin-1
  CHECK(message("a \xC0\x80") == expected);          // overlong NUL
  CHECK(message("a \xE0\x80\x80") == expected);      // overlong
  CHECK(message("a \xED\xA0\x80") == expected);      // a surrogate
  CHECK(message("a \xF4\x90\x80\x80") == expected);  // beyond U+10FFFF
  CHECK(message("a \xF0\x9F\x98") == expected);      // cut off
  CHECK(message("a \x80") == expected);              // a continuation of nothing
}

TEST_CASE("a byte order mark and any line ends are accepted", "[yaml]") {
  CHECK(message("\xEF\xBB\xBF" + two_gpus()) == "accepted");
  std::string crlf;
  std::string cr;
  for (const char c : two_gpus()) {
    crlf += c == '\n' ? "\r\n" : std::string(1, c);
    cr += c == '\n' ? '\r' : c;
  }
  CHECK(message(crlf) == "accepted");
  CHECK(message(cr) == "accepted");
  CHECK(message("\xEF\xBB\xBF" + replaced(crlf, "gpus: 2", "gpus: x")) ==
        "x.yaml:3:9: error: node.gpus: expected a whole number from 1 to 1048576, got \"x\"\n"
        "    gpus: x\n"
        "          ^");
}

TEST_CASE("columns count characters", "[yaml]") {
  CHECK(message("{name: \u00B5\u00B5\u00B5, nodes: x}") ==
        "x.yaml:1:20: error: nodes: expected a whole number from 1 to 1048576, got \"x\"\n"
        "  {name: \u00B5\u00B5\u00B5, nodes: x}\n"
        "                     ^");
}

TEST_CASE("a duplicate key is refused", "[yaml]") {
  CHECK(message(replaced(two_gpus(), "  links:", "  gpus: 4\n  links:")) ==
        "x.yaml:4:3: error: duplicate key \"gpus\", first used in line 3\n"
        "    gpus: 4\n"
        "    ^");
}

TEST_CASE("more than one document is refused", "[yaml]") {
  CHECK(message(two_gpus() + "---\nname: b\n") ==
        "x.yaml:10:1: error: more than one YAML document in a file\n"
        "  ---\n"
        "  ^");
  CHECK(message("---\n" + two_gpus() + "...\n") == "accepted");
}

TEST_CASE("merge keys and tags are refused", "[yaml]") {
  CHECK(message("base: &base {gpus: 2}\nnode:\n  <<: *base\n") ==
        "x.yaml:3:3: error: merge keys (<<) are not supported: write the keys out\n"
        "    <<: *base\n"
        "    ^");
  CHECK(message("name: !!str 8\n") ==
        "x.yaml:1:7: error: tags such as !!str are not supported\n"
        "  name: !!str 8\n"
        "        ^");
  CHECK(message("node: !!map {gpus: 1}\n") ==
        "x.yaml:1:7: error: tags such as !!str are not supported\n"
        "  node: !!map {gpus: 1}\n"
        "        ^");
}

TEST_CASE("a key is text", "[yaml]") {
  CHECK(message("? [a]\n: b\n") == "x.yaml:1:3: error: a key must be text\n  ? [a]\n    ^");
  CHECK(message("~: b\n") == "x.yaml:1:1: error: a key must be text\n  ~: b\n  ^");
  CHECK(message("a: &x b\n*x : c\n") ==
        "x.yaml:2:1: error: a key must be text, not an alias\n  *x : c\n  ^");
}

TEST_CASE("aliases stand for what they name", "[yaml]") {
  const std::string text =
      "name: aliases\n"
      "node:\n"
      "  gpus: 2\n"
      "  devices: [{name: switch, kind: switch}, {name: nic, kind: nic}]\n"
      "  links:\n"
      "    - {from: gpu, to: switch, bandwidth: &rate 50 GB/s, latency: 1 us}\n"
      "    - {from: nic, to: switch, bandwidth: *rate, latency: 1 us}\n";
  CHECK(message(text) == "accepted");
  // The mistake is in what is named, but its place is where it is used.
  CHECK(message(replaced(text, "bandwidth: *rate", "count: *rate, bandwidth: *rate")) ==
        "x.yaml:7:38: error: node.links[1].count: expected a whole number from 1 to 4096, got "
        "\"50 GB/s\"\n"
        "      - {from: nic, to: switch, count: *rate, bandwidth: *rate, latency: 1 us}\n"
        "                                       ^");
  CHECK(message("name: &a [*a]\n") ==
        "x.yaml:1:11: error: an alias inside of what it stands for\n"
        "  name: &a [*a]\n"
        "            ^");
  CHECK(message("&k name: a\nnode: *k\n") ==
        "x.yaml:2:7: error: an alias of something that is not a value\n"
        "  node: *k\n"
        "        ^");
}

TEST_CASE("an alias bomb ends early", "[yaml]") {
  // Nine lists of eight of the previous one: 8^9 = 134 million values.
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i <= 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 8; ++j) {
      bomb += ", " + before;
    }
    bomb += "]\n";
  }
  CHECK(message(bomb).find(": error: aliases stand for more than 262144 values and characters\n") !=
        std::string::npos);
  // 1000 times a text of 1 MiB.
  std::string large = "name: [&a " + std::string(1U << 20U, 'x');
  for (int i = 0; i < 1000; ++i) {
    large += ", *a";
  }
  CHECK(message(large + "]\n") ==
        "x.yaml:1:1048589: error: aliases stand for more than 262144 values and characters");
}

TEST_CASE("deep nesting is refused", "[yaml]") {
  const auto repeated = [](const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) {
      result += text;
    }
    return result;
  };
  // The mapping and 63 lists are 64 levels; the bracket of the 64th list is one too many.
  CHECK(message("a: " + repeated("[", 64) + repeated("]", 64)) ==
        "x.yaml:1:67: error: nested more than 64 levels deep\n"
        "  a: " +
            repeated("[", 64) + repeated("]", 64) + "\n  " + repeated(" ", 66) + "^");
  CHECK(message("a: " + repeated("[", 63) + repeated("]", 63)).find("nested") == std::string::npos);
  CHECK(message("a: " + repeated("[", 100'000)) == "x.yaml:1:1004: error: nested too deeply");
  CHECK(message(repeated("[\n", 100'000)) == "x.yaml:1001:1: error: nested too deeply");
  CHECK(message(repeated("- ", 100'000)) == "x.yaml:1:129: error: nested more than 64 levels deep");
  CHECK(message(repeated("? ", 100'000)) == "x.yaml:1:3: error: a key must be text");
  // Aliases nest as deep as what they stand for: 40 levels inside of 40.
  CHECK(message("a: &a " + repeated("[", 40) + repeated("]", 40) + "\nb: " + repeated("[", 40) +
                "*a" + repeated("]", 40))
            .starts_with("x.yaml:2:44: error: nested more than 64 levels deep\n"));
}

TEST_CASE("a bracket that is never closed is said to be open, not to be a key", "[yaml]") {
  for (const std::string text : {"{", "{ a: 1", "{ a: {b: 1", "[", "[1, 2"}) {
    CAPTURE(text);
    CHECK_THAT(message(text), Catch::Matchers::ContainsSubstring("flow not found"));
  }
  // Closed ones are keys, and no text.
  CHECK(message("{a: 1}: b").starts_with("x.yaml:1:1: error: a key must be text"));
  CHECK(message("[a, [b]]: {c: [d]}").starts_with("x.yaml:1:1: error: a key must be text"));
}

TEST_CASE("large texts are refused", "[yaml]") {
  CHECK(message("# " + std::string(5U << 20U, 'x')) == "x.yaml: error: larger than 4 MiB");
  CHECK(message("name:\n" + [] {
          std::string items;
          for (int i = 0; i < (1 << 19); ++i) {
            items += "- x\n";
          }
          return items;
        }()) == "x.yaml: error: more than 524288 values");
  std::string keys;
  for (int i = 0; i < 257; ++i) {
    keys += "k" + std::to_string(i) + ": 1\n";
  }
  CHECK(message(keys) ==
        "x.yaml:257:1: error: more than 256 keys in one mapping\n"
        "  k256: 1\n"
        "  ^");
}

TEST_CASE("a line too long to show is left out", "[yaml]") {
  const std::string text = "{name: " + std::string(300, 'x') + ", nodes: x}";
  CHECK(message(text) ==
        "x.yaml:1:317: error: nodes: expected a whole number from 1 to 1048576, got \"x\"");
}

}  // namespace collsim
