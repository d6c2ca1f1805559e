#include "tests/fuzz/compiled.h"

#include "core/compiler.h"
#include "core/grad/expand_gradients.h"
#include "tests/fuzz/graph_of_bytes.h"

namespace uop::fuzz {

std::optional<std::string> compiled_problem(reference::Differential& engines, Bytes bytes) {
  Program program = program_of_bytes(bytes);
  std::vector<UOp>& roots = program.graph.graph.roots;
  if (!compile_plan(roots, program.options).ok()) return std::nullopt;
  StatusOr<std::vector<UOp>> expanded = expand_gradients(roots);
  if (!expanded.ok()) return message(expanded.status());
  roots = *std::move(expanded);
  const reference::Verdict verdict = engines.run(program.graph, {program.options});
  if (!verdict.problem) return std::nullopt;
  return *verdict.problem + "\n" + to_text(program.graph);
}

}  // namespace uop::fuzz
