#pragma once

// Formulas over named values: conditions on a grid, metrics made of others, prices.
//
//   nodes * 8 <= 1024 and not (algorithm == 'naive' and bytes > 64MiB)
//
//   or · and · not · == != < <= > >= (once) · + - · * / · unary -, loosest first; parentheses.
//   Operands: numbers (1.5, 1e6; 64MiB is a number of bytes), 'text', and names.
//
// What a formula means is known before it is evaluated: a name has a number, a text (for == and != alone) or both.
// Assumes that doubles are exact enough: +, -, * and / of IEEE 754 give the same on every machine.
// Ignored: functions, assignment, loops.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/error.hpp"

namespace collsim {

/// What is wrong with a formula, and where in it.
class ExpressionError : public InputError {
 public:
  ExpressionError(const std::string& message, std::size_t offset, const std::string& hint = {})
      : InputError(message, {}, hint), offset_(offset) {}
  /// In bytes from the beginning of the formula.
  [[nodiscard]] std::size_t offset() const { return offset_; }

 private:
  std::size_t offset_;
};

/// What can be asked of a name.
struct NameKind {
  bool has_number = false;
  bool has_text = false;
};
using KnownNames = std::map<std::string, NameKind, std::less<>>;

/// What a name stands for. A number may be absent where it is not known.
struct NamedValue {
  std::optional<double> number;
  std::string text;
};

class Expression {
 public:
  enum class Gives : std::uint8_t { Number, Truth };

  /// Throws: ExpressionError for what is no formula, for names that are not known, and for one that does not give
  /// what it should.
  [[nodiscard]] static Expression parse(std::string_view text, const KnownNames& known,
                                        Gives gives);

  using Lookup = std::function<NamedValue(const std::string&)>;
  /// The number, 0 or 1 for a condition. Absent where a number that it needs is, or where there is none (1 / 0); what
  /// one side of `and` or `or` decides alone does not need the other.
  [[nodiscard]] std::optional<double> evaluate(const Lookup& lookup) const;

  [[nodiscard]] const std::string& text() const { return text_; }

  /// Steps of a machine with a stack, in the order in which they are done.
  enum class Operation : std::uint8_t {
    Number,
    Text,
    Name,
    Negate,
    Not,
    Multiply,
    Divide,
    Add,
    Subtract,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    SameText,
    OtherText,
    And,
    Or,
  };
  struct Instruction {
    Operation operation = Operation::Number;
    double number = 0;
    std::string text;  ///< of a text or name
  };

 private:
  std::string text_;
  std::vector<Instruction> instructions_;
};

}  // namespace collsim
