#include "core/support/digest.h"

#include <openssl/evp.h>

#include <cstring>
#include <memory>

#include "core/support/status.h"

namespace uop {
namespace {

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

Context begin() {
  Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  check(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1, "SHA-256 is not available");
  return context;
}

Digest finish(const Context& context) {
  Digest d;
  check(EVP_DigestFinal_ex(context.get(), d.bytes.data(), nullptr) == 1, "SHA-256 failed");
  return d;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Digest::hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t b : bytes) {
    text += kDigits[b >> 4];
    text += kDigits[b & 15];
  }
  return text;
}

std::optional<Digest> Digest::from_hex(std::string_view text) {
  Digest d;
  if (text.size() != 2 * d.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < d.bytes.size(); i++) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    d.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return d;
}

std::size_t DigestHash::operator()(const Digest& d) const noexcept {
  std::size_t h = 0;
  std::memcpy(&h, d.bytes.data(), sizeof h);
  return h;
}

Digest digest_of(std::initializer_list<std::string_view> parts) {
  const Context context = begin();
  for (const std::string_view part : parts) {
    std::array<std::uint8_t, 8> length{};
    for (std::size_t i = 0; i < 8; i++) length[i] = static_cast<std::uint8_t>(part.size() >> (8 * i));
    EVP_DigestUpdate(context.get(), length.data(), length.size());
    EVP_DigestUpdate(context.get(), part.data(), part.size());
  }
  return finish(context);
}

Digest sha256(std::string_view bytes) {
  const Context context = begin();
  EVP_DigestUpdate(context.get(), bytes.data(), bytes.size());
  return finish(context);
}

}  // namespace uop
