// The golden plans of the chapter at opt=0: kernels, refs, flops, temporaries, outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/compiler.h"
#include "tests/engine/chapter_graphs.h"

namespace uop {
namespace {

using namespace chapter;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

CompileOptions unoptimised() {
  CompileOptions o;
  o.opt = 0;
  return o;
}

CompileOptions fused() {
  CompileOptions o = unoptimised();
  o.fuse_reduce = true;
  return o;
}

CompileOptions unstaged() {
  CompileOptions o = unoptimised();
  o.stage = false;
  return o;
}

Plan plan_of(const std::vector<UOp>& roots, const CompileOptions& options = unoptimised()) {
  StatusOr<Plan> plan = compile_plan(roots, options);
  EXPECT_TRUE(plan.ok()) << message(plan.status());
  return *plan;
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> list;
  for (const KernelLaunch& k : plan.kernels) list.push_back(k.name);
  return list;
}

/// "r_4 [in0,tmp0]" for each kernel.
std::vector<std::string> kernels_of(const Plan& plan) {
  std::vector<std::string> list;
  for (const KernelLaunch& k : plan.kernels) {
    std::string refs;
    for (const BufferRef r : k.refs) refs += (refs.empty() ? "" : ",") + to_string(r);
    list.push_back(k.name + " [" + refs + "]");
  }
  return list;
}

std::vector<std::uint64_t> flops_of(const Plan& plan) {
  std::vector<std::uint64_t> list;
  for (const KernelLaunch& k : plan.kernels) list.push_back(k.flops);
  return list;
}

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) n++;
  return n;
}

/// How far each loop of the C text is indented, in order.
std::vector<std::size_t> loop_indents(const std::string& c) {
  std::vector<std::size_t> indents;
  for (std::size_t at = c.find("for ("); at != std::string::npos; at = c.find("for (", at + 1))
    indents.push_back(at - c.rfind('\n', at) - 1);
  return indents;
}

struct NamesCase {
  const char* what;
  std::function<std::vector<UOp>(Graph&)> roots;
  std::vector<std::string> names;
  CompileOptions options = unoptimised();
};

UOp matmul_chain(Graph& g, std::int64_t n) {
  return matmul(matmul(input(g, 0, {n, n}), input(g, 1, {n, n})), input(g, 2, {n, n}));
}

UOp layernorm_into_matmul(Graph& g) {
  return matmul(layernorm(input(g, 0, {128, 256})), input(g, 1, {256, 256}));
}

std::vector<UOp> training_step(Graph& g) {
  const UOp w = input(g, 1, {64, 10});
  const UOp loss = scaled(reduce(Op::kAdd, square(relu(matmul(input(g, 0, {32, 64}), w))), 2), 1.0 / 320);
  return {loss, gradient(loss, w)};
}

const std::vector<NamesCase>& names_cases() {
  using Roots = std::vector<UOp>;
  static const std::vector<NamesCase> cases = {
      {"relu chain",
       [](Graph& g) {
         return Roots{scaled(relu(plus(scaled(input(g, 0, {2, 4}), 2), 1)), 3)};
       },
       {"e_2_4"}},
      {"softmax",
       [](Graph& g) {
         return Roots{softmax(input(g, 0, {4, 8}))};
       },
       {"r_4", "r_4", "e_4_8"}},
      {"softmax fused",
       [](Graph& g) {
         return Roots{softmax(input(g, 0, {4, 8}))};
       },
       {"r_4_8"},
       fused()},
      {"(A@B)@C", [](Graph& g) { return Roots{matmul_chain(g, 16)}; }, {"r_16_16", "r_16_16"}},
      {"(A@B)@C fused", [](Graph& g) { return Roots{matmul_chain(g, 16)}; }, {"r_16_16"}, fused()},
      {"a + b",
       [](Graph& g) {
         return Roots{add(input(g, 0, {4, 8}), input(g, 1, {4, 8}))};
       },
       {"e_4_8"}},
      {"(a + b).sum()",
       [](Graph& g) {
         return Roots{reduce(Op::kAdd, add(input(g, 0, {4, 8}), input(g, 1, {4, 8})), 2)};
       },
       {"r_1"}},
      {"var",
       [](Graph& g) {
         return Roots{variance(input(g, 0, {4, 8}))};
       },
       {"r_4", "r_4", "e_4"}},
      {"(a@b).relu()@c",
       [](Graph& g) {
         return Roots{matmul(relu(matmul(input(g, 0, {64, 64}), input(g, 1, {64, 64}))), input(g, 2, {64, 64}))};
       },
       {"r_64_64", "e_64_64", "r_64_64"}},
      {"LayerNorm @ W",
       [](Graph& g) { return Roots{layernorm_into_matmul(g)}; },
       {"r_128", "r_128", "e_128_256", "r_128_256"}},
      {"LayerNorm @ W, staging off",
       [](Graph& g) { return Roots{layernorm_into_matmul(g)}; },
       {"r_128", "r_128", "r_128_256"},
       unstaged()},
      {"(a.exp()*2).contiguous().sum(1)",
       [](Graph& g) {
         return Roots{reduce(Op::kAdd, stage(scaled(exp(input(g, 0, {256, 256})), 2)), 1)};
       },
       {"e_256_256", "r_256"}},
      {"the same without the STAGE",
       [](Graph& g) {
         return Roots{reduce(Op::kAdd, scaled(exp(input(g, 0, {256, 256})), 2), 1)};
       },
       {"r_256"}},
      {"one training step", training_step, {"r_32_10", "r_1", "e_1", "r_10_64", "e_64_10"}},
      {"a movement root is a copy",
       [](Graph& g) {
         return Roots{permute(input(g, 0, {4, 8}), {1, 0})};
       },
       {"e_8_4"}},
  };
  return cases;
}

