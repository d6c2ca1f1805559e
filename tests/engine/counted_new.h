// Counts what `new` gives out in a test program. In a file of its own, for the compiler takes a visible replacement
// for a mismatch with `delete`.
#pragma once

#include <cstdint>

namespace uop {

struct Allocated {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// All so far, in every thread.
Allocated allocated();

}  // namespace uop
