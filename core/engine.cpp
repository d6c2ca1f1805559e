#include "core/engine.h"

#include <atomic>
#include <unordered_map>

#include "core/compile/single_flight.h"
#include "core/compiler.h"
#include "core/ir/structure.h"
#include "core/ir/traverse.h"
#include "core/plan_cache.h"
#include "core/wire/stored_plan.h"

namespace uop {

/// How often the use of a plan from memory is noted in the store, where it would look idle and be the first to go.
constexpr std::chrono::seconds kNoteUse{60};

/// The kernels of a plan, held weakly: the library decides how many stay loaded, and a run loads again what went.
class PlanKernels {
 public:
  explicit PlanKernels(std::size_t count) : loaded_(count) {}

  /// Whether a use at `now` should be noted; true for one of several callers.
  bool note_is_due(Clock::time_point now) {
    Clock::rep next = next_note_.load(std::memory_order_relaxed);
    const Clock::rep at = now.time_since_epoch().count();
    return at >= next && next_note_.compare_exchange_strong(next, (now + kNoteUse).time_since_epoch().count(),
                                                            std::memory_order_relaxed);
  }

  LoadedKernelPtr get(std::size_t i) const {
    const std::lock_guard lock(mutex_);
    return loaded_[i].lock();
  }
  void set(std::size_t i, const LoadedKernelPtr& kernel) {
    const std::lock_guard lock(mutex_);
    loaded_[i] = kernel;
  }

 private:
  std::atomic<Clock::rep> next_note_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<const LoadedKernel>> loaded_;
};

namespace {

/// Part of every structure key.
std::string plan_epoch() {
  return fmt::format("uopd " UOPD_VERSION " plan {}", kPlanEpoch);
}

std::chrono::nanoseconds since(Clock::time_point start) {
  return Clock::now() - start;
}

/// A caller's graph without its duplicate roots.
struct Request {
  std::vector<UOp> roots;
  Binding binding;
  std::string structure;
  Digest id;
};

Request request_of(const RootedGraph& graph, const CompileOptions& options) {
  check(!graph.roots.empty(), "a graph without roots");
  Request r;
  std::unordered_map<UOp, std::uint32_t, UOpHash> position;
  for (const UOp root : graph.roots) {
    const auto [at, is_new] = position.emplace(root, static_cast<std::uint32_t>(r.roots.size()));
    if (is_new) r.roots.push_back(root);
    r.binding.roots.push_back(at->second);
  }
  for (const UOp u : nodes_of(Op::kBuffer, r.roots)) r.binding.inputs.push_back(u.arg().value);
  for (const UOp u : nodes_of(Op::kVariable, r.roots)) r.binding.variables.push_back(u.arg().value);
  r.structure = structure_bytes(r.roots);
  r.id = digest_of({plan_epoch(), key_text(options), r.structure});
  return r;
}

/// Plans are made from the structure, in a graph of their own: the caller's graph is left as it is, and that equal
/// structures have equal plans holds by construction.
StatusOr<Plan> plan_of_structure(const std::string& structure, const CompileOptions& options, const Cancel& cancel,
                                 const PassObserver& observer = nullptr) {
  const StatusOr<RootedGraph> graph = graph_of_structure(structure);
  check(graph.ok(), "structure bytes that can't be read back");
  return compile_plan(graph->roots, options, observer, cancel);
}

/// `work()`, with broken invariants and lack of memory as a Status.
template <class Work>
auto guarded(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const BrokenInvariant& e) {
    return error(StatusCode::kInternal, "a fault of uopd, please report it: {}", e.what());
  } catch (const std::bad_alloc&) {
    return error(StatusCode::kResourceExhausted, "out of memory; send a smaller graph or free buffers");
  }
}

class LocalEngine final : public Engine {
 public:
  LocalEngine(const EngineOptions& options, EngineEvents events, std::unique_ptr<KernelLibrary> library)
      : events_(std::move(events)),
        library_(std::move(library)),
        pool_(BufferPool::create(static_cast<std::uint64_t>(options.pool_bytes), options.poison || kPoisonByDefault)),
        threads_(ComputePool::create(static_cast<int>(options.threads))),
        plans_(static_cast<std::uint64_t>(options.plan_cache_bytes)) {}

