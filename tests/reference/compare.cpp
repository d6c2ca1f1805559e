#include "tests/reference/compare.h"

#include <fmt/format.h>

#include <cmath>

#include "core/ir/shape_rules.h"

namespace uop::reference {
namespace {

bool is_nan_of(DType dtype, Bits bits) {
  return is_float(dtype) && std::isnan(real(dtype, bits));
}

bool equal(DType dtype, Bits a, Bits b) {
  return a == b || (is_nan_of(dtype, a) && is_nan_of(dtype, b));
}

bool allowed(DType dtype, Bits actual, const Element& e) {
  if (is_exact(e)) return equal(dtype, actual, e.bits);
  const double value = real(dtype, actual);
  return e.low <= value && value <= e.high;
}

std::string expectation(DType dtype, const Element& e) {
  if (is_exact(e)) return to_text(dtype, e.bits);
  return fmt::format("{} (from {:.17g} to {:.17g})", to_text(dtype, e.bits), e.low, e.high);
}

}  // namespace

Comparison& Comparison::operator+=(const Comparison& other) {
  checked += other.checked;
  skipped += other.skipped;
  if (!difference) difference = other.difference;
  return *this;
}

Comparison compare(std::span<const std::byte> actual, const Tensor& expected) {
  Comparison result;
  const DType dtype = expected.dtype;
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  if (actual.size() != expected.elements.size() * size) {
    result.difference = fmt::format("{} bytes for {}", actual.size(), type_text(dtype, expected.shape));
    return result;
  }
  for (std::size_t i = 0; i < expected.elements.size(); i++) {
    const Element& e = expected.elements[i];
    (e.open ? result.skipped : result.checked)++;
    const Bits bits = load(dtype, actual.data() + i * size);
    if (e.open || allowed(dtype, bits, e) || result.difference) continue;
    result.difference = fmt::format("element {} of {} is {}, expected {}",
                                    shape_text(index_at(expected.shape, static_cast<std::int64_t>(i))),
                                    type_text(dtype, expected.shape), to_text(dtype, bits), expectation(dtype, e));
  }
  return result;
}

std::optional<std::string> difference(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != b.size()) return fmt::format("{} bytes and {} bytes", a.size(), b.size());
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  for (std::size_t at = 0; at < a.size(); at += size) {
    const Bits x = load(dtype, a.data() + at);
    const Bits y = load(dtype, b.data() + at);
    if (!equal(dtype, x, y))
      return fmt::format("element {} is {} and {}", at / size, to_text(dtype, x), to_text(dtype, y));
  }
  return std::nullopt;
}

std::string to_text(DType dtype, Bits bits) {
  if (dtype == DType::kBool) return bits != 0 ? "true" : "false";
  if (is_float(dtype)) return fmt::format("{:.17g} (0x{:x})", real(dtype, bits), bits);
  const Wide value = integer(dtype, bits);
  return value < 0 ? fmt::format("{}", static_cast<std::int64_t>(value))
                   : fmt::format("{}", static_cast<std::uint64_t>(value));
}

}  // namespace uop::reference
