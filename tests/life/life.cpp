#include "tests/life/life.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "core/ir/build.h"

namespace uop {
namespace {

constexpr std::int64_t kRows = 8;
constexpr std::int64_t kColumns = 16;
constexpr std::int64_t kLong = 1 << 15;     // elements of the kernel that runs for a while
constexpr std::size_t kKept = 24;           // plans that a caller holds on to
constexpr std::int64_t kRunAgainEvery = 3;  // graphs
constexpr std::int64_t kGiveUpEvery = 4;    // fresh graphs: first with a deadline within the compiler's run
constexpr std::chrono::milliseconds kPatience{20};

/// What graph `i` computes: one kernel of each of three menus, and perhaps one of its own. All values are whole
/// numbers that f32 holds.
struct Recipe {
  std::int64_t factor, row_factor, long_factor, fresh_factor = 0;  // 0: none
};

UOp input(Graph& g, std::int64_t slot, const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return reshape(buffer(g, slot, DType::kF32, n), shape);
}

UOp times(UOp x, std::int64_t factor) {
  return binary(Op::kMul, x, full_like(x, static_cast<double>(factor)));
}

RootedGraph graph_of(const Recipe& r) {
  RootedGraph graph{std::make_unique<Graph>(), {}};
  const UOp x = input(*graph.graph, 0, {kRows, kColumns});
  const UOp y = input(*graph.graph, 1, {kLong});
  graph.roots = {binary(Op::kAdd, times(x, r.factor), full_like(x, 1)), times(reduce(Op::kAdd, x, 1), r.row_factor),
                 times(binary(Op::kMul, y, y), r.long_factor)};
  if (r.fresh_factor != 0) graph.roots.push_back(times(x, r.fresh_factor));
  return graph;
}

float element(std::int64_t i) {
  return static_cast<float>(i % 7);
}

std::vector<std::vector<float>> results_of(const Recipe& r) {
  std::vector<std::vector<float>> all(r.fresh_factor != 0 ? 4 : 3);
  for (std::int64_t i = 0; i < kRows * kColumns; i++) all[0].push_back(element(i) * static_cast<float>(r.factor) + 1);
  for (std::int64_t row = 0; row < kRows; row++) {
    float sum = 0;
    for (std::int64_t c = 0; c < kColumns; c++) sum += element(row * kColumns + c);
    all[1].push_back(sum * static_cast<float>(r.row_factor));
  }
  for (std::int64_t i = 0; i < kLong; i++)
    all[2].push_back(element(i) * element(i) * static_cast<float>(r.long_factor));
  if (r.fresh_factor != 0)
    for (std::int64_t i = 0; i < kRows * kColumns; i++)
      all[3].push_back(element(i) * static_cast<float>(r.fresh_factor));
  return all;
}

class EngineLife final : public Life {
 public:
  EngineLife(const LifeSettings& settings, std::unique_ptr<Engine> engine)
      : settings_(settings),
        menu_(std::max<std::int64_t>(2, std::llround(std::ceil(std::cbrt(static_cast<double>(settings.graphs)))))),
        engine_(std::move(engine)),
        callers_(static_cast<std::size_t>(settings.callers)) {}

  Status live(std::int64_t first, std::int64_t end) override {
    std::mutex mutex;
    Status first_error;
    {
      std::vector<std::jthread> threads;
      for (std::int64_t c = 0; c < settings_.callers; c++)
        threads.emplace_back([&, c] {
          const Status status = call(callers_[static_cast<std::size_t>(c)], first + c, end);
          const std::lock_guard lock(mutex);
          if (first_error.ok()) first_error = status;
        });
    }
    return first_error;
  }

  EngineStats stats() const override { return engine_->stats(); }
  std::int64_t shared_kernels() const override { return 3 * menu_; }

 private:
  struct Kept {
    Recipe recipe;
    Compilation compilation;
  };
  struct Caller {
    std::deque<Kept> kept;
  };

  Recipe recipe(std::int64_t i) const {
    Recipe r{2 + i % menu_, 2 + i / menu_ % menu_, 2 + i / menu_ / menu_};
    if (settings_.fresh_every > 0 && i % settings_.fresh_every == 0) r.fresh_factor = 1000 + i;
    return r;
  }

  /// Every callers-th graph from `first`.
  Status call(Caller& caller, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; i += settings_.callers) {
      const Recipe r = recipe(i);
      const RootedGraph graph = graph_of(r);
      if (r.fresh_factor != 0 && i / settings_.fresh_every % kGiveUpEvery == 0)
        if (const Status status = engine_->compile(graph, {}, {.deadline = Clock::now() + kPatience}).status();
            !status.ok() && status.code() != StatusCode::kDeadlineExceeded)
          return status;
      StatusOr<Compilation> compilation = engine_->compile(graph, {});
      if (!compilation.ok()) return compilation.status();
      caller.kept.push_back({r, *std::move(compilation)});
      if (const Status status = run(caller.kept.back()); !status.ok()) return status;
      if (i % kRunAgainEvery == 0)
        if (const Status status = run(caller.kept.front()); !status.ok()) return status;
      if (caller.kept.size() > kKept) caller.kept.pop_front();
    }
    return ok_status();
  }

  StatusOr<BufferPtr> uploaded(std::int64_t elements) {
    StatusOr<BufferPtr> buffer = engine_->pool().allocate(static_cast<std::uint64_t>(elements) * sizeof(float));
    if (buffer.ok())
      for (std::int64_t i = 0; i < elements; i++) static_cast<float*>((*buffer)->data())[i] = element(i);
    return buffer;
  }

  Status run(const Kept& kept) {
    std::vector<BufferPtr> inputs;
    for (const std::int64_t slot : kept.compilation.binding.inputs) {
      StatusOr<BufferPtr> buffer = uploaded(slot == 0 ? kRows * kColumns : kLong);
      if (!buffer.ok()) return buffer.status();
      inputs.push_back(*std::move(buffer));
    }
    const StatusOr<RunResult> result = engine_->run(kept.compilation.plan, inputs, {});
    if (!result.ok()) return result.status();
    const std::vector<std::vector<float>> expected = results_of(kept.recipe);
    for (std::size_t root = 0; root < expected.size(); root++) {
      const BufferPtr& output = result->execution.outputs.at(kept.compilation.binding.roots.at(root));
      if (output->bytes() != expected[root].size() * sizeof(float) ||
          std::memcmp(output->data(), expected[root].data(), output->bytes()) != 0)
        return error(StatusCode::kDataLoss, "root {} of the graph with factors {}, {}, {}, {} is wrong", root,
                     kept.recipe.factor, kept.recipe.row_factor, kept.recipe.long_factor, kept.recipe.fresh_factor);
    }
    return ok_status();
  }

  const LifeSettings settings_;
  const std::int64_t menu_;  // kernels of each of the three kinds; menu_^3 graphs can be made of them
  const std::unique_ptr<Engine> engine_;
  std::vector<Caller> callers_;
};

}  // namespace

StatusOr<std::unique_ptr<Life>> Life::begin(const LifeSettings& settings) {
  StatusOr<std::unique_ptr<Engine>> engine = Engine::create({.cache_dir = settings.cache_dir,
                                                             .cache_bytes = settings.cache_bytes,
                                                             .plan_cache_bytes = settings.plan_cache_bytes,
                                                             .loaded_kernels = settings.loaded_kernels,
                                                             .threads = 2,
                                                             .compile_jobs = 2});
  if (!engine.ok()) return engine.status();
  return std::make_unique<EngineLife>(settings, *std::move(engine));
}

}  // namespace uop
