// Random element values: small ones that survive arithmetic, and the ones that break it.
#pragma once

#include "tests/reference/random.h"
#include "tests/reference/tensor.h"

namespace uop::reference {

enum class Mood {
  kTame,  // small numbers, few of them special
  kWild,  // NaN, infinities, -0, denormals, the ends of the range, shifts by the width, any pattern
};

Bits random_value(Random& random, DType dtype, Mood mood);

/// A BUFFER's content. Bools are any byte.
Bytes random_bytes(Random& random, DType dtype, std::int64_t elements, Mood mood);

/// Indices into an axis of n, some of them outside of it.
Bytes random_indices(Random& random, DType dtype, std::int64_t elements, std::int64_t n);

}  // namespace uop::reference
