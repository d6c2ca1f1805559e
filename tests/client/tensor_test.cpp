// Tensor operations against values worked out by hand: rows of (what, tensor, expected), run on the embedded device.
#include "client/cpp/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "client/cpp/algorithms.h"
#include "client/cpp/embedded.h"
#include "client/cpp/operators.h"
#include "core/ir/shape_rules.h"
#include "tests/client/process.h"

namespace uop {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class TensorTest : public ::testing::Test {
 protected:
  static ProgramPtr make_program(const std::string& cache_dir) {
    EngineOptions options;
    options.cache_dir = cache_dir;
    return std::make_shared<Program>(value_or_throw(embedded(options)));
  }
  TemporaryDirectory dir_;
  ProgramPtr program_ = make_program(dir_ / "cache");
};

struct Row {
  std::string what;
  Tensor tensor;
  DType dtype;
  Shape shape;
  std::vector<double> expected;
  double tolerance = 0;
};

std::vector<double> values_of(const Tensor& tensor) {
  const std::vector<std::byte> bytes = tensor.bytes();
  const auto size = static_cast<std::size_t>(byte_size(tensor.dtype()));
  std::vector<double> values;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    Scalar value{tensor.dtype(), 0};
    std::memcpy(&value.bits, bytes.data() + at, size);
    values.push_back(to_double(value));
  }
  return values;
}

/// All rows in one graph.
void expect_all(const std::vector<Row>& rows) {
  std::vector<Tensor> tensors;
  for (const Row& row : rows) {
    EXPECT_EQ(type_text(row.tensor.dtype(), row.tensor.shape()), type_text(row.dtype, row.shape)) << row.what;
    tensors.push_back(row.tensor);
  }
  realize(tensors);
  for (const Row& row : rows) {
    std::vector<::testing::Matcher<double>> matchers;
    for (const double value : row.expected)
      matchers.push_back(row.tolerance == 0 || !std::isfinite(value)
                             ? ::testing::Matcher<double>(::testing::NanSensitiveDoubleEq(value))
                             : ::testing::Matcher<double>(::testing::DoubleNear(value, row.tolerance)));
    EXPECT_THAT(values_of(row.tensor), ::testing::ElementsAreArray(matchers)) << row.what;
  }
}

