// Engines, plans and filled buffers for the benchmarks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/engine.h"

namespace uop::bench {

/// A directory that goes with the object.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Ends the program with the message unless ok: a benchmark that fails has nothing to report.
void require(const Status& status);

std::unique_ptr<Engine> make_engine(const std::string& cache_dir, int threads);

using Build = std::function<UOp(Graph&)>;
RootedGraph graph_of(const Build& build);

/// A compiled graph with inputs of numbers between -1 and 1, ready to run again and again.
class PlanRunner {
 public:
  PlanRunner(Engine& engine, const Build& build, const CompileOptions& options);
  /// Seconds of one run.
  double run() const;

 private:
  Engine& engine_;
  CompiledPlanPtr plan_;
  std::vector<BufferPtr> inputs_;
};

}  // namespace uop::bench
