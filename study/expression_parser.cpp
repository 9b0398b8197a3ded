#include "study/expression_parser.hpp"

#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "topology/quantity_text.hpp"

namespace collsim::detail {

namespace {

using Operation = Expression::Operation;
using Instruction = Expression::Instruction;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// What a part of a formula gives.
struct Kind {
  bool number = false;
  bool text = false;
  bool truth = false;
};

struct Operator {
  std::string_view sign;
  Operation operation;
};
// The longer ones first.
constexpr std::array<Operator, 6> comparisons{{{"==", Operation::Equal},
                                               {"!=", Operation::NotEqual},
                                               {"<=", Operation::LessEqual},
                                               {">=", Operation::GreaterEqual},
                                               {"<", Operation::Less},
                                               {">", Operation::Greater}}};
constexpr std::array<Operator, 2> sums{{{"+", Operation::Add}, {"-", Operation::Subtract}}};
constexpr std::array<Operator, 2> products{{{"*", Operation::Multiply}, {"/", Operation::Divide}}};

std::string words_for(Kind kind) {
  return kind.truth ? "a condition" : kind.number ? "a number" : "a text";
}

/// Recursive descent, a function for each level of precedence; each appends what it read.
class Parser {
 public:
  Parser(std::string_view text, const KnownNames& known) : text_(text), known_(&known) {}

  std::vector<Instruction> parse(Expression::Gives gives) {
    const Kind kind = disjunction();
    skip_blanks();
    if (at_ != text_.size()) {
      fail("expected an operator, got " + found());
    }
    if (gives == Expression::Gives::Truth && !kind.truth) {
      throw ExpressionError("expected a condition, got a value", 0,
                            "compare it with something: nodes * 8 <= 1024");
    }
    if (gives == Expression::Gives::Number && !kind.number) {
      throw ExpressionError("expected a number, got " + words_for(kind), 0);
    }
    return std::move(instructions_);
  }

 private:
  /// Deeper nesting is refused, so that no formula exhausts the stack.
  static constexpr int most_depth = 64;

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
      ++at_;
    }
  }

  [[nodiscard]] std::string found() const {
    return at_ == text_.size() ? "the end" : in_quotes(text_.substr(at_));
  }

  [[noreturn]] void fail(const std::string& message) const { throw ExpressionError(message, at_); }

