// The verifier of plans: a good plan passes, and each way to make it bad is refused.
#include "core/ir/verify_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "tests/sample_plan.h"

namespace uop {
namespace {

struct Row {
  const char* what;
  std::function<void(Plan&)> change;
};

TEST(VerifyPlanTest, AGoodPlanPasses) {
  EXPECT_TRUE(verify_plan(sample_plan()).ok()) << verify_plan(sample_plan());
  EXPECT_TRUE(verify_plan(Plan{}).ok());
}

TEST(VerifyPlanTest, WhatMayBeSo) {
  const Row rows[] = {
      {"an unused temporary has no memory",
       [](Plan& p) {
         p.temps.push_back({{DType::kF64, 999}, 0, 0, 0});
       }},
      {"an output of no elements is not written",
       [](Plan& p) {
         p.outputs.push_back({{DType::kF32, 0}});
       }},
      {"a kernel reads an output of an earlier one",
       [](Plan& p) {
         p.outputs.push_back({{DType::kI8, 1}});
         p.kernels.push_back({"r_1", 0, {out(0), out(2)}, {}, 1, 1, 1});
       }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Plan plan = sample_plan();
    row.change(plan);
    EXPECT_TRUE(verify_plan(plan).ok()) << verify_plan(plan);
  }
}

TEST(VerifyPlanTest, EachFaultIsRefused) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  const Row rows[] = {
      {"in0 has no dtype or a wrong size", [](Plan& p) { p.inputs[0].dtype = DType::kNone; }},
      {"in0 has no dtype or a wrong size", [](Plan& p) { p.inputs[0].elements = -1; }},
      {"tmp1 has no dtype or a wrong size", [](Plan& p) { p.temps[1].tensor.elements = kHuge; }},
      {"out0 has no dtype or a wrong size", [](Plan& p) { p.outputs[0].tensor.elements = -5; }},
      {"variable 0 has min > max",
       [](Plan& p) {
         p.variables[0] = {2, 1};
       }},
      {"out1 is an alias of in9, which does not exist", [](Plan& p) { p.outputs[1].alias_of_input = 9; }},
      {"out1 is an alias of in-2", [](Plan& p) { p.outputs[1].alias_of_input = -2; }},
      {"out1 is an alias of in1, but of another", [](Plan& p) { p.outputs[1].tensor.elements = 4; }},
      {"out1 is never written", [](Plan& p) { p.outputs[1].alias_of_input = -1; }},
      {"kernel 0 has no program", [](Plan& p) { p.kernels[0].program = 9; }},
      {"kernel 0 has a wrong parallel loop", [](Plan& p) { p.kernels[0].parallel = -1; }},
      {"kernel 1 takes variable 1", [](Plan& p) { p.kernels[1].variables = {1}; }},
      {"kernel 1 writes nothing", [](Plan& p) { p.kernels[1].refs.clear(); }},
      {"kernel 0 reads in7, which does not exist", [](Plan& p) { p.kernels[0].refs[0] = in(7); }},
      {"kernel 0 reads tmp1 before it is written", [](Plan& p) { p.kernels[0].refs[0] = tmp(1); }},
      {"kernel 1 reads out0 before it is written", [](Plan& p) { p.kernels[1].refs[0] = out(0); }},
      {"kernel 1 reads out1, which does not exist or is an alias", [](Plan& p) { p.kernels[1].refs[0] = out(1); }},
      {"kernel 0 reads out255", [](Plan& p) { p.kernels[0].refs[0] = out(255); }},
      {"kernel 3 reads tmp0 outside its lifetime", [](Plan& p) { p.kernels[3].refs[0] = tmp(0); }},
      {"kernel 0 writes in0, an input", [](Plan& p) { p.kernels[0].refs.back() = in(0); }},
      {"kernel 3 writes out1, which does not exist or is an alias", [](Plan& p) { p.kernels[3].refs.back() = out(1); }},
      {"kernel 0 writes tmp1 outside its lifetime", [](Plan& p) { p.kernels[0].refs.back() = tmp(1); }},
      {"tmp1 is not aligned", [](Plan& p) { p.temps[1].offset = 68; }},
      {"tmp1 lies outside the scratch memory", [](Plan& p) { p.scratch_bytes = 191; }},
      {"tmp1 lies outside the scratch memory", [](Plan& p) { p.temps[1].offset = ~std::uint64_t{63}; }},
      {"tmp1 overlaps tmp0", [](Plan& p) { p.temps[1].offset = 0; }},
      {"tmp1 overlaps tmp0", [](Plan& p) { p.temps[0].offset = 128; }},
      {"tmp2 overlaps tmp1", [](Plan& p) { p.temps[2].offset = 128; }},
      {"tmp2 overlaps tmp0", [](Plan& p) { p.temps[0].last = 2; }},
      {"a reference of no known kind", [](Plan& p) { p.kernels[0].refs[0].kind = static_cast<BufferRef::Kind>(77); }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Plan plan = sample_plan();
    row.change(plan);
    const Status status = verify_plan(plan);
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_THAT(message(status), testing::AllOf(testing::HasSubstr(row.what), testing::HasSubstr("\nremedy: ")));
  }
}

/// The sweep finds an overlap exactly where comparing every pair does.
TEST(VerifyPlanTest, TheSweepAgreesWithAllPairs) {
  int good = 0;
  for (unsigned seed = 0; seed < 3000; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Plan plan;
    plan.programs.resize(1);
    const std::uint32_t count = 1 + random() % 6;
    for (std::uint32_t k = 0; k < count; k++) {
      plan.kernels.push_back({"e", 0, {tmp(k)}, {}, 1, 0, 0});
      const std::uint32_t last = k + static_cast<std::uint32_t>(random() % (count - k));
      plan.temps.push_back({{DType::kU8, static_cast<std::int64_t>(random() % 200)}, k, last, random() % 8 * 64});
    }
    plan.scratch_bytes = 1024;
    bool overlap = false;
    for (const TempSpec& a : plan.temps)
      for (const TempSpec& b : plan.temps)
        overlap |= a.first < b.first && b.first <= a.last && a.offset < b.offset + b.tensor.bytes() &&
                   b.offset < a.offset + a.tensor.bytes() && a.tensor.bytes() > 0 && b.tensor.bytes() > 0;
    EXPECT_EQ(verify_plan(plan).ok(), !overlap);
    good += overlap ? 0 : 1;
  }
  EXPECT_GT(good, 300);
  EXPECT_LT(good, 2700);
}

}  // namespace
}  // namespace uop
