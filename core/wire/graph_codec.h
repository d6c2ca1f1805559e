// Graphs between bytes and nodes; with plan_codec.h the only place that decodes untrusted bytes.
#pragma once

#include <span>
#include <string_view>

#include "core/ir/argument.h"
#include "core/ir/uop.h"
#include "uopd/v1/graph.pb.h"

namespace uop {

/// Most nodes of a graph on the wire: a 100-layer model's training step has about 50,000.
inline constexpr int kMaxNodes = 1'000'000;
/// Most roots: every parameter, its moments and a few losses of such a model.
inline constexpr int kMaxRoots = 65'536;
/// What a sender of an unknown field is told.
inline constexpr std::string_view kUnknownFieldRemedy =
    "it may come from a newer client; ask the server for its version and send what that knows";

/// The graph of a message. Errors: INVALID_ARGUMENT (RESOURCE_EXHAUSTED over a limit) that says what is wrong, draws
/// the node in its listing and gives the remedy: unknown op or dtype, wrong arity, forward reference (which is also how
/// a cycle shows), shapes that do not fit, overflowing sizes, an argument the op does not take, two unlike inputs in
/// one slot, roots out of range. Time and memory are linear in the message. Other limits: argument.h, shape_rules.h.
StatusOr<RootedGraph> decode_graph(const uopd::v1::Graph& message);

/// The message of a graph: nodes in canonical order, slots as they are. Requires: ops of the wire only.
uopd::v1::Graph encode_graph(std::span<const UOp> roots);

/// decode_graph of serialized bytes (a file of `uop run`) that pass check_graph_bytes (graph_bytes.h).
StatusOr<RootedGraph> parse_graph(std::string_view bytes);

}  // namespace uop
