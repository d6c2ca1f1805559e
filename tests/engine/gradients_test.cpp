// GRADIENT against central differences, in f64: rows of (loss of x).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "core/engine.h"
#include "tests/engine/chapter_graphs.h"
#include "tests/temporary_directory.h"

namespace uop {
namespace {

using namespace chapter;

constexpr std::int64_t kRows = 3;
constexpr std::int64_t kColumns = 4;
constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-6;

struct Row {
  const char* what;
  std::function<UOp(UOp)> loss;  // of x, f64[3,4]
};

UOp total(UOp x) {
  return reduce(Op::kAdd, x, static_cast<std::int64_t>(x.shape().size()));
}

std::vector<double> test_point() {
  std::vector<double> x;
  for (int i = 0; i < kRows * kColumns; i++) x.push_back(std::sin(1.7 * i + 0.3) * 1.5);
  return x;
}
double first_element() {
  return test_point()[0];
}

/// The sum of x times 0, 1, 2, …: so that every element has a gradient of its own.
UOp weighed(UOp x) {
  const UOp weights = cast(reshape(iota(x.graph(), DType::kI32, x.numel()), x.shape()), DType::kF64);
  return total(mul(x, weights));
}

/// x less what its first element is in the test: one factor is 0.
UOp with_a_zero(UOp x) {
  return plus(x, -first_element());
}

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {"sum", [](UOp x) { return total(x); }},
      {"square", [](UOp x) { return weighed(square(x)); }},
      {"sub", [](UOp x) { return weighed(binary(Op::kSub, square(x), x)); }},
      {"div", [](UOp x) { return weighed(binary(Op::kDiv, x, plus(square(x), 1))); }},
      {"neg, abs", [](UOp x) { return weighed(unary(Op::kNeg, unary(Op::kAbs, x))); }},
      {"reciprocal", [](UOp x) { return weighed(unary(Op::kReciprocal, plus(square(x), 1))); }},
      {"sqrt", [](UOp x) { return weighed(unary(Op::kSqrt, plus(square(x), 1))); }},
      {"exp2", [](UOp x) { return weighed(unary(Op::kExp2, x)); }},
      {"log2", [](UOp x) { return weighed(unary(Op::kLog2, plus(square(x), 1))); }},
      {"sin", [](UOp x) { return weighed(unary(Op::kSin, x)); }},
      {"max, min",
       [](UOp x) {
         const UOp y = scaled(flip(x, {1, 1}), 0.7);
         return weighed(add(binary(Op::kMax, x, y), scaled(binary(Op::kMin, x, y), 3)));
       }},
      {"where", [](UOp x) { return weighed(relu(x)); }},
      {"cast", [](UOp x) { return weighed(cast(cast(x, DType::kF64), DType::kF64)); }},
      {"movement",
       [](UOp x) {
         return weighed(square(pad(permute(shrink(flip(x, {0, 1}), {0, 2, 1, 4}), {1, 0}), {1, 0, 0, 2})));
       }},
      {"reshape",
       [](UOp x) {
         return weighed(square(reshape(x, {2, 6})));
       }},
      {"expand",
       [](UOp x) {
         return weighed(square(expand(reshape(x, {3, 1, 4}), {3, 5, 4})));
       }},
      {"row maxima", [](UOp x) { return weighed(square(reduce(Op::kMax, x, 1))); }},
      {"softmax", [](UOp x) { return weighed(softmax(x)); }},
      {"layernorm", [](UOp x) { return weighed(layernorm(x)); }},
      {"matmul",
       [](UOp x) {
         return weighed(matmul(x, permute(x, {1, 0})));
       }},
      {"stage", [](UOp x) { return weighed(square(stage(x))); }},
      {"gather",
       [](UOp x) {
         const UOp index = reshape(iota(x.graph(), DType::kI64, 6), {3, 2});
         return weighed(square(x.graph().make(Op::kGather, {x, index}, {.value = 1})));
       }},
      {"scatter",
       [](UOp x) {
         const UOp index = broadcast_scalar(constant(x.graph(), DType::kI64, std::int64_t{2}), {3, 4});
         return weighed(square(x.graph().make(Op::kScatter, {x, index, square(x)}, {.op = Op::kAdd, .value = 1})));
       }},
      {"scatter that stores, twice to one place",
       [](UOp x) {
         const UOp index =
             expand(reshape(binary(Op::kMod, iota(x.graph(), DType::kI64, 4),
                                   broadcast_scalar(constant(x.graph(), DType::kI64, std::int64_t{3}), {4})),
                            {1, 4}),
                    {3, 4});
         return weighed(square(x.graph().make(Op::kScatter, {square(x), index, mul(x, square(x))}, {.value = 1})));
       }},
      {"product", [](UOp x) { return weighed(square(reduce(Op::kMul, x, 1))); }},
      {"product with a factor 0", [](UOp x) { return total(reduce(Op::kMul, with_a_zero(x), 2)); }},
      {"gradient of a product's gradient, with a factor 0",
       [](UOp x) {
         const UOp factors = with_a_zero(x);
         return weighed(square(gradient(total(reduce(Op::kMul, shrink(factors, {0, 3, 0, 2}), 1)), x)));
       }},
      {"product of many, with a factor 0",
       [](UOp x) {
         const UOp many = pad(reshape(with_a_zero(x), {12}), {0, 300});
         const UOp ones = pad(full_like(reshape(x, {12}), 1), {0, 300});
         return total(reduce(Op::kMul, binary(Op::kSub, plus(many, 1), ones), 1));
       }},
      {"a gradient of a gradient", [](UOp x) { return weighed(square(gradient(weighed(mul(x, square(x))), x))); }},
  };
  return list;
}

