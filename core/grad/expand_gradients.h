// GRADIENT nodes become the graphs that compute them.
//
// Requires: a well-formed graph. Ensures: no GRADIENT; what forward and backward passes share is the same node, so it
// is computed once. A wrt that the loss does not depend on gets zeros. DETACH stops a gradient, and so do integers,
// comparisons and the index of a GATHER. Why here: first, so that everything downstream sees one plain graph, and a
// plan hit pays nothing for it.
#pragma once

#include <span>
#include <vector>

#include "core/ir/uop.h"
#include "core/support/cancel.h"

namespace uop {

/// Most nodes of a graph with its gradients, as on the wire: derivatives of derivatives grow exponentially.
inline constexpr std::size_t kMaxExpandedNodes = 1'000'000;
/// Deepest nesting of GRADIENT in GRADIENT; each level is a pass over the graph.
inline constexpr int kMaxGradientOrder = 64;
/// Most nodes walked over, all losses together: each loss is walked back from on its own.
inline constexpr std::size_t kMaxGradientSteps = 100'000'000;

/// Errors: INVALID_ARGUMENT for an op on the way from the loss that has no derivative (BITCAST of a float, REDUCE by
/// MUL), with the node drawn, and the remedy; RESOURCE_EXHAUSTED over the limits above; CANCELLED and
/// DEADLINE_EXCEEDED, asked between losses.
StatusOr<std::vector<UOp>> expand_gradients(std::span<const UOp> roots, const Cancel& cancel = {});

}  // namespace uop