  StatusOr<Compilation> compile(const RootedGraph& graph, const CompileOptions& options,
                                const Cancel& cancel) override {
    return guarded([&] { return compile_guarded(graph, options, cancel); });
  }

  StatusOr<CompiledPlanPtr> find(const Digest& id) override {
    return guarded([&]() -> StatusOr<CompiledPlanPtr> {
      if (CompiledPlanPtr plan = plans_.find(id)) {
        plan_memory_hits_++;
        return plan;
      }
      if (CompiledPlanPtr plan = stored(id)) {
        plan_store_hits_++;
        plans_.insert(plan);
        return plan;
      }
      return not_found("plan {} is not known (any more); send the graph", id.hex());
    });
  }

  std::optional<LoadedPlan> find_loaded(const Digest& id) override {
    const CompiledPlanPtr plan = plans_.find(id);
    if (!plan) return std::nullopt;
    LoadedPlan loaded{plan, {}};
    for (std::size_t i = 0; i < plan->plan.programs.size(); i++) {
      loaded.kernels.push_back(plan->kernels->get(i));
      if (!loaded.kernels.back()) return std::nullopt;
    }
    plan_memory_hits_++;
    return loaded;
  }

  StatusOr<LoadedPlan> load(const CompiledPlanPtr& plan, const Cancel& cancel) override {
    return guarded([&] { return load_guarded(plan, cancel); });
  }

  StatusOr<RunResult> run(const CompiledPlanPtr& plan, std::span<const BufferPtr> inputs,
                          std::span<const std::int64_t> variables, const ExecuteOptions& options,
                          const Cancel& cancel) override {
    return guarded([&] { return run_guarded(plan, inputs, variables, options, cancel); });
  }

  StatusOr<Explanation> explain(const RootedGraph& graph, const CompileOptions& options,
                                const Cancel& cancel) override {
    return guarded([&] { return explain_guarded(graph, options, cancel); });
  }

  StatusOr<Explanation> explain(const CompiledPlanPtr& plan, const Cancel& cancel) override {
    return guarded([&]() -> StatusOr<Explanation> {
      const StatusOr<RootedGraph> graph = graph_of_structure(plan->structure);
      if (!graph.ok()) return graph.status();
      return explain_guarded(*graph, plan->options, cancel);
    });
  }

  BufferPool& pool() override { return *pool_; }
  KernelLibrary& kernels() override { return *library_; }
  int threads() const override { return threads_->threads(); }

  EngineStats stats() const override {
    return {.plan_memory_hits = plan_memory_hits_,
            .plan_store_hits = plan_store_hits_,
            .plan_misses = plan_misses_,
            .plan_evictions = plans_.evictions(),
            .plan_bytes = plans_.bytes(),
            .plans = plans_.count(),
            .runs = runs_,
            .kernels = library_->stats(),
            .store = library_->store().stats(),
            .pool = pool_->stats()};
  }

 private:
  /// A plan, how it was found, and the compiler runs that this took.
  struct Built {
    CompiledPlanPtr plan;
    PlanOrigin origin = PlanOrigin::kMemory;
    std::string why = {};
    std::uint32_t kernels_compiled = 0;
  };

  StatusOr<Compilation> compile_guarded(const RootedGraph& graph, const CompileOptions& options, const Cancel& cancel) {
    const Clock::time_point start = Clock::now();
    Request request = request_of(graph, options);
    StatusOr<Built> built = find_or_build(request, options, cancel);
    if (!built.ok()) return built.status();
    return Compilation{built->plan,  std::move(request.binding), built->origin, std::move(built->why),
                       since(start), built->kernels_compiled};
  }