TEST_F(TensorTest, ElementwiseRows) {
  const Tensor x = Tensor::from<float>(program_, {-2, -0.5, 0.25, 3}, {2, 2});
  const Tensor y = Tensor::from<float>(program_, {1, 2}, {2});
  const Tensor i = Tensor::from<std::int32_t>(program_, {7, -7, 2}, {3});
  const Tensor b = not_equal(i, 7);
  const Tensor u = Tensor::from<std::uint8_t>(program_, {250, 1}, {2});
  const Tensor nan = Tensor::from<float>(program_, {kNaN, 1}, {2});
  constexpr double kSoft = 1e-6;
  expect_all({
      {"x + y", x + y, DType::kF32, {2, 2}, {-1, 1.5, 1.25, 5}},
      {"x - y", x - y, DType::kF32, {2, 2}, {-3, -2.5, -0.75, 1}},
      {"x * y", x * y, DType::kF32, {2, 2}, {-2, -1, 0.25, 6}},
      {"x / y", x / y, DType::kF32, {2, 2}, {-2, -0.25, 0.25, 1.5}},
      {"1 - x", 1 - x, DType::kF32, {2, 2}, {3, 1.5, 0.75, -2}},
      {"x - 1", x - 1, DType::kF32, {2, 2}, {-3, -1.5, -0.75, 2}},
      {"x / 4", x / 4, DType::kF32, {2, 2}, {-0.5, -0.125, 0.0625, 0.75}},
      {"-x", -x, DType::kF32, {2, 2}, {2, 0.5, -0.25, -3}},
      {"i * 2", i * 2, DType::kI32, {3}, {14, -14, 4}},
      {"i - i / 2", i - i / 2, DType::kF32, {3}, {3.5, -3.5, 1}},
      {"i * 0.5", i * 0.5, DType::kF32, {3}, {3.5, -3.5, 1}},
      {"b + b", b + b, DType::kI32, {3}, {0, 2, 2}},
      {"u + 10 wraps", u + 10, DType::kU8, {2}, {4, 11}},
      {"u - 2 wraps", u - 2, DType::kU8, {2}, {248, 255}},
      {"u + i widens", u.reshape({2, 1}) + i, DType::kI32, {2, 3}, {257, 243, 252, 8, -6, 3}},
      {"maximum", maximum(x, y), DType::kF32, {2, 2}, {1, 2, 1, 3}},
      {"minimum(x, 0)", minimum(x, 0), DType::kF32, {2, 2}, {-2, -0.5, 0, 0}},
      {"maximum of NaN", maximum(nan, 5), DType::kF32, {2}, {kNaN, 5}},
      {"x < y", x < y, DType::kBool, {2, 2}, {1, 1, 1, 0}},
      {"x >= -0.5", x >= -0.5, DType::kBool, {2, 2}, {0, 1, 1, 1}},
      {"i > 2", i > 2, DType::kBool, {3}, {1, 0, 0}},
      {"2 <= i", 2 <= i, DType::kBool, {3}, {1, 0, 1}},
      {"equal", equal(i, 2), DType::kBool, {3}, {0, 0, 1}},
      {"NaN is not equal", not_equal(nan, nan), DType::kBool, {2}, {1, 0}},
      {"where", where(x < 0, 0, x), DType::kF32, {2, 2}, {0, 0, 0.25, 3}},
      {"where of numbers", where(b, 1, 2), DType::kI32, {3}, {2, 1, 1}},
      {"relu", relu(x), DType::kF32, {2, 2}, {0, 0, 0.25, 3}},
      {"abs", abs(i), DType::kI32, {3}, {7, 7, 2}},
      {"exp2", exp2(i), DType::kF32, {3}, {128, 0.0078125, 4}, kSoft},
      {"exp", exp(x), DType::kF32, {2, 2}, {std::exp(-2.0), std::exp(-0.5), std::exp(0.25), std::exp(3.0)}, 4e-6},
      {"log", log(y), DType::kF32, {2}, {0, std::log(2.0)}, kSoft},
      {"log2", log2(y), DType::kF32, {2}, {0, 1}, kSoft},
      {"sin", sin(x), DType::kF32, {2, 2}, {std::sin(-2.0), std::sin(-0.5), std::sin(0.25), std::sin(3.0)}, kSoft},
      {"sqrt", sqrt(y), DType::kF32, {2}, {1, std::sqrt(2.0f)}},
      {"rsqrt", rsqrt(y), DType::kF32, {2}, {1, 1 / std::sqrt(2.0f)}},
      {"reciprocal", reciprocal(y), DType::kF32, {2}, {1, 0.5}},
      {"square", square(x), DType::kF32, {2, 2}, {4, 0.25, 0.0625, 9}},
      {"cast", x.cast(DType::kI8), DType::kI8, {2, 2}, {-2, 0, 0, 3}},
      {"half", (x.cast(DType::kF16) * 3).cast(DType::kF64), DType::kF64, {2, 2}, {-6, -1.5, 0.75, 9}},
      {"full", Tensor::full(program_, {2}, 1.5), DType::kF32, {2}, {1.5, 1.5}},
      {"0-d", Tensor::full(program_, {}, 2) * 3, DType::kF32, {}, {6}},
      {"empty", x.shrink({0, 0, 0, 2}) + y, DType::kF32, {0, 2}, {}},
  });
}

