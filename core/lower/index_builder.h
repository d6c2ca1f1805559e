// Index arithmetic that is simplified as it is built: sums in a canonical order, divisions and modulos by constants
// taken apart as far as the bounds of the loop counters allow.
//
// An index is an i64 scalar node of ADD, MUL, DIV, MOD, RANGE, CONST and whatever a GATHER loads. Division and modulo
// are only ever by positive constants and of values that are not negative wherever the element they address is used
// (outside of a PAD's inside they may be, and then a gate keeps the access from happening), so every rule below may
// assume a numerator >= 0.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ir/uop.h"

namespace uop {

/// Inclusive bounds of an index, by interval arithmetic; saturated at the ends of int64.
struct Bounds {
  std::int64_t low;
  std::int64_t high;
};

class IndexBuilder {
 public:
  explicit IndexBuilder(Graph& graph) : graph_(graph) {}

  UOp number(std::int64_t value);
  UOp add(UOp a, UOp b);
  UOp mul(UOp a, std::int64_t factor);
  UOp div(UOp a, std::int64_t divisor);
  UOp mod(UOp a, std::int64_t divisor);
  /// Row-major offset of an index tuple.
  UOp flatten(std::span<const UOp> index, std::span<const std::int64_t> shape);

  /// bool nodes, folded where the bounds decide.
  UOp at_least(UOp a, std::int64_t low);
  UOp below(UOp a, std::int64_t high);
  UOp both(UOp a, UOp b);
  UOp always();
  UOp never();
  bool is_always(UOp gate) const;
  bool is_never(UOp gate) const;

  Bounds bounds(UOp index);

 private:
  struct Term {
    UOp value;  // not an ADD, nor a MUL by a constant
    std::int64_t factor;
  };
  struct Sum {
    std::vector<Term> terms;  // by id of value, each once, factors not 0
    std::int64_t constant = 0;
  };
  Sum sum_of(UOp a) const;
  void accumulate(Sum& sum, UOp a, std::int64_t factor) const;
  void merge_quotients(Sum& sum);
  bool merge_one_quotient(Sum& sum);
  static void sort_terms(Sum& sum);
  static Sum remainders(const Sum& sum, std::int64_t divisor);  // of its factors
  UOp node_of(const Sum& sum);
  Bounds bounds_of(const Sum& sum);
  Bounds compute_bounds(UOp a) const;

  Graph& graph_;
  std::vector<std::optional<Bounds>> bounds_;  // by node id
};

}  // namespace uop
