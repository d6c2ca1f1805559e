// Stretches of seeds: which random graphs a run of the tests goes through, and what is said of one that fails.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "tests/reference/batch.h"

namespace uop::reference {

/// The variants of a stretch: one by seed, or all the ways of compiling under strict numerics.
enum class Kind { kAny, kStrict };
std::string_view name(Kind kind);

struct Stretch {
  std::string name;
  std::uint64_t first_seed;
  int graphs;
  int steps;
  Kind kind = Kind::kAny;
};
void PrintTo(const Stretch& stretch, std::ostream* out);

/// The case of a seed: as random_case makes it, or, for one seed in four, with constants for operands.
RandomCase case_of_seed(std::uint64_t seed, int steps);
bool has_constant_operands(std::uint64_t seed);

VariantsOf variants_of(Kind kind);

/// The stretch in pieces of at most `graphs`, so that they can run in processes of their own.
std::vector<Stretch> pieces_of(const Stretch& stretch, int graphs);

/// The verdicts on a whole stretch, cases of a piece in one batch.
struct StretchResult {
  Comparison comparison;            // over all graphs
  std::vector<std::string> failed;  // reports, with the case shrunk; at most `most_failures`
};
StretchResult run_stretch(Batches& batches, const Stretch& stretch, const VariantsOf& variants,
                          std::size_t most_failures = 3);

}  // namespace uop::reference
