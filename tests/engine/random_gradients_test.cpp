// GRADIENT in random graphs: the expanded graph against central differences, both by the reference interpreter; and
// what the kernels give against the interpreter, under options by seed.
#include <gtest/gtest.h>

#include <cmath>

#include "core/grad/expand_gradients.h"
#include "tests/reference/batch.h"
#include "tests/reference/interpret.h"
#include "tests/reference/smooth_graph.h"

namespace uop::reference {
namespace {

constexpr std::uint64_t kFirstSeed = 1;
constexpr std::uint64_t kGraphs = 100;
constexpr int kSteps = 7;
constexpr double kStep = 1e-5;
constexpr double kTolerance = 2e-6;

double element(const Tensor& t, std::size_t i) {
  return real(DType::kF64, t.elements.at(i).bits);
}

/// The loss with element `i` of the input moved by `delta`.
double loss_at(const RandomCase& c, std::int64_t slot, std::size_t i, double delta) {
  Inputs inputs = c.inputs;
  std::byte* at = inputs.buffers.at(slot).data() + 8 * i;
  store(DType::kF64, rounded(DType::kF64, real(DType::kF64, load(DType::kF64, at)) + delta), at);
  return element(interpret(std::span(c.graph.roots).first(1), inputs, Numerics::kStrict).front(), 0);
}

TEST(RandomGradients, AreAsDifferencesSay) {
  std::size_t checked = 0;
  std::size_t not_zero = 0;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kGraphs; seed++) {
    const RandomCase c = smooth_case(seed, kSteps);
    const StatusOr<std::vector<UOp>> expanded = expand_gradients(c.graph.roots);
    ASSERT_TRUE(expanded.ok()) << message(expanded.status()) << to_text(c);
    const std::vector<Tensor> values = interpret(*expanded, c.inputs, Numerics::kStrict);
    for (const std::int64_t slot : {0, 1}) {
      const Tensor& gradient = values.at(static_cast<std::size_t>(1 + slot));
      for (std::size_t i = 0; i < gradient.elements.size(); i++) {
        const double expected = (loss_at(c, slot, i, kStep) - loss_at(c, slot, i, -kStep)) / (2 * kStep);
        ASSERT_NEAR(element(gradient, i), expected,
                    kTolerance * (1 + std::fabs(expected) + std::fabs(element(values[0], 0))))
            << "slot " << slot << ", element " << i << "\n"
            << to_text(c);
        checked++;
        not_zero += expected != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(not_zero, checked * 9 / 10);
}

TEST(RandomGradients, KernelsGiveWhatTheReferenceGives) {
  std::vector<RandomCase> cases;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kGraphs; seed++) cases.push_back(smooth_case(seed, kSteps));
  const std::vector<Verdict> verdicts = Batches().run(cases, any_variant);
  Comparison all;
  for (std::size_t i = 0; i < cases.size(); i++) {
    EXPECT_EQ(verdicts[i].problem, std::nullopt) << to_text(cases[i]);
    all += verdicts[i].comparison;
  }
  EXPECT_LT(all.skipped, (all.checked + all.skipped) / 10) << "too little was checked";
}

}  // namespace
}  // namespace uop::reference
