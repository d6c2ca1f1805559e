// Rows of the prelude that round: to integral values, to halves, and in casts.
#include "core/render/prelude_table.h"

namespace uop {
namespace {

constexpr std::string_view kFloats = "f32 f64";

constexpr PreludeRow kRows[] = {
    {"uop_bits_$T", kFloats, "", R"(
static inline $N uop_bits_$T($C x) {
  union { $C x; $N u; } v = {x};
  return v.u;
}
)"},
    {"uop_of_bits_$T", kFloats, "", R"(
static inline $C uop_of_bits_$T($N u) {
  union { $N u; $C x; } v = {u};
  return v.x;
}
)"},

    {"uop_sqrt_$T", kFloats, "", R"(
static inline $C uop_sqrt_$T($C x) { return __builtin_sqrt$F(x); }
)"},

    // Without SSE4.1 the builtins would call libm. A float of 2^$M or more is integral; below, an integer holds |x|.
    {"uop_integral_$T", kFloats, "", R"(
#ifndef __SSE4_1__
static inline $C uop_integral_$T($C x, $C magnitude) {
  $C r = uop_of_bits_$T(uop_bits_$T(magnitude) | (uop_bits_$T(x) & ($N)1 << ($W - 1)));
  return __builtin_fabs$F(x) < 0x1p$M$F ? r : x;
}
#endif
)"},
    {"uop_trunc_$T", kFloats, "", R"(
static inline $C uop_trunc_$T($C x) {
#ifdef __SSE4_1__
  return __builtin_trunc$F(x);
#else
  $C a = __builtin_fabs$F(x), c = a < 0x1p$M$F ? a : 0;
  return uop_integral_$T(x, ($C)($I)c);
#endif
}
)"},
    {"uop_floor_$T", kFloats, "", R"(
static inline $C uop_floor_$T($C x) {
#ifdef __SSE4_1__
  return __builtin_floor$F(x);
#else
  $C a = __builtin_fabs$F(x), c = a < 0x1p$M$F ? a : 0, t = ($C)($I)c;
  return uop_integral_$T(x, t + ($C)((x < 0) & (t < c)));
#endif
}
)"},
    {"uop_ceil_$T", kFloats, "", R"(
static inline $C uop_ceil_$T($C x) {
#ifdef __SSE4_1__
  return __builtin_ceil$F(x);
#else
  $C a = __builtin_fabs$F(x), c = a < 0x1p$M$F ? a : 0, t = ($C)($I)c;
  return uop_integral_$T(x, t + ($C)((x > 0) & (t < c)));
#endif
}
)"},
    {"uop_round_$T", kFloats, "", R"(
static inline $C uop_round_$T($C x) {
#ifdef __SSE4_1__
  return __builtin_rint$F(x);
#else
  $C a = __builtin_fabs$F(x), c = a < 0x1p$M$F ? a : 0;
  $I k = ($I)c;
  $C d = c - ($C)k;
  return uop_integral_$T(x, ($C)(k + ((d > 0.5$F) | ((d == 0.5$F) & ($I)(k & 1)))));
#endif
}
)"},

    // Halves in memory. A NaN stays a NaN of the same sign and upper payload.
    // clang makes vector loops of the instructions for f16; gcc does not, but does of the integer form.
    {"uop_load_$T", "f16", "", R"(
static inline float uop_load_f16(unsigned short h) {
#if defined __F16C__ && defined __clang__
  union { unsigned short u; __fp16 x; } v = {h};
  return (float)v.x;
#else
  unsigned m = h & 0x7fffu, tiny = uop_bits_f32((float)(int)m * 0x1p-24f);
  unsigned u = (m << 13) + (m < 0x7c00u ? 112u << 23 : 224u << 23);
  return uop_of_bits_f32((h & 0x8000u) << 16 | (m < 0x400u ? tiny : u));
#endif
}
)"},
    // The sum with 0.5 has its last place where the denormals of f16 have theirs.
    {"uop_store_$T", "f16", "", R"(
static inline unsigned short uop_store_f16(float x) {
#if defined __F16C__ && defined __clang__
  union { __fp16 x; unsigned short u; } v = {(__fp16)x};
  return v.u;
#else
  unsigned b = uop_bits_f32(x), a = b & 0x7fffffffu;
  unsigned u = (a - (112u << 23) + 0xfffu + (a >> 13 & 1u)) >> 13;
  unsigned tiny = uop_bits_f32(uop_of_bits_f32(a) + 0.5f) - 0x3f000000u;
  u = a < 0x38800000u ? tiny : a < 0x477ff000u ? u : 0x7c00u;
  u = a > 0x7f800000u ? 0x7e00u | (a >> 13 & 0x1ffu) : u;
  return (unsigned short)((b >> 16 & 0x8000u) | u);
#endif
}
)"},
    {"uop_round_$T", "f16", "", R"(
static inline float uop_round_f16(float x) {
#if defined __F16C__ && defined __clang__
  return (float)(__fp16)x;
#else
  unsigned b = uop_bits_f32(x), a = b & 0x7fffffffu;
  unsigned u = (a + 0xfffu + (a >> 13 & 1u)) & ~0x1fffu;
  unsigned tiny = uop_bits_f32(uop_of_bits_f32(a) + 0.5f) - 0x3f000000u;
  tiny = uop_bits_f32((float)(int)tiny * 0x1p-24f);
  u = a < 0x38800000u ? tiny : a < 0x477ff000u ? u : 0x7f800000u;
  u = a > 0x7f800000u ? (a & ~0x1fffu) | 0x400000u : u;
  return uop_of_bits_f32((b & 0x80000000u) | u);
#endif
}
)"},
    {"uop_load_$T", "bf16", "", R"(
static inline float uop_load_bf16(unsigned short h) { return uop_of_bits_f32((unsigned)h << 16); }
)"},
    {"uop_store_$T", "bf16", "", R"(
static inline unsigned short uop_store_bf16(float x) {
  unsigned b = uop_bits_f32(x), u = b + 0x7fffu + (b >> 16 & 1u);
  return (unsigned short)((x == x ? u : b | 0x400000u) >> 16);
}
)"},
    {"uop_round_$T", "bf16", "", R"(
static inline float uop_round_bf16(float x) {
  unsigned b = uop_bits_f32(x), u = b + 0x7fffu + (b >> 16 & 1u);
  return uop_of_bits_f32((x == x ? u : b | 0x400000u) & 0xffff0000u);
}
)"},

    // To a half from what an f32 cannot hold: rounded once, in the bits of a double. The sum has its last place where
    // the denormals of the half have theirs.
    {"uop_cast_f64_$T", "f16", "", R"(
static inline float uop_cast_f64_f16(double x) {
  unsigned long b = uop_bits_f64(x), a = b & ~0UL >> 1;
  unsigned long u = (a + (~0UL >> 23) + (a >> 42 & 1UL)) & ~0UL << 42;
  int tiny = (int)(uop_bits_f64(uop_of_bits_f64(a) + 0x1p28) - uop_bits_f64(0x1p28));
  double r = a < uop_bits_f64(65520.0) ? uop_of_bits_f64(u) : __builtin_inf();
  r = a < uop_bits_f64(0x1p-14) ? (double)tiny * 0x1p-24 : r;
  return (float)(x == x ? uop_of_bits_f64(uop_bits_f64(r) | (b & 1UL << 63)) : x);
}
)"},
    {"uop_cast_f64_$T", "bf16", "", R"(
static inline float uop_cast_f64_bf16(double x) {
  unsigned long b = uop_bits_f64(x), a = b & ~0UL >> 1;
  unsigned long u = (a + (~0UL >> 20) + (a >> 45 & 1UL)) & ~0UL << 45;
  int tiny = (int)(uop_bits_f64(uop_of_bits_f64(a) + 0x1p-81) - uop_bits_f64(0x1p-81));
  double r = a < uop_bits_f64(0x1.ffp127) ? uop_of_bits_f64(u) : __builtin_inf();
  r = a < uop_bits_f64(0x1p-126) ? (double)tiny * 0x1p-133 : r;
  return (float)(x == x ? uop_of_bits_f64(uop_bits_f64(r) | (b & 1UL << 63)) : x);
}
)"},
    {"uop_cast_$S_$T", "f16 bf16", "i32 u32", R"(
static inline float uop_cast_$S_$T($D x) { return uop_cast_f64_$T((double)x); }
)"},
    // Bits that a double cannot hold are folded into one below the last place that matters.
    {"uop_odd_f64", "u64", "", R"(
static inline double uop_odd_f64(unsigned long m) {
  unsigned long low = m & 0x7ffUL;
  return (double)(m >> 53 == 0 ? m : (m - low) | (low != 0 ? 0x800UL : 0UL));
}
)"},
    {"uop_cast_u64_$T", "f16 bf16", "", R"(
static inline float uop_cast_u64_$T(unsigned long x) { return uop_cast_f64_$T(uop_odd_f64(x)); }
)"},
    {"uop_cast_i64_$T", "f16 bf16", "", R"(
static inline float uop_cast_i64_$T(long x) {
  double m = uop_odd_f64(x < 0 ? 0 - (unsigned long)x : (unsigned long)x);
  return uop_cast_f64_$T(x < 0 ? -m : m);
}
)"},

    // To an integer: toward zero, saturating. Both bounds are exact in either float.
    {"uop_cast_$S_$T", "i8 i16 i32 i64", kFloats, R"(
static inline $C uop_cast_$S_$T($D x) {
  $C high = ($C)(~($N)0 >> (8 * sizeof($N) - $W + 1)), low = ($C)(-high - 1);
  $D end = ($D)(($N)1 << ($W - 1));
  $C r = ($C)(((x > -end) & (x < end)) ? x : 0);
  return x >= end ? high : x <= -end ? low : r;
}
)"},
    {"uop_cast_$S_$T", "u8 u16 u32 u64", kFloats, R"(
static inline $C uop_cast_$S_$T($D x) {
  $D end = ($D)(($N)1 << ($W - 1)) * 2;
  $C r = ($C)(((x > 0) & (x < end)) ? x : 0);
  return x >= end ? ($C)~($N)0 : r;
}
)"},
};

}  // namespace

std::span<const PreludeRow> rounding_rows() {
  return kRows;
}

}  // namespace uop
