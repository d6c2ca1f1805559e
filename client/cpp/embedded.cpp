#include "client/cpp/embedded.h"

#include <algorithm>
#include <cstring>

#include "core/engine.h"
#include "core/support/environment.h"

namespace uop {
namespace {

struct EngineBuffer final : DeviceBuffer {
  EngineBuffer(std::shared_ptr<Engine> owner, TensorSpec spec, BufferPtr content)
      : DeviceBuffer(spec), engine(std::move(owner)), memory(std::move(content)) {}
  std::shared_ptr<Engine> engine;  // declared first: the pool outlives the memory
  BufferPtr memory;
};

FoundIn found_in(PlanOrigin origin) {
  switch (origin) {
    case PlanOrigin::kMemory: return FoundIn::kMemory;
    case PlanOrigin::kStore: return FoundIn::kStore;
    case PlanOrigin::kCompiled: break;
  }
  return FoundIn::kCompiled;
}

CompileReport report_of(const Compilation& compilation) {
  return {.plan_id = compilation.plan->id.hex(),
          .found_in = found_in(compilation.origin),
          .why = compilation.why,
          .schedule = compilation.schedule_time,
          .kernels_compiled = compilation.kernels_compiled,
          .input_slots = compilation.binding.inputs,
          .variable_slots = compilation.binding.variables,
          .root_outputs = compilation.binding.roots,
          .plan = compilation.plan->plan};
}

RunReport report_of(const Compilation& compilation, const RunResult& result, int verbosity) {
  const Plan& plan = compilation.plan->plan;
  RunReport report{.found_in = found_in(compilation.origin),
                   .schedule = compilation.schedule_time,
                   .run = result.run_time,
                   .kernels = static_cast<std::uint32_t>(plan.kernels.size()),
                   .kernels_compiled = compilation.kernels_compiled};
  if (verbosity >= 2)
    for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
      const KernelLaunch& kernel = plan.kernels[i];
      const KernelTiming& timing = result.execution.timings[i];
      report.kernel_runs.push_back({kernel.name, timing.run, timing.again, kernel.flops, kernel.bytes});
    }
  if (verbosity >= 4 && report.found_in == FoundIn::kCompiled)
    for (const KernelProgram& program : plan.programs) report.sources.push_back(program.source);
  return report;
}

class EmbeddedDevice final : public Device {
 public:
  explicit EmbeddedDevice(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  StatusOr<BufferHandle> put(std::span<const std::byte> bytes, TensorSpec tensor) override {
    if (bytes.size() != tensor.bytes())
      return invalid_argument("a buffer of {} {} takes {} bytes; got {}", tensor.elements, uop::name(tensor.dtype),
                              tensor.bytes(), bytes.size());
    StatusOr<BufferPtr> memory = engine_->pool().allocate(bytes.size());
    if (!memory.ok()) return memory.status();
    if (!bytes.empty()) std::memcpy((*memory)->data(), bytes.data(), bytes.size());
    return handle(tensor, *std::move(memory));
  }

  StatusOr<std::vector<std::byte>> get(const BufferHandle& buffer) override {
    const auto own = std::dynamic_pointer_cast<const EngineBuffer>(buffer);
    if (!own) return foreign_buffer();
    std::vector<std::byte> bytes(buffer->tensor().bytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), own->memory->data(), bytes.size());
    return bytes;
  }

  StatusOr<RunOutcome> run(const RootedGraph& graph, std::span<const BufferHandle> inputs,
                           std::span<const std::int64_t> variables, const RunOptions& options) override {
    Cancel cancel;
    if (options.timeout) cancel.deadline = Clock::now() + *options.timeout;
    StatusOr<Compilation> compilation = engine_->compile(graph, options.compile, cancel);
    if (!compilation.ok()) return compilation.status();

    std::vector<BufferPtr> bound;
    for (const std::int64_t slot : compilation->binding.inputs) {
      if (const Status given = check_given("BUFFER", slot, inputs.size()); !given.ok()) return given;
      const auto own = std::dynamic_pointer_cast<const EngineBuffer>(inputs[static_cast<std::size_t>(slot)]);
      if (!own) return foreign_buffer();
      bound.push_back(own->memory);
    }
    std::vector<std::int64_t> values;
    for (const std::int64_t slot : compilation->binding.variables) {
      if (const Status given = check_given("VARIABLE", slot, variables.size()); !given.ok()) return given;
      values.push_back(variables[static_cast<std::size_t>(slot)]);
    }
    const ExecuteOptions execute{.repeat_kernels = options.verbosity >= 3};
    StatusOr<RunResult> result = engine_->run(compilation->plan, bound, values, execute, cancel);
    if (!result.ok()) return result.status();

    RunOutcome outcome{{}, report_of(*compilation, *result, options.verbosity)};
    const Plan& plan = compilation->plan->plan;
    for (const std::uint32_t output : compilation->binding.roots)
      outcome.outputs.push_back(handle(plan.outputs[output].tensor, result->execution.outputs[output]));
    return outcome;
  }

