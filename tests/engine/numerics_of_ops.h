// The numerics contract, one op a row; numerics_case.h says what a row is.
#pragma once

#include "tests/engine/numerics_case.h"

namespace uop::reference {

inline constexpr auto kF16 = DType::kF16, kBF16 = DType::kBF16, kF32 = DType::kF32, kF64 = DType::kF64;
inline constexpr auto kI8 = DType::kI8, kI16 = DType::kI16, kI32 = DType::kI32, kI64 = DType::kI64;
inline constexpr auto kU8 = DType::kU8, kU16 = DType::kU16, kU32 = DType::kU32, kU64 = DType::kU64,
                      kBool = DType::kBool;

inline const ElementwiseRow kOneOpRows[] = {
    // Each op's result is rounded to its dtype, to nearest even; nothing is flushed to zero.
    {"f16_product_overflows", Op::kMul, kF16, {"300 255 2 0x1", "300 257 1.5 0.5"}, "inf inf 3 0"},
    {"f16_sum_ties_to_even", Op::kAdd, kF16, {"2048 2050 0x1", "1 1 0x1"}, "2048 2052 0x2"},
    {"bf16_sum_ties_to_even", Op::kAdd, kBF16, {"256 258 1", "1 1 0x7f80"}, "256 260 inf"},
    {"f32_denormals_live", Op::kMul, kF32, {"1e-40 0x00000001 1e-30", "0.5 1 1e-15"}, "0x8b61 0x1 0x1"},
    {"f32_denormal_sums", Op::kSub, kF32, {"0x00800001 0x1", "0x00800000 0x1"}, "0x1 0"},
    {"f64_denormals_live", Op::kMul, kF64, {"0x1 1e-300", "1 1e-20"}, "0x1 0x7e8"},
    {"f32_reciprocal_of_a_denormal", Op::kReciprocal, kF32, {"1e-39 1e39 0 -0"}, "inf 0 inf -inf"},
    {"sqrt", Op::kSqrt, kF32, {"4 -0 -1 2 inf"}, "2 -0 nan 1.41421356237309505 inf"},
    {"round_ties_to_even", Op::kRound, kF32, {"0.5 1.5 2.5 -0.5 -0.2 1e30 inf"}, "0 2 2 -0 -0 1e30 inf"},
    {"floor", Op::kFloor, kF64, {"-0.5 0.5 -0 1e300 -inf"}, "-1 0 -0 1e300 -inf"},
    {"ceil", Op::kCeil, kF32, {"-0.5 0.5 8388609 nan"}, "-0 1 8388609 nan"},
    {"trunc", Op::kTrunc, kF16, {"-1.5 1.5 -0.5 -inf"}, "-1 1 -0 -inf"},
    {"neg_flips_the_sign", Op::kNeg, kF32, {"0 -0 1 inf"}, "-0 0 -1 -inf"},
    {"abs_clears_the_sign", Op::kAbs, kF32, {"-0 0 -1 -inf nan"}, "0 0 1 inf nan"},
    {"exp2_is_double_precision", Op::kExp2, kF64, {"0.5 -1074 1024 -inf nan"}, "1.41421356237309504880 0x1 inf 0 nan"},
    {"log2_of_a_denormal", Op::kLog2, kF64, {"0x1 1 0 -1 inf 2.2250738585072014e-308"}, "-1074 0 -inf nan inf -1022"},
    {"sin_of_large_values", Op::kSin, kF32, {"1e10 -3.5e5 inf 0"}, "-0.487506025087526904 -0.9921792720955407 nan 0"},

    // NaN propagates through MAX and MIN.
    {"max_nan", Op::kMax, kF32, {"nan 1 nan -inf inf", "1 nan nan nan nan"}, "nan nan nan nan nan"},
    {"min_nan", Op::kMin, kF16, {"nan 1 nan -inf inf", "1 nan nan nan nan"}, "nan nan nan nan nan"},
    {"max_of_zeros_is_the_second", Op::kMax, kF32, {"0 -0 2", "-0 0 -3"}, "-0 0 2"},
    {"max_of_bools", Op::kMax, kBool, {"true false false", "false true false"}, "true true false"},

    // x * 0 is not 0 for floats; x + 0 keeps the rules of -0.0; x - x and x / x are not 0 and 1.
    {"times_zero", Op::kMul, kF32, {"1 -1 inf -inf nan", "0 0 0 0 0"}, "0 -0 nan nan nan"},
    {"plus_zero", Op::kAdd, kF32, {"-0 0 2", "0 0 0"}, "0 0 2"},
    {"plus_minus_zero", Op::kAdd, kF32, {"-0 0 2", "-0 -0 -0"}, "-0 0 2"},
    {"minus_zero", Op::kSub, kF64, {"-0 0 -0", "0 0 -0"}, "-0 0 0"},
    {"minus_itself", Op::kSub, kF32, {"inf nan 3", "inf nan 3"}, "nan nan 0"},
    {"by_itself", Op::kDiv, kF32, {"0 inf 3 nan", "0 inf 3 nan"}, "nan nan 1 nan"},
    {"float_by_zero", Op::kDiv, kF64, {"1 -1 1 0", "0 0 -0 -0"}, "inf -inf -inf nan"},

    // Comparisons follow IEEE.
    {"less", Op::kCmpLt, kF32, {"nan 1 -0 1 -inf", "1 nan 0 2 nan"}, "false false false true false"},
    {"less_or_equal", Op::kCmpLe, kBF16, {"nan 1 -0 inf", "nan nan 0 inf"}, "false false true true"},
    {"equal", Op::kCmpEq, kF64, {"nan 0 inf 1", "nan -0 inf 2"}, "false true true false"},
    {"not_equal", Op::kCmpNe, kF16, {"nan 0 inf 1", "nan -0 inf 2"}, "true false false true"},
    {"unsigned_comparison", Op::kCmpLt, kU32, {"4294967295 1", "1 4294967295"}, "false true"},
    {"where", Op::kWhere, kF32, {"true false true", "nan nan -0", "1 1 1"}, "nan 1 -0"},

    // Integers wrap.
    {"u8_sum", Op::kAdd, kU8, {"200 255", "100 1"}, "44 0"},
    {"i8_product", Op::kMul, kI8, {"100 -128 16", "3 -1 16"}, "44 -128 0"},
    {"i32_sum", Op::kAdd, kI32, {"2147483647 -2147483648", "1 -1"}, "-2147483648 2147483647"},
    {"i64_product", Op::kMul, kI64, {"9223372036854775807 4611686018427387904", "2 4"}, "-2 0"},
    {"u64_difference", Op::kSub, kU64, {"0 1", "1 18446744073709551615"}, "18446744073709551615 2"},
    {"u16_product", Op::kMul, kU16, {"65535", "65535"}, "1"},
    {"neg_of_the_lowest", Op::kNeg, kI16, {"-32768 5"}, "-32768 -5"},
    {"neg_of_unsigned", Op::kNeg, kU8, {"1 0"}, "255 0"},
    {"abs_of_the_lowest", Op::kAbs, kI32, {"-2147483648 -5"}, "-2147483648 5"},

    // Division truncates, floor forms exist; by zero gives 0, INT_MIN / -1 wraps.
    {"div_truncates", Op::kDiv, kI32, {"7 -7 7 -7", "2 2 -2 -2"}, "3 -3 -3 3"},
    {"mod_has_the_sign_of_a", Op::kMod, kI32, {"7 -7 7 -7", "3 3 -3 -3"}, "1 -1 1 -1"},
    {"floordiv", Op::kFloorDiv, kI64, {"7 -7 7 -7 -8", "2 2 -2 -2 2"}, "3 -4 -4 3 -4"},
    {"floormod_has_the_sign_of_b", Op::kFloorMod, kI8, {"7 -7 7 -7 6", "3 3 -3 -3 -3"}, "1 2 -2 -1 0"},
    {"div_by_zero", Op::kDiv, kI64, {"5 -5 0", "0 0 0"}, "0 0 0"},
    {"mod_by_zero", Op::kMod, kU8, {"5 0", "0 0"}, "0 0"},
    {"floordiv_by_zero", Op::kFloorDiv, kI16, {"5 -5", "0 0"}, "0 0"},
    {"floormod_by_zero", Op::kFloorMod, kI32, {"5 -5", "0 0"}, "0 0"},
    {"div_of_the_lowest", Op::kDiv, kI32, {"-2147483648", "-1"}, "-2147483648"},
    {"mod_of_the_lowest", Op::kMod, kI64, {"-9223372036854775808", "-1"}, "0"},
    {"floordiv_of_the_lowest", Op::kFloorDiv, kI8, {"-128", "-1"}, "-128"},
    {"floormod_of_the_lowest", Op::kFloorMod, kI16, {"-32768", "-1"}, "0"},
    {"div_beyond_2_53",
     Op::kDiv,
     kU64,
     {"18446744073709551615 9007199254740993", "1 1"},
     "18446744073709551615 9007199254740993"},

    // Shifts by the width or more give 0, or the sign.
    {"shl", Op::kShl, kI32, {"1 1 -1 1 3", "31 32 64 -1 0"}, "-2147483648 0 0 0 3"},
    {"shr_signed", Op::kShr, kI64, {"-8 -8 8 -8 8", "1 64 64 -1 -1"}, "-4 -1 0 -1 0"},
    {"shr_unsigned", Op::kShr, kU8, {"255 255 255", "7 8 255"}, "1 0 0"},
    {"shl_narrow", Op::kShl, kI8, {"1 3 1", "7 7 8"}, "-128 -128 0"},
    {"not", Op::kNot, kU16, {"0 65535 1"}, "65535 0 65534"},
    {"not_of_bool", Op::kNot, kBool, {"true false"}, "false true"},
    {"xor", Op::kXor, kI8, {"-1 5", "1 3"}, "-2 6"},

    // float -> int truncates and saturates, NaN gives 0; other conversions round once or wrap.
    {"f32_to_i32",
     Op::kCast,
     kF32,
     {"1.9 -1.9 inf -inf nan 1e20 2147483648"},
     "1 -1 2147483647 -2147483648 0 2147483647 2147483647",
     kI32},
    {"f64_to_u8", Op::kCast, kF64, {"-1 255.9 256 nan 1e300"}, "0 255 255 0 255", kU8},
    {"f32_to_u64",
     Op::kCast,
     kF32,
     {"-1 1.8446744073709552e19 9.223372036854775808e18 inf"},
     "0 18446744073709551615 9223372036854775808 18446744073709551615",
     kU64},
    {"f64_to_i64",
     Op::kCast,
     kF64,
     {"-9.3e18 9.223372036854775807e18 2251799813685249.5"},
     "-9223372036854775808 9223372036854775807 2251799813685249",
     kI64},
    {"f16_to_i8", Op::kCast, kF16, {"-128.5 200 nan inf"}, "-128 127 0 127", kI8},
    {"bf16_to_u32", Op::kCast, kBF16, {"-5 1e30 nan"}, "0 4294967295 0", kU32},
    {"i32_to_u8_wraps", Op::kCast, kI32, {"-1 256 300"}, "255 0 44", kU8},
    {"i64_to_f32_rounds_once",
     Op::kCast,
     kI64,
     {"16777217 9007199791611905 -16777217"},
     "16777216 9007200328482816 -16777216",
     kF32},
    {"u64_to_f64",
     Op::kCast,
     kU64,
     {"18446744073709551615 9007199254740993"},
     "18446744073709551616 9007199254740992",
     kF64},
    {"f32_to_bf16_ties_to_even", Op::kCast, kF32, {"1.00390625 1.01171875 1e39"}, "1 1.015625 inf", kBF16},
    {"f64_to_f16_rounds_once",
     Op::kCast,
     kF64,
     {"1.000488281250001 65520 65519.9"},
     "1.0009765625 inf 65504",
     kF16},  // by way of f32 the first is 1
    {"i64_to_bf16_rounds_once", Op::kCast, kI64, {"257 4311744513 3"}, "256 4328521728 3", kBF16},
    {"float_to_bool", Op::kCast, kF32, {"0 -0 nan 1e-45"}, "false false true true", kBool},
    {"int_to_bool", Op::kCast, kI32, {"0 256 -1"}, "false true true", kBool},
    {"bool_to_f16", Op::kCast, kBool, {"true false"}, "1 0", kF16},
    {"bits_of_f32", Op::kBitcast, kF32, {"1 -0 inf"}, "1065353216 2147483648 2139095040", kU32},
    {"bits_as_f16", Op::kBitcast, kI16, {"15360 -32768 1"}, "1 -0 0x1", kF16},
};

}  // namespace uop::reference