  StatusOr<Built> find_or_build(const Request& request, const CompileOptions& options, const Cancel& cancel) {
    if (CompiledPlanPtr plan = in_memory(request, options)) {
      plan_memory_hits_++;
      return Built{std::move(plan)};
    }
    bool joined = false;
    // Guarded within the flight: what throws for one throws for all who wait, and need not be tried by each.
    StatusOr<Built> built = builds_.run(request.id, cancel, joined,
                                        [&] { return guarded([&] { return build(request, options, cancel); }); });
    if (built.ok() && joined) {  // what another caller just built is in memory for this one
      if (!is_of(*built->plan, request, options)) return build(request, options, cancel);
      plan_memory_hits_++;
      return Built{built->plan};
    }
    return built;
  }

  /// Equal digests do not suffice where the graph is at hand: what they were made of is compared in full.
  static bool is_of(const CompiledPlan& plan, const Request& request, const CompileOptions& options) {
    return plan.options == options && plan.structure == request.structure;
  }

  /// The plan of a request, or null.
  CompiledPlanPtr in_memory(const Request& request, const CompileOptions& options) {
    CompiledPlanPtr plan = plans_.find(request.id);
    return plan && is_of(*plan, request, options) ? plan : nullptr;
  }

  StatusOr<Built> build(const Request& request, const CompileOptions& options, const Cancel& cancel) {
    Built built;
    if (CompiledPlanPtr plan = in_memory(request, options)) {  // landed between the look-up and this call
      plan_memory_hits_++;
      built.plan = std::move(plan);
      return built;
    }
    built.plan = stored(request.id);
    if (built.plan && !is_of(*built.plan, request, options)) built.plan = nullptr;
    built.origin = built.plan ? PlanOrigin::kStore : PlanOrigin::kCompiled;
    if (!built.plan) {
      built.why = plans_.explain_miss(request.structure, options);
      StatusOr<Plan> plan = plan_of_structure(request.structure, options, cancel);
      if (!plan.ok()) return plan.status();
      built.plan = compiled_plan(request.id, options, request.structure, *std::move(plan));
    }
    const StatusOr<LoadedPlan> loaded = load_guarded(built.plan, cancel);
    if (!loaded.ok()) return loaded.status();
    built.kernels_compiled = loaded->kernels_compiled;
    if (built.origin == PlanOrigin::kCompiled) {
      plan_misses_++;
      write(*built.plan);
    } else {
      plan_store_hits_++;
    }
    plans_.insert(built.plan);
    return built;
  }

  CompiledPlanPtr compiled_plan(const Digest& id, const CompileOptions& options, std::string structure, Plan plan) {
    auto compiled = std::make_shared<CompiledPlan>();
    for (const KernelProgram& p : plan.programs)
      compiled->kernel_keys.push_back(library_->key({p.source, plan.strict}));
    compiled->kernels = std::make_shared<PlanKernels>(plan.programs.size());
    compiled->id = id;
    compiled->options = options;
    compiled->structure = std::move(structure);
    compiled->plan = std::move(plan);
    return compiled;
  }

  /// The plan from the store, or null. Its kernel keys are made here: the compiler may be another than when it was
  /// written.
  CompiledPlanPtr stored(const Digest& id) {
    const std::optional<std::string> bytes = library_->store().read(ArtifactKind::kPlan, id);
    if (!bytes) return nullptr;
    StatusOr<StoredPlanData> data = parse_stored_plan(*bytes);
    if (!data.ok() || digest_of({plan_epoch(), key_text(data->options), data->structure}) != id) {
      library_->store().reject(ArtifactKind::kPlan, id);
      return nullptr;
    }
    return compiled_plan(id, data->options, std::move(data->structure), std::move(data->plan));
  }

  void write(const CompiledPlan& compiled) {
    library_->store().write(ArtifactKind::kPlan, compiled.id,
                            serialize_stored_plan({compiled.structure, compiled.options, compiled.plan}));
  }

  void note_use(const CompiledPlan& compiled) {
    library_->store().touch(ArtifactKind::kPlan, compiled.id);
    for (const Digest& key : compiled.kernel_keys) library_->store().touch(ArtifactKind::kKernel, key);
  }

