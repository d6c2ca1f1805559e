// SHA-256 digests: the names of plans and artifacts.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace uop {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  /// 64 lower-case hexadecimal digits.
  std::string hex() const;
  static std::optional<Digest> from_hex(std::string_view text);

  auto operator<=>(const Digest&) const = default;
};

struct DigestHash {
  std::size_t operator()(const Digest& d) const noexcept;
};

/// SHA-256 (FIPS 180-4) of the parts, each preceded by its length as 8 little-endian bytes, so that no two lists of
/// parts have the same digest by running into one another.
Digest digest_of(std::initializer_list<std::string_view> parts);

/// Plain SHA-256 of the bytes.
Digest sha256(std::string_view bytes);

}  // namespace uop
