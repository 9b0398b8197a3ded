#include "study/expression.hpp"

#include "tests/catch.hpp"

namespace collsim {

namespace {

const KnownNames known{{"nodes", {true, true}},
                       {"bytes", {true, true}},
                       {"algorithm", {false, true}},
                       {"time_us", {true, false}},
                       {"unknown_us", {true, false}}};

NamedValue lookup(const std::string& name) {
  if (name == "nodes") {
    return {16, "16"};
  }
  if (name == "bytes") {
    return {1048576, "1 MiB"};
  }
  if (name == "algorithm") {
    return {std::nullopt, "ring"};
  }
  if (name == "time_us") {
    return {2.5, {}};
  }
  return {};
}

std::optional<double> number(const std::string& text) {
  return Expression::parse(text, known, Expression::Gives::Number).evaluate(lookup);
}

std::optional<double> number_of_condition(const std::string& text) {
  return Expression::parse(text, known, Expression::Gives::Truth).evaluate(lookup);
}

bool truth(const std::string& text) { return number_of_condition(text) == 1; }

/// The message and where it points.
std::string fault(const std::string& text, Expression::Gives gives) {
  try {
    static_cast<void>(Expression::parse(text, known, gives));
  } catch (const ExpressionError& error) {
    return std::to_string(error.offset()) + ": " + error.message();
  }
  return "none";
}

}  // namespace

TEST_CASE("Products bind more than sums, and equal operators from the left") {
  CHECK(number("2 + 3 * 4") == 14);
  CHECK(number("(2 + 3) * 4") == 20);
  CHECK(number("20 - 5 - 3") == 12);
  CHECK(number("64 / 4 / 2") == 8);
  CHECK(number("-nodes + 1") == -15);
  CHECK(number("2 * -3") == -6);
}

TEST_CASE("Numbers may be sizes and have exponents") {
  CHECK(number("64MiB") == 64.0 * 1024 * 1024);
  CHECK(number("1GB") == 1e9);
  CHECK(number("1.5e6") == 1.5e6);
  CHECK(number("2.5") == 2.5);
}

TEST_CASE("Conditions compare numbers and texts") {
  CHECK(truth("nodes * 8 <= 128"));
  CHECK_FALSE(truth("nodes * 8 < 128"));
  CHECK(truth("bytes >= 1MiB"));
  CHECK(truth("algorithm == 'ring'"));
  CHECK(truth("algorithm != 'tree'"));
  // What a name is called, where a text is beside it.
  CHECK(truth("bytes == '1 MiB'"));
  CHECK(truth("nodes == 16"));
}

TEST_CASE("And binds more than or, and not more than both") {
  CHECK(truth("nodes == 16 or nodes == 1 and bytes == 0"));
  CHECK_FALSE(truth("(nodes == 16 or nodes == 1) and bytes == 0"));
  CHECK(truth("not nodes == 1 and bytes > 0"));
  CHECK_FALSE(truth("not (nodes == 16 or bytes == 0)"));
}

TEST_CASE("What needs a number that is not there is not there") {
  CHECK(number("unknown_us + 1") == std::nullopt);
  CHECK(number("-unknown_us") == std::nullopt);
  CHECK(number("1 / (nodes - 16)") == std::nullopt);
}

TEST_CASE("What one side decides alone does not need the other") {
  // 1 / (nodes - 16) is none.
  CHECK(truth("nodes == 16 or 1 / (nodes - 16) > 2"));
  CHECK(truth("1 / (nodes - 16) > 2 or nodes == 16"));
  CHECK(truth("not (nodes != 16 and 1 / (nodes - 16) > 2)"));
  CHECK(number_of_condition("nodes != 16 or 1 / (nodes - 16) > 2") == std::nullopt);
  CHECK(number_of_condition("nodes == 16 and 1 / (nodes - 16) > 2") == std::nullopt);
  CHECK(number_of_condition("not 1 / (nodes - 16) > 2") == std::nullopt);
}

TEST_CASE("A formula is refused at the character that is wrong") {
  const auto condition = Expression::Gives::Truth;
  const auto value = Expression::Gives::Number;
  CHECK(fault("nodez > 1", condition) == "0: unknown name \"nodez\", did you mean \"nodes\"?");
  CHECK(fault("nodes > ", condition) == "8: expected a value, got the end");
  CHECK(fault("nodes >> 1", condition) == "7: expected a value, got \"> 1\"");
  CHECK(fault("nodes = 1", condition) == "6: expected an operator, got \"= 1\"");
  CHECK(fault("(nodes > 1", condition) == "10: expected \")\", got the end");
  CHECK(fault("nodes > 1 2", condition) == "10: expected an operator, got \"2\"");
  CHECK(fault("algorithm < 2", condition) == "0: expected a number, got a text");
  CHECK(fault("algorithm == 2", condition) ==
        "0: expected two numbers or two texts, got a text and a number");
  CHECK(fault("time_us == 'a'", condition) ==
        "11: expected two numbers or two texts, got a number and a text");
  CHECK(fault("1 + algorithm", value) == "4: expected a number, got a text");
  CHECK(fault("nodes and nodes > 1", condition) ==
        "0: expected a condition before \"and\", got a number");
  CHECK(fault("nodes > 1 or nodes", condition) ==
        "13: expected a condition behind \"or\", got a number");
  CHECK(fault("nodes", condition) == "0: expected a condition, got a value");
  CHECK(fault("nodes > 1", value) == "0: expected a number, got a condition");
  CHECK(fault("algorithm", value) == "0: expected a number, got a text");
  CHECK(fault("algorithm == 'ring", condition) == "13: expected ' at the end of the text");
  CHECK(fault("1 < 2 < 3", condition) == "6: expected an operator, got \"< 3\"");
  CHECK(fault("64Mib < bytes", condition).starts_with("0: expected a size"));
  CHECK(fault("", value) == "0: expected a value, got the end");
}

TEST_CASE("Hostile nesting is refused") {
  CHECK(fault(std::string(100'000, '('), Expression::Gives::Number) ==
        "64: nested more than 64 deep");
  std::string negations;
  for (int i = 0; i < 10'000; ++i) {
    negations += "not ";
  }
  CHECK(fault(negations + "nodes > 1", Expression::Gives::Truth)
            .ends_with("nested more than 64 deep"));
}

}  // namespace collsim
