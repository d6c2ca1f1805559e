// What the tests of the executor share: a pool, two threads, and a plan of hand-written kernels.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/exec/executor.h"
#include "tests/buffer_refs.h"

namespace uop {

inline constexpr std::int64_t kColumns = 64;

/// y = x * 0.7 + variable, row by row; the slice counts rows of kColumns.
inline void scale(void* const* buffers, const std::int64_t* variables, std::int64_t begin, std::int64_t end) {
  const auto* const x = static_cast<const float*>(buffers[0]);
  auto* const y = static_cast<float*>(buffers[1]);
  for (std::int64_t i = begin * kColumns; i < end * kColumns; ++i)
    y[i] = x[i] * 0.7f + static_cast<float>(variables[0]);
}

/// y[row] = sum of x[row, :]
inline void row_sum(void* const* buffers, const std::int64_t*, std::int64_t begin, std::int64_t end) {
  const auto* const x = static_cast<const float*>(buffers[0]);
  auto* const y = static_cast<float*>(buffers[1]);
  for (std::int64_t row = begin; row < end; ++row) {
    float sum = 0;
    for (std::int64_t c = 0; c < kColumns; ++c) sum += x[row * kColumns + c];
    y[row] = sum;
  }
}

/// tmp0 = scale(in0), out0 = row sums of it, out1 = tmp0 scaled again, out2 is in0.
inline Plan scale_and_sum(std::int64_t rows) {
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

inline std::string bytes_of(const BufferPtr& buffer) {
  return {static_cast<const char*>(buffer->data()), static_cast<std::size_t>(buffer->bytes())};
}

}  // namespace uop
