// EXP2, LOG2 and SIN of the prelude against libm in the next wider type: exact where the result is exact, and within
// the bounds below everywhere, for every build.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "core/render/prelude.h"
#include "tests/render/c_build.h"

namespace uop {
namespace {

// In units in the last place. Found over all 2^32 floats without FMA: exp2 1.16, log2 1.18; with it samples stay below.
constexpr long double kFloatBound = 1.5L, kDoubleBound = 2.0L;

template <class T>
constexpr T kInf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

/// T with the integer of its size, its name and C name.
template <class T>
struct Type;
template <>
struct Type<float> {
  using Bits = std::uint32_t;
  static constexpr const char *kName = "f32", *kC = "float";
  static constexpr int kLeast = -149;
};
template <>
struct Type<double> {
  using Bits = std::uint64_t;
  static constexpr const char *kName = "f64", *kC = "double";
  static constexpr int kLeast = -1074;
};

template <class T>
class Functions {
 public:
  explicit Functions(const std::string& compile) : build_(text(), compile) {}

  std::vector<T> run(const std::string& function, const std::vector<T>& x) const {
    std::vector<T> y(x.size());
    auto* loop = build_.function<void(long, const T*, T*)>("run_" + function);
    loop(static_cast<long>(x.size()), x.data(), y.data());
    return y;
  }

