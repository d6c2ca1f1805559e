#include "core/support/keyed_hash.h"

#include <random>

namespace uop {

HashKey HashKey::random() {
  std::random_device device;
  const auto word = [&] { return std::uint64_t{device()} << 32 | device(); };
  const std::uint64_t low = word();
  return {low, word()};
}

}  // namespace uop
