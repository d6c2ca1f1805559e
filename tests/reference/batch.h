// Random cases, many to a run of the C compiler, against the reference: what makes ten thousand graphs affordable in a
// run of the tests. Plans and runs as the engine does, by the same functions, but for its caches.
//
// `Batches::run` is what others call.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/exec/compute_pool.h"
#include "core/support/options.h"
#include "tests/reference/kernel_batch.h"
#include "tests/reference/verdict.h"

namespace uop::reference {

/// A way to compile and run a case.
struct Variant {
  CompileOptions options;
  bool split = false;         // every kernel that can be is run in many slices, by two threads and by one
  std::uint64_t restage = 0;  // STAGE nodes are taken out and put in by this seed; 0: as they are. Strict only
};
std::string to_text(const Variant& variant);

/// One variant, chosen by the seed, out of all options.
std::vector<Variant> any_variant(std::uint64_t seed);

/// Strict numerics under every `opt` and way of fusing, and with other STAGE nodes; one thread and two.
std::vector<Variant> strict_variants(std::uint64_t seed);

/// The variants of a case, by its seed.
using VariantsOf = std::function<std::vector<Variant>(std::uint64_t seed)>;

class Batches {
 public:
  /// `compiler` as in EngineOptions: a C compiler other than the first that is found.
  explicit Batches(const std::string& compiler = "", KernelEdit edit = nullptr);

  /// The verdict on each case. All variants of a case must agree with the reference, and the strict ones of a case
  /// with each other, bit by bit; inputs must stay as they were.
  std::vector<Verdict> run(std::span<const RandomCase> cases, const VariantsOf& variants_of);

  /// The same for one case, to shrink it.
  Verdict run(const RandomCase& c, const std::vector<Variant>& variants);

 private:
  Toolchain toolchain_;
  KernelEdit edit_;
  std::unique_ptr<BufferPool> pool_;
  std::unique_ptr<ComputePool> one_thread_;
  std::unique_ptr<ComputePool> two_threads_;
};

}  // namespace uop::reference