  StatusOr<CompileReport> compile(const RootedGraph& graph, const CompileOptions& options) override {
    StatusOr<Compilation> compilation = engine_->compile(graph, options);
    if (!compilation.ok()) return compilation.status();
    return report_of(*compilation);
  }

  StatusOr<ExplainReport> explain(const RootedGraph& graph, const CompileOptions& options) override {
    StatusOr<Explanation> explanation = engine_->explain(graph, options);
    if (!explanation.ok()) return explanation.status();
    ExplainReport report{report_of(explanation->compilation), {}};
    for (const StageText& stage : explanation->stages) report.stages.push_back({stage.name, stage.text});
    return report;
  }

  StatusOr<DeviceStatus> status() override {
    const EngineStats stats = engine_->stats();
    const ToolchainInfo& toolchain = engine_->kernels().toolchain();
    const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
    return DeviceStatus{{"server_version", UOPD_VERSION},
                        {"cpu", toolchain.cpu},
                        {"compiler", toolchain.version},
                        {"threads", static_cast<double>(engine_->threads())},
                        {"compiler_problem", toolchain.problem},
                        {"cache_dir", engine_->kernels().store().directory()},
                        {"cache_problem", engine_->kernels().store().problem()},
                        {"plan_memory_hits", number(stats.plan_memory_hits)},
                        {"plan_store_hits", number(stats.plan_store_hits)},
                        {"plan_misses", number(stats.plan_misses)},
                        {"plans", number(stats.plans)},
                        {"plan_bytes", number(stats.plan_bytes)},
                        {"kernel_memory_hits", number(stats.kernels.memory_hits)},
                        {"kernel_store_hits", number(stats.kernels.store_hits)},
                        {"kernel_compiles", number(stats.kernels.compiles)},
                        {"kernel_compile_failures", number(stats.kernels.compile_failures)},
                        {"compile_seconds", stats.kernels.compile_seconds},
                        {"store_entries", number(stats.store.entries)},
                        {"store_bytes", number(stats.store.bytes)},
                        {"store_evictions", number(stats.store.evictions)},
                        {"store_bad_entries", number(stats.store.bad_entries)},
                        {"pool_in_use_bytes", number(stats.pool.in_use_bytes)},
                        {"pool_cached_bytes", number(stats.pool.cached_bytes)},
                        {"pool_limit_bytes", number(stats.pool.limit_bytes)},
                        {"runs", number(stats.runs)}};
  }

  std::string name() const override { return "embedded"; }

 private:
  BufferHandle handle(TensorSpec tensor, BufferPtr memory) const {
    return std::make_shared<EngineBuffer>(engine_, tensor, std::move(memory));
  }
  static Status foreign_buffer() {
    return invalid_argument("a buffer of another device; put its bytes on this one first");
  }

  std::shared_ptr<Engine> engine_;
};

std::unique_ptr<ArtifactStore> open_store(const EngineOptions& options) {
  const std::string directory = options.cache_dir.empty() ? default_cache_dir() : options.cache_dir;
  return ArtifactStore::open(directory, static_cast<std::uint64_t>(options.cache_bytes));
}

Status usable(const ArtifactStore& store) {
  if (store.problem().empty()) return ok_status();
  return error(StatusCode::kFailedPrecondition, "the cache directory {} is not in use: {}", store.directory(),
               store.problem());
}

}  // namespace

StatusOr<std::shared_ptr<Device>> embedded(const EngineOptions& options) {
  StatusOr<std::unique_ptr<Engine>> engine = Engine::create(options);
  if (!engine.ok()) return engine.status();
  return std::shared_ptr<Device>(std::make_shared<EmbeddedDevice>(*std::move(engine)));
}

CacheContent cache_content(const EngineOptions& options) {
  const auto store = open_store(options);
  CacheContent content{store->directory(), store->problem(), {}};
  for (const ArtifactInfo& info : store->list())
    content.entries.push_back(
        {info.kind == ArtifactKind::kKernel ? "kernel" : "plan", info.key.hex(), info.bytes, info.last_used_ns});
  return content;
}

StatusOr<CacheCheck> verify_cache(const EngineOptions& options) {
  const auto store = open_store(options);
  if (const Status status = usable(*store); !status.ok()) return status;
  VerifyReport report = store->verify();
  return CacheCheck{report.checked, std::move(report.bad)};
}

StatusOr<std::uint64_t> clear_cache(const EngineOptions& options) {
  const auto store = open_store(options);
  if (const Status status = usable(*store); !status.ok()) return status;
  return store->clear();
}

}  // namespace uop
