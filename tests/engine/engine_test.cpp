// The engine as its users see it: plans cached by structure, kernels compiled once, restarts, pitfalls of the chapter.
#include "core/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "tests/engine/chapter_graphs.h"
#include "tests/temporary_directory.h"

namespace uop {
namespace {

using namespace chapter;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Engine> engine_in(const TemporaryDirectory& directory, const std::string& compiler = "",
                                  std::int64_t threads = 0) {
  EngineOptions options;
  options.cache_dir = directory.path();
  options.compiler = compiler;
  options.threads = threads;
  StatusOr<std::unique_ptr<Engine>> engine = Engine::create(options);
  EXPECT_TRUE(engine.ok()) << message(engine.status());
  return *std::move(engine);
}

template <class T>
BufferPtr buffer_of(Engine& engine, const std::vector<T>& values) {
  StatusOr<BufferPtr> b = engine.pool().allocate(values.size() * sizeof(T));
  EXPECT_TRUE(b.ok());
  if (!values.empty()) std::memcpy((*b)->data(), values.data(), values.size() * sizeof(T));
  return *b;
}

template <class T>
std::vector<T> values_of(const BufferPtr& b) {
  std::vector<T> values(b->bytes() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), b->data(), b->bytes());
  return values;
}

/// A graph of one root made by `build`.
RootedGraph graph_of(const std::function<UOp(Graph&)>& build) {
  RootedGraph graph{std::make_unique<Graph>(), {}};
  graph.roots = {build(*graph.graph)};
  return graph;
}

StatusOr<Compilation> compile(Engine& engine, const std::function<UOp(Graph&)>& build,
                              const CompileOptions& options = {}) {
  return engine.compile(graph_of(build), options);
}

/// The first output of a run on `inputs` in slot order.
template <class T>
std::vector<T> run(Engine& engine, const Compilation& c, const std::vector<BufferPtr>& by_slot) {
  std::vector<BufferPtr> inputs;
  for (const std::int64_t slot : c.binding.inputs) inputs.push_back(by_slot.at(static_cast<std::size_t>(slot)));
  StatusOr<RunResult> result = engine.run(c.plan, inputs, {});
  EXPECT_TRUE(result.ok()) << message(result.status());
  return values_of<T>(result->execution.outputs.at(c.binding.roots.at(0)));
}

UOp doubled(Graph& g) {
  return scaled(input(g, 0, {4}), 2);
}

TEST(Engine, EqualStructuresCompileOnceWhateverTheirBuffers) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  const StatusOr<Compilation> first = compile(*engine, doubled);
  ASSERT_TRUE(first.ok()) << message(first.status());
  EXPECT_EQ(first->origin, PlanOrigin::kCompiled);
  EXPECT_EQ(first->kernels_compiled, 1u);
  const StatusOr<Compilation> second = compile(*engine, [](Graph& g) { return scaled(input(g, 7, {4}), 2); });
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->origin, PlanOrigin::kMemory);
  EXPECT_EQ(second->kernels_compiled, 0u);
  EXPECT_EQ(second->plan, first->plan);
  EXPECT_THAT(second->binding.inputs, ElementsAre(7));
  EXPECT_THAT(run<float>(*engine, *first, {buffer_of<float>(*engine, {1, 2, 3, 4})}), ElementsAre(2, 4, 6, 8));
}

TEST(Engine, ARestartedEngineAnswersWithoutACompilerRun) {
  const TemporaryDirectory dir;
  const Digest id = compile(*engine_in(dir), doubled)->plan->id;
  const auto engine = engine_in(dir);
  const StatusOr<Compilation> again = compile(*engine, doubled);
  ASSERT_TRUE(again.ok()) << message(again.status());
  EXPECT_EQ(again->origin, PlanOrigin::kStore);
  EXPECT_EQ(again->kernels_compiled, 0u);
  EXPECT_EQ(again->plan->id, id);
  EXPECT_EQ(engine->stats().kernels.compiles, 0u);
  EXPECT_THAT(run<float>(*engine, *again, {buffer_of<float>(*engine, {1, 2, 3, 4})}), ElementsAre(2, 4, 6, 8));
}

