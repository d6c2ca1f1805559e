// Rows of the prelude for SIN, and the tables that reduce its argument, whatever its size.
//
// A float is m 2^e with m an integer, so multiples of 2 in (2^e / pi) leave the sine as it is: what a reduction needs
// of 1/pi is a window of its bits that begins where the exponent says.
#include <fmt/format.h>

#include <cstdint>

#include "core/render/prelude_table.h"

namespace uop {
namespace {

// 2/pi in words of 64 bits, the first of them the bits before the point.
constexpr std::uint64_t kTwoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

/// `count` bits of 1/pi, from bit `begin` after the point on, as an integer; bits before the point are 0.
std::uint64_t over_pi_bits(int begin, int count) {
  std::uint64_t bits = 0;
  for (int i = begin + 62; i < begin + 62 + count; ++i) bits = bits << 1 | (kTwoOverPi[i / 64] >> (63 - i % 64) & 1);
  return bits;
}

constexpr PreludeRow kRows[] = {
    // |x| / pi = n + r, |r| <= 1/2; sin = +-sin(pi r), computed in double so that the result is rounded once.
    // Below 1 no table is needed. From there m is the 24-bit significand, and the table holds 2^e / pi mod 2 in
    // parts, the first of 29 bits, so that its product with m is exact, and r with it. (The parts are ints, as wide as
    // x, so that gcc can read them in a vector loop on any machine.) An infinity reads zeros and becomes a NaN
    // in the end by its bits: a choice of floats would make gcc branch around the reads, and lose the vector loop.
    {"uop_sin_$T", "f32", "", R"(
static inline float uop_sin_f32(float x) {
  unsigned b = uop_bits_f32(x), a = b & 0x7fffffffu;
  int e = (int)(a >> 23) - 126, i = e > 0 ? e : 0;
  double m = a < 0x3f800000u ? uop_of_bits_f32(a) : (float)(int)((a & 0x7fffffu) | 0x800000u);
  double high = m * ((double)uop_over_pi_f32[0][i] * 0x1p-28);
  double low = m * ((double)uop_over_pi_f32[1][i] * 0x1p-56 + (double)uop_over_pi_f32[2][i] * 0x1p-84);
  int n = (int)(high + low + 0.5);
  double r = (high - (double)n) + low, z = r * r;
  double p = 0x1.500fe2711a2c8p-4 + z * -0x1.cc32058983e75p-8;
  p = 0x1.466bbfbf828e4p1 + z * (-0x1.32d11177c27a1p-1 + z * p);
  p = 0x1.921fb5441e32bp1 + z * (-0x1.4abbce4f10111p2 + z * p);
  unsigned s = uop_bits_f32((float)(r * p)) ^ (b & 0x80000000u) ^ (unsigned)n << 31;
  return uop_of_bits_f32(s | (a < 0x7f800000u ? 0 : 0x7fc00000u));
}
)"},

    // The sine of n pi/2 + r + tail, where tail is less than the last place of r.
    {"uop_sin_of_$T", "f64", "", R"(
static inline double uop_sin_of_f64(int n, double r, double tail) {
  double z = r * r;
  double p = -0x1.ae60229b3d893p-26 + z * 0x1.5e120f4f9eec7p-33;
  p = -0x1.a01a019ea2d4p-13 + z * (0x1.71de37b394155p-19 + z * p);
  p = -0x1.5555555555555p-3 + z * (0x1.1111111110c8bp-7 + z * p);
  double s = r + (r * z * p + tail * (1 - 0.5 * z));
  double q = 0x1.1eeaefc6db5cep-29 + z * -0x1.902a76ba4019cp-37;
  q = 0x1.a01a019eebaddp-16 + z * (-0x1.27e4f99dbfd8fp-22 + z * q);
  q = 0x1.5555555555555p-5 + z * (-0x1.6c16c16c167aep-10 + z * q);
  double half = 0.5 * z, one = 1 - half;
  double c = one + (((1 - one) - half) + (z * z * q - r * tail));
  double v = n & 1 ? c : s;
  return n & 2 ? -v : v;
}
)"},
    // From 2^19: 192 bits of 2/pi from the bit of weight 2 on, times m, in quadrants modulo 4.
    {"uop_sin_big_$T", "f64", "", R"(
static __attribute__((noinline, cold)) double uop_sin_big_f64(double x) {
  unsigned long b = uop_bits_f64(x), m = (b & ~0UL >> 12) | 1UL << 52;
  unsigned at = (unsigned)(b >> 52) - 1075u + 62u;
  const unsigned long *w = uop_two_over_pi + (at >> 6);
  unsigned s = at & 63u;
  unsigned long w0 = w[0] << s | w[1] >> 1 >> (63 - s), w1 = w[1] << s | w[2] >> 1 >> (63 - s);
  unsigned long w2 = w[2] << s | w[3] >> 1 >> (63 - s);
  unsigned __int128 t = (unsigned __int128)m * w1 + ((unsigned __int128)m * w2 >> 64);
  t += (unsigned __int128)(m * w0) << 64;
  int n = (int)(((unsigned long)(t >> 125) + 1UL) >> 1);
  t -= (unsigned __int128)(unsigned)n << 126;
  int negative = (int)(t >> 127);
  t = negative ? -t : t;
  int zeros = __builtin_clzl((unsigned long)(t >> 64) | 1UL);
  unsigned long u = (unsigned long)((t << zeros) >> 64);
  u = (unsigned long)((unsigned __int128)u * 0xc90fdaa22168c235UL >> 64);
  double scale = uop_of_bits_f64((unsigned long)(1023 - 61 - zeros) << 52);
  scale = negative ? -scale : scale;
  return uop_sin_of_f64(n, (double)(long)(u >> 11) * (2048 * scale), (double)(long)(u & 0x7ffUL) * scale);
}
)"},
    // Below, n < 2^20 and the three upper parts of pi/2 have 33 bits: their products with n are exact.
    {"uop_sin_$T", "f64", "", R"(
static inline double uop_sin_f64(double x) {
  double a = __builtin_fabs(x), v;
  if (!(a < __builtin_inf())) return __builtin_nan("");
  if (__builtin_expect(a < 0x1p19, 1)) {
    int i = (int)(a * 0x1.45f306dc9c883p-1 + 0.5);
    double n = (double)i;
    double r0 = a - n * 0x1.921fb544p0;
    double r1 = r0 - n * 0x1.0b4611a6p-34;
    double r2 = r1 - n * 0x1.3198a2ep-69;
    double lost = ((r0 - r1) - n * 0x1.0b4611a6p-34) + ((r1 - r2) - n * 0x1.3198a2ep-69);
    lost -= n * 0x1.b839a252049c1p-104;
    double r = r2 + lost;
    v = uop_sin_of_f64(i, r, (r2 - r) + lost);
  } else {
    v = uop_sin_big_f64(a);
  }
  return uop_of_bits_f64(uop_bits_f64(v) ^ (uop_bits_f64(x) & 1UL << 63));
}
)"},
};

}  // namespace

std::span<const PreludeRow> sine_rows() {
  return kRows;
}

std::string two_over_pi_text() {
  std::string words;
  for (const std::uint64_t word : kTwoOverPi) words += fmt::format("  {:#x}UL,\n", word);
  return fmt::format("\nstatic const unsigned long uop_two_over_pi[{}] = {{\n{}}};\n", std::size(kTwoOverPi), words);
}

std::string over_pi_f32_text() {
  // Columns: 1/pi itself, for all below 1; 2^(e - 23) / pi mod 2 for each e from 0 to 127; zeros, for infinities.
  constexpr int kPartBits[] = {29, 28, 28};
  std::string rows;
  int part_begin = 0;  // the bit of the window that the part begins with; bit 0 weighs 1
  for (const int bits : kPartBits) {
    std::string columns = std::to_string(over_pi_bits(part_begin, bits));
    for (int e = 0; e < 128; ++e) columns += fmt::format(", {}", over_pi_bits(e - 23 + part_begin, bits));
    rows += fmt::format("  {{{}, 0}},\n", columns);
    part_begin += bits;
  }
  return fmt::format("\nstatic const int uop_over_pi_f32[3][130] = {{\n{}}};\n", rows);
}

}  // namespace uop
