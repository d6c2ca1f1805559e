// A kernel as a list of statements: what linearize makes and the renderer writes down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/uop.h"

namespace uop {

enum class StatementKind : std::uint8_t {
  kLoop,         // RANGE: opens a loop
  kEnd,          // closes the loop opened last
  kLet,          // any value: computed once here, under a name
  kAccumulator,  // ACCUMULATE: declares its accumulator, set to the identity
  kUpdate,       // ACCUMULATE: folds its value into the accumulator
  kStore,        // STORE
};

struct Statement {
  StatementKind kind;
  UOp node;
};

/// Every value that a statement uses and that is not itself a kLet or ACCUMULATE is written out in place.
struct LoopNest {
  std::vector<Statement> statements;
  UOp parallel;  // the RANGE of the outermost loop, which may be run in slices; no node where there is none
};

/// Statements that are executed for one iteration of the outermost loop where that may be run in slices, else for the
/// whole nest; saturates.
std::uint64_t work_of_iteration(const LoopNest& nest);

/// The listing of all nodes, then a line a statement, indented: "for %1", "let %7", "accumulator %9", "store %12".
std::string to_text(const LoopNest& nest);

}  // namespace uop
