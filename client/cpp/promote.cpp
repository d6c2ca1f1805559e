#include "client/cpp/promote.h"

#include <algorithm>

#include "client/cpp/client_error.h"
#include "core/ir/shape_rules.h"

namespace uop {
namespace {

DType wider(DType a, DType b) {
  return byte_size(a) >= byte_size(b) ? a : b;
}

DType promote_integers(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return wider(a, b);
  const DType s = is_signed(a) ? a : b;
  const DType u = is_signed(a) ? b : a;
  if (byte_size(s) > byte_size(u)) return s;
  switch (byte_size(u)) {
    case 1: return DType::kI16;
    case 2: return DType::kI32;
    case 4: return DType::kI64;
    default:
      throw_invalid("no integer type holds both {} and {}; cast one of them to the other's type", name(a), name(b));
  }
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b || b == DType::kBool) return a;
  if (a == DType::kBool) return b;
  if (is_float(a) && is_float(b)) return is_half(a) && is_half(b) ? DType::kF32 : wider(a, b);
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  return promote_integers(a, b);
}

DType promote_number(DType dtype, bool fractional) {
  if (fractional) return is_float(dtype) ? dtype : DType::kF32;
  return arithmetic_dtype(dtype);
}

DType arithmetic_dtype(DType dtype) {
  return dtype == DType::kBool ? DType::kI32 : dtype;
}

DType float_dtype(DType dtype) {
  return is_float(dtype) ? dtype : DType::kF32;
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  const auto axis_of = [&](const Shape& s, std::size_t i) {  // axis i of the result, counted from the last
    return i < s.size() ? s[s.size() - 1 - i] : 1;
  };
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t x = axis_of(a, i);
    const std::int64_t y = axis_of(b, i);
    if (x != y && x != 1 && y != 1)
      throw_invalid("shapes {} and {} do not broadcast: axis {} from the end is {} and {}; one of them must be 1",
                    shape_text(a), shape_text(b), i + 1, x, y);
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

}  // namespace uop
