#include "tests/reference/stretch.h"

#include <algorithm>

#include "tests/reference/changed_case.h"
#include "tests/reference/shrink.h"

namespace uop::reference {
namespace {

constexpr int kBatch = 125;  // graphs in one run of the compiler: its start is then a hundredth of the time

/// The failing case made small, and how to see it again.
std::string report(Batches& batches, const RandomCase& c, const Stretch& stretch, const std::vector<Variant>& variants,
                   const std::string& problem) {
  const RandomCase small =
      shrunk(c, [&](const RandomCase& candidate) { return batches.run(candidate, variants).problem.has_value(); });
  return fmt::format(
      "seed {}: {}\nshrunk to {}{}\nagain: scripts/soak-diff --seed {} --graphs 1 --steps {} --kind {}\n", c.seed,
      problem, to_text(small), batches.run(small, variants).problem.value_or("no longer fails"), c.seed, stretch.steps,
      name(stretch.kind));
}

}  // namespace

std::string_view name(Kind kind) {
  return kind == Kind::kStrict ? "strict" : "any";
}

void PrintTo(const Stretch& stretch, std::ostream* out) {
  *out << "seeds " << stretch.first_seed << " to "
       << stretch.first_seed + static_cast<std::uint64_t>(stretch.graphs) - 1;
}

bool has_constant_operands(std::uint64_t seed) {
  return seed % 4 == 3;
}

RandomCase case_of_seed(std::uint64_t seed, int steps) {
  RandomCase c = random_case(seed, steps);
  return has_constant_operands(seed) ? with_constant_operands(c) : std::move(c);
}

VariantsOf variants_of(Kind kind) {
  return kind == Kind::kStrict ? strict_variants : any_variant;
}

std::vector<Stretch> pieces_of(const Stretch& stretch, int graphs) {
  std::vector<Stretch> pieces;
  for (int done = 0; done < stretch.graphs; done += graphs) {
    Stretch piece = stretch;
    piece.name += fmt::format("_{}", pieces.size());
    piece.first_seed += static_cast<std::uint64_t>(done);
    piece.graphs = std::min(graphs, stretch.graphs - done);
    pieces.push_back(piece);
  }
  return pieces;
}

StretchResult run_stretch(Batches& batches, const Stretch& stretch, const VariantsOf& variants,
                          std::size_t most_failures) {
  StretchResult result;
  for (const Stretch& piece : pieces_of(stretch, kBatch)) {
    std::vector<RandomCase> cases;
    for (int i = 0; i < piece.graphs; i++)
      cases.push_back(case_of_seed(piece.first_seed + static_cast<std::uint64_t>(i), piece.steps));
    const std::vector<Verdict> verdicts = batches.run(cases, variants);
    for (std::size_t i = 0; i < cases.size(); i++) {
      result.comparison += verdicts[i].comparison;
      if (verdicts[i].problem && result.failed.size() < most_failures)
        result.failed.push_back(report(batches, cases[i], stretch, variants(cases[i].seed), *verdicts[i].problem));
    }
  }
  return result;
}

}  // namespace uop::reference
