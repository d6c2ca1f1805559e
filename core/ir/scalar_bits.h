// Between a Scalar and the C++ type that its dtype is computed in (halves in float). For scalar*.cpp only.
//
// Requires everywhere: T is the computing type of the dtype, as `visit_type` chooses it.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "core/ir/half.h"
#include "core/ir/scalar.h"
#include "core/support/status.h"

namespace uop {

/// Calls `f(T{})` with T the type that `dtype` is computed in.
template <class F>
auto visit_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBool: return f(bool{});
    case DType::kI8: return f(std::int8_t{});
    case DType::kI16: return f(std::int16_t{});
    case DType::kI32: return f(std::int32_t{});
    case DType::kI64: return f(std::int64_t{});
    case DType::kU8: return f(std::uint8_t{});
    case DType::kU16: return f(std::uint16_t{});
    case DType::kU32: return f(std::uint32_t{});
    case DType::kU64: return f(std::uint64_t{});
    case DType::kF16:
    case DType::kBF16:
    case DType::kF32: return f(float{});
    case DType::kF64: return f(double{});
    case DType::kNone: break;
  }
  throw BrokenInvariant("a scalar has no dtype");
}

template <class T>
T unpack(Scalar s) {
  if constexpr (std::same_as<T, bool>)
    return s.bits != 0;
  else if constexpr (std::integral<T>)
    return static_cast<T>(s.bits);
  else if constexpr (std::same_as<T, double>)
    return std::bit_cast<double>(s.bits);
  else if (s.dtype == DType::kF16)
    return float_of_f16(static_cast<std::uint16_t>(s.bits));
  else if (s.dtype == DType::kBF16)
    return float_of_bf16(static_cast<std::uint16_t>(s.bits));
  else
    return std::bit_cast<float>(static_cast<std::uint32_t>(s.bits));
}

/// A float is rounded here, once, where the dtype is a half.
template <class T>
Scalar pack(DType dtype, T value) {
  if constexpr (std::same_as<T, bool>)
    return {dtype, value ? 1u : 0u};
  else if constexpr (std::integral<T>)
    return {dtype, static_cast<std::make_unsigned_t<T>>(value)};
  else if constexpr (std::same_as<T, double>)
    return {dtype, std::bit_cast<std::uint64_t>(value)};
  else if (dtype == DType::kF16)
    return {dtype, f16_of(value)};
  else if (dtype == DType::kBF16)
    return {dtype, bf16_of(value)};
  else
    return {dtype, std::bit_cast<std::uint32_t>(value)};
}

/// CAST.
Scalar cast(DType dtype, Scalar s);

}  // namespace uop