TEST(GoldenPlans, KernelNames) {
  for (const NamesCase& c : names_cases()) {
    Graph g;
    EXPECT_EQ(names_of(plan_of(c.roots(g), c.options)), c.names) << c.what;
  }
}

TEST(GoldenPlans, ElementwiseChainHasOneLoadAndOneStorePerElement) {
  Graph g;
  const Plan plan = plan_of({scaled(relu(plus(scaled(input(g, 0, {2, 4}), 2), 1)), 3)});
  const std::string& c = plan.programs.at(0).source;
  EXPECT_EQ(count(c, "data0["), 1u) << c;
  EXPECT_EQ(count(c, "data1["), 1u) << c;
}

TEST(GoldenPlans, Softmax) {
  Graph g;
  const Plan plan = plan_of({softmax(input(g, 0, {4, 8}))});
  EXPECT_THAT(kernels_of(plan), ElementsAre("r_4 [in0,tmp0]", "r_4 [in0,tmp0,tmp1]", "e_4_8 [in0,tmp0,tmp1,out0]"));
  EXPECT_THAT(flops_of(plan), ElementsAre(32u, 132u, 136u));
  ASSERT_EQ(plan.temps.size(), 2u);
  EXPECT_EQ(plan.temps[0].tensor, (TensorSpec{DType::kF32, 4}));
  EXPECT_EQ(plan.temps[1].tensor, (TensorSpec{DType::kF32, 4}));
  ASSERT_EQ(plan.outputs.size(), 1u);
  EXPECT_EQ(plan.outputs[0].tensor, (TensorSpec{DType::kF32, 32}));
  EXPECT_THAT(plan.inputs, ElementsAre(TensorSpec{DType::kF32, 32}));
}

TEST(GoldenPlans, SoftmaxFusedHasTwoSiblingAccumulationsInTheRowLoopThenTheOutputLoop) {
  Graph g;
  const Plan plan = plan_of({softmax(input(g, 0, {4, 8}))}, fused());
  EXPECT_THAT(kernels_of(plan), ElementsAre("r_4_8 [in0,out0]"));
  EXPECT_TRUE(plan.temps.empty());
  const std::string& c = plan.programs.at(0).source;
  EXPECT_THAT(loop_indents(c), ElementsAre(2u, 4u, 4u, 4u)) << c;
}

TEST(GoldenPlans, MatmulChainFusedNestsFourLoopsWithTheInnerAccumulatorInside) {
  Graph g;
  const std::string c = plan_of({matmul_chain(g, 4)}, fused()).programs.at(0).source;
  EXPECT_THAT(loop_indents(c), ElementsAre(2u, 4u, 6u, 8u)) << c;
  const std::size_t inner_loop = c.find("ridx3");
  EXPECT_LT(c.find("float acc0"), c.find("ridx2 = 0")) << c;
  EXPECT_GT(c.find("float acc1"), c.find("ridx2 = 0")) << c;
  EXPECT_LT(c.find("float acc1"), inner_loop) << c;
}

TEST(GoldenPlans, VarianceIsRowSumsThenSquaredDeviationsThenScale) {
  Graph g;
  EXPECT_THAT(kernels_of(plan_of({variance(input(g, 0, {4, 8}))})),
              ElementsAre("r_4 [in0,tmp0]", "r_4 [in0,tmp0,tmp1]", "e_4 [tmp1,out0]"));
}

