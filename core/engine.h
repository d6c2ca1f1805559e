// The engine: graph in, results out. Plan cache, compiler and executor behind one class, which the server and the
// embedded client both use. All methods may be called from any thread; they block, and run in the caller's thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/compile/artifact_store.h"
#include "core/compile/kernel_library.h"
#include "core/exec/buffer_pool.h"
#include "core/exec/compute_pool.h"
#include "core/exec/executor.h"
#include "core/ir/plan.h"
#include "core/ir/uop.h"
#include "core/support/cancel.h"
#include "core/support/options.h"

namespace uop {

/// A plan with its identity; shared by the cache and by all who run it.
struct CompiledPlan;
using CompiledPlanPtr = std::shared_ptr<const CompiledPlan>;

struct CompiledPlan {
  Digest id;  // the structure key: what a client may execute by
  CompileOptions options;
  std::string structure;  // canonical bytes of the graph; compared in full on a hit
  Plan plan;
  std::vector<Digest> kernel_keys;             // one per Plan::programs
  std::shared_ptr<class PlanKernels> kernels;  // its kernels, for as long as the library keeps them loaded
};

/// Where a plan was found.
enum class PlanOrigin { kMemory, kStore, kCompiled };
std::string_view name(PlanOrigin origin);

/// How a caller's graph maps to its plan.
struct Binding {
  std::vector<std::int64_t> inputs;     // plan input i is the graph's BUFFER with this slot
  std::vector<std::int64_t> variables;  // plan variable i is the graph's VARIABLE with this slot
  std::vector<std::uint32_t> roots;     // root r of the graph is this plan output
};

struct Compilation {
  CompiledPlanPtr plan;
  Binding binding;
  PlanOrigin origin;
  std::string why;                           // on a miss: the nearest cached structure and the first difference
  std::chrono::nanoseconds schedule_time{};  // key, look-up, and planning and compiling on a miss
  std::uint32_t kernels_compiled = 0;        // compiler runs this call caused
};

/// A plan whose kernels stay loaded for as long as this lives.
struct LoadedPlan {
  CompiledPlanPtr plan;
  std::vector<LoadedKernelPtr> kernels;  // one per Plan::programs
  std::uint32_t kernels_compiled = 0;    // compiler runs that this took
};

struct RunResult {
  Execution execution;
  std::chrono::nanoseconds run_time{};
};

struct StageText {
  std::string name;  // a pass of core/compiler.cpp; of a pass over one kernel: "render_c r_4_8"
  std::string text;
};

struct Explanation {
  Compilation compilation;
  std::vector<StageText> stages;  // every pass in order; those of a kernel (last: render_c) once a distinct body
};

/// What an engine reports as it happens; called from any thread, must not block.
struct EngineEvents {
  std::function<void(std::chrono::nanoseconds, bool ok)> compiled = nullptr;                // a compiler run
  std::function<void(const KernelLaunch&, std::chrono::nanoseconds)> kernel_ran = nullptr;  // a kernel run
};

struct EngineStats {
  std::uint64_t plan_memory_hits, plan_store_hits, plan_misses, plan_evictions, plan_bytes, plans;
  std::uint64_t runs;
  KernelLibraryStats kernels;
  ArtifactStoreStats store;
  BufferPoolStats pool;
};

class Engine {
 public:
  /// Errors: INVALID_ARGUMENT for options that do not fit this machine.
  static StatusOr<std::unique_ptr<Engine>> create(const EngineOptions& options, EngineEvents events = {});
  virtual ~Engine() = default;

  /// The plan of the graph: from memory, from the store, or made now (with all its kernels). One build per structure
  /// at a time. Errors: INVALID_ARGUMENT for a GRADIENT that does not exist; RESOURCE_EXHAUSTED for gradients beyond
  /// the limits of expand_gradients and compile_plan, or for want of memory; INTERNAL for a
  /// fault of ours; and KernelLibrary::load's.
  virtual StatusOr<Compilation> compile(const RootedGraph& graph, const CompileOptions& options,
                                        const Cancel& cancel = {}) = 0;

  /// An earlier plan by id, from memory or the store. Errors: NOT_FOUND; the client then sends the graph.
  virtual StatusOr<CompiledPlanPtr> find(const Digest& id) = 0;

  /// The same at once, without waiting for the store or a compiler: nothing where the plan or one of its kernels is not
  /// in memory; then `find` it, and `load` it.
  virtual std::optional<LoadedPlan> find_loaded(const Digest& id) = 0;

  /// Loads what is missing of a plan's kernels, side by side. Errors: KernelLibrary::load's.
  virtual StatusOr<LoadedPlan> load(const CompiledPlanPtr& plan, const Cancel& cancel = {}) = 0;

  /// Runs a plan on inputs and variables in the plan's order; `load`s it where it is not. Errors: as `execute`, and
  /// `load`'s.
  virtual StatusOr<RunResult> run(const CompiledPlanPtr& plan, std::span<const BufferPtr> inputs,
                                  std::span<const std::int64_t> variables, const ExecuteOptions& options = {},
                                  const Cancel& cancel = {}) = 0;

  /// Compiles, and returns the text of every stage as well.
  virtual StatusOr<Explanation> explain(const RootedGraph& graph, const CompileOptions& options,
                                        const Cancel& cancel = {}) = 0;
  /// The same from a cached plan's structure.
  virtual StatusOr<Explanation> explain(const CompiledPlanPtr& plan, const Cancel& cancel = {}) = 0;

  virtual BufferPool& pool() = 0;
  virtual KernelLibrary& kernels() = 0;
  virtual int threads() const = 0;
  virtual EngineStats stats() const = 0;
};

}  // namespace uop