 private:
  static std::string text() {
    std::string body;
    for (const char* function : {"exp2", "log2", "sin"})
      body += fmt::format(
          "void run_{0}(long n, const {1}* x, {1}* y) {{\n"
          "  for (long i = 0; i < n; i++) y[i] = uop_{0}_{2}(x[i]);\n}}\n",
          function, Type<T>::kC, Type<T>::kName);
    return prelude_for(body) + body;
  }
  CBuild build_;
};

template <class T>
bool same(T a, T b) {
  using Bits = typename Type<T>::Bits;
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <class T>
long double reference(const std::string& function, T x) {
  // A double is close enough to judge a float by, and much faster than a long double.
  const std::conditional_t<sizeof(T) == 4, double, long double> wide = x;
  return function == "exp2" ? std::exp2(wide) : function == "log2" ? std::log2(wide) : std::sin(wide);
}

/// The error in units of the last place of the exact result; of an infinite, zero or NaN result 0 if it is right.
template <class T>
long double error(T got, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (!std::isfinite(rounded) || !std::isfinite(got) || rounded == 0) return same(got, rounded) ? 0 : 1e9L;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int last = std::max(exponent - std::numeric_limits<T>::digits, Type<T>::kLeast);
  return std::fabs(std::ldexp(static_cast<long double>(got) - exact, -last));
}

/// Arguments of a function with what it should give.
template <class T>
struct Points {
  std::string function;
  std::vector<T> x;
  std::vector<long double> exact;

  Points(std::string name, std::vector<T> arguments) : function(std::move(name)), x(std::move(arguments)) {
    for (const T argument : x) exact.push_back(reference(function, argument));
  }
};

template <class T>
void expect_accurate(const Functions<T>& functions, const Points<T>& points, const std::string& compile) {
  const std::vector<T> y = functions.run(points.function, points.x);
  long double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const long double e = error(y[i], points.exact[i]);
    if (e > worst) worst = e, at = i;
  }
  EXPECT_LE(worst, sizeof(T) == 4 ? kFloatBound : kDoubleBound)
      << fmt::format("{}_{}({:a}) = {:a}, not {:a}; {}", points.function, Type<T>::kName, points.x[at], y[at],
                     static_cast<double>(points.exact[at]), compile);
}

/// Points where something turns: around integers, powers of two, multiples of pi/2, and the ends of the ranges.
template <class T>
std::vector<T> turning_points() {
  std::vector<T> points = {0, kInf<T>, kNan<T>, std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min()};
  const int range = -Type<T>::kLeast + 4;
  for (int k = -range; k <= range; ++k) {
    points.push_back(static_cast<T>(k));
    points.push_back(static_cast<T>(k) + T(0.5));
    points.push_back(static_cast<T>(k * 1.57079632679489661923L));
    points.push_back(static_cast<T>(std::ldexp(1.0L, k)));
    points.push_back(static_cast<T>(std::ldexp(0.70710678118654752440L, k)));
    points.push_back(static_cast<T>(std::ldexp(1.57079632679489661923L, k)));
  }
  for (std::size_t i = 0, n = points.size(); i < n; ++i) {
    points.push_back(std::nextafter(points[i], kInf<T>));
    points.push_back(std::nextafter(points[i], -kInf<T>));
  }
  for (std::size_t i = 0, n = points.size(); i < n; ++i) points.push_back(-points[i]);
  return points;
}

template <class T>
void expect_exact(const Functions<T>& functions, const std::string& compile) {
  struct Row {
    const char* function;
    T x, expected;
  };
  std::vector<Row> rows = {
      {"exp2", kInf<T>, kInf<T>},
      {"exp2", -kInf<T>, 0},
      {"exp2", kNan<T>, kNan<T>},
      {"exp2", std::numeric_limits<T>::max(), kInf<T>},
      {"exp2", std::numeric_limits<T>::lowest(), 0},
      {"exp2", T(-0.0), 1},
      {"log2", 1, 0},
      {"log2", 0, -kInf<T>},
      {"log2", T(-0.0), -kInf<T>},
      {"log2", -1, kNan<T>},
      {"log2", -std::numeric_limits<T>::denorm_min(), kNan<T>},
      {"log2", -kInf<T>, kNan<T>},
      {"log2", kInf<T>, kInf<T>},
      {"log2", kNan<T>, kNan<T>},
      {"sin", 0, 0},
      {"sin", T(-0.0), T(-0.0)},
      {"sin", kInf<T>, kNan<T>},
      {"sin", -kInf<T>, kNan<T>},
      {"sin", kNan<T>, kNan<T>},
      {"sin", std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::denorm_min()},
      {"sin", -std::numeric_limits<T>::min(), -std::numeric_limits<T>::min()},
  };
  for (int k = Type<T>::kLeast - 3; k <= std::numeric_limits<T>::max_exponent + 3; ++k) {
    const T power = std::ldexp(T{1}, k);
    rows.push_back({"exp2", static_cast<T>(k), power});
    if (power > 0 && std::isfinite(power)) rows.push_back({"log2", power, static_cast<T>(k)});
  }
  for (const Row& r : rows) {
    const T y = functions.run(r.function, {r.x})[0];
    EXPECT_TRUE(same(y, r.expected)) << fmt::format("{}_{}({:a}) = {:a}, not {:a}; {}", r.function, Type<T>::kName, r.x,
                                                    y, r.expected, compile);
  }
}

TEST(PreludeAccuracy, Float) {
  std::vector<float> x = turning_points<float>();
  constexpr std::uint64_t kStride = 1543;  // a prime: all exponents, all low bits
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += kStride)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const Points<float> points[] = {{"exp2", x}, {"log2", x}, {"sin", x}};
  for (const std::string& compile : all_builds()) {
    const Functions<float> functions(compile);
    expect_exact(functions, compile);
    for (const Points<float>& p : points) expect_accurate(functions, p, compile);
  }
}

TEST(PreludeAccuracy, Double) {
  std::mt19937_64 random(5);
  std::vector<double> any = turning_points<double>(), near_one, exponents, angles;
  for (int i = 0; i < 400'000; ++i) {
    const double unit = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -63);
    any.push_back(std::bit_cast<double>(random()));
    near_one.push_back(1 + 0.45 * unit);
    exponents.push_back(1100 * unit);
    angles.push_back(std::ldexp(unit, static_cast<int>(random() % 60)));
    angles.push_back(std::round(unit * 1e6) * 1.5707963267948966);  // close to multiples of pi/2
  }
  const Points<double> points[] = {{"exp2", any},       {"log2", any},      {"sin", any},
                                   {"exp2", exponents}, {"log2", near_one}, {"sin", angles}};
  for (const std::string& compile : all_builds()) {
    const Functions<double> functions(compile);
    expect_exact(functions, compile);
    for (const Points<double>& p : points) expect_accurate(functions, p, compile);
  }
}

}  // namespace
}  // namespace uop
