// Graphs in files: a serialized uopd.v1.Graph, or its text form. Which one is seen from the content.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/ir/uop.h"
#include "core/support/status.h"

namespace uop {

struct GraphFile {
  RootedGraph graph;
  bool is_text;
};

/// "-" reads stdin. Errors: NOT_FOUND for a file that cannot be read; INVALID_ARGUMENT with the path, as parse_text and
/// parse_graph say.
StatusOr<GraphFile> read_graph(const std::string& path);

/// The BUFFER (or VARIABLE) nodes of the graph by slot.
std::map<std::int64_t, UOp> slots_of(const RootedGraph& graph, Op op);

}  // namespace uop
