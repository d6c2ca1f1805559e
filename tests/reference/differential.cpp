#include "tests/reference/differential.h"

#include "tests/reference/interpret.h"

namespace uop::reference {

std::string to_text(const CompileOptions& options) {
  return key_text(options);
}

std::vector<CompileOptions> all_options() {
  std::vector<CompileOptions> all;
  for (const std::int64_t opt : {0, 1})
    for (const bool fuse : {false, true}) {
      all.push_back({.opt = opt, .fuse_reduce = fuse, .numerics = "strict"});
      all.push_back({.opt = opt, .fuse_reduce = fuse});
    }
  all.push_back({.stage = false});
  return all;
}

Numerics numerics_of(const CompileOptions& options) {
  return options.numerics == "strict" ? Numerics::kStrict : Numerics::kDefault;
}

StatusOr<Outputs> run_on(Engine& engine, const RandomCase& c, const CompileOptions& options) {
  const StatusOr<Compilation> compilation = engine.compile(c.graph, options);
  if (!compilation.ok()) return compilation.status();
  const StatusOr<BoundInputs> bound = BoundInputs::bind(c, engine.pool());
  if (!bound.ok()) return bound.status();
  std::vector<BufferPtr> inputs;
  for (const std::int64_t slot : compilation->binding.inputs) inputs.push_back(bound->at(slot));
  std::vector<std::int64_t> variables;
  for (const std::int64_t slot : compilation->binding.variables) variables.push_back(c.inputs.variables.at(slot));
  const StatusOr<RunResult> run = engine.run(compilation->plan, inputs, variables);
  if (!run.ok()) return run.status();
  if (Status status = bound->unchanged(c); !status.ok()) return status;
  Outputs outputs;
  for (const std::uint32_t output : compilation->binding.roots)
    outputs.push_back(downloaded(*run->execution.outputs.at(output)));
  return outputs;
}

Differential::Differential(const std::string& cache_dir, const std::string& compiler) {
  for (const std::int64_t threads : {1, 2}) {
    StatusOr<std::unique_ptr<Engine>> engine =
        Engine::create({.cache_dir = cache_dir, .threads = threads, .compiler = compiler, .poison = true});
    check(engine.ok(), engine.ok() ? "" : message(engine.status()));
    engines_.push_back(*std::move(engine));
  }
}

Verdict Differential::run(const RandomCase& c, const std::vector<CompileOptions>& options) {
  Verdict verdict;
  std::map<Numerics, std::vector<Tensor>> expected;
  std::optional<Outputs> strict;
  for (const CompileOptions& o : options) {
    const auto fails = [&](std::string_view how, std::string_view what) {
      verdict.problem = fmt::format("{} ({})\n{}", how, to_text(o), what);
      return verdict;
    };
    const Numerics numerics = numerics_of(o);
    if (!expected.contains(numerics)) expected[numerics] = interpret(c.graph.roots, c.inputs, numerics);
    std::optional<Outputs> first;
    for (const std::unique_ptr<Engine>& engine : engines_) {
      StatusOr<Outputs> outputs = run_on(*engine, c, o);
      if (!outputs.ok()) return fails("the engine fails", message(outputs.status()));
      if (!first) {
        const Comparison comparison = compare_all(*outputs, expected[numerics]);
        if (comparison.difference) return fails("not as the reference says", *comparison.difference);
        verdict.comparison += comparison;
        first = *std::move(outputs);
      } else if (const auto at = unlike(c, expected[numerics], *first, *outputs)) {
        return fails("two threads give other bits than one", *at);
      }
    }
    if (numerics != Numerics::kStrict) continue;
    if (!strict)
      strict = first;
    else if (const auto at = unlike(c, expected[numerics], *strict, *first))
      return fails("strict gives other bits than under the first options", *at);
  }
  return verdict;
}

}  // namespace uop::reference
