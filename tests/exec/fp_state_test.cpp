// The floating-point state: kernels run in the default one, and one that changes it is found out and put right.
#include "core/support/fp_state.h"

#include <gmock/gmock.h>

#include "tests/exec/executor_fixture.h"

#ifdef __SSE__
namespace uop {
namespace {

using testing::HasSubstr;

FpState flushing() {
  FpState s;
  s.mxcsr |= 0x8040;  // flush to zero, denormals are zero
  return s;
}
FpState single_precision_x87() {
  FpState s;
  s.x87_control &= ~0x300;
  return s;
}
FpState rounding_up() {
  FpState s;
  s.mxcsr |= 0x4000;
  s.x87_control |= 0x800;
  return s;
}
FpState trapping() {
  FpState s;
  s.mxcsr &= ~0x200u;  // division by zero
  return s;
}

TEST(FpState, StickyFlagsAreNoState) {
  FpState flagged;
  flagged.mxcsr |= 0x3F;
  EXPECT_EQ(flagged, FpState{});
  for (const FpState& other : {flushing(), single_precision_x87(), rounding_up(), trapping()})
    EXPECT_NE(other, FpState{});
}

TEST(FpState, AThreadsOwnStateIsBackAfterwards) {
  for (const FpState& own : {FpState{}, flushing(), single_precision_x87(), rounding_up(), trapping()}) {
    own.set();
    {
      const DefaultFpState state;
      EXPECT_EQ(FpState::of_thread(), FpState{});
      flushing().set();
      EXPECT_FALSE(DefaultFpState::is_default());
    }
    const FpState after = FpState::of_thread();
    FpState{}.set();
    EXPECT_EQ(after, own);
  }
}

void denormal(void* const* buffers, const std::int64_t*, std::int64_t begin, std::int64_t end) {
  volatile float x = 1e-40f;
  for (std::int64_t i = begin; i < end; ++i) static_cast<float*>(buffers[0])[i] = x * 0.5f;
}

Plan one_kernel(std::int64_t elements, std::uint64_t flops) {
  return {.programs = {{"kernel"}},
          .kernels = {{"e_n", 0, {out(0)}, {}, elements, flops, 0}},
          .outputs = {{{DType::kF32, elements}}}};
}

TEST_F(ExecutorTest, KeepsDenormalsInAThreadThatFlushesThem) {
  entries = {denormal};
  flushing().set();
  const StatusOr<Execution> execution = run(one_kernel(1000, 1 << 30), {}, {});
  const FpState after = FpState::of_thread();
  FpState{}.set();
  EXPECT_EQ(after, flushing());
  ASSERT_TRUE(execution.ok());
  const auto* const y = static_cast<const float*>(execution->outputs[0]->data());
  for (int i = 0; i < 1000; ++i) ASSERT_GT(y[i], 0.0f) << i;
}

void flush(void* const*, const std::int64_t*, std::int64_t, std::int64_t) {
  flushing().set();
}
void set_x87(void* const*, const std::int64_t*, std::int64_t, std::int64_t) {
  single_precision_x87().set();
}
void round_up(void* const*, const std::int64_t*, std::int64_t, std::int64_t) {
  rounding_up().set();
}
void read_state(void* const* buffers, const std::int64_t*, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i)
    static_cast<float*>(buffers[0])[i] = FpState::of_thread() == FpState{} ? 1.0f : 0.0f;
}

TEST_F(ExecutorTest, AKernelThatChangesTheStateIsFoundOutAndLeavesNoTrace) {
  for (const KernelEntry kernel : {flush, set_x87, round_up}) {
    entries = {kernel};
    // Inline it is the caller's thread; in slices the pool's are in it, and a slice's exception is the run's status.
    EXPECT_THROW(run(one_kernel(1, 1), {}, {}).IgnoreError(), BrokenInvariant);
    const Status sliced = run(one_kernel(1000, 1 << 30), {}, {}).status();
    EXPECT_EQ(sliced.code(), StatusCode::kInternal);
    EXPECT_THAT(message(sliced), HasSubstr("a kernel changed the floating-point state of its thread"));
    EXPECT_EQ(FpState::of_thread(), FpState{});

    entries = {read_state};
    const StatusOr<Execution> next = run(one_kernel(1000, 1 << 30), {}, {});
    ASSERT_TRUE(next.ok()) << next.status();
    const auto* const is_default = static_cast<const float*>(next->outputs[0]->data());
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(is_default[i], 1.0f) << i;
  }
}

// Without the executor's guard, every thread of the pool says what state it is in.
TEST_F(ExecutorTest, RunsLeaveThePoolsThreadsAsTheyWere) {
  entries = {flush};
  run(one_kernel(1000, 1 << 30), {}, {}).IgnoreError();
  entries = {scale, row_sum};
  ASSERT_TRUE(run(scale_and_sum(20'000), {matrix(20'000)}, {1, 1}).ok());
  std::atomic<int> changed = 0;
  const Status status = threads->parallel_for(1000, 1, {}, [&](std::int64_t, std::int64_t) {
    if (!DefaultFpState::is_default()) ++changed;
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(changed, 0);
}

}  // namespace
}  // namespace uop
#endif
