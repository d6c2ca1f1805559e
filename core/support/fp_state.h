// The floating-point state of a thread: how it rounds, whether it keeps denormals, what it traps. Kernels run in the
// default one whatever thread calls them, and neither loading nor running one may change it.
#pragma once

#include <cstdint>

namespace uop {

/// What a process starts with, unless read from the thread.
struct FpState {
#ifdef __SSE__
  std::uint32_t mxcsr = 0x1F80;       // of vectors and scalars
  std::uint16_t x87_control = 0x37F;  // of long double

  static FpState of_thread() {
    FpState s;
    s.mxcsr = __builtin_ia32_stmxcsr();
    asm volatile("fnstcw %0" : "=m"(s.x87_control));
    return s;
  }
  void set() const {
    __builtin_ia32_ldmxcsr(mxcsr);
    asm volatile("fldcw %0" : : "m"(x87_control));
  }
  bool operator==(const FpState& other) const {
    constexpr std::uint32_t kFlags = 0x3F;  // set by inexact results and the like; not state
    return (mxcsr & ~kFlags) == (other.mxcsr & ~kFlags) && x87_control == other.x87_control;
  }
#else
  static FpState of_thread() {
    return {};
  }
  void set() const {}
  bool operator==(const FpState&) const = default;
#endif
};

/// While it lives, the thread rounds to nearest, keeps denormals and traps nothing; then its own state is back. An
/// embedding program may have switched its thread to flush-to-zero, and then the slices that this thread runs would
/// differ from those of the pool's threads.
class DefaultFpState {
 public:
  DefaultFpState() : saved_(FpState::of_thread()) {
    if (!is_default()) FpState{}.set();
  }
  ~DefaultFpState() {
    if (FpState::of_thread() != saved_) saved_.set();
  }
  DefaultFpState(const DefaultFpState&) = delete;
  DefaultFpState& operator=(const DefaultFpState&) = delete;

  /// False once what ran here has changed the state.
  static bool is_default() { return FpState::of_thread() == FpState{}; }

 private:
  const FpState saved_;
};

}  // namespace uop
