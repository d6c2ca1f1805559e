// Running plans whose kernels are hand-written C++: binding, refusals, threads, overlap, cancellation.
#include "core/exec/executor.h"

#include <gmock/gmock.h>

#include <atomic>
#include <limits>
#include <thread>

#include "core/exec/slices.h"
#include "core/ir/shape_rules.h"
#include "tests/exec/executor_fixture.h"

namespace uop {
namespace {

using testing::HasSubstr;

TEST_F(ExecutorTest, BindsInputsTemporariesOutputsAndVariables) {
  const BufferPtr input = matrix(2);
  StatusOr<Execution> execution = run(scale_and_sum(2), {input}, {3, -5});
  ASSERT_TRUE(execution.ok()) << execution.status();
  ASSERT_EQ(execution->outputs.size(), 3u);
  EXPECT_EQ(execution->timings.size(), 3u);
  EXPECT_EQ(execution->outputs[2], input);

  const auto* const x = static_cast<const float*>(input->data());
  const auto* const sums = static_cast<const float*>(execution->outputs[0]->data());
  const auto* const scaled = static_cast<const float*>(execution->outputs[1]->data());
  for (int row = 0; row < 2; ++row) {
    float sum = 0;
    for (int c = 0; c < kColumns; ++c) {
      const float once = x[row * kColumns + c] * 0.7f - 5.0f;
      EXPECT_EQ(scaled[row * kColumns + c], once * 0.7f + 3.0f);
      sum += once;
    }
    EXPECT_EQ(sums[row], sum);
  }
}

TEST_F(ExecutorTest, RepeatsKernelsWhereAsked) {
  const StatusOr<Execution> once = run(scale_and_sum(8), {matrix(8)}, {0, 0});
  const StatusOr<Execution> twice = run(scale_and_sum(8), {matrix(8)}, {0, 0}, {}, {.repeat_kernels = true});
  for (const KernelTiming& timing : once->timings) EXPECT_EQ(timing.again.count(), 0);
  for (const KernelTiming& timing : twice->timings) EXPECT_GT(timing.again.count(), 0);
  EXPECT_EQ(bytes_of(once->outputs[0]), bytes_of(twice->outputs[0]));
}

TEST_F(ExecutorTest, RefusesWhatDoesNotFit) {
  const BufferPtr good = matrix(2);
  struct Row {
    std::vector<BufferPtr> inputs;
    std::vector<std::int64_t> variables;
    const char* expected;
  };
  const Row rows[] = {
      {{}, {0, 0}, "the plan takes 1 inputs, but 0 were given"},
      {{good, good}, {0, 0}, "the plan takes 1 inputs, but 2 were given"},
      {{nullptr}, {0, 0}, "input 0 has no buffer; pass one of 512 bytes (128 elements of f32)"},
      {{matrix(1)}, {0, 0}, "input 0 has 256 bytes, but the plan takes 512 (128 elements of f32)"},
      {{matrix(3)}, {0, 0}, "input 0 has 768 bytes, but the plan takes 512 (128 elements of f32)"},
      {{good}, {0}, "the plan takes 2 variables, but 1 were given"},
      {{good}, {0, 6}, "variable 1 is 6, outside its bounds -5..5"},
      {{good}, {-1, 0}, "variable 0 is -1, outside its bounds 0..100"},
  };
  for (const Row& row : rows) {
    const Status status = run(scale_and_sum(2), row.inputs, row.variables).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << row.expected;
    EXPECT_THAT(message(status), HasSubstr(row.expected));
  }
  EXPECT_TRUE(run(scale_and_sum(2), {good}, {100, 5}).ok());
}

TEST_F(ExecutorTest, ABrokenPlanIsABrokenInvariant) {
  const auto spoilt = [](auto spoil) {
    Plan plan = scale_and_sum(2);
    spoil(plan);
    return plan;
  };
  const Plan plans[] = {
      spoilt([](Plan& p) { p.programs.pop_back(); }),         spoilt([](Plan& p) { p.kernels[0].program = 2; }),
      spoilt([](Plan& p) { p.kernels[0].refs[0] = in(1); }),  spoilt([](Plan& p) { p.kernels[0].refs[0] = tmp(1); }),
      spoilt([](Plan& p) { p.kernels[0].refs[0] = out(3); }), spoilt([](Plan& p) { p.kernels[0].variables[0] = 2; }),
      spoilt([](Plan& p) { p.temps[0].offset = 128; }),       spoilt([](Plan& p) { p.outputs[2].alias_of_input = 1; }),
  };
  for (const Plan& plan : plans) EXPECT_THROW(run(plan, {matrix(2)}, {0, 0}).IgnoreError(), BrokenInvariant);
  EXPECT_EQ(pool->stats().in_use_bytes, 0);
}

TEST_F(ExecutorTest, SaysWhenThePoolIsTooSmall) {
  pool = BufferPool::create(1 << 20);
  const Status status = run(scale_and_sum(2048), {matrix(2048)}, {0, 0}).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(pool->stats().in_use_bytes, 0);
}

TEST_F(ExecutorTest, EmptyOutputs) {
  const Plan plan{.inputs = {{DType::kF32, 0}},
                  .programs = {{"row_sum"}},
                  .kernels = {{"r_0", 0, {in(0), out(0)}, {}, 0, 0, 0}},
                  .outputs = {{{DType::kF32, 0}}, {{DType::kF32, 0}, 0}}};
  entries = {row_sum};
  const StatusOr<Execution> execution = run(plan, {pool->allocate(0).value()}, {});
  ASSERT_TRUE(execution.ok()) << execution.status();
  EXPECT_EQ(execution->outputs[0]->bytes(), 0);
  EXPECT_NE(execution->outputs[0]->data(), nullptr);
}

TEST_F(ExecutorTest, SameBitsForAnyNumberOfThreads) {
  const std::int64_t rows = 20'001;
  const BufferPtr input = matrix(rows);
  std::vector<std::string> results;
  for (const int count : {1, 2, 4}) {
    threads = ComputePool::create(count);
    const StatusOr<Execution> execution = run(scale_and_sum(rows), {input}, {7, 1});
    ASSERT_TRUE(execution.ok());
    results.push_back(bytes_of(execution->outputs[0]) + bytes_of(execution->outputs[1]));
  }
  EXPECT_TRUE(results[0] == results[1]);
  EXPECT_TRUE(results[0] == results[2]);
}

TEST_F(ExecutorTest, RunsOfOnePlanOverlap) {
  const Plan plan = scale_and_sum(5'000);
  const BufferPtr input = matrix(5'000);
  std::vector<std::string> expected;
  for (std::int64_t v = 0; v < 8; ++v) expected.push_back(bytes_of(run(plan, {input}, {v, 2})->outputs[1]));
  std::vector<std::jthread> runners;
  for (std::int64_t v = 0; v < 8; ++v)
    runners.emplace_back([&, v] {
      for (int round = 0; round < 10; ++round)
        EXPECT_TRUE(bytes_of(run(plan, {input}, {v, 2})->outputs[1]) == expected[static_cast<std::size_t>(v)]);
    });
}

TEST(SlicesTest, FollowTheWork) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  struct Row {
    std::int64_t parallel;
    std::uint64_t flops, bytes;
    std::int64_t expected;  // grain
  };
  const Row rows[] = {
      {0, 0, 0, 1},
      {1, kMost, kMost, 1},
      {1000, kMinSliceWork, kMinSliceWork - 1, 1000},  // not worth a second thread
      {1000, kMinSliceWork, kMinSliceWork, 500},       // two slices
      {1000, kMinSliceWork * 255, kMinSliceWork, 4},   // enough slices, as far as the loop can be split
      {1 << 20, kMaxSliceWork * 256, 0, 1 << 12},      // no more than enough, as long as each is short
      {1 << 20, kMaxSliceWork * 1024, 0, 1 << 10},     // then the longest slices allowed
      {1 << 20, kMaxSliceWork * 4096, 0, 1 << 8},      // and more of them
      {1 << 20, kMost, 0, 1},                          // flops that are too many to count: as far as it goes
      {1 << 20, kMost, 4, 1},                          // and with what is added
      {kMaxElements, kMost, kMost, 1 << (56 - 34)},    // 2^34 slices of 2^30
  };
  for (const Row& row : rows) {
    const KernelLaunch kernel{"e", 0, {}, {}, row.parallel, row.flops, row.bytes};
    EXPECT_EQ(grain_of(kernel), row.expected) << row.parallel << " " << row.flops << " " << row.bytes;
  }
}

// A kernel that another thread's buffers can reach only through a variable: the address of what it should stop.
void stop_at_third(void* const*, const std::int64_t* variables, std::int64_t, std::int64_t) {
  auto* const calls = reinterpret_cast<std::pair<std::atomic<int>, std::stop_source>*>(variables[0]);
  if (++calls->first == 3) calls->second.request_stop();
}

TEST_F(ExecutorTest, StopsBetweenSlicesAndKernels) {
  std::pair<std::atomic<int>, std::stop_source> calls;
  const Cancel cancel{.token = calls.second.get_token()};
  const std::vector<std::int64_t> address = {reinterpret_cast<std::int64_t>(&calls)};
  entries = {stop_at_third};
  Plan plan{.variables = {{0, std::numeric_limits<std::int64_t>::max()}}, .programs = {{"stop"}}};
  const KernelLaunch sliced{"e_big", 0, {}, {0}, 1'000, 1 << 30, 0};
  const KernelLaunch small{"e_1", 0, {}, {0}, 1, 1, 0};

  plan.kernels = {sliced};
  EXPECT_EQ(run(plan, {}, address, cancel).status().code(), StatusCode::kCancelled);
  EXPECT_LE(calls.first, 4);  // the other thread may have begun one

  calls.first = 0;
  calls.second = std::stop_source();
  plan.kernels = {small, small, small, small};
  EXPECT_EQ(run(plan, {}, address, {.token = calls.second.get_token()}).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(calls.first, 3);

  EXPECT_EQ(run(plan, {}, address, {.deadline = Clock::now()}).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(calls.first, 3);
}

}  // namespace
}  // namespace uop
