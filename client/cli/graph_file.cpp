#include "client/cli/graph_file.h"

#include <algorithm>

#include "client/cpp/file.h"
#include "core/ir/text.h"
#include "core/ir/traverse.h"
#include "core/wire/graph_codec.h"

namespace uop {
namespace {

/// A serialized node has a field tag of value 8 before its op; text has no such character.
bool looks_like_text(std::string_view content) {
  return std::none_of(content.begin(), content.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r';
  });
}

}  // namespace

StatusOr<GraphFile> read_graph(const std::string& path) {
  StatusOr<std::string> content = read_file(path == "-" ? "/dev/stdin" : path);
  if (!content.ok()) return content.status();
  const bool is_text = looks_like_text(*content);
  StatusOr<RootedGraph> graph = is_text ? parse_text(*content) : parse_graph(*content);
  if (!graph.ok()) return Status(graph.status().code(), fmt::format("{}: {}", path, message(graph.status())));
  return GraphFile{*std::move(graph), is_text};
}

std::map<std::int64_t, UOp> slots_of(const RootedGraph& graph, Op op) {
  std::map<std::int64_t, UOp> slots;
  for (const UOp u : toposort(graph.roots))
    if (u.op() == op) slots[u.arg().value] = u;
  return slots;
}

}  // namespace uop
