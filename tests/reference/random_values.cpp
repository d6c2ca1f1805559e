#include "tests/reference/random_values.h"

#include <limits>

namespace uop::reference {
namespace {

Bits special_float(Random& random, DType dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double greatest = next(dtype, kInfinity, -1);
  const double least = next(dtype, 0, 1);
  const std::vector<double> values = {
      0.0,      -0.0,          1.0,          -1.0,   kInfinity, -kInfinity,
      greatest, -greatest,     least,        -least, 7 * least, 0.5,
      -0.5,     1.5,           2.5,          255.5,  -128.5,    65504,
      32767.5,  -2147483648.0, 4294967296.0, 9.3e18, 1e-30,     std::numeric_limits<double>::quiet_NaN()};
  return rounded(dtype, random.pick(values));
}

Bits special_integer(Random& random, DType dtype) {
  const std::vector<Wide> values = {
      0, 1, -1, lowest(dtype), highest(dtype), lowest(dtype) + 1, highest(dtype) - 1, 7, 8, 15, 16, 31, 32, 63, 64, -7,
      2, 3, 10};
  return wrapped(dtype, random.pick(values));
}

Bits tame(Random& random, DType dtype) {
  if (!is_float(dtype)) return wrapped(dtype, random.between(is_signed(dtype) ? -9 : 0, 20));
  const std::int64_t kind = random.below(4);
  if (kind == 0) return rounded(dtype, random.between(-4, 4));
  if (kind == 1) return rounded(dtype, random.between(1, 64) / 8.0L);
  return rounded(dtype, random.between(-1'000'000, 1'000'000) / 300'007.0L);
}

}  // namespace

Bits random_value(Random& random, DType dtype, Mood mood) {
  if (dtype == DType::kBool) return random.bits() & 1;
  if (mood == Mood::kTame) return tame(random, dtype);
  const std::int64_t kind = random.below(10);
  if (kind < 4) return tame(random, dtype);
  if (kind < 8) return is_float(dtype) ? special_float(random, dtype) : special_integer(random, dtype);
  const Bits any = wrapped(DType::kU64, static_cast<Wide>(random.bits()));
  const int unused = 64 - static_cast<int>(byte_size(dtype)) * 8;
  return any >> unused;
}

Bytes random_bytes(Random& random, DType dtype, std::int64_t elements, Mood mood) {
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  Bytes bytes(static_cast<std::size_t>(elements) * size);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    Bits bits = random_value(random, dtype, mood);
    if (dtype == DType::kBool && bits != 0 && mood == Mood::kWild) bits = static_cast<Bits>(random.between(1, 255));
    store(dtype, bits, bytes.data() + at);
  }
  return bytes;
}

Bytes random_indices(Random& random, DType dtype, std::int64_t elements, std::int64_t n) {
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  Bytes bytes(static_cast<std::size_t>(elements) * size);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const bool inside = n > 0 && random.chance(85);
    const Bits bits = inside ? wrapped(dtype, random.below(n)) : special_integer(random, dtype);
    store(dtype, bits, bytes.data() + at);
  }
  return bytes;
}

}  // namespace uop::reference
