// Tensors of more than 2^31 elements, which no memory holds but which movement ops make: rows of (graph, right values).
// Inputs: slot 0 is i32 {7, -3}, slot 1 is i64 {2^33 - 1, 2^32, 0, -1, 2^33}.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "core/compiler.h"
#include "core/engine.h"
#include "core/ir/build.h"
#include "core/ir/shape_rules.h"
#include "tests/temporary_directory.h"

namespace uop {
namespace {

constexpr std::int64_t k2to31 = std::int64_t{1} << 31;
constexpr std::int64_t k2to32 = std::int64_t{1} << 32;
constexpr std::int64_t k2to33 = std::int64_t{1} << 33;

using Values = std::vector<std::int64_t>;

struct Row {
  const char* what;
  std::function<UOp(Graph&)> build;
  Values expected;
};

UOp pair(Graph& g) {
  return buffer(g, 0, DType::kI32, 2);
}

/// {7 repeated 2^32 times, -3 repeated 2^32 times}
UOp long_pair(Graph& g) {
  return reshape(expand(reshape(pair(g), {2, 1}), {2, k2to32}), {k2to33});
}

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {"EXPAND",
       [](Graph& g) {
         return shrink(expand(shrink(pair(g), {1, 2}), {k2to33}), {k2to33 - 3, k2to33});
       },
       {-3, -3, -3}},
      {"IOTA",
       [](Graph& g) {
         return shrink(iota(g, DType::kI64, k2to33 + 5), {k2to33, k2to33 + 3});
       },
       {k2to33, k2to33 + 1, k2to33 + 2}},
      {"IOTA of i32 wraps",
       [](Graph& g) {
         return shrink(iota(g, DType::kI32, k2to33), {k2to31 - 1, k2to31 + 1});
       },
       {k2to31 - 1, -k2to31}},
      {"RESHAPE",
       [](Graph& g) {
         return shrink(long_pair(g), {k2to32 - 2, k2to32 + 2});
       },
       {7, 7, -3, -3}},
      {"FLIP",
       [](Graph& g) {
         return shrink(flip(long_pair(g), {1}), {k2to32 - 2, k2to32 + 2});
       },
       {-3, -3, 7, 7}},
      {"PAD",
       [](Graph& g) {
         return shrink(pad(pair(g), {k2to32, 1}), {k2to32 - 1, k2to32 + 3});
       },
       {0, 7, -3, 0}},
      {"PERMUTE of 2^17 by 2^17",
       [](Graph& g) {
         constexpr std::int64_t n = 1 << 17;
         const UOp rows = expand(reshape(iota(g, DType::kI64, n), {n, 1}), {n, n});
         return shrink(reshape(permute(rows, {1, 0}), {n * n}), {n * n - 2, n * n});
       },
       {(1 << 17) - 2, (1 << 17) - 1}},
      {"split, transposed and merged",
       [](Graph& g) {
         const UOp x = permute(reshape(iota(g, DType::kI64, 3 * k2to31), {3, k2to31}), {1, 0});
         return shrink(reshape(x, {3 * k2to31}), {3 * k2to31 - 3, 3 * k2to31});
       },
       {k2to31 - 1, 2 * k2to31 - 1, 3 * k2to31 - 1}},
      {"what is not read of 2^50 elements is not computed",
       [](Graph& g) {
         const UOp x = iota(g, DType::kI64, std::int64_t{1} << 50);
         return shrink(binary(Op::kAdd, x, x), {k2to33, k2to33 + 2});
       },
       {2 * k2to33, 2 * k2to33 + 2}},
      {"GATHER",
       [](Graph& g) {
         return g.make(Op::kGather, {long_pair(g), buffer(g, 1, DType::kI64, 5)}, {.value = 0});
       },
       {-3, -3, 7, 0, 0}},
      {"REDUCE",
       [](Graph& g) {
         return reduce(Op::kAdd, expand(shrink(buffer(g, 1, DType::kI64, 5), {3, 4}), {k2to31 + 3}), 1);
       },
       {-k2to31 - 3}},
  };
  return list;
}

class LargeIndex : public testing::Test {
 protected:
  template <class T>
  BufferPtr input(const std::vector<T>& values) {
    StatusOr<BufferPtr> b = engine_->pool().allocate(values.size() * sizeof(T));
    EXPECT_TRUE(b.ok());
    std::memcpy((*b)->data(), values.data(), values.size() * sizeof(T));
    return *b;
  }

  StatusOr<Compilation> compile(const std::function<UOp(Graph&)>& build) {
    RootedGraph graph{std::make_unique<Graph>(), {}};
    graph.roots = {build(*graph.graph)};
    return engine_->compile(graph, {});
  }

  Engine& engine() { return *engine_; }