TEST(Engine, APlanIsFoundByIdAfterARestart) {
  const TemporaryDirectory dir;
  const Digest id = compile(*engine_in(dir), doubled)->plan->id;
  const auto engine = engine_in(dir);
  const StatusOr<CompiledPlanPtr> plan = engine->find(id);
  ASSERT_TRUE(plan.ok()) << message(plan.status());
  const std::vector<BufferPtr> inputs{buffer_of<float>(*engine, {1, 2, 3, 4})};
  const StatusOr<RunResult> result = engine->run(*plan, inputs, {});
  ASSERT_TRUE(result.ok()) << message(result.status());
  EXPECT_THAT(values_of<float>(result->execution.outputs.at(0)), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(engine->find(sha256("nothing")).status().code(), StatusCode::kNotFound);
}

TEST(Engine, WithoutACompilerCachedKernelsRunAndOthersSayWhatIsMissing) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(compile(*engine_in(dir), doubled).ok());
  const auto engine = engine_in(dir, "none");
  EXPECT_FALSE(engine->kernels().toolchain().available);
  EXPECT_FALSE(engine->kernels().toolchain().problem.empty());
  const StatusOr<Compilation> cached = compile(*engine, doubled);
  ASSERT_TRUE(cached.ok()) << message(cached.status());
  EXPECT_THAT(run<float>(*engine, *cached, {buffer_of<float>(*engine, {1, 2, 3, 4})}), ElementsAre(2, 4, 6, 8));
  const StatusOr<Compilation> fresh = compile(*engine, [](Graph& g) { return scaled(input(g, 0, {4}), 3); });
  EXPECT_EQ(fresh.status().code(), StatusCode::kFailedPrecondition) << message(fresh.status());
  EXPECT_THAT(message(fresh.status()), HasSubstr("compiler"));
}

// Pitfall 3: a changing number is structure as a constant, data as a buffer.
TEST(Engine, AChangingConstantMissesAndTheMissIsExplained) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  ASSERT_TRUE(compile(*engine, doubled).ok());
  const StatusOr<Compilation> other = compile(*engine, [](Graph& g) { return scaled(input(g, 0, {4}), 5); });
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->origin, PlanOrigin::kCompiled);
  EXPECT_THAT(other->why, HasSubstr("CONST")) << other->why;
  EXPECT_THAT(other->why, HasSubstr("5")) << other->why;

  const auto by_buffer = [](Graph& g) {
    const UOp x = input(g, 0, {4});
    return mul(x, broadcast_scalar(reshape(buffer(g, 1, DType::kF32, 1), {}), {4}));
  };
  const StatusOr<Compilation> first = compile(*engine, by_buffer);
  ASSERT_TRUE(first.ok());
  const BufferPtr x = buffer_of<float>(*engine, {1, 2, 3, 4});
  for (const float factor : {2.0f, 5.0f, 7.0f}) {
    const StatusOr<Compilation> c = compile(*engine, by_buffer);
    EXPECT_EQ(c->origin, PlanOrigin::kMemory);
    EXPECT_THAT(run<float>(*engine, *c, {x, buffer_of<float>(*engine, {factor})}),
                ElementsAre(factor, 2 * factor, 3 * factor, 4 * factor));
  }
}

// Pitfall 4: a shape is structure too.
TEST(Engine, AChangingShapeMisses) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  ASSERT_TRUE(compile(*engine, doubled).ok());
  const StatusOr<Compilation> longer = compile(*engine, [](Graph& g) { return scaled(input(g, 0, {5}), 2); });
  EXPECT_EQ(longer->origin, PlanOrigin::kCompiled);
  EXPECT_THAT(longer->why, HasSubstr("BUFFER")) << longer->why;
}

// Pitfall 6: each configuration has a plan of its own, so that what is measured is what is shipped.
TEST(Engine, OptionsThatChangeTheProgramAreInTheKey) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  const auto graph = [](Graph& g) { return softmax(input(g, 0, {4, 8})); };
  CompileOptions fused;
  fused.fuse_reduce = true;
  CompileOptions plain;
  plain.opt = 0;
  const StatusOr<Compilation> a = compile(*engine, graph, plain);
  const StatusOr<Compilation> b = compile(*engine, graph, fused);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(a->plan->id, b->plan->id);
  EXPECT_EQ(b->plan->plan.kernels.size(), 1u);
  EXPECT_THAT(b->why, HasSubstr("fuse_reduce"));
}

