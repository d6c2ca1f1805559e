// The meaning of every elementwise op, on one value: `evaluate`. The numerics contract in code; the renderer's C
// (core/render/prelude) computes the same bits, except the payload and sign of a NaN that an operation makes.
#include "core/ir/scalar.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/ir/scalar_bits.h"

namespace uop {
namespace {

// Integers go through an unsigned type of at least 32 bits, where everything wraps and nothing is promoted to int.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;
template <class T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class T>
T wrapped(Wide<T> value) {
  return static_cast<T>(value);
}

template <class T>
T negated(T a) {
  return wrapped<T>(Wide<T>{0} - static_cast<Wide<T>>(a));
}

template <class T>
T quotient(T a, T b) {
  if (b == 0) return 0;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return negated(a);
  return static_cast<T>(a / b);
}

template <class T>
T remainder(T a, T b) {
  if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return 0;
  return static_cast<T>(a % b);
}

/// True where truncation rounded a quotient up: there is a remainder, and its sign is not the divisor's.
template <class T>
bool rounded_up(T a, T b) {
  const T rest = remainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0);
}

template <class T>
constexpr T kWidth = static_cast<T>(8 * sizeof(T));

template <class T>
T shifted_left(T a, T amount) {
  return amount < 0 || amount >= kWidth<T> ? T{0} : wrapped<T>(static_cast<Wide<T>>(a) << amount);
}

template <class T>
T shifted_right(T a, T amount) {
  if (amount >= 0 && amount < kWidth<T>) return static_cast<T>(a >> amount);
  return a < 0 ? static_cast<T>(-1) : T{0};
}

/// The one switch. `result` is the dtype of the result, `x` packs a value of T, and of bool for comparisons.
/// Operands that the op does not have are zero.
template <class T>
std::optional<Scalar> apply(Op op, DType result, T a, T b) {
  const auto give = [&](auto value) { return pack(result, value); };
  switch (op) {
    case Op::kNeg:
      if constexpr (kIsInteger<T>) return give(negated(a));
      if constexpr (kIsFloat<T>) return give(-a);
      break;
    case Op::kNot:
      if constexpr (kIsInteger<T>) return give(static_cast<T>(~a));
      if constexpr (std::is_same_v<T, bool>) return give(!a);
      break;
    case Op::kAbs:
      if constexpr (kIsInteger<T>) return give(a < 0 ? negated(a) : a);
      if constexpr (kIsFloat<T>) return give(std::fabs(a));
      break;
    case Op::kReciprocal:
      if constexpr (kIsFloat<T>) return give(T{1} / a);
      break;
    case Op::kSqrt:
      if constexpr (kIsFloat<T>) return give(std::sqrt(a));
      break;
    case Op::kTrunc:
      if constexpr (kIsFloat<T>) return give(std::trunc(a));
      break;
    case Op::kFloor:
      if constexpr (kIsFloat<T>) return give(std::floor(a));
      break;
    case Op::kCeil:
      if constexpr (kIsFloat<T>) return give(std::ceil(a));
      break;
    case Op::kRound:
      if constexpr (kIsFloat<T>) return give(std::nearbyint(a));
      break;
    case Op::kAdd:
      if constexpr (kIsInteger<T>) return give(wrapped<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b)));
      if constexpr (kIsFloat<T>) return give(a + b);
      break;
    case Op::kSub:
      if constexpr (kIsInteger<T>) return give(wrapped<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b)));
      if constexpr (kIsFloat<T>) return give(a - b);
      break;
    case Op::kMul:
      if constexpr (kIsInteger<T>) return give(wrapped<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)));
      if constexpr (kIsFloat<T>) return give(a * b);
      break;
    case Op::kDiv:
      if constexpr (kIsInteger<T>) return give(quotient(a, b));
      if constexpr (kIsFloat<T>) return give(a / b);
      break;
    case Op::kMod:
      if constexpr (kIsInteger<T>) return give(remainder(a, b));
      break;
    case Op::kFloorDiv:
      if constexpr (kIsInteger<T>) return give(static_cast<T>(quotient(a, b) - (rounded_up(a, b) ? 1 : 0)));
      break;
    case Op::kFloorMod:
      if constexpr (kIsInteger<T>) return give(static_cast<T>(remainder(a, b) + (rounded_up(a, b) ? b : T{0})));
      break;
    case Op::kShl:
      if constexpr (kIsInteger<T>) return give(shifted_left(a, b));
      break;
    case Op::kShr:
      if constexpr (kIsInteger<T>) return give(shifted_right(a, b));
      break;
    // NaN if one is NaN; of equal values (so of zeros) the second. The C that is rendered has this very condition.
    case Op::kMax: return give(a > b || a != a ? a : b);
    case Op::kMin: return give(a < b || a != a ? a : b);
    case Op::kAnd:
      if constexpr (!kIsFloat<T>) return give(static_cast<T>(a & b));
      break;
    case Op::kOr:
      if constexpr (!kIsFloat<T>) return give(static_cast<T>(a | b));
      break;
    case Op::kXor:
      if constexpr (!kIsFloat<T>) return give(static_cast<T>(a ^ b));
      break;
    case Op::kCmpLt: return give(a < b);
    case Op::kCmpLe: return give(a <= b);
    case Op::kCmpEq: return give(a == b);
    case Op::kCmpNe: return give(a != b);
    case Op::kExp2:
    case Op::kLog2:
    case Op::kSin: return std::nullopt;
    case Op::kCast:
    case Op::kBitcast:
    case Op::kWhere:  // not computed in the type of their first operand: see evaluate
    case Op::kBuffer:
    case Op::kConst:
    case Op::kIota:
    case Op::kVariable:
    case Op::kReshape:
    case Op::kPermute:
    case Op::kExpand:
    case Op::kPad:
    case Op::kShrink:
    case Op::kFlip:
    case Op::kReduce:
    case Op::kStage:
    case Op::kDetach:
    case Op::kGradient:
    case Op::kGather:
    case Op::kScatter:
    case Op::kParam:
    case Op::kRange:
    case Op::kLoad:
    case Op::kAccumulate:
    case Op::kStore:
    case Op::kSink: break;
  }
  throw BrokenInvariant(fmt::format("{} of {} operands has no scalar meaning", name(op), name(result)));
}

}  // namespace