  StatusOr<LoadedPlan> load_guarded(const CompiledPlanPtr& compiled, const Cancel& cancel) {
    LoadedPlan loaded{compiled, {}};
    std::vector<std::size_t> missing;
    std::vector<KernelSource> sources;
    for (std::size_t i = 0; i < compiled->plan.programs.size(); i++) {
      loaded.kernels.push_back(compiled->kernels->get(i));
      if (loaded.kernels.back()) continue;
      missing.push_back(i);
      sources.push_back({compiled->plan.programs[i].source, compiled->plan.strict});
    }
    if (missing.empty()) return loaded;
    StatusOr<std::vector<KernelLoad>> loads = library_->load_all(sources, cancel);
    if (!loads.ok()) return loads.status();
    for (std::size_t k = 0; k < missing.size(); k++) {
      loaded.kernels[missing[k]] = (*loads)[k].kernel;
      compiled->kernels->set(missing[k], (*loads)[k].kernel);
      loaded.kernels_compiled += (*loads)[k].origin == KernelOrigin::kCompiler ? 1 : 0;
    }
    return loaded;
  }

  StatusOr<RunResult> run_guarded(const CompiledPlanPtr& compiled, std::span<const BufferPtr> inputs,
                                  std::span<const std::int64_t> variables, const ExecuteOptions& options,
                                  const Cancel& cancel) {
    const Plan& plan = compiled->plan;
    const StatusOr<LoadedPlan> loaded = load_guarded(compiled, cancel);  // keeps the kernels mapped during the run
    if (!loaded.ok()) return loaded.status();
    std::vector<KernelEntry> entries;
    for (const LoadedKernelPtr& kernel : loaded->kernels) entries.push_back(kernel->entry());
    const Clock::time_point start = Clock::now();
    if (compiled->kernels->note_is_due(start)) note_use(*compiled);
    StatusOr<Execution> execution = execute(plan, entries, inputs, variables, options, *pool_, *threads_, cancel);
    if (!execution.ok()) return execution.status();
    const std::chrono::nanoseconds run_time = since(start);
    runs_++;
    if (events_.kernel_ran)
      for (std::size_t k = 0; k < plan.kernels.size(); k++)
        events_.kernel_ran(plan.kernels[k], execution->timings[k].run);
    return RunResult{*std::move(execution), run_time};
  }

  StatusOr<Explanation> explain_guarded(const RootedGraph& graph, const CompileOptions& options, const Cancel& cancel) {
    StatusOr<Compilation> compilation = compile_guarded(graph, options, cancel);
    if (!compilation.ok()) return compilation.status();
    Explanation explanation{*std::move(compilation), {}};
    const auto keep = [&](std::string_view pass, const auto& text) {
      explanation.stages.push_back({std::string(pass), text()});
    };
    const StatusOr<Plan> plan = plan_of_structure(explanation.compilation.plan->structure, options, cancel, keep);
    if (!plan.ok()) return plan.status();
    return explanation;
  }

  const EngineEvents events_;
  const std::unique_ptr<KernelLibrary> library_;
  const std::unique_ptr<BufferPool> pool_;
  const std::unique_ptr<ComputePool> threads_;
  PlanCache plans_;
  SingleFlight<Built> builds_;
  std::atomic<std::uint64_t> plan_memory_hits_ = 0;
  std::atomic<std::uint64_t> plan_store_hits_ = 0;
  std::atomic<std::uint64_t> plan_misses_ = 0;
  std::atomic<std::uint64_t> runs_ = 0;
};

}  // namespace

std::string_view name(PlanOrigin origin) {
  switch (origin) {
    case PlanOrigin::kMemory: return "memory";
    case PlanOrigin::kStore: return "store";
    case PlanOrigin::kCompiled: return "compiled";
  }
  return "?";
}

StatusOr<std::unique_ptr<Engine>> Engine::create(const EngineOptions& options, EngineEvents events) {
  StatusOr<std::unique_ptr<KernelLibrary>> library = KernelLibrary::create(options, events.compiled);
  if (!library.ok()) return library.status();
  return std::make_unique<LocalEngine>(options, std::move(events), *std::move(library));
}

}  // namespace uop
