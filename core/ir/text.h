// The text form of a graph: one node a line, as read by people, golden tests and `uop`.
//
//   %0 = BUFFER slot=0 size=32 : f32[32]
//   %1 = RESHAPE(%0) shape=[4,8] : f32[4,8]
//   %2 = REDUCE(%1) op=MAX axes=1 : f32[4]
//   return %2
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/ir/uop.h"

namespace uop {

/// The listing of all that `roots` need, in canonical order.
std::string to_text(std::span<const UOp> roots);

/// One line without its number: "REDUCE(%1) op=MAX axes=1 : f32[4]". `number` gives each source's number.
std::string node_text(UOp u, const std::function<std::string(UOp)>& number);

/// Reads a listing. The type after ':' may be left out; where it stands it must be right. '#' begins a comment.
/// Errors: INVALID_ARGUMENT with the line, and the remedy.
StatusOr<RootedGraph> parse_text(std::string_view text);

}  // namespace uop