// Pitfall 7: the deleted read must not turn the input into the output.
TEST(Engine, TimesZeroNeitherReadsNorOverwritesItsInput) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  const auto graph = [](Graph& g) { return scaled(input(g, 0, {3}, DType::kI32), 0); };
  const StatusOr<Compilation> c = compile(*engine, graph);
  const BufferPtr t = buffer_of<std::int32_t>(*engine, {1, 2, 3});
  EXPECT_THAT(run<std::int32_t>(*engine, *c, {t}), ElementsAre(0, 0, 0));
  EXPECT_THAT(values_of<std::int32_t>(t), ElementsAre(1, 2, 3));
}

TEST(Engine, DuplicateRootsAreComputedOnce) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  RootedGraph graph = graph_of(doubled);
  graph.roots = {graph.roots[0], graph.roots[0], graph.roots[0]};
  const StatusOr<Compilation> c = engine->compile(graph, {});
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->plan->plan.outputs.size(), 1u);
  EXPECT_THAT(c->binding.roots, ElementsAre(0u, 0u, 0u));
}

TEST(Engine, ManyCallersOfOneNewGraphCauseOneCompilation) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  std::vector<std::thread> callers;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 16; i++)
    callers.emplace_back([&] {
      const StatusOr<Compilation> c = compile(*engine, [](Graph& g) { return softmax(input(g, 0, {4, 8})); });
      if (!c.ok()) failures++;
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(engine->stats().plan_misses, 1u);
}

TEST(Engine, ResultsAreBitIdenticalForAnyNumberOfThreadsAndOverlappingRuns) {
  const TemporaryDirectory dir;
  const auto graph = [](Graph& g) { return matmul(layernorm(input(g, 0, {64, 96})), input(g, 1, {96, 80})); };
  std::vector<float> a(64 * 96);
  std::vector<float> b(96 * 80);
  for (std::size_t i = 0; i < a.size(); i++) a[i] = static_cast<float>((i * 37) % 101) * 0.173f - 8.0f;
  for (std::size_t i = 0; i < b.size(); i++) b[i] = static_cast<float>((i * 53) % 97) * 0.091f - 4.0f;
  std::vector<std::vector<float>> results;
  for (const std::int64_t threads : {1, 2, 4}) {
    const auto engine = engine_in(dir, "", threads);
    const StatusOr<Compilation> c = compile(*engine, graph);
    ASSERT_TRUE(c.ok()) << message(c.status());
    const std::vector<BufferPtr> inputs{buffer_of(*engine, a), buffer_of(*engine, b)};
    std::vector<std::vector<float>> overlapping(4);
    std::vector<std::thread> runs;
    for (std::vector<float>& r : overlapping) runs.emplace_back([&] { r = run<float>(*engine, *c, inputs); });
    for (std::thread& t : runs) t.join();
    results.insert(results.end(), overlapping.begin(), overlapping.end());
  }
  for (const std::vector<float>& r : results) {
    ASSERT_EQ(r.size(), results[0].size());
    EXPECT_EQ(std::memcmp(r.data(), results[0].data(), r.size() * sizeof(float)), 0);
  }
}

TEST(Engine, VariablesAreBoundPerRunWithoutRecompiling) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  const StatusOr<Compilation> c = compile(*engine, [](Graph& g) {
    const UOp v = g.make(Op::kVariable, {}, {.dtype = DType::kI32, .value = 3, .ints = {0, 10}});
    return binary(Op::kAdd, input(g, 0, {3}, DType::kI32), broadcast_scalar(v, {3}));
  });
  ASSERT_TRUE(c.ok()) << message(c.status());
  EXPECT_THAT(c->binding.variables, ElementsAre(3));
  const std::vector<BufferPtr> inputs{buffer_of<std::int32_t>(*engine, {1, 2, 3})};
  for (const std::int64_t value : {0, 7, 10}) {
    const StatusOr<RunResult> r = engine->run(c->plan, inputs, std::vector<std::int64_t>{value});
    ASSERT_TRUE(r.ok()) << message(r.status());
    const auto v = static_cast<std::int32_t>(value);
    EXPECT_THAT(values_of<std::int32_t>(r->execution.outputs[0]), ElementsAre(1 + v, 2 + v, 3 + v));
  }
  EXPECT_EQ(engine->run(c->plan, inputs, std::vector<std::int64_t>{11}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Engine, ScatterAddsInIndexOrderAndSkipsWhatIsOutside) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  const StatusOr<Compilation> c = compile(*engine, [](Graph& g) {
    return g.make(Op::kScatter, {input(g, 0, {4}), input(g, 1, {5}, DType::kI64), input(g, 2, {5})},
                  {.op = Op::kAdd, .value = 0});
  });
  ASSERT_TRUE(c.ok()) << message(c.status());
  EXPECT_THAT(
      run<float>(*engine, *c,
                 {buffer_of<float>(*engine, {10, 20, 30, 40}), buffer_of<std::int64_t>(*engine, {1, 1, -1, 4, 3}),
                  buffer_of<float>(*engine, {1, 2, 4, 8, 16})}),
      ElementsAre(10, 23, 30, 56));
}

// An axis of size 1 has no loop: the copy of the base must come first all the same.
TEST(Engine, ScatterAlongAnAxisOfOneElement) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  const StatusOr<Compilation> c = compile(*engine, [](Graph& g) {
    return g.make(Op::kScatter, {input(g, 0, {2, 1}), input(g, 1, {2, 3}, DType::kI32), input(g, 2, {2, 3})},
                  {.op = Op::kAdd, .value = 1});
  });
  ASSERT_TRUE(c.ok()) << message(c.status());
  EXPECT_THAT(run<float>(*engine, *c,
                         {buffer_of<float>(*engine, {10, 20}), buffer_of<std::int32_t>(*engine, {0, 0, 1, 0, -1, 0}),
                          buffer_of<float>(*engine, {1, 2, 4, 8, 16, 32})}),
              ElementsAre(13, 60));
}

