// Makes reads of memory that nobody owns show: a pattern in debug builds, a report under AddressSanitizer.
#pragma once

#include <sanitizer/asan_interface.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace uop {

/// In every float format a NaN, so that it spreads to the results.
inline constexpr int kPoisonByte = 0xFF;

/// The memory has no owner until `unpoison`.
inline void poison(void* data, std::uint64_t bytes) {
#ifndef NDEBUG
  ASAN_UNPOISON_MEMORY_REGION(data, bytes);  // what lay behind the owner's bytes was never his
  std::memset(data, kPoisonByte, bytes);
#endif
  ASAN_POISON_MEMORY_REGION(data, bytes);
}

/// The memory has an owner again, or leaves the process. Its content is what it was.
inline void unpoison(void* data, std::uint64_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(data, bytes);
}

}  // namespace uop
