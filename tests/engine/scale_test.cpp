// Graphs of every size: what planning makes is in proportion to the graph, no kernel is larger than a C compiler likes,
// and the results are right. scripts/bench planning measures the time.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <numeric>

#include "core/compiler.h"
#include "core/engine.h"
#include "core/grad/expand_gradients.h"
#include "core/ir/structure.h"
#include "core/ir/traverse.h"
#include "core/ir/verify_plan.h"
#include "core/schedule/materialization_points.h"
#include "tests/engine/scale_graphs.h"
#include "tests/reference/differential.h"
#include "tests/reference/random_values.h"
#include "tests/temporary_directory.h"

namespace uop {
namespace {

RootedGraph made(const scale::Family& family, int nodes) {
  RootedGraph graph{std::make_unique<Graph>(), {}};
  graph.roots = family.make(*graph.graph, nodes);
  return graph;
}

/// A line such as "VmHWM:     1234 kB" of this process, in bytes.
std::size_t process_bytes(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return std::stoull(line.substr(field.size() + 1)) * 1024;
  ADD_FAILURE() << "no " << field;
  return 0;
}

/// What a plan keeps: C text, launches, references.
std::size_t size_of(const Plan& plan) {
  std::size_t size = 0;
  for (const KernelProgram& p : plan.programs) size += p.source.size();
  for (const KernelLaunch& k : plan.kernels) size += sizeof k + sizeof(BufferRef) * k.refs.size();
  return size;
}

class Scale : public testing::TestWithParam<scale::Family> {};

TEST_P(Scale, PlansAreInProportion) {
  for (const int nodes : {10, 1'000, 10'000, 100'000}) {
    SCOPED_TRACE(nodes);
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak starts anew
    const auto before = process_bytes("VmRSS:");
    const RootedGraph graph = made(GetParam(), nodes);
    const std::size_t count = toposort(graph.roots).size();
    ASSERT_GE(count, static_cast<std::size_t>(nodes) / 2);
    const StatusOr<Plan> plan = compile_plan(graph.roots, {});
    ASSERT_TRUE(plan.ok()) << message(plan.status());
    ASSERT_TRUE(verify_plan(*plan).ok());
    EXPECT_LT(size_of(*plan), 20'000 + 2'000 * count);
    // A kernel may be oversize where the value at which it should end is not worth storing; 100 bytes an operation.
    for (const KernelProgram& p : plan->programs)
      EXPECT_LT(p.source.size(), static_cast<std::size_t>(kMaxKernelWork * kOversize * 100));
    EXPECT_LT(process_bytes("VmHWM:"), before + 16'000'000 + 12'000 * count);
  }
}

TEST_P(Scale, LargeGraphsGiveWhatTheReferenceGives) {
  reference::RandomCase c{.seed = 1, .graph = made(GetParam(), 1'200), .inputs = {}, .same_buffer = {}};
  c.graph.roots = *expand_gradients(c.graph.roots);  // which the reference does not know
  reference::Random random(1);
  for (const UOp u : toposort(c.graph.roots))
    if (u.op() == Op::kBuffer)
      c.inputs.buffers[u.arg().value] = random_bytes(random, u.dtype(), u.numel(), reference::Mood::kTame);
  const TemporaryDirectory cache;
  reference::Differential engines(cache.path());
  const reference::Verdict verdict = engines.run(c, {CompileOptions{}});
  EXPECT_FALSE(verdict.problem) << *verdict.problem;
  EXPECT_GT(verdict.comparison.checked, 0u);
}

class ScaleRows : public testing::Test {
 protected:
  /// The first output, of a graph without inputs or with inputs of i32 that count up from 0 over all of them.
  template <class T>
  std::vector<T> run(const RootedGraph& graph) {
    const StatusOr<Compilation> c = engine_->compile(graph, {});
    EXPECT_TRUE(c.ok()) << message(c.status());
    std::map<std::int64_t, BufferPtr> by_slot;
    std::int32_t next = 0;
    for (const UOp u : toposort(graph.roots)) {
      if (u.op() != Op::kBuffer) continue;
      by_slot[u.arg().value] = *engine_->pool().allocate(static_cast<std::uint64_t>(4 * u.numel()));
      auto* values = reinterpret_cast<std::int32_t*>(by_slot[u.arg().value]->data());
      std::iota(values, values + u.numel(), next);
      next += static_cast<std::int32_t>(u.numel());
    }
    std::vector<BufferPtr> inputs;
    for (const std::int64_t slot : c->binding.inputs) inputs.push_back(by_slot.at(slot));
    const StatusOr<RunResult> result = engine_->run(c->plan, inputs, {});
    EXPECT_TRUE(result.ok()) << message(result.status());
    plan_ = c->plan;
    const BufferPtr& out = result->execution.outputs.at(0);
    const auto* first = reinterpret_cast<const T*>(out->data());
    return {first, first + out->bytes() / sizeof(T)};
  }

  const TemporaryDirectory cache_;
  std::unique_ptr<Engine> engine_ = [this] {
    EngineOptions options;
    options.cache_dir = cache_.path();
    return *Engine::create(options);
  }();
  CompiledPlanPtr plan_;
};

TEST_F(ScaleRows, DoubledSixtyTimesIsOneSmallKernel) {
  RootedGraph graph{std::make_unique<Graph>(), {}};
  UOp x = iota(*graph.graph, DType::kF64, 3);
  for (int i = 0; i < 60; i++) x = binary(Op::kAdd, x, x);
  graph.roots = {x};
  EXPECT_EQ(run<double>(graph), (std::vector<double>{0, 0x1p60, 0x1p61}));
  ASSERT_EQ(plan_->plan.kernels.size(), 1u);
  EXPECT_LT(plan_->plan.programs[0].source.size(), 5'000u);
}

TEST_F(ScaleRows, SixThousandPieces) {
  const RootedGraph graph = made({"concatenation", scale::concatenation}, 18'000);
  std::vector<std::int32_t> expected(18'000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(run<std::int32_t>(graph), expected);
  EXPECT_EQ(plan_->plan.inputs.size(), 6'000u);
  EXPECT_GT(plan_->plan.kernels.size(), 6'000u * 3 / kMaxKernelWork);
}

TEST_F(ScaleRows, AKernelDoesNotEndAtAValueTooLargeToStore) {
  // A thousand operations on every product of a matrix multiplication: cut before the products, or not at all.
  RootedGraph graph{std::make_unique<Graph>(), {}};
  Graph& g = *graph.graph;
  constexpr std::int64_t kSize = 1024;
  const UOp a = expand(chapter::input(g, 0, {kSize, 1, kSize}, DType::kI32), {kSize, kSize, kSize});
  UOp product = expand(chapter::input(g, 1, {1, kSize, kSize}, DType::kI32), {kSize, kSize, kSize});
  for (int i = 0; i < 1000; i++) product = binary(i % 2 == 0 ? Op::kMax : Op::kXor, product, a);
  graph.roots = {reduce(Op::kAdd, product, 1)};
  const StatusOr<Plan> plan = compile_plan(graph.roots, {});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->kernels.size(), 1u);
  EXPECT_EQ(plan->scratch_bytes, 0u);
}

TEST_F(ScaleRows, DerivativesAreLimited) {
  const auto derivative_of_order = [&](int order) {
    RootedGraph graph{std::make_unique<Graph>(), {}};
    const UOp x = buffer(*graph.graph, 0, DType::kF64, 1);
    UOp y = unary(Op::kSin, unary(Op::kExp2, unary(Op::kSin, x)));
    for (int i = 0; i < order; i++) y = graph.graph->make(Op::kGradient, {y, x});
    graph.roots = {y};
    return compile_plan(graph.roots, {}).status();
  };
  EXPECT_TRUE(derivative_of_order(2).ok());
  const Status too_large = derivative_of_order(60);
  EXPECT_EQ(too_large.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(message(too_large).find("remedy"), std::string::npos) << message(too_large);

  RootedGraph graph{std::make_unique<Graph>(), {}};
  const UOp x = buffer(*graph.graph, 0, DType::kF64, 1);
  UOp y = binary(Op::kMul, x, x);
  for (int i = 0; i < 1000; i++) y = graph.graph->make(Op::kGradient, {y, x});
  graph.roots = {y};
  const Status too_deep = compile_plan(graph.roots, {}).status();
  EXPECT_EQ(too_deep.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(message(too_deep).find("64 levels"), std::string::npos) << message(too_deep);
}

INSTANTIATE_TEST_SUITE_P(Graphs, Scale, testing::ValuesIn(scale::kFamilies),
                         [](const auto& family) { return std::string(family.param.name); });

}  // namespace
}  // namespace uop