TEST(Engine, GatherOutsideGivesZeroForEveryIndexType) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  const BufferPtr x = buffer_of<float>(*engine, {1, 2, 3, 4});
  const auto by = [](DType dtype) {
    return [dtype](Graph& g) { return g.make(Op::kGather, {input(g, 0, {4}), input(g, 1, {5}, dtype)}, {.value = 0}); };
  };
  const StatusOr<Compilation> u64 = compile(*engine, by(DType::kU64));
  EXPECT_THAT(run<float>(*engine, *u64, {x, buffer_of<std::uint64_t>(*engine, {0, 3, 4, 1ull << 63, ~0ull})}),
              ElementsAre(1, 4, 0, 0, 0));
  const StatusOr<Compilation> i64 = compile(*engine, by(DType::kI64));
  EXPECT_THAT(run<float>(*engine, *i64, {x, buffer_of<std::int64_t>(*engine, {0, 3, 4, -1, INT64_MIN})}),
              ElementsAre(1, 4, 0, 0, 0));
  const StatusOr<Compilation> i8 = compile(*engine, by(DType::kI8));
  EXPECT_THAT(run<float>(*engine, *i8, {x, buffer_of<std::int8_t>(*engine, {0, 3, 4, -1, -128})}),
              ElementsAre(1, 4, 0, 0, 0));
}

TEST(Engine, ExplainShowsEveryStageInOrder) {
  const TemporaryDirectory dir;
  const auto engine = engine_in(dir);
  const StatusOr<Explanation> e = engine->explain(graph_of([](Graph& g) { return softmax(input(g, 0, {4, 8})); }), {});
  ASSERT_TRUE(e.ok()) << message(e.status());
  std::vector<std::string> names;
  for (const StageText& s : e->stages) names.push_back(s.name);
  EXPECT_THAT(names, testing::IsSupersetOf(
                         {"graph", "expand_gradients", "strip_detach", "materialization_points", "plan_memory"}));
  EXPECT_EQ(names.front(), "graph");
  EXPECT_EQ(names.back(), "plan_memory");
}

}  // namespace
}  // namespace uop
