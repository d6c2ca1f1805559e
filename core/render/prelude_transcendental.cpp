// Rows of the prelude for EXP2 and LOG2.
//
// Maximal errors found, in units in the last place: see tests/render/prelude_test.cpp, which bounds them.
// Polynomials are least-squares fits, coefficients rounded one by one from the lowest, the rest fitted again.
#include "core/render/prelude_table.h"

namespace uop {
namespace {

constexpr PreludeRow kRows[] = {
    // 2^n as a float, n from -126 to 127 (-1022 to 1023).
    {"uop_power_$T", "f32 f64", "", R"(
static inline $C uop_power_$T($I n) { return uop_of_bits_$T(((uop_bits_$T(1) >> $M) + ($N)n) << $M); }
)"},

    // x = n + f, |f| <= 1/2: 2^x = 2^n (1 + f p(f)). The sum that rounds to n may be off by its own rounding, f is
    // exact all the same. 2^n is applied in halves: one, exactly, by adding to the exponent, the other as a factor, so
    // that a result overflows, or is rounded as a denormal, in that product only.
    {"uop_exp2_$T", "f32", "", R"(
static inline float uop_exp2_f32(float x) {
  float a = __builtin_fabsf(x), c = a < 160 ? x : 0;
  int n = (int)(c + 256.5f) - 256;
  float f = c - (float)n;
  float p = 0x1.5f0b88p-10f + f * 0x1.3f9ba6p-13f;
  p = 0x1.c6af76p-5f + f * (0x1.3b30a6p-7f + f * p);
  p = 0x1.62e43p-1f + f * (0x1.ebfbd8p-3f + f * p);
  float r = uop_of_bits_f32(uop_bits_f32(1 + f * p) + ((unsigned)(n >> 1) << 23)) * uop_power_f32(n - (n >> 1));
  return a < 160 ? r : x < 0 ? 0 : x + __builtin_inff();
}
)"},
    {"uop_exp2_$T", "f64", "", R"(
static inline double uop_exp2_f64(double x) {
  double a = __builtin_fabs(x), c = a < 1100 ? x : 0;
  int n = (int)(c + 2048.5) - 2048;
  double f = c - (double)n;
  double p = 0x1.e61c1c3f4a3bp-28 + f * 0x1.e943cf48a40f1p-32;
  p = 0x1.62bfc718efae5p-20 + f * (0x1.b52541a66dd37p-24 + f * p);
  p = 0x1.4309130f15535p-13 + f * (0x1.ffcbfc583ed08p-17 + f * p);
  p = 0x1.3b2ab6fb9ffaep-7 + f * (0x1.5d87fe78a14b9p-10 + f * p);
  p = 0x1.ebfbdff82c5a5p-3 + f * (0x1.c6b08d704a121p-5 + f * p);
  p = 0x1.62e42fefa39efp-1 + f * p;
  double r = uop_of_bits_f64(uop_bits_f64(1 + f * p) + ((unsigned long)(n >> 1) << 52)) * uop_power_f64(n - (n >> 1));
  return a < 1100 ? r : x < 0 ? 0 : x + __builtin_inf();
}
)"},

    // x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
    // log2(1 + f) = f log2(e) + f^2 p(f), whose first product is made exact by splitting both factors.
    {"uop_log2_$T", "f32", "", R"(
static inline float uop_log2_f32(float x) {
  int tiny = x < 0x1p-126f;
  unsigned u = uop_bits_f32(tiny ? x * 0x1p23f : x);
  int e = (int)(u - 0x3f3504f3u) >> 23;
  float f = uop_of_bits_f32(u - ((unsigned)e << 23)) - 1;
  float g = uop_of_bits_f32(uop_bits_f32(f) & ~0xfffu);
  float p = 0x1.7b9ceap-3f + f * -0x1.baabaap-4f;
  p = 0x1.a35476p-3f + f * (-0x1.881186p-3f + f * p);
  p = 0x1.277bfap-2f + f * (-0x1.eaac8p-3f + f * p);
  p = 0x1.ec70ap-2f + f * (-0x1.715acap-2f + f * p);
  p = -0x1.71547p-1f + f * p;
  float low = g * 0x1.47652cp-12f + ((f - g) * 0x1.715476p0f + f * f * p);
  float r = (float)(e - (tiny ? 23 : 0)) + (g * 0x1.714p0f + low);
  r = x < __builtin_inff() ? r : x;
  return x > 0 ? r : x == 0 ? -__builtin_inff() : __builtin_nanf("");
}
)"},
    // log(1 + f) = f - f^2/2 + s (f^2/2 + z p(z)), s = f / (2 + f), z = s^2; kept as high + low, the high part short
    // enough for an exact product with the high part of log2(e).
    {"uop_log2_$T", "f64", "", R"(
static inline double uop_log2_f64(double x) {
  int tiny = x < 0x1p-1022;
  unsigned long u = uop_bits_f64(tiny ? x * 0x1p52 : x);
  int e = (int)((long)(u - 0x3fe6a09e667f3bcdUL) >> 52);
  double f = uop_of_bits_f64(u - ((unsigned long)e << 52)) - 1;
  double half = 0.5 * f * f, s = f / (2 + f), z = s * s;
  double p = 0x1.39fe03e2bdfbfp-3 + z * 0x1.2b5c9b28b3134p-3;
  p = 0x1.c71c62dbe5e8ap-3 + z * (0x1.7462b77eb1386p-3 + z * p);
  p = 0x1.99999999952d8p-2 + z * (0x1.2492492df77edp-2 + z * p);
  p = 0x1.5555555555558p-1 + z * p;
  double high = uop_of_bits_f64(uop_bits_f64(f - half) & ~0UL << 32);
  double low = ((f - high) - half) + s * (half + z * p);
  low = (high + low) * 0x1.94ae0bf85ddf4p-22 + low * 0x1.71547p0;
  double n = (double)(e - (tiny ? 52 : 0));
  double sum = n + high * 0x1.71547p0;
  double r = sum + (((n - sum) + high * 0x1.71547p0) + low);
  r = x < __builtin_inf() ? r : x;
  return x > 0 ? r : x == 0 ? -__builtin_inf() : __builtin_nan("");
}
)"},
};

}  // namespace

std::span<const PreludeRow> transcendental_rows() {
  return kRows;
}

}  // namespace uop
