// Rows of the numerics contract, and the graphs that are made of a row.
#pragma once

#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "core/ir/text.h"
#include "core/ir/traverse.h"
#include "tests/reference/changed_case.h"
#include "tests/reference/random_graph.h"
#include "tests/reference/value_text.h"

namespace uop::reference {

/// One op on vectors; operand k's elements are operands[k] as text (value_text.h), of `dtype` (the condition of a
/// WHERE: bool).
struct ElementwiseRow {
  const char* name;
  Op op;
  DType dtype;
  std::vector<const char*> operands;
  const char* expected;
  DType result = DType::kNone;  // of a CAST or BITCAST
};

/// A graph of one root in text; the elements of the BUFFER of slot i are inputs[i].
struct GraphRow {
  const char* name;
  const char* graph;
  std::vector<const char*> inputs;
  const char* expected;
};

/// Whether operands come as inputs of the run, or as constants that the compiler may fold.
enum class Operands { kBuffers, kConstants };

inline RandomCase case_of(const ElementwiseRow& row, Operands how) {
  RandomCase c;
  c.graph.graph = std::make_unique<Graph>();
  Graph& g = *c.graph.graph;
  std::vector<DType> dtypes(row.operands.size(), row.dtype);
  if (row.op == Op::kWhere) dtypes[0] = DType::kBool;
  std::vector<Bytes> values;
  for (std::size_t k = 0; k < dtypes.size(); k++) values.push_back(bytes_of_text(dtypes[k], row.operands[k]));
  const std::int64_t n = static_cast<std::int64_t>(values[0].size()) / byte_size(dtypes[0]);
  const Arg arg{.dtype = row.result};
  if (how == Operands::kBuffers) {
    std::vector<UOp> src;
    for (std::size_t k = 0; k < dtypes.size(); k++) {
      const auto slot = static_cast<std::int64_t>(k);
      src.push_back(g.make(Op::kBuffer, {}, {.dtype = dtypes[k], .value = slot, .ints = {n}}));
      c.inputs.buffers[slot] = values[k];
    }
    c.graph.roots = {g.make(row.op, src, arg)};
    return c;
  }
  c.graph.roots = {vector_of(g, n, [&](std::int64_t i) {
    std::vector<UOp> src;
    for (std::size_t k = 0; k < dtypes.size(); k++) src.push_back(constant_at(g, dtypes[k], values[k], i));
    return g.make(row.op, src, arg);
  })};
  return c;
}

inline RandomCase case_of(const GraphRow& row, Operands how) {
  StatusOr<RootedGraph> parsed = parse_text(row.graph);
  check(parsed.ok(), parsed.ok() ? "" : message(parsed.status()));
  RandomCase c;
  c.graph = *std::move(parsed);
  for (const UOp u : toposort(c.graph.roots))
    if (u.op() == Op::kBuffer)
      c.inputs.buffers[u.arg().value] =
          bytes_of_text(u.dtype(), row.inputs.at(static_cast<std::size_t>(u.arg().value)));
  if (how == Operands::kBuffers) return c;
  RandomCase folded;
  folded.graph.graph = std::make_unique<Graph>();
  Graph& g = *folded.graph.graph;
  folded.graph.roots = rebuild(c.graph.roots, g, [&](UOp u, UOp made) {
    if (u.op() != Op::kBuffer || u.numel() == 0) return made;
    const Bytes& bytes = c.inputs.buffers.at(u.arg().value);
    return vector_of(g, u.numel(), [&](std::int64_t i) { return constant_at(g, u.dtype(), bytes, i); });
  });
  for (const UOp u : toposort(folded.graph.roots))
    if (u.op() == Op::kBuffer) folded.inputs.buffers[u.arg().value] = {};
  return folded;
}

}  // namespace uop::reference
