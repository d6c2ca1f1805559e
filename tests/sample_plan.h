// A plan for tests that has one of everything: inputs, a variable, temporaries that share storage, an alias.
#pragma once

#include "tests/buffer_refs.h"

namespace uop {

/// Four kernels of two programs; tmp2 takes the place of tmp0, which is last read by kernel 1.
inline Plan sample_plan() {
  Plan plan;
  plan.inputs = {{DType::kF32, 32}, {DType::kBF16, 7}};
  plan.variables = {{-3, 8}};
  plan.programs = {{"void UOP_ENTRY(void *const *b) {}\n"}, {"/* two */"}};
  plan.kernels = {{"r_4", 0, {in(0), tmp(0)}, {}, 4, 32, 144},
                  {"r_4", 1, {in(0), tmp(0), tmp(1)}, {0}, 4, 132, 160},
                  {"e_4", 0, {tmp(1), tmp(2)}, {}, 1, 4, 32},
                  {"e_4_8", 1, {in(1), tmp(2), out(0)}, {0}, 4, 136, 272}};
  plan.temps = {{{DType::kF32, 4}, 0, 1, 0}, {{DType::kF64, 8}, 1, 3, 128}, {{DType::kF32, 4}, 2, 3, 0}};
  plan.outputs = {{{DType::kF32, 32}}, {{DType::kBF16, 7}, 1}};
  plan.scratch_bytes = 192;
  plan.strict = true;
  return plan;
}

}  // namespace uop