class Gradients : public testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.cache_dir = directory_.path();
    StatusOr<std::unique_ptr<Engine>> engine = Engine::create(options);
    ASSERT_TRUE(engine.ok()) << message(engine.status());
    engine_ = *std::move(engine);
  }

  CompiledPlanPtr plan(const std::function<UOp(UOp)>& root_of) {
    RootedGraph graph{std::make_unique<Graph>(), {}};
    graph.roots = {root_of(input(*graph.graph, 0, {kRows, kColumns}, DType::kF64))};
    const StatusOr<Compilation> compilation = engine_->compile(graph, {});
    EXPECT_TRUE(compilation.ok()) << message(compilation.status());
    return compilation.ok() ? compilation->plan : nullptr;
  }

  std::vector<double> run(const CompiledPlanPtr& plan, const std::vector<double>& x) {
    const StatusOr<BufferPtr> buffer = engine_->pool().allocate(x.size() * sizeof(double));
    std::memcpy((*buffer)->data(), x.data(), x.size() * sizeof(double));
    const StatusOr<RunResult> result = engine_->run(plan, std::vector<BufferPtr>{*buffer}, {});
    EXPECT_TRUE(result.ok()) << message(result.status());
    std::vector<double> values(result->execution.outputs[0]->bytes() / sizeof(double));
    std::memcpy(values.data(), result->execution.outputs[0]->data(), values.size() * sizeof(double));
    return values;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(Gradients, MatchCentralDifferences) {
  const std::vector<double> x = test_point();
  for (const Row& r : rows()) {
    const CompiledPlanPtr loss = plan(r.loss);
    const CompiledPlanPtr derivative = plan([&](UOp u) { return gradient(r.loss(u), u); });
    ASSERT_TRUE(loss && derivative) << r.what;
    const std::vector<double> g = run(derivative, x);
    ASSERT_EQ(g.size(), x.size()) << r.what;
    for (std::size_t i = 0; i < x.size(); i++) {
      std::vector<double> up = x;
      std::vector<double> down = x;
      up[i] += kStep;
      down[i] -= kStep;
      const double expected = (run(loss, up)[0] - run(loss, down)[0]) / (2 * kStep);
      EXPECT_NEAR(g[i], expected, kTolerance * (1 + std::abs(expected))) << r.what << ", element " << i;
    }
  }
}

TEST_F(Gradients, DetachedAndUnrelatedValuesGetZeros) {
  const std::vector<double> x(kRows * kColumns, 2);
  for (const auto& loss :
       std::vector<std::function<UOp(UOp)>>{[](UOp u) { return total(u.graph().make(Op::kDetach, {u})); },
                                            [](UOp u) { return constant(u.graph(), DType::kF64, 3.0); },
                                            [](UOp u) { return total(unary(Op::kFloor, u)); }})
    EXPECT_EQ(run(plan([&](UOp u) { return gradient(loss(u), u); }), x), std::vector<double>(x.size(), 0));
}

TEST_F(Gradients, AnOpWithoutADerivativeIsNamed) {
  RootedGraph graph{std::make_unique<Graph>(), {}};
  const UOp x = input(*graph.graph, 0, {kRows, kColumns}, DType::kF64);
  const UOp bits = unary(Op::kNeg, graph.graph->make(Op::kBitcast, {x}, {.dtype = DType::kF64}));
  graph.roots = {gradient(total(bits), x)};
  const Status status = engine_->compile(graph, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(message(status).find("BITCAST"), std::string::npos) << message(status);
  EXPECT_NE(message(status).find("DETACH"), std::string::npos) << message(status);
}

}  // namespace
}  // namespace uop