  [[nodiscard]] std::string_view word() {
    skip_blanks();
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || (end > at_ && is_digit(text_[end])))) {
      ++end;
    }
    return text_.substr(at_, end - at_);
  }

  bool take_word(std::string_view wanted) {
    if (word() != wanted) {
      return false;
    }
    at_ += wanted.size();
    return true;
  }

  template <std::size_t Count>
  [[nodiscard]] std::optional<Operation> take(const std::array<Operator, Count>& operators) {
    skip_blanks();
    for (const Operator& one : operators) {
      if (text_.substr(at_).starts_with(one.sign)) {
        at_ += one.sign.size();
        return one.operation;
      }
    }
    return std::nullopt;
  }

  void emit(Operation operation) { instructions_.push_back({operation, 0, {}}); }

  static void require(bool has, std::string_view wanted, Kind got, std::size_t where) {
    if (!has) {
      throw ExpressionError("expected " + std::string(wanted) + ", got " + words_for(got), where);
    }
  }

  template <class Part>
  Kind chain(std::string_view joint, Operation operation, Part part) {
    skip_blanks();
    std::size_t begin = at_;
    Kind kind = part();
    while (take_word(joint)) {
      require(kind.truth, "a condition before " + in_quotes(joint), kind, begin);
      skip_blanks();
      begin = at_;
      kind = part();
      require(kind.truth, "a condition behind " + in_quotes(joint), kind, begin);
      emit(operation);
    }
    return kind;
  }

  Kind disjunction() {
    return chain("or", Operation::Or, [this] { return conjunction(); });
  }

  Kind conjunction() {
    return chain("and", Operation::And, [this] { return negation(); });
  }

  Kind negation() {
    if (!take_word("not")) {
      return comparison();
    }
    const Depth deeper(*this);
    skip_blanks();
    const std::size_t begin = at_;
    const Kind kind = negation();
    require(kind.truth, "a condition behind \"not\"", kind, begin);
    emit(Operation::Not);
    return {false, false, true};
  }

  Kind comparison() {
    skip_blanks();
    const std::size_t begin = at_;
    const Kind left = sum();
    const std::optional<Operation> operation = take(comparisons);
    if (!operation) {
      return left;
    }
    skip_blanks();
    const std::size_t right_begin = at_;
    const Kind right = sum();
    const bool equality = *operation == Operation::Equal || *operation == Operation::NotEqual;
    if (equality && left.text && right.text && !(left.number && right.number)) {
      emit(*operation == Operation::Equal ? Operation::SameText : Operation::OtherText);
    } else {
      if (equality && !(left.number && right.number)) {
        throw ExpressionError("expected two numbers or two texts, got " + words_for(left) +
                                  " and " + words_for(right),
                              left.number ? right_begin : begin);
      }
      require(left.number, "a number", left, begin);
      require(right.number, "a number", right, right_begin);
      emit(*operation);
    }
    return {false, false, true};
  }

  template <std::size_t Count, class Part>
  Kind arithmetic(const std::array<Operator, Count>& operators, Part part) {
    skip_blanks();
    std::size_t begin = at_;
    Kind kind = part();
    while (const std::optional<Operation> operation = take(operators)) {
      require(kind.number, "a number", kind, begin);
      skip_blanks();
      begin = at_;
      kind = part();
      require(kind.number, "a number", kind, begin);
      emit(*operation);
      kind = {true, false, false};
    }
    return kind;
  }

  Kind sum() {
    return arithmetic(sums, [this] { return product(); });
  }

  Kind product() {
    return arithmetic(products, [this] { return factor(); });
  }

  Kind factor() {
    const Depth deeper(*this);
    skip_blanks();
    if (at_ == text_.size()) {
      fail("expected a value, got the end");
    }
    const char c = text_[at_];
    if (c == '-') {
      const std::size_t begin = ++at_;
      const Kind kind = factor();
      require(kind.number, "a number", kind, begin);
      emit(Operation::Negate);
      return {true, false, false};
    }
    if (c == '(') {
      ++at_;
      const Kind kind = disjunction();
      skip_blanks();
      if (at_ == text_.size() || text_[at_] != ')') {
        fail("expected \")\", got " + found());
      }
      ++at_;
      return kind;
    }
    if (c == '\'') {
      return quoted_text();
    }
    return is_digit(c) ? number() : name();
  }

  Kind quoted_text() {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) {
      fail("expected ' at the end of the text");
    }
    instructions_.push_back(
        {Operation::Text, 0, std::string(text_.substr(at_ + 1, end - at_ - 1))});
    at_ = end + 1;
    return {false, true, false};
  }

  Kind number() {
    const std::string_view rest = text_.substr(at_);
    double value = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc()) {
      fail("expected a number that fits, got " + found());
    }
    auto length = static_cast<std::size_t>(stop - rest.data());
    if (length < rest.size() && is_letter(rest[length])) {
      while (length < rest.size() && (is_letter(rest[length]) || is_digit(rest[length]))) {
        ++length;
      }
      try {
        value = static_cast<double>(parse_size_argument(rest.substr(0, length)).count());
      } catch (const InputError& wrong) {
        throw ExpressionError(wrong.message(), at_, wrong.hint());
      }
    }
    at_ += length;
    instructions_.push_back({Operation::Number, value, {}});
    return {true, false, false};
  }

  Kind name() {
    const std::string text(word());
    if (text.empty() || text == "and" || text == "or" || text == "not") {
      fail("expected a value, got " + found());
    }
    const auto entry = known_->find(text);
    if (entry == known_->end()) {
      std::vector<std::string> names;
      for (const auto& [known, kind] : *known_) {
        names.push_back(known);
      }
      const std::string close = did_you_mean(text.substr(0, 64), names);
      throw ExpressionError("unknown name " + in_quotes(text) + (close.empty() ? "" : ", " + close),
                            at_, "known: " + one_of(names));
    }
    at_ += text.size();
    instructions_.push_back({Operation::Name, 0, text});
    return {entry->second.has_number, entry->second.has_text, false};
  }

  /// One level of nesting.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(&parser) {
      if (++parser_->depth_ > most_depth) {
        parser_->fail("nested more than " + std::to_string(most_depth) + " deep");
      }
    }
    ~Depth() { --parser_->depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Parser* parser_;
  };

  std::string_view text_;
  const KnownNames* known_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Instruction> instructions_;
};

}  // namespace

std::vector<Expression::Instruction> parse_expression(std::string_view text,
                                                      const KnownNames& known,
                                                      Expression::Gives gives) {
  return Parser(text, known).parse(gives);
}

}  // namespace collsim::detail