TEST_F(TensorTest, MovementRows) {
  const Tensor x = Tensor::arange(program_, 6).reshape({2, 3});
  expect_all({
      {"reshape", x.reshape({3, -1}), DType::kI32, {3, 2}, {0, 1, 2, 3, 4, 5}},
      {"transpose", x.transpose(), DType::kI32, {3, 2}, {0, 3, 1, 4, 2, 5}},
      {"permute", x.reshape({1, 2, 3}).permute({2, 0, -2}), DType::kI32, {3, 1, 2}, {0, 3, 1, 4, 2, 5}},
      {"expand", x.shrink({0, 1, 0, 3}).expand({2, 3}), DType::kI32, {2, 3}, {0, 1, 2, 0, 1, 2}},
      {"expand in front", x.expand({2, 2, 3}), DType::kI32, {2, 2, 3}, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}},
      {"pad", x.pad({0, 1, 1, 0}), DType::kI32, {3, 4}, {0, 0, 1, 2, 0, 3, 4, 5, 0, 0, 0, 0}},
      {"shrink", x.shrink({1, 2, 0, 2}), DType::kI32, {1, 2}, {3, 4}},
      {"flip", x.flip({-1}), DType::kI32, {2, 3}, {2, 1, 0, 5, 4, 3}},
      {"flip both", x.flip({0, 1}), DType::kI32, {2, 3}, {5, 4, 3, 2, 1, 0}},
      {"contiguous", x.transpose().contiguous() + 1, DType::kI32, {3, 2}, {1, 4, 2, 5, 3, 6}},
      {"detach", x.detach() + 1, DType::kI32, {2, 3}, {1, 2, 3, 4, 5, 6}},
  });
}

