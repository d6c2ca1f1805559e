// The text form of a graph: one node a line, as read by people, golden tests and `uop`.
//
//   %0 = BUFFER slot=0 size=32 : f32[32]
//   %1 = RESHAPE(%0) shape=[4,8] : f32[4,8]
//   %2 = REDUCE(%1) op=MAX axes=1 : f32[4]
//   return %2
//
// A line is `name = OP(sources) field=… : type`; the fields of each op are named in argument.cpp. The dtype of an op
// that takes one is that of its type (or dtype=f32 where the type is left out). A CONST has value=0.5, or, where no
// text reads back as the same value (a NaN with a payload), bits=0x7fc00001.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/ir/uop.h"

namespace uop {

/// The listing of all that `roots` need, in canonical order.
std::string to_text(std::span<const UOp> roots);

/// One line without its number: "REDUCE(%1) op=MAX axes=1 : f32[4]". `number` gives each source's number.
std::string node_text(UOp u, const std::function<std::string(UOp)>& number);

/// The same of a node that does not exist, and may be malformed: "CONST value=0.5 dtype=f32". Every field that is not
/// at its default is written, also one that the op does not take.
std::string node_text(Op op, const Arg& arg, std::span<const std::string> sources);

/// Reads a listing. The type after ':' may be left out; where it stands it must be right. '#' begins a comment. The
/// last line is `return` with the roots. Names are '%' and letters, digits or '_', each defined once, before its use.
/// Time and memory are linear in the text. Errors: INVALID_ARGUMENT (RESOURCE_EXHAUSTED over kMaxTextLines) with the
/// line, and the remedy.
StatusOr<RootedGraph> parse_text(std::string_view text);

/// Most lines of a listing: as many as a graph on the wire may have nodes.
inline constexpr std::size_t kMaxTextLines = 1'000'000;

/// The value that `text` spells, as to_string(Scalar) writes it; nothing where it is not a value of `dtype`.
std::optional<Scalar> scalar_of_text(DType dtype, std::string_view text);

}  // namespace uop
