#include "tests/reference/scalar_meaning.h"

#include <cmath>
#include <limits>

#include "core/support/status.h"

namespace uop::reference {
namespace {

[[noreturn]] void unknown(Op op) {
  throw BrokenInvariant(fmt::format("the reference has no meaning of {} for these operands", name(op)));
}

Bits convert(DType to, DType from, Bits x) {
  if (is_float(from)) {
    const double value = real(from, x);
    if (to == DType::kBool) return value != 0;
    return is_float(to) ? rounded(to, value) : saturated(to, value);
  }
  const Wide value = integer(from, x);
  return is_float(to) ? rounded(to, static_cast<long double>(value)) : wrapped(to, value);
}

Bits reinterpret(DType to, Bits x) {
  return to == DType::kBool ? Bits{x != 0} : x;
}

/// One float operand. F is the type it is computed in: float (also for halves) or double.
template <class F>
F float_unary(Op op, F x) {
  switch (op) {
    case Op::kNeg: return -x;
    case Op::kAbs: return std::fabs(x);
    case Op::kReciprocal: return F{1} / x;
    case Op::kSqrt: return std::sqrt(x);
    case Op::kExp2: return static_cast<F>(std::exp2(static_cast<long double>(x)));
    case Op::kLog2: return static_cast<F>(std::log2(static_cast<long double>(x)));
    case Op::kSin: return static_cast<F>(std::sin(static_cast<long double>(x)));
    case Op::kTrunc: return std::trunc(x);
    case Op::kFloor: return std::floor(x);
    case Op::kCeil: return std::ceil(x);
    case Op::kRound: return std::nearbyint(x);
    default: unknown(op);
  }
}

template <class F>
F float_binary(Op op, F a, F b) {
  switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return a * b;
    case Op::kDiv: return a / b;
    case Op::kMax: return a > b || std::isnan(a) ? a : b;
    case Op::kMin: return a < b || std::isnan(a) ? a : b;
    default: unknown(op);
  }
}

template <class T>
bool compares(Op op, T a, T b) {
  switch (op) {
    case Op::kCmpLt: return a < b;
    case Op::kCmpLe: return a <= b;
    case Op::kCmpEq: return a == b;
    case Op::kCmpNe: return a != b;
    default: unknown(op);
  }
}

template <class F>
Bits float_meaning(Op op, DType result, DType operand, std::span<const Bits> x) {
  const F a = static_cast<F>(real(operand, x[0]));
  if (x.size() == 1) return rounded(result, float_unary(op, a));
  const F b = static_cast<F>(real(operand, x[1]));
  if (row(op).result == OpResult::kBool) return compares(op, a, b);
  return rounded(result, float_binary(op, a, b));
}

Wide floor_quotient(Wide a, Wide b) {
  const Wide truncated = a / b;
  return truncated * b != a && (a < 0) != (b < 0) ? truncated - 1 : truncated;
}

Wide product(Wide a, Wide b) {
  __extension__ using Unsigned = unsigned __int128;  // two 64-bit numbers overflow the signed one
  return static_cast<Wide>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
}

Wide integer_unary(Op op, DType dtype, Wide x) {
  switch (op) {
    case Op::kNeg: return -x;
    case Op::kNot: return dtype == DType::kBool ? Wide{x == 0} : ~x;
    case Op::kAbs: return x < 0 ? -x : x;
    default: unknown(op);
  }
}

Wide integer_binary(Op op, DType dtype, Wide a, Wide b) {
  const bool shifts_out = b < 0 || b >= byte_size(dtype) * 8;
  switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return product(a, b);
    case Op::kDiv: return b == 0 ? 0 : a / b;
    case Op::kMod: return b == 0 ? 0 : a % b;
    case Op::kFloorDiv: return b == 0 ? 0 : floor_quotient(a, b);
    case Op::kFloorMod: return b == 0 ? 0 : a - floor_quotient(a, b) * b;
    case Op::kMax: return a > b ? a : b;
    case Op::kMin: return a < b ? a : b;
    case Op::kAnd: return a & b;
    case Op::kOr: return a | b;
    case Op::kXor: return a ^ b;
    case Op::kShl: return shifts_out ? 0 : product(a, static_cast<Wide>(1) << static_cast<int>(b));
    case Op::kShr: return shifts_out ? (a < 0 ? -1 : 0) : a >> static_cast<int>(b);
    default: unknown(op);
  }
}

Bits integer_meaning(Op op, DType result, DType operand, std::span<const Bits> x) {
  const Wide a = integer(operand, x[0]);
  if (x.size() == 1) return wrapped(result, integer_unary(op, operand, a));
  const Wide b = integer(operand, x[1]);
  if (row(op).result == OpResult::kBool) return compares(op, a, b);
  return wrapped(result, integer_binary(op, operand, a, b));
}

}  // namespace

Bits meaning(Op op, DType result, DType operand, std::span<const Bits> x) {
  if (op == Op::kCast) return convert(result, operand, x[0]);
  if (op == Op::kBitcast) return reinterpret(result, x[0]);
  if (op == Op::kWhere) return x[0] != 0 ? x[1] : x[2];
  if (!is_float(operand)) return integer_meaning(op, result, operand, x);
  return operand == DType::kF64 ? float_meaning<double>(op, result, operand, x)
                                : float_meaning<float>(op, result, operand, x);
}

Bits identity(Op op, DType dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case Op::kAdd: return 0;
    case Op::kMul: return is_float(dtype) ? rounded(dtype, 1) : 1;
    case Op::kMax: return is_float(dtype) ? rounded(dtype, -kInfinity) : wrapped(dtype, lowest(dtype));
    case Op::kMin: return is_float(dtype) ? rounded(dtype, kInfinity) : wrapped(dtype, highest(dtype));
    default: unknown(op);
  }
}

bool is_approximate(Op op) {
  return op == Op::kExp2 || op == Op::kLog2 || op == Op::kSin;
}

}  // namespace uop::reference
