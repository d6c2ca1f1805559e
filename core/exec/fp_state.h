// The floating-point state that kernels run in, whatever thread calls them.
#pragma once

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <cassert>

namespace uop {

/// While it lives, the thread rounds to nearest, keeps denormals and traps nothing; then its own state is back. An
/// embedding program may have switched its thread to flush-to-zero, and then the slices that this thread runs would
/// differ from those of the pool's threads. A kernel must not change the state; debug builds check.
class DefaultFpState {
 public:
#ifdef __SSE__
  DefaultFpState() : saved_(_mm_getcsr()) {
    _mm_setcsr(kDefault);
  }
  ~DefaultFpState() {
    assert((_mm_getcsr() & ~kFlags) == kDefault && "a kernel changed MXCSR");
    _mm_setcsr(saved_);
  }
#else
  DefaultFpState() = default;
#endif
  DefaultFpState(const DefaultFpState&) = delete;
  DefaultFpState& operator=(const DefaultFpState&) = delete;

 private:
#ifdef __SSE__
  static constexpr unsigned kDefault = 0x1F80;  // what a process starts with
  static constexpr unsigned kFlags = 0x3F;      // set by inexact results and the like; not state
  unsigned saved_;
#endif
};

}  // namespace uop