TEST_F(TensorTest, ReductionRows) {
  const Tensor x = Tensor::arange(program_, 12, DType::kF32).reshape({2, 3, 2});
  const Tensor i = Tensor::from<std::int32_t>(program_, {3, 1, 2, 2}, {2, 2});
  const Tensor ties = Tensor::from<float>(program_, {1, 3, 3, -2, -2, 0}, {2, 3});
  const Tensor nan = Tensor::from<float>(program_, {1, kNaN, 9, kNaN}, {4});
  expect_all({
      {"sum", x.sum(), DType::kF32, {}, {66}},
      {"sum last", x.sum({-1}), DType::kF32, {2, 3}, {1, 5, 9, 13, 17, 21}},
      {"sum first", x.sum({0}), DType::kF32, {3, 2}, {6, 8, 10, 12, 14, 16}},
      {"sum of two", x.sum({0, 2}), DType::kF32, {3}, {14, 22, 30}},
      {"sum of trailing", x.sum({1, 2}), DType::kF32, {2}, {15, 51}},
      {"keepdim", x.sum({1}, true), DType::kF32, {2, 1, 2}, {6, 9, 24, 27}},
      {"sum of bool", (i > 1).sum(), DType::kI32, {}, {3}},
      {"sum of nothing", x.shrink({0, 0, 0, 3, 0, 2}).sum({0}), DType::kF32, {3, 2}, {0, 0, 0, 0, 0, 0}},
      {"max", x.max({1}), DType::kF32, {2, 2}, {4, 5, 10, 11}},
      {"min", i.min(), DType::kI32, {}, {1}},
      {"max of NaN", nan.max(), DType::kF32, {}, {kNaN}},
      {"mean", x.mean({-1}), DType::kF32, {2, 3}, {0.5, 2.5, 4.5, 6.5, 8.5, 10.5}},
      {"mean of halves whose sum is beyond their range",
       Tensor::full(program_, {3, 40'000}, 2, DType::kF16).mean({1}),
       DType::kF16,
       {3},
       {2, 2, 2}},
      {"mean of integers", i.mean(), DType::kF32, {}, {2}},
      {"var", i.var({1}), DType::kF32, {2}, {1, 0}},
      {"argmax", argmax(ties), DType::kI32, {2}, {1, 2}},
      {"argmin", argmin(ties, 1, true), DType::kI32, {2, 1}, {0, 0}},
      {"argmin first axis", argmin(ties, 0), DType::kI32, {3}, {1, 1, 1}},
      {"argmax of NaN", argmax(nan), DType::kI32, {}, {1}},
      {"argmin of NaN", argmin(nan), DType::kI32, {}, {1}},
  });
}

TEST_F(TensorTest, AlgorithmRows) {
  const Tensor a = Tensor::arange(program_, 6, DType::kF32).reshape({2, 3});
  const Tensor b = Tensor::arange(program_, 12, DType::kF32).reshape({3, 4});
  const Tensor batch = Tensor::arange(program_, 12).reshape({2, 2, 3});
  const Tensor v = Tensor::from<float>(program_, {1, 2, 3}, {3});
  const Tensor big = Tensor::from<float>(program_, {1000, 1000}, {1, 2});
  const Tensor index = Tensor::from<std::int64_t>(program_, {2, 0, 5}, {3});
  const double e = std::exp(1.0);
  expect_all({
      {"matmul", matmul(a, b), DType::kF32, {2, 4}, {20, 23, 26, 29, 56, 68, 80, 92}},
      {"matrix vector", matmul(a, v), DType::kF32, {2}, {8, 26}},
      {"vector matrix", matmul(v, b), DType::kF32, {4}, {32, 38, 44, 50}},
      {"dot", matmul(v, v), DType::kF32, {}, {14}},
      {"batch", matmul(batch, batch.transpose()), DType::kI32, {2, 2, 2}, {5, 14, 14, 50, 149, 212, 212, 302}},
      {"batch broadcast", matmul(batch, b.cast(DType::kI32)).sum(), DType::kI32, {}, {1580}},
      {"softmax",
       softmax(v - 2),
       DType::kF32,
       {3},
       {1 / (1 + e + e * e), e / (1 + e + e * e), e * e / (1 + e + e * e)},
       1e-6},
      {"softmax of an axis", softmax(big, 0), DType::kF32, {1, 2}, {1, 1}},
      {"softmax does not overflow", softmax(big), DType::kF32, {1, 2}, {0.5, 0.5}, 1e-7},
      {"log_softmax", log_softmax(big), DType::kF32, {1, 2}, {-std::log(2.0), -std::log(2.0)}, 1e-6},
      {"layernorm", layernorm(v, 0), DType::kF32, {3}, {-std::sqrt(1.5), 0, std::sqrt(1.5)}, 1e-6},
      {"gather", gather(v, 0, index), DType::kF32, {3}, {3, 1, 0}},
  });
}

TEST_F(TensorTest, GradientsComeFromOneGraphWithTheLoss) {
  const Tensor w = Tensor::from<float>(program_, {1, -2, 3}, {3}).set_requires_grad();
  const Tensor x = Tensor::from<float>(program_, {4, 5, 6}, {3}).set_requires_grad();
  const Tensor loss = square(relu(w * x)).sum();
  EXPECT_EQ(loss.item(), 16.0f + 18 * 18);  // a loss may be read before it is differentiated
  const std::vector<Tensor> gradients = grad(loss, {w, x});
  expect_all(
      {{"dw", gradients[0], DType::kF32, {3}, {32, 0, 216}}, {"dx", gradients[1], DType::kF32, {3}, {8, 0, 108}}});
}

TEST_F(TensorTest, WhatNeedsNoGradientsKeepsNoHistoryOnceRead) {
  const Tensor w = Tensor::from<float>(program_, {1, 2}, {2});
  const Tensor loss = square(w).sum();
  expect_all({{"before it is read", grad(loss, {w})[0], DType::kF32, {2}, {2, 4}}});
  EXPECT_EQ(loss.item(), 5.0f);
  EXPECT_THROW((void)grad(loss, {w}), ClientError);
}

TEST_F(TensorTest, RealizedTensorsAreLeavesAndShareTheirBuffers) {
  const Tensor x = Tensor::from<float>(program_, {1, 2}, {2});
  const Tensor y = x * 2;
  const Tensor same = x * 2;
  y.realize();
  EXPECT_EQ(y.node(), same.node()) << "an equal expression is the same value";
  EXPECT_NE(program_->buffer_of(y.node()), nullptr);
  EXPECT_THAT((y + 1).to_vector<float>(), ::testing::ElementsAre(3, 5));
  EXPECT_EQ(program_->report().kernels, 1u);
}

TEST_F(TensorTest, BuffersGoWithTheirTensorsAndTheGraphStaysSmall) {
  Tensor x = Tensor::from<float>(program_, {1, 2}, {2});
  std::weak_ptr<const DeviceBuffer> first = program_->buffer_of(x.node());
  for (int step = 0; step < 3000; ++step) x = (x + 1).realize();
  EXPECT_TRUE(first.expired());
  EXPECT_LT(program_->graph().size(), 10'000u);
  EXPECT_THAT(x.to_vector<float>(), ::testing::ElementsAre(3001, 3002));
}

TEST_F(TensorTest, ErrorsGiveTheRemedy) {
  const Tensor x = Tensor::arange(program_, 6, DType::kF32).reshape({2, 3});
  const Tensor u = Tensor::from<std::uint64_t>(program_, {1}, {1});
  const Tensor other = Tensor::arange(make_program(dir_ / "cache"), 6);
  const std::vector<std::pair<std::function<void()>, std::string>> rows = {
      {[&] { (void)(x + x.transpose()); }, "shapes [2,3] and [3,2] do not broadcast"},
      {[&] { (void)(x + other); }, "different programs"},
      {[&] { (void)matmul(x, x); }, "the last axis of the first is 3, the last but one of the second 2"},
      {[&] {
         (void)x.reshape({4, 2});
       },
       "RESHAPE keeps the number of elements"},
      {[&] {
         (void)x.reshape({-1, 4});
       },
       "one dimension may be -1"},
      {[&] { (void)x.sum({2}); }, "axis 2 of a tensor of 2 axes; use -2..1"},
      {[&] {
         (void)x.sum({1, -1});
       },
       "name one axis twice"},
      {[&] {
         (void)x.permute({0, 0});
       },
       "PERMUTE order [0,0]"},
      {[&] {
         (void)x.expand({4, 3});
       },
       "[2,3] does not expand to [4,3]"},
      {[&] {
         (void)x.shrink({0, 3, 0, 3});
       },
       "SHRINK takes 0 <= begin <= end <= size"},
      {[&] { (void)(u + Tensor::arange(program_, 1)); }, "no integer type holds both u64 and i32"},
      {[&] { (void)(u.cast(DType::kU8) + 256); }, "256 does not fit into a u8 tensor"},
      {[&] { (void)x.item(); }, "item() reads the only element"},
      {[&] { (void)x.to_vector<double>(); }, "a f32 tensor read as f64"},
      {[&] {
         (void)Tensor::from<float>(program_, {1, 2}, {3});
       },
       "f32[3] takes 3 elements; got 2"},
      {[&] { (void)grad(x, {x}); }, "a loss of one float element"},
      {[&] { (void)grad(x.sum(), {x * 3}); }, "the loss does not depend on tensor 0"},
      {[&] {
         (void)x.shrink({0, 0, 0, 3}).max();
       },
       "over no elements"},
  };
  for (const auto& [action, text] : rows) {
    try {
      action();
      ADD_FAILURE() << "no error: " << text;
    } catch (const ClientError& problem) {
      EXPECT_THAT(problem.what(), ::testing::HasSubstr(text));
      EXPECT_EQ(problem.code(), StatusCode::kInvalidArgument) << text;
    }
  }
}

}  // namespace
}  // namespace uop
