#include "core/render/c_expression.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace uop {
namespace {

/// The dtype's name in the prelude: halves are computed as f32.
std::string_view prelude_type(DType dtype) {
  return is_half(dtype) ? "f32" : name(dtype);
}

bool is_small_integer(DType dtype) {
  return is_integer(dtype) && byte_size(dtype) < 4;
}

template <class Float>
std::string float_literal(Float v, std::string_view suffix, std::string_view infinity, std::string_view nan) {
  if (std::isnan(v)) return std::string(nan);
  if (std::isinf(v)) return v < 0 ? fmt::format("(-{})", infinity) : std::string(infinity);
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += suffix;
  return std::signbit(v) ? "(" + text + ")" : text;
}

std::string integer_literal(Scalar s) {
  if (s.dtype == DType::kU64) return std::to_string(s.bits) + "UL";
  const std::int64_t v = to_int64(s);
  if (s.dtype == DType::kU32) return std::to_string(v) + "U";
  if (v == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807L-1)";
  const bool fits_int = v > std::numeric_limits<int>::min() && v <= std::numeric_limits<int>::max();
  const std::string text = std::to_string(v) + (fits_int ? "" : "L");
  const std::string typed = s.dtype == DType::kI32 && !fits_int ? "(int)" + text : text;
  return v < 0 ? "(" + typed + ")" : typed;
}

/// "uop_f(…)" and nothing beside it.
bool is_one_call(std::string_view text) {
  if (!text.starts_with("uop_")) return false;
  int open = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text[i] == '(') open++;
    if (text[i] == ')' && --open == 0) return i + 1 == text.size();
  }
  return false;
}

std::string finished(Op op, DType dtype, const std::string& expression) {
  if (is_half(dtype) && has_law(op, 'r')) return fmt::format("uop_round_{}({})", name(dtype), expression);
  if (is_small_integer(dtype) && has_law(op, 'p')) return fmt::format("(({})({}))", row(dtype).c_value, expression);
  return is_one_call(expression) ? expression : "(" + expression + ")";
}

std::string from_template(Op op, DType dtype, std::span<const std::string> operands) {
  const std::string_view spelled = row(op).c;
  check(!spelled.empty(), fmt::format("{} has no C spelling", name(op)));
  const auto operand = [&](std::size_t i) { return i < operands.size() ? operands[i] : std::string(); };
  return fmt::format(fmt::runtime(std::string(spelled)), operand(0), operand(1), operand(2),
                     fmt::arg("t", prelude_type(dtype)));
}

std::string cast_expression(DType from, DType to, const std::string& x) {
  if (from == to) return x;
  if (to == DType::kBool) return fmt::format("({}!=0)", x);
  if (is_half(to)) {
    if (is_half(from) || from == DType::kF32) return fmt::format("uop_round_{}({})", name(to), x);
    const bool exact_in_float = from == DType::kBool || is_small_integer(from);
    return exact_in_float ? fmt::format("uop_round_{}((float){})", name(to), x)
                          : fmt::format("uop_cast_{}_{}({})", name(from), name(to), x);
  }
  if (is_float(from) && is_integer(to)) return fmt::format("uop_cast_{}_{}({})", prelude_type(from), name(to), x);
  if (is_half(from) && to == DType::kF32) return x;
  return fmt::format("(({}){})", row(to).c_value, x);
}

std::string bitcast_expression(DType from, DType to, const std::string& x) {
  if (from == to) return x;
  const std::string bits = c_to_memory(from, x);
  if (row(from).c_memory == row(to).c_memory) return c_from_memory(to, bits);
  return c_from_memory(
      to, fmt::format("((union {{{} from; {} to;}}){{.from={}}}).to", row(from).c_memory, row(to).c_memory, bits));
}

/// True where `divisor` is a constant that plain C division is right for.
bool is_plain_divisor(UOp divisor) {
  if (divisor.op() != Op::kConst || !is_integer(divisor.dtype())) return false;
  const Scalar s{divisor.dtype(), std::bit_cast<std::uint64_t>(divisor.arg().value)};
  return s.bits != 0 && !(is_signed(s.dtype) && to_int64(s) == -1);
}

}  // namespace

std::string c_literal(Scalar value) {
  switch (row(value.dtype).kind) {
    case DTypeKind::kBool: return value.bits != 0 ? "1" : "0";
    case DTypeKind::kSigned:
    case DTypeKind::kUnsigned: return integer_literal(value);
    case DTypeKind::kFloat: break;
  }
  if (value.dtype == DType::kF64) return float_literal(to_double(value), "", "__builtin_inf()", "__builtin_nan(\"\")");
  return float_literal(static_cast<float>(to_double(value)), "f", "__builtin_inff()", "__builtin_nanf(\"\")");
}

std::string c_alu(UOp u, std::span<const std::string> operands) {
  const DType from = u.src(0).dtype();
  switch (u.op()) {
    case Op::kCast: return cast_expression(from, u.dtype(), operands[0]);
    case Op::kBitcast: return bitcast_expression(from, u.dtype(), operands[0]);
    case Op::kNot: return from == DType::kBool ? "(!" + operands[0] + ")" : finished(Op::kNot, from, "~" + operands[0]);
    case Op::kReciprocal:
      return finished(Op::kReciprocal, from, (from == DType::kF64 ? "1.0/" : "1.0f/") + operands[0]);
    case Op::kDiv:
      if (is_float(from)) return finished(Op::kDiv, from, operands[0] + "/" + operands[1]);
      break;
    default: break;
  }
  if ((u.op() == Op::kDiv || u.op() == Op::kMod) && is_plain_divisor(u.src(1))) {
    const std::string plain = operands[0] + (u.op() == Op::kDiv ? "/" : "%") + operands[1];
    return is_small_integer(from) ? fmt::format("(({})({}))", row(from).c_value, plain) : "(" + plain + ")";
  }
  // "a+(-1)" reads better as "a-1".
  if (u.op() == Op::kAdd && is_integer(from) && operands[1].starts_with("(-") &&
      operands[1].find('L') == std::string::npos)
    return finished(Op::kSub, u.dtype(), operands[0] + operands[1].substr(1, operands[1].size() - 2));
  return finished(u.op(), u.dtype(), from_template(u.op(), u.dtype(), operands));
}

std::string c_binary(Op op, DType dtype, const std::string& a, const std::string& b) {
  const std::array<std::string, 2> operands{a, b};
  return finished(op, dtype, from_template(op, dtype, operands));
}

std::string c_from_memory(DType dtype, const std::string& element) {
  if (dtype == DType::kBool) return "(" + element + "!=0)";
  return is_half(dtype) ? fmt::format("uop_load_{}({})", name(dtype), element) : element;
}

std::string c_to_memory(DType dtype, const std::string& value) {
  return is_half(dtype) ? fmt::format("uop_store_{}({})", name(dtype), value) : value;
}

}  // namespace uop
