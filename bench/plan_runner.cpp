#include "bench/plan_runner.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "bench/pair.h"

namespace uop::bench {

ScratchDirectory::ScratchDirectory() {
  path_ = (std::filesystem::temp_directory_path() / "uop-bench-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) require(error(StatusCode::kInternal, "no temporary directory"));
}

ScratchDirectory::~ScratchDirectory() {
  std::filesystem::remove_all(path_);
}

void require(const Status& status) {
  if (status.ok()) return;
  std::cerr << "uop_bench: " << message(status) << std::endl;
  std::exit(1);
}

std::unique_ptr<Engine> make_engine(const std::string& cache_dir, int threads) {
  EngineOptions options;
  options.cache_dir = cache_dir;
  options.threads = threads;
  StatusOr<std::unique_ptr<Engine>> engine = Engine::create(options);
  require(engine.status());
  return *std::move(engine);
}

RootedGraph graph_of(const Build& build) {
  RootedGraph graph{std::make_unique<Graph>(), {}};
  graph.roots = {build(*graph.graph)};
  return graph;
}

PlanRunner::PlanRunner(Engine& engine, const Build& build, const CompileOptions& options) : engine_(engine) {
  const StatusOr<Compilation> compilation = engine.compile(graph_of(build), options);
  require(compilation.status());
  plan_ = compilation->plan;
  std::uint32_t state = 1;
  for (const TensorSpec& spec : plan_->plan.inputs) {
    require(spec.dtype == DType::kF32 ? ok_status() : invalid_argument("the benchmarks fill f32 inputs only"));
    StatusOr<BufferPtr> buffer = engine.pool().allocate(spec.bytes());
    require(buffer.status());
    auto* values = static_cast<float*>((*buffer)->data());
    for (std::int64_t i = 0; i < spec.elements; i++) {
      state = state * 1664525u + 1013904223u;
      values[i] = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
    }
    inputs_.push_back(*std::move(buffer));
  }
}

double PlanRunner::run() const {
  return seconds_of([&] { require(engine_.run(plan_, inputs_, {}).status()); });
}

}  // namespace uop::bench
