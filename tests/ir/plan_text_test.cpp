// The table that `uop plan` prints.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/buffer_refs.h"

namespace uop {
namespace {

TEST(PlanText, Softmax) {
  const TensorSpec row{DType::kF32, 4};
  const TensorSpec matrix{DType::kF32, 32};
  const Plan plan{.inputs = {matrix},
                  .programs = {{"max"}, {"sum"}, {"divide"}},
                  .kernels = {{"r_4", 0, {in(0), tmp(0)}, {}, 4, 32, 144},
                              {"r_4", 1, {in(0), tmp(0), tmp(1)}, {}, 4, 132, 160},
                              {"e_4_8", 2, {in(0), tmp(0), tmp(1), out(0)}, {}, 32, 136, 288}},
                  .temps = {{row, 0, 2, 0}, {row, 1, 2, 64}},
                  .outputs = {{matrix}},
                  .scratch_bytes = 128};
  EXPECT_EQ(to_text(plan), R"(kernels: 3, of 3 programs
  #  name   refs                  flops  bytes  parallel
  0  r_4    [in0,tmp0]               32    144         4
  1  r_4    [in0,tmp0,tmp1]         132    160         4
  2  e_4_8  [in0,tmp0,tmp1,out0]    136    288        32
     total                          300    592
inputs: 1
  in0  f32  32
temporaries: 2, in 128 bytes
        dtype  elements  kernels  offset
  tmp0  f32           4     0..2       0
  tmp1  f32           4     1..2      64
outputs: 1, in 128 bytes
  out0  f32  32
)");
}

TEST(PlanText, AliasesVariablesAndSharedPrograms) {
  const TensorSpec a{DType::kI64, 1000};
  const TensorSpec b{DType::kBF16, 0};
  const Plan plan{.inputs = {a, b},
                  .variables = {{1, 4096}, {-3, 3}},
                  .programs = {{"copy"}},
                  .kernels = {{"e_1000", 0, {in(0), out(0)}, {1}, 1000, 1000, 16000},
                              {"e_1000", 0, {out(0), out(2)}, {0}, 1000, 1000, 16000}},
                  .outputs = {{a}, {b, 1}, {a}},
                  .strict = true};
  EXPECT_EQ(to_text(plan), R"(kernels: 2, of 1 programs, strict numerics
  #  name    refs         flops  bytes  parallel
  0  e_1000  [in0,out0]    1000  16000      1000
  1  e_1000  [out0,out2]   1000  16000      1000
     total                 2000  32000
inputs: 2
  in0  i64   1000
  in1  bf16     0
variables: 2
  var0  1..4096
  var1  -3..3
temporaries: 0, in 0 bytes
outputs: 3, in 16000 bytes
  out0  i64   1000
  out1  bf16     0  is in1
  out2  i64   1000
)");
}

TEST(PlanText, References) {
  EXPECT_EQ(to_string(in(0)), "in0");
  EXPECT_EQ(to_string(tmp(17)), "tmp17");
  EXPECT_EQ(to_string(out(4'294'967'295)), "out4294967295");
  for (const int kind : {3, 4, 255})  // as decode_plan makes of an unknown one
    EXPECT_EQ(to_string(BufferRef{static_cast<BufferRef::Kind>(kind), 7}), fmt::format("kind{}:7", kind));
}

TEST(PlanText, NothingToRun) {
  const Plan plan{.inputs = {{DType::kF32, 8}}, .outputs = {{{DType::kF32, 8}, 0}}};
  EXPECT_EQ(to_text(plan), R"(kernels: 0, of 0 programs
inputs: 1
  in0  f32  8
temporaries: 0, in 0 bytes
outputs: 1, in 0 bytes
  out0  f32  8  is in0
)");
}

}  // namespace
}  // namespace uop
