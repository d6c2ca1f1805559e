// The engine against the reference: one case under every set of options that a test asks for.
//
// `Differential::run` is what others call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/engine.h"
#include "tests/reference/reduction.h"
#include "tests/reference/verdict.h"

namespace uop::reference {

/// The compile options of one run.
std::string to_text(const CompileOptions& options);
/// Every combination of opt, fuse_reduce and numerics; default numerics with and without staging.
std::vector<CompileOptions> all_options();
/// How far from the graph as written these options let a kernel be.
Numerics numerics_of(const CompileOptions& options);

/// The outputs of one run, in the order of the roots; the inputs are bound by slot. Errors: the engine's, and
/// DATA_LOSS where an input was written to.
StatusOr<Outputs> run_on(Engine& engine, const RandomCase& c, const CompileOptions& options);

/// Two engines, of one and of two compute threads, that share a cache directory.
class Differential {
 public:
  /// `compiler` as in EngineOptions: a C compiler other than the first that is found.
  explicit Differential(const std::string& cache_dir, const std::string& compiler = "");

  /// Runs the case under each of `options` on both engines. Results must agree with the reference; those of strict
  /// runs must have the same bits as each other, those of the two engines as well; inputs must stay as they were.
  Verdict run(const RandomCase& c, const std::vector<CompileOptions>& options);

  /// The outputs of one run on the engine of two threads.
  StatusOr<Outputs> run_once(const RandomCase& c, const CompileOptions& options) {
    return run_on(*engines_.back(), c, options);
  }

  /// The structure key of the case's plan, in hexadecimal.
  std::string plan_id(const RandomCase& c, const CompileOptions& options) {
    return engines_.back()->compile(c.graph, options).value().plan->id.hex();
  }

 private:
  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace uop::reference