std::optional<Scalar> evaluate(Op op, DType result, std::span<const Scalar> operands) {
  check(std::ssize(operands) == row(op).arity, "an op is evaluated with its number of operands");
  switch (op) {
    case Op::kCast: return cast(result, operands[0]);
    case Op::kBitcast: return Scalar{result, result == DType::kBool ? operands[0].bits != 0 : operands[0].bits};
    case Op::kWhere: return operands[0].bits != 0 ? operands[1] : operands[2];
    default: break;
  }
  const Scalar first = operands[0];
  const Scalar second = operands.size() > 1 ? operands[1] : Scalar{first.dtype, 0};
  return visit_type(first.dtype, [&]<class T>(T) { return apply<T>(op, result, unpack<T>(first), unpack<T>(second)); });
}

Scalar reduce_identity(Op op, DType dtype) {
  return visit_type(dtype, [&]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    const bool is_max = op == Op::kMax;
    if (op == Op::kAdd) return pack(dtype, T{0});
    if (op == Op::kMul) return pack(dtype, T{1});
    check(is_max || op == Op::kMin, "a reduction is an ADD, MUL, MAX or MIN");
    if constexpr (kIsFloat<T>)
      return pack(dtype, is_max ? -Limits::infinity() : Limits::infinity());
    else
      return pack(dtype, is_max ? Limits::lowest() : Limits::max());
  });
}

}  // namespace uop
