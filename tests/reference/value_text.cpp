#include "tests/reference/value_text.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "core/support/status.h"
#include "tests/reference/compare.h"

namespace uop::reference {
namespace {

Bits bits_of_text(DType dtype, const std::string& word) {
  char* end = nullptr;
  Bits bits = 0;
  if (word.starts_with("0x"))
    bits = std::strtoull(word.c_str(), &end, 16);
  else if (dtype == DType::kBool)
    return word == "true" ? 1 : (check(word == "false", word + " is not true or false"), 0);
  else if (is_float(dtype))
    bits = rounded(dtype, std::strtold(word.c_str(), &end));
  else if (word.starts_with("-"))
    bits = wrapped(dtype, std::strtoll(word.c_str(), &end, 10));
  else
    bits = wrapped(dtype, static_cast<Wide>(std::strtoull(word.c_str(), &end, 10)));
  check(end != nullptr && *end == '\0', word + " is not a number");
  return bits;
}

}  // namespace

Bytes bytes_of_text(DType dtype, std::string_view text) {
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  Bytes bytes;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    bytes.resize(bytes.size() + size);
    store(dtype, bits_of_text(dtype, word), bytes.data() + bytes.size() - size);
  }
  return bytes;
}

std::string text_of_bytes(DType dtype, const Bytes& bytes) {
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  std::string text;
  for (std::size_t at = 0; at + size <= bytes.size(); at += size)
    text += (at == 0 ? "" : " ") + to_text(dtype, load(dtype, bytes.data() + at));
  return text;
}

}  // namespace uop::reference
