#include "study/expression.hpp"

#include <cmath>
#include <utility>

#include "study/expression_parser.hpp"

namespace collsim {

namespace {

using Operation = Expression::Operation;
using Instruction = Expression::Instruction;

double truth(bool value) { return value ? 1 : 0; }

double combined(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::Multiply:
      return a * b;
    case Operation::Divide:
      return a / b;
    case Operation::Add:
      return a + b;
    case Operation::Subtract:
      return a - b;
    case Operation::Less:
      return truth(a < b);
    case Operation::LessEqual:
      return truth(a <= b);
    case Operation::Greater:
      return truth(a > b);
    case Operation::GreaterEqual:
      return truth(a >= b);
    case Operation::Equal:
      return truth(a == b);
    case Operation::NotEqual:
      return truth(a != b);
    case Operation::And:
      return truth(a != 0 && b != 0);
    case Operation::Or:
      return truth(a != 0 || b != 0);
    default:
      COLLSIM_ENSURE(false, "not an operation of two numbers");
  }
}

NamedValue combined(Operation operation, const NamedValue& a, const NamedValue& b) {
  if (operation == Operation::SameText || operation == Operation::OtherText) {
    return {truth((a.text == b.text) == (operation == Operation::SameText)), {}};
  }
  if (operation == Operation::And || operation == Operation::Or) {
    // One side that decides is enough: the other one may have no value.
    const double decisive = truth(operation == Operation::Or);
    if (a.number == decisive || b.number == decisive) {
      return {decisive, {}};
    }
  }
  if (!a.number || !b.number) {
    return {};
  }
  const double value = combined(operation, *a.number, *b.number);
  return std::isfinite(value) ? NamedValue{value, {}} : NamedValue{};
}

}  // namespace

Expression Expression::parse(std::string_view text, const KnownNames& known, Gives gives) {
  Expression expression;
  expression.text_ = text;
  expression.instructions_ = detail::parse_expression(text, known, gives);
  return expression;
}

std::optional<double> Expression::evaluate(const Lookup& lookup) const {
  std::vector<NamedValue> stack;
  for (const Instruction& instruction : instructions_) {
    switch (instruction.operation) {
      case Operation::Number:
        stack.push_back({instruction.number, {}});
        break;
      case Operation::Text:
        stack.push_back({std::nullopt, instruction.text});
        break;
      case Operation::Name:
        stack.push_back(lookup(instruction.text));
        break;
      case Operation::Negate:
        if (stack.back().number) {
          stack.back().number = -*stack.back().number;
        }
        break;
      case Operation::Not:
        if (stack.back().number) {
          stack.back().number = truth(*stack.back().number == 0);
        }
        break;
      default: {
        const NamedValue right = std::move(stack.back());
        stack.pop_back();
        stack.back() = combined(instruction.operation, stack.back(), right);
      }
    }
  }
  return stack.back().number;
}

}  // namespace collsim
