// The fuzz target of the readers of graphs.
#include <google/protobuf/stubs/logging.h>

#include "core/ir/structure.h"
#include "core/ir/text.h"
#include "core/wire/graph_codec.h"
#include "tests/fuzz/targets.h"

namespace uop::fuzz {
namespace {

constexpr std::size_t kMostMessage = 6000;  // it goes into the metadata of a reply

void check_refusal(const Status& status) {
  check(status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kResourceExhausted,
        "bytes are refused with a code that blames somebody else");
  check(message(status).find("remedy: ") != std::string::npos, "a refusal gives no remedy");
  check(message(status).size() <= kMostMessage, "a refusal is longer than a reply can be");
}

/// What every graph must do that came out of a reader.
void check_graph(std::span<const UOp> roots) {
  const std::string wire = encode_graph(roots).SerializeAsString();
  const StatusOr<RootedGraph> from_wire = parse_graph(wire);
  check(from_wire.ok(), "an encoded graph is refused");
  check(encode_graph(from_wire->roots).SerializeAsString() == wire, "a graph comes back from the wire as another");

  const std::string text = to_text(roots);
  const StatusOr<RootedGraph> from_text = parse_text(text);
  check(from_text.ok(), "the listing of a graph is refused");
  check(to_text(from_text->roots) == text, "a graph comes back from its listing as another");

  const std::string structure = structure_bytes(roots);
  check(structure == structure_bytes(from_wire->roots), "the same graph has two structures");
  const StatusOr<RootedGraph> from_structure = graph_of_structure(structure);
  check(from_structure.ok(), "a structure is refused");
  check(structure_bytes(from_structure->roots) == structure, "a structure comes back as another");
}

bool is_on_the_wire(const RootedGraph& graph) {
  for (const UOp u : graph.roots)
    if (row(u.op()).number == 0) return false;
  return true;
}

}  // namespace

void graph_bytes(Bytes bytes) {
  const google::protobuf::LogSilencer silent;  // of strings that are not UTF-8
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const StatusOr<RootedGraph> graph = parse_graph(view); graph.ok())
    check_graph(graph->roots);
  else
    check_refusal(graph.status());
  if (const StatusOr<RootedGraph> graph = parse_text(view); !graph.ok())
    check_refusal(graph.status());
  else if (is_on_the_wire(*graph))
    check_graph(graph->roots);
  if (const StatusOr<RootedGraph> graph = graph_of_structure(view); graph.ok()) check_graph(graph->roots);
}

}  // namespace uop::fuzz
