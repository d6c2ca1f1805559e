// The memory of real plans: a run takes what the plan says, and a warm one takes nothing from the system and next to
// nothing from malloc.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>

#include "core/engine.h"
#include "core/ir/verify_plan.h"
#include "tests/engine/chapter_graphs.h"
#include "tests/engine/counted_new.h"

namespace uop {
namespace {

using namespace chapter;

struct Case {
  const char* name;
  std::function<UOp(Graph&)> build;
};

/// A chain of kernels, in which a temporary lives from one kernel to the next.
UOp chain(Graph& g, std::int64_t elements) {
  UOp x = input(g, 0, {elements});
  for (int i = 0; i < 20; i++) x = stage(plus(x, i));
  return x;
}

std::vector<Case> cases() {
  return {{"one kernel", [](Graph& g) { return scaled(input(g, 0, {1000}), 2); }},
          {"chain", [](Graph& g) { return chain(g, 5000); }},
          {"softmax",
           [](Graph& g) {
             return softmax(input(g, 0, {64, 128}));
           }},
          {"layernorm",
           [](Graph& g) {
             return layernorm(input(g, 0, {50, 96}));
           }},
          {"softmax of a product",
           [](Graph& g) {
             return softmax(matmul(layernorm(input(g, 0, {40, 30})), input(g, 1, {30, 20})));
           }},
          {"empty", [](Graph& g) { return scaled(input(g, 0, {0}), 2); }}};
}

/// The scratch memory that the lifetimes call for: of all temporaries that hold something during one kernel.
std::uint64_t most_alive(const Plan& plan) {
  std::uint64_t most = 0;
  for (std::uint32_t k = 0; k < plan.kernels.size(); k++) {
    std::uint64_t alive = 0;
    for (const TempSpec& temp : plan.temps)
      if (temp.first <= k && k <= temp.last)
        alive += (temp.tensor.bytes() + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
    most = std::max(most, alive);
  }
  return most;
}

class EngineMemory : public testing::Test {
 protected:
  EngineMemory() : directory_(std::filesystem::temp_directory_path() / ("uop_memory_" + std::to_string(getpid()))) {
    StatusOr<std::unique_ptr<Engine>> engine = Engine::create({.cache_dir = directory_, .threads = 2});
    EXPECT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
  }
  ~EngineMemory() override { std::filesystem::remove_all(directory_); }

  CompiledPlanPtr compile(const std::function<UOp(Graph&)>& build, const CompileOptions& options = {}) {
    RootedGraph graph{std::make_unique<Graph>(), {}};
    graph.roots = {build(*graph.graph)};
    const StatusOr<Compilation> compilation = engine_->compile(graph, options);
    EXPECT_TRUE(compilation.ok()) << compilation.status();
    return compilation->plan;
  }
  static std::vector<BufferPtr> inputs(const Plan& plan, BufferPool& pool) {
    std::vector<BufferPtr> all;
    for (const TensorSpec& spec : plan.inputs) all.push_back(pool.allocate(spec.bytes(), true).value());
    return all;
  }

  std::filesystem::path directory_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineMemory, APeakIsWhatThePlanSaid) {
  for (const Case& c : cases())
    for (const std::int64_t opt : {0, 1}) {
      SCOPED_TRACE(fmt::format("{} opt={}", c.name, opt));
      const CompiledPlanPtr compiled = compile(c.build, {.opt = opt});
      const Plan& plan = compiled->plan;
      EXPECT_GE(plan.scratch_bytes, most_alive(plan));
      EXPECT_LE(plan.scratch_bytes, most_alive(plan) / 4 * 5) << "too much is lost between temporaries";
      std::vector<LoadedKernelPtr> kernels;
      std::vector<KernelEntry> entries;
      for (const KernelProgram& p : plan.programs) {
        const StatusOr<KernelLoad> load = engine_->kernels().load({p.source, plan.strict}, {});
        ASSERT_TRUE(load.ok()) << load.status();
        kernels.push_back(load->kernel);
        entries.push_back(load->kernel->entry());
      }
      const std::vector<BufferPtr> bound = inputs(plan, engine_->pool());
      const auto pool = BufferPool::create(64 << 20);  // of this run alone
      const auto threads = ComputePool::create(2);
      const StatusOr<Execution> execution = execute(plan, entries, bound, {}, {}, *pool, *threads, {});
      ASSERT_TRUE(execution.ok()) << execution.status();
      EXPECT_EQ(pool->stats().peak_asked_bytes, plan.scratch_bytes + plan.output_bytes());
      EXPECT_EQ(pool->stats().allocations, 1 + plan.outputs.size());
    }
}

std::int64_t minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST_F(EngineMemory, WarmRunsFaultNoPage) {
  const CompiledPlanPtr compiled = compile([](Graph& g) { return chain(g, 1 << 20); });  // 4 MiB a temporary
  ASSERT_GE(compiled->plan.scratch_bytes, 8u << 20);
  const std::vector<BufferPtr> bound = inputs(compiled->plan, engine_->pool());
  const auto run = [&] { ASSERT_TRUE(engine_->run(compiled, bound, {}).ok()); };
  for (int i = 0; i < 3; i++) run();
  // The system may move a page now and then, so that some stretch must be without any, not each.
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (int stretch = 0; stretch < 10 && fewest > 0; stretch++) {
    const std::int64_t before = minor_faults();
    for (int i = 0; i < 10; i++) run();
    fewest = std::min(fewest, minor_faults() - before);
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_LT(fewest, 100);  // their malloc hands out fresh memory
#else
  EXPECT_EQ(fewest, 0);
#endif
}

TEST_F(EngineMemory, WarmRunsAllocateNextToNothingWhateverTheirSize) {
  // Of a run of twenty kernels, each of which may post one piece of work to the other thread; names nothing of it.
  constexpr std::uint64_t kMostCount = 100, kMostBytes = 8 << 10;
  for (const std::int64_t elements : {100, 50'000, 500'000}) {
    const CompiledPlanPtr compiled = compile([&](Graph& g) { return chain(g, elements); });
    const std::vector<BufferPtr> bound = inputs(compiled->plan, engine_->pool());
    for (int i = 0; i < 5; i++) ASSERT_TRUE(engine_->run(compiled, bound, {}).ok());
    Allocated most;
    for (int i = 0; i < 25; i++) {
      const Allocated before = allocated();
      const StatusOr<RunResult> result = engine_->run(compiled, bound, {});
      const Allocated after = allocated();
      most.count = std::max(most.count, after.count - before.count);
      most.bytes = std::max(most.bytes, after.bytes - before.bytes);
      ASSERT_TRUE(result.ok()) << result.status();
    }
    RecordProperty(fmt::format("of_{}_elements", elements), fmt::format("{} for {} bytes", most.count, most.bytes));
    EXPECT_LE(most.count, kMostCount) << elements;
    EXPECT_LE(most.bytes, kMostBytes) << elements;
  }
}

}  // namespace
}  // namespace uop
