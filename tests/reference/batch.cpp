#include "tests/reference/batch.h"

#include <map>

#include "core/grad/expand_gradients.h"
#include "core/ir/traverse.h"
#include "tests/reference/changed_case.h"
#include "tests/reference/differential.h"
#include "tests/reference/interpret.h"
#include "tests/reference/planned_case.h"
#include "tests/reference/random.h"

namespace uop::reference {
namespace {

constexpr std::uint64_t kPoolBytes = std::uint64_t{1} << 30;

/// A case under a variant, planned.
struct Job {
  const RandomCase* c;
  Variant variant;
  StatusOr<PlannedCase> planned;
};

/// Strict kernels and others are compiled apart: the flags differ.
struct Kernels {
  KernelBatch strict;
  KernelBatch contracted;

  KernelBatch& of(const CompileOptions& options) {
    return numerics_of(options) == Numerics::kStrict ? strict : contracted;
  }
};

/// What the reference gives; gradients are expanded by the service's own rule, which other tests hold against
/// differences.
std::vector<Tensor> expected_of(const RandomCase& c, Numerics numerics) {
  RootedGraph copy{std::make_unique<Graph>(), {}};
  copy.roots = rebuild(c.graph.roots, *copy.graph, [](UOp, UOp made) { return made; });
  const StatusOr<std::vector<UOp>> roots = expand_gradients(copy.roots);
  check(roots.ok(), roots.ok() ? "" : message(roots.status()));
  return interpret(*roots, c.inputs, numerics);
}

/// Judges the jobs of one case, one after the other.
class Judge {
 public:
  explicit Judge(const RandomCase& c) : c_(c) {}

  void fails(const Variant& variant, std::string_view how, std::string_view what) {
    if (!verdict_.problem) verdict_.problem = fmt::format("{} ({})\n{}", how, to_text(variant), what);
  }

  void hear(const Variant& variant, const StatusOr<Outputs>& outputs) {
    if (!outputs.ok()) return fails(variant, "a run fails", message(outputs.status()));
    const Numerics numerics = numerics_of(variant.options);
    if (!expected_.contains(numerics)) expected_[numerics] = expected_of(c_, numerics);
    const std::vector<Tensor>& expected = expected_[numerics];
    const Comparison comparison = compare_all(*outputs, expected);
    if (comparison.difference) fails(variant, "not as the reference says", *comparison.difference);
    verdict_.comparison += comparison;
    if (numerics != Numerics::kStrict) return;
    if (!strict_)
      strict_ = *outputs;
    else if (const auto at = unlike(c_, expected, *strict_, *outputs))
      fails(variant, "strict gives other bits than under the first variant", *at);
  }

  /// One plan has one result, whatever the number of threads.
  void compare_threads(const Variant& variant, const StatusOr<Outputs>& one, const StatusOr<Outputs>& two) {
    if (!one.ok() || !two.ok()) return hear(variant, one.ok() ? two : one);
    for (std::size_t r = 0; r < one->size(); r++)
      if (const auto at = difference(c_.graph.roots[r].dtype(), (*one)[r], (*two)[r]))
        fails(variant, "two threads give other bits than one", fmt::format("root {}: {}", r, *at));
  }

  Verdict verdict() { return std::move(verdict_); }

 private:
  const RandomCase& c_;
  std::map<Numerics, std::vector<Tensor>> expected_;
  std::optional<Outputs> strict_;
  Verdict verdict_;
};

}  // namespace

std::string to_text(const Variant& variant) {
  return fmt::format("{}{}{}", to_text(variant.options), variant.split ? "; in slices" : "",
                     variant.restage != 0 ? fmt::format("; STAGE nodes by {}", variant.restage) : "");
}

std::vector<Variant> any_variant(std::uint64_t seed) {
  Random random(seed ^ 0x7a21a27);
  return {{.options = random.pick(all_options()), .split = random.chance(30)}};
}

std::vector<Variant> strict_variants(std::uint64_t seed) {
  Random random(seed ^ 0x5721c7);
  std::vector<Variant> variants;
  for (const std::int64_t opt : {0, 1}) {
    const CompileOptions options{.opt = opt, .numerics = "strict"};
    variants.push_back({options, true});
    variants.push_back({options, random.chance(50), random.bits() | 1});
  }
  variants.push_back({{.fuse_reduce = true, .numerics = "strict"}, random.chance(50)});
  return variants;
}

Batches::Batches(const std::string& compiler, KernelEdit edit)
    : edit_(std::move(edit)),
      pool_(BufferPool::create(kPoolBytes)),
      one_thread_(ComputePool::create(1)),
      two_threads_(ComputePool::create(2)) {
  StatusOr<Toolchain> toolchain = find_toolchain({.compiler = compiler});
  check(toolchain.ok() && toolchain->info.available, "these tests need a C compiler");
  toolchain_ = *std::move(toolchain);
}

std::vector<Verdict> Batches::run(std::span<const RandomCase> cases, const VariantsOf& variants_of) {
  Kernels kernels{{toolchain_, true, edit_}, {toolchain_, false, edit_}};
  std::vector<Job> jobs;
  for (const RandomCase& c : cases)
    for (const Variant& v : variants_of(c.seed)) {
      KernelBatch& batch = kernels.of(v.options);
      jobs.push_back({&c, v,
                      v.restage == 0 ? PlannedCase::make(c, v.options, batch)
                                     : PlannedCase::make(restaged(c, v.restage), v.options, batch)});
    }
  Status compiled = kernels.strict.compile();
  if (compiled.ok()) compiled = kernels.contracted.compile();

  std::vector<Verdict> verdicts;
  if (!compiled.ok() && cases.size() > 1) {  // whose fault is it?
    for (const auto half : {cases.first(cases.size() / 2), cases.subspan(cases.size() / 2)})
      for (Verdict& v : run(half, variants_of)) verdicts.push_back(std::move(v));
    return verdicts;
  }
  auto job = jobs.begin();
  for (const RandomCase& c : cases) {
    Judge judge(c);
    for (; job != jobs.end() && job->c == &c; ++job) {
      if (!job->planned.ok() || !compiled.ok()) {
        judge.fails(job->variant, "no kernels", message(job->planned.ok() ? compiled : job->planned.status()));
        continue;
      }
      const KernelBatch& batch = kernels.of(job->variant.options);
      const auto run_once = [&](bool split, ComputePool& threads) {
        return job->planned->run(c, batch, split, *pool_, threads);
      };
      judge.hear(job->variant, run_once(false, *one_thread_));
      if (!job->variant.split) continue;
      const StatusOr<Outputs> two = run_once(true, *two_threads_);
      judge.hear(job->variant, two);
      judge.compare_threads(job->variant, run_once(true, *one_thread_), two);
    }
    verdicts.push_back(judge.verdict());
  }
  return verdicts;
}

Verdict Batches::run(const RandomCase& c, const std::vector<Variant>& variants) {
  return run({&c, 1}, [&](std::uint64_t) { return variants; }).front();
}

}  // namespace uop::reference
