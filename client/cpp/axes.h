// Axis arguments: counted from the front or, when negative, from the end.
#pragma once

#include "client/cpp/tensor.h"

namespace uop {

/// `axis` as 0..rank-1. Throws ClientError that names the range.
std::int64_t normal_axis(std::int64_t axis, std::int64_t rank);

/// `axes` as 0..rank-1, ascending; all of them where `axes` is empty. Throws ClientError for one named twice.
Axes normal_axes(const Axes& axes, std::int64_t rank);

/// A node that must be well-formed because the caller's operands are: the client's way to Graph::try_make. Throws
/// ClientError with what shape_rules.h says.
UOp checked_node(Op op, std::vector<UOp> src, Arg arg = {});

/// `u` broadcast to `shape`, with new axes in front. Requires that the shapes fit; throws ClientError for a result that
/// is too big.
UOp broadcast_to(UOp u, const Shape& shape);

}  // namespace uop
