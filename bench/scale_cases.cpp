// Planning graphs of growing size, against as many nodes in graphs of 1,000: from the bytes on the wire to a verified
// plan, without the C compiler. A ratio below 0.5 says that planning is not linear.
#include <algorithm>

#include "bench/cases.h"
#include "bench/plan_runner.h"
#include "core/compiler.h"
#include "core/ir/structure.h"
#include "core/ir/verify_plan.h"
#include "core/wire/graph_codec.h"
#include "tests/engine/scale_graphs.h"

namespace uop::bench {
namespace {

struct Message {
  std::string bytes;
  int nodes = 0;
};

Message message_of(const scale::Family& family, int nodes) {
  Graph graph;
  const uopd::v1::Graph message = encode_graph(family.make(graph, nodes));
  return {message.SerializeAsString(), message.nodes_size()};
}

double planning_seconds(const std::string& bytes) {
  return seconds_of([&] {
    const StatusOr<RootedGraph> sent = parse_graph(bytes);
    require(sent.status());
    const StatusOr<RootedGraph> graph = graph_of_structure(structure_bytes(sent->roots));
    require(graph.status());
    const StatusOr<Plan> plan = compile_plan(graph->roots, {});
    require(plan.status());
    require(verify_plan(*plan));
  });
}

/// Seconds for `nodes` nodes in graphs like this one.
double seconds_for(const Message& message, int nodes) {
  double seconds = 0;
  for (int planned = 0; planned < nodes; planned += message.nodes) seconds += planning_seconds(message.bytes);
  return seconds;
}

}  // namespace

void register_scale_cases() {
  for (const scale::Family& family : scale::kFamilies)
    for (const int nodes : {10, 100, 10'000, 100'000})
      register_pair(fmt::format("planning_{}_{}", family.name, nodes), 1, "as many nodes in graphs of 1,000", [=] {
        const Message ours = message_of(family, nodes);
        const Message peer = message_of(family, 1'000);
        const int total = std::max(ours.nodes, peer.nodes);
        return Pair{[=] { return seconds_for(ours, total); }, [=] { return seconds_for(peer, total); }};
      });
}

}  // namespace uop::bench
