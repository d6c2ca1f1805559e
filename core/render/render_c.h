// A loop nest as C: one function with the kernel's name, and the entry point that binds its buffers.
//
// Requires: a LoopNest of linearize. Ensures: text that needs no header and no library, in which nothing can trap, that
// gcc and clang take with -fwrapv, and that is byte-identical for equal nests. The parameters are `data<slot>` in slot
// order, for those slots that the nest still reads or writes; `slots` tells which. Why last: from here on it is text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ir/loop_nest.h"

namespace uop {

struct RenderedKernel {
  std::string text;
  std::vector<std::int64_t> slots;      // PARAM slots, in the order of the entry point's buffers
  std::vector<std::int64_t> variables;  // VARIABLE slots, in the order of the entry point's variables
};

RenderedKernel render_c(const LoopNest& nest, std::string_view name);

}  // namespace uop
