#include "core/schedule/strip_detach.h"

#include "core/ir/traverse.h"

namespace uop {

std::vector<UOp> strip_detach(std::span<const UOp> roots) {
  if (roots.empty()) return {};
  return rebuild(roots, roots.front().graph(),
                 [](UOp, UOp made) { return made.op() == Op::kDetach ? made.src(0) : made; });
}

}  // namespace uop
