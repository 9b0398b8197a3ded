#pragma once

// From the text of a formula to its instructions: see expression.hpp for the grammar.

#include <string_view>
#include <vector>

#include "study/expression.hpp"

namespace collsim::detail {

/// Throws: ExpressionError, as Expression::parse.
[[nodiscard]] std::vector<Expression::Instruction> parse_expression(std::string_view text,
                                                                    const KnownNames& known,
                                                                    Expression::Gives gives);

}  // namespace collsim::detail
