// What a run of a case gave, judged: against the reference, and against another run. Shared by the tests that run
// cases through the engine and those that run them in batches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/exec/buffer_pool.h"
#include "tests/reference/compare.h"
#include "tests/reference/random_graph.h"

namespace uop::reference {

struct Verdict {
  Comparison comparison;               // over all runs
  std::optional<std::string> problem;  // what is wrong, and under which options
};

/// The outputs of one run, in the order of the roots.
using Outputs = std::vector<Bytes>;

/// All roots at once; `difference` names the root.
Comparison compare_all(const Outputs& actual, const std::vector<Tensor>& expected);

/// The first root and element at which two runs of `c` differ. The pattern of a NaN is nobody's promise: what is made
/// of one by a BITCAST, and so open in `expected`, may differ.
std::optional<std::string> unlike(const RandomCase& c, const std::vector<Tensor>& expected, const Outputs& a,
                                  const Outputs& b);

/// The inputs of a case in memory of a pool.
class BoundInputs {
 public:
  /// Errors: the pool's.
  static StatusOr<BoundInputs> bind(const RandomCase& c, BufferPool& pool);

  const BufferPtr& at(std::int64_t slot) const { return by_slot_.at(slot); }

  /// DATA_LOSS where an input is no longer what it was.
  Status unchanged(const RandomCase& c) const;

 private:
  std::map<std::int64_t, BufferPtr> by_slot_;
};

/// What is in the buffer.
Bytes downloaded(const Buffer& buffer);

}  // namespace uop::reference
