// Running plans whose kernels are hand-written C++: binding, refusals, threads, overlap, cancellation, warm memory.
#include "core/exec/executor.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace uop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr BufferRef in(std::uint32_t i) {
  return {BufferRef::Kind::kIn, i};
}
constexpr BufferRef tmp(std::uint32_t i) {
  return {BufferRef::Kind::kTmp, i};
}
constexpr BufferRef out(std::uint32_t i) {
  return {BufferRef::Kind::kOut, i};
}

constexpr std::int64_t kColumns = 64;

/// y = x * 0.7 + variable, row by row; the slice counts rows of kColumns.
void scale(void* const* buffers, const std::int64_t* variables, std::int64_t begin, std::int64_t end) {
  const auto* const x = static_cast<const float*>(buffers[0]);
  auto* const y = static_cast<float*>(buffers[1]);
  for (std::int64_t i = begin * kColumns; i < end * kColumns; ++i)
    y[i] = x[i] * 0.7f + static_cast<float>(variables[0]);
}

/// y[row] = sum of x[row, :]
void row_sum(void* const* buffers, const std::int64_t*, std::int64_t begin, std::int64_t end) {
  const auto* const x = static_cast<const float*>(buffers[0]);
  auto* const y = static_cast<float*>(buffers[1]);
  for (std::int64_t row = begin; row < end; ++row) {
    float sum = 0;
    for (std::int64_t c = 0; c < kColumns; ++c) sum += x[row * kColumns + c];
    y[row] = sum;
  }
}

/// tmp0 = scale(in0), out0 = row sums of it, out1 = tmp0 scaled again, out2 is in0.
Plan scale_and_sum(std::int64_t rows) {
  const TensorSpec matrix{DType::kF32, rows * kColumns};
  const TensorSpec column{DType::kF32, rows};
  const auto work = static_cast<std::uint64_t>(rows * kColumns);
  return {.inputs = {matrix},
          .variables = {{0, 100}, {-5, 5}},
          .programs = {{"scale"}, {"row_sum"}},
          .kernels = {{"e_m", 0, {in(0), tmp(0)}, {1}, rows, 2 * work, 8 * work},
                      {"r_m", 1, {tmp(0), out(0)}, {}, rows, work, 4 * work},
                      {"e_m", 0, {tmp(0), out(1)}, {0}, rows, 2 * work, 8 * work}},
          .temps = {{matrix, 0, 2, 64}},
          .outputs = {{column}, {matrix}, {matrix, 0}},
          .scratch_bytes = 64 + matrix.bytes()};
}

struct ExecutorTest : testing::Test {
  StatusOr<Execution> run(const Plan& plan, const std::vector<BufferPtr>& inputs,
                          const std::vector<std::int64_t>& variables, const Cancel& cancel = {},
                          const ExecuteOptions& options = {}) {
    return execute(plan, entries, inputs, variables, options, *pool, *threads, cancel);
  }

  BufferPtr matrix(std::int64_t rows) {
    BufferPtr buffer = pool->allocate(static_cast<std::uint64_t>(rows * kColumns) * sizeof(float)).value();
    auto* const x = static_cast<float*>(buffer->data());
    for (std::int64_t i = 0; i < rows * kColumns; ++i) x[i] = static_cast<float>(i % 977) / 31.0f;
    return buffer;
  }

  std::vector<KernelEntry> entries = {scale, row_sum};
  std::unique_ptr<BufferPool> pool = BufferPool::create(256 << 20);
  std::unique_ptr<ComputePool> threads = ComputePool::create(2);
};

std::string bytes_of(const BufferPtr& buffer) {
  return {static_cast<const char*>(buffer->data()), static_cast<std::size_t>(buffer->bytes())};
}

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

#ifdef __SSE__
float tiny_product(float x) {
  return x * 0.5f;
}

void denormal(void* const* buffers, const std::int64_t*, std::int64_t, std::int64_t) {
  volatile float x = 1e-40f;
  *static_cast<float*>(buffers[0]) = tiny_product(x);
}

TEST_F(ExecutorTest, KeepsDenormalsInAThreadThatFlushesThem) {
  const Plan plan{
      .programs = {{"denormal"}}, .kernels = {{"e_1", 0, {out(0)}, {}, 1, 1, 4}}, .outputs = {{{DType::kF32, 1}}}};
  entries = {denormal};
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);  // flush to zero, denormals are zero
  const StatusOr<Execution> execution = run(plan, {}, {});
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(after, before | 0x8040);
  EXPECT_GT(*static_cast<const float*>(execution->outputs[0]->data()), 0.0f);
}
#endif

std::int64_t minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST_F(ExecutorTest, WarmRunsTouchNothingNew) {
  const std::int64_t rows = (16 << 20) / (kColumns * 4);  // 16 MiB of scratch and of output a run
  const Plan plan = scale_and_sum(rows);
  const BufferPtr input = matrix(rows);
  for (int round = 0; round < 3; ++round) ASSERT_TRUE(run(plan, {input}, {1, 1}).ok());
  const BufferPoolStats before = pool->stats();
  const std::int64_t faults = minor_faults();
  for (int round = 0; round < 20; ++round) ASSERT_TRUE(run(plan, {input}, {1, 1}).ok());
  // Fresh memory would cost 16 faults a run in huge pages, 8192 in small ones. What is allowed is for stacks, and for
  // the malloc of AddressSanitizer, which does not hand memory out again at once.
  EXPECT_LT(minor_faults() - faults, 100);
  const BufferPoolStats after = pool->stats();
  EXPECT_EQ(after.in_use_bytes, before.in_use_bytes);
  EXPECT_EQ(after.cached_bytes, before.cached_bytes);
  EXPECT_EQ(after.peak_bytes, before.peak_bytes);
  EXPECT_EQ(after.allocations - before.allocations, after.reuses - before.reuses);
}

}  // namespace
}  // namespace uop