TEST(GoldenPlans, EqualKernelsOnOtherBuffersShareOneProgram) {
  Graph g;
  const Plan plan = plan_of({reduce(Op::kAdd, input(g, 0, {16, 16}), 1), reduce(Op::kAdd, input(g, 1, {16, 16}), 1)});
  EXPECT_THAT(kernels_of(plan), ElementsAre("r_16 [in0,out0]", "r_16 [in1,out1]"));
  EXPECT_EQ(plan.programs.size(), 1u);
}

TEST(GoldenPlans, TheForwardMatmulOfATrainingStepIsComputedOnceAndReadByBoth) {
  Graph g;
  EXPECT_THAT(kernels_of(plan_of(training_step(g))),
              ElementsAre("r_32_10 [in0,in1,tmp0]", "r_1 [tmp0,tmp1]", "e_1 [tmp1,out0]", "r_10_64 [tmp0,in0,tmp2]",
                          "e_64_10 [tmp2,out1]"));
}

// Pitfall 7: a read that simplification deletes must not shift the kernel's arguments.
TEST(GoldenPlans, ADeletedReadIsNotBound) {
  Graph g;
  EXPECT_THAT(kernels_of(plan_of({scaled(input(g, 0, {3}, DType::kI32), 0)})), ElementsAre("e_3 [out0]"));
}

// Pitfall 2: nested staging targets are wrapped bottom-up.
TEST(GoldenPlans, NestedStagingTargetsAreBothStaged) {
  Graph g;
  const UOp inner = plus(scaled(input(g, 0, {64, 1, 64}), 2), 1);
  const UOp outer = mul(unary(Op::kExp2, inner), inner);
  const UOp root = reduce(Op::kAdd, add(expand(outer, {64, 8, 64}), expand(inner, {64, 8, 64})), 1);
  EXPECT_THAT(names_of(plan_of({root})), ElementsAre("e_64_1_64", "e_64_1_64", "r_64_8"));
}

TEST(GoldenPlans, LayerNormStagesOneValueOfItsShape) {
  Graph g;
  const Plan plan = plan_of({layernorm_into_matmul(g)});
  EXPECT_EQ(std::ranges::count(plan.temps, 128 * 256, [](const TempSpec& t) { return t.tensor.elements; }), 1);
}

TEST(GoldenPlans, RootsThatAreInputsAreAliases) {
  Graph g;
  const UOp x = input(g, 0, {4, 8});
  const Plan plan = plan_of({x, scaled(x, 2), reshape(x, {8, 4})});
  EXPECT_THAT(names_of(plan), ElementsAre("e_4_8"));
  EXPECT_EQ(plan.outputs[0].alias_of_input, 0);
  EXPECT_EQ(plan.outputs[1].alias_of_input, -1);
  EXPECT_EQ(plan.outputs[2].alias_of_input, 0);
}

TEST(GoldenPlans, RootsThatBecomeEqualAreBothWritten) {
  Graph g;
  const UOp x = scaled(input(g, 0, {4}), 2);
  EXPECT_THAT(kernels_of(plan_of({x, g.make(Op::kDetach, {x})})), ElementsAre("e_4 [in0,out0]", "e_4 [out0,out1]"));
}

TEST(GoldenPlans, TemporariesOfDisjointLifetimesShareStorage) {
  Graph g;
  UOp x = input(g, 0, {64, 64});
  for (int i = 0; i < 6; i++) x = stage(plus(x, i + 1));
  const Plan plan = plan_of({plus(x, 0.5)});
  EXPECT_EQ(plan.temps.size(), 6u);
  EXPECT_EQ(plan.scratch_bytes, 2u * 64 * 64 * 4);
}

TEST(GoldenPlans, TheChaptersCHasNoNeedlessDivisionModuloOrBoundsTest) {
  for (const NamesCase& c : names_cases()) {
    Graph g;
    for (const KernelProgram& p : plan_of(c.roots(g), c.options).programs) {
      const std::string body = p.source.substr(p.source.find("static __attribute__((noinline"));
      EXPECT_THAT(body, Not(HasSubstr("%"))) << c.what;
      EXPECT_THAT(body, Not(HasSubstr("if ("))) << c.what;
      EXPECT_THAT(body, Not(HasSubstr("&"))) << c.what;
      EXPECT_EQ(count(body, "/"), count(body, "1.0f/")) << c.what << "\n" << body;
    }
  }
}

TEST(GoldenPlans, LoopInvariantLoadsAreHoisted) {
  Graph g;
  const std::string c = plan_of({softmax(input(g, 0, {4, 8}))}).programs.at(2).source;
  EXPECT_LT(c.find("data1[ridx0]"), c.find("ridx1 = 0")) << c;
  EXPECT_LT(c.find("data2[ridx0]"), c.find("ridx1 = 0")) << c;
}

}  // namespace
}  // namespace uop