  Values run(const std::function<UOp(Graph&)>& build, std::int64_t opt) {
    RootedGraph graph{std::make_unique<Graph>(), {}};
    graph.roots = {build(*graph.graph)};
    CompileOptions options;
    options.opt = opt;
    const StatusOr<Compilation> c = engine_->compile(graph, options);
    EXPECT_TRUE(c.ok()) << message(c.status());
    std::vector<BufferPtr> inputs;
    for (const std::int64_t slot : c->binding.inputs)
      inputs.push_back(slot == 0 ? input<std::int32_t>({7, -3})
                                 : input<std::int64_t>({k2to33 - 1, k2to32, 0, -1, k2to33}));
    const StatusOr<RunResult> result = engine_->run(c->plan, inputs, {});
    EXPECT_TRUE(result.ok()) << message(result.status());
    const auto* bytes = static_cast<const std::byte*>(result->execution.outputs[0]->data());
    Values values(static_cast<std::size_t>(graph.roots[0].numel()));
    for (std::size_t i = 0; i < values.size(); i++) {
      if (graph.roots[0].dtype() == DType::kI64) {
        std::memcpy(&values[i], bytes + 8 * i, 8);
      } else {
        std::int32_t v = 0;
        std::memcpy(&v, bytes + 4 * i, 4);
        values[i] = v;
      }
    }
    return values;
  }

 private:
  const TemporaryDirectory cache_;
  std::unique_ptr<Engine> engine_ = [this] {
    EngineOptions options;
    options.cache_dir = cache_.path();
    return *Engine::create(options);
  }();
};

TEST_F(LargeIndex, RowsAtEveryLevel) {
  for (const Row& r : rows())
    for (const std::int64_t opt : {0, 1}) EXPECT_EQ(run(r.build, opt), r.expected) << r.what << ", opt=" << opt;
}

/// A kernel that would hold a thread for years is refused, with the way to ask for the same in slices. Between these
/// the deadline is seen: the second sum is a matter of minutes.
TEST_F(LargeIndex, ASumOverEverythingIsRefusedAndOneInStepsCanBeStopped) {
  const StatusOr<Compilation> whole =
      compile([](Graph& g) { return reduce(Op::kAdd, iota(g, DType::kI64, kMaxElements), 1); });
  EXPECT_EQ(whole.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(message(whole.status()),
              testing::AllOf(testing::HasSubstr("kernel r_1 takes"), testing::HasSubstr("STAGE")));

  const StatusOr<Compilation> scatter = compile([](Graph& g) {
    const UOp index = expand(reshape(constant(g, DType::kI64, std::int64_t{1}), {1}), {kMaxElements});
    return g.make(Op::kScatter, {pair(g), index, expand(shrink(pair(g), {0, 1}), {kMaxElements})}, {.value = 0});
  });
  EXPECT_EQ(scatter.status().code(), StatusCode::kResourceExhausted);

  const StatusOr<Compilation> steps = compile([](Graph& g) {
    const UOp x = reshape(iota(g, DType::kF32, std::int64_t{1} << 40), {1 << 20, 1 << 20});
    return reduce(Op::kAdd, g.make(Op::kStage, {reduce(Op::kAdd, x, 1)}), 1);
  });
  ASSERT_TRUE(steps.ok()) << message(steps.status());
  const Cancel soon{.deadline = Clock::now() + std::chrono::milliseconds(50)};
  EXPECT_EQ(engine().run(steps->plan, {}, {}, {}, soon).status().code(), StatusCode::kDeadlineExceeded);
}

TEST(LargeWork, WhatNothingCouldStopIsRefused) {
  const auto sum_of = [](Graph& g, const Shape& shape, std::int64_t axes) {
    Shape ones(shape.size(), 1);
    return reduce(Op::kAdd, expand(reshape(buffer(g, 0, DType::kI8, 1), ones), shape), axes);
  };
  struct Case {
    Shape shape;
    std::int64_t axes;
    bool ok;
  };
  constexpr std::int64_t k2to20 = 1 << 20;
  const Case cases[] = {{{k2to31 + 3}, 1, true},
                        {{k2to20, k2to20, k2to20 / 16}, 3, false},
                        {{k2to20, k2to20, k2to20 / 16}, 2, true},
                        {{2, k2to20, k2to20, k2to20 / 64}, 2, true},  // once for all outputs
                        {{1, std::int64_t{1} << 55}, 1, false}};
  for (const Case& row : cases) {
    Graph g;
    const UOp root = sum_of(g, row.shape, row.axes);
    const Status status = compile_plan({&root, 1}, {}).status();
    EXPECT_EQ(status.ok(), row.ok) << message(status);
    if (row.ok) continue;
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    EXPECT_THAT(message(status), testing::HasSubstr("remedy: reduce in steps"));
  }
}

}  // namespace
}  // namespace uop
