// Makes reads of memory without defined content show: by a pattern that spreads to the results, which kernels meet
// too, and by reports under AddressSanitizer, which does not see into kernels.
#pragma once

#include <sanitizer/asan_interface.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace uop {

/// In every float format a NaN.
inline constexpr int kPoisonByte = 0xFF;

/// Debug builds always fill; others where the option `poison` is set.
#ifdef NDEBUG
inline constexpr bool kPoisonByDefault = false;
#else
inline constexpr bool kPoisonByDefault = true;
#endif

/// The memory has an owner, who must write before he reads.
inline void fill_with_poison(void* data, std::uint64_t bytes) {
  std::memset(data, kPoisonByte, bytes);
}

/// The memory has no owner until `unpoison`; `fill`: and no content.
inline void poison(void* data, std::uint64_t bytes, bool fill) {
  if (fill) {
    ASAN_UNPOISON_MEMORY_REGION(data, bytes);  // what lay behind the owner's bytes was never his
    fill_with_poison(data, bytes);
  }
  ASAN_POISON_MEMORY_REGION(data, bytes);
}

/// The memory has an owner again, or leaves the process. Its content is what it was.
inline void unpoison(void* data, std::uint64_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(data, bytes);
}

}  // namespace uop
