// How a random graph grows: a pool of values to which each step adds one made of others.
//
// GraphGrowth::grow is what others call. The steps themselves are in growth_steps.cpp.
#pragma once

#include <functional>
#include <optional>

#include "tests/reference/random_graph.h"
#include "tests/reference/random_values.h"

namespace uop::reference {

class GraphGrowth {
 public:
  explicit GraphGrowth(std::uint64_t seed);
  RandomCase grow(int steps);

 private:
  // Steps: each adds a value to the pool, or nothing where it found no fitting operand.
  void add_source();
  void add_unary();
  void add_binary();
  void add_where();
  void add_cast();
  void add_movement();
  void add_reduce();
  void add_normalised();
  void add_matmul();
  void add_indexed();
  void add_mark();

  // Sources.
  UOp input(DType dtype, const Shape& shape, const Bytes& bytes);
  UOp random_input(DType dtype, const Shape& shape);
  UOp random_constant(DType dtype, const Shape& shape);
  UOp variable();

  // Operands.
  /// A value of the pool, rather a late one.
  UOp any();
  /// A value of the pool that `accepts`, or nothing.
  std::optional<UOp> any_where(const std::function<bool(UOp)>& accepts);
  /// A value of that dtype and shape: from the pool where there is one, else made of another, else new.
  UOp operand(DType dtype, const Shape& shape);
  /// `x` under another shape, with elements dropped, repeated or zeros added where the number differs.
  UOp fitted(UOp x, const Shape& shape);
  UOp converted(UOp x, DType dtype);
  Shape random_shape();
  DType random_dtype();

  /// The node; an operand that would make the kernel too big is stored first (STAGE).
  UOp make(Op op, std::vector<UOp> src, Arg arg = {});
  void add(UOp u) { pool_.push_back(u); }
  std::vector<UOp> choose_roots();

  /// What a kernel that computes the node inline costs: nodes in its text, and operations for each element.
  struct Cost {
    double nodes = 1;
    double work = 1;
  };
  Cost cost_of(Op op, std::span<const UOp> src, const Arg& arg) const;

  std::uint64_t seed_;
  Random random_;
  Mood mood_;
  std::vector<DType> palette_;  // the dtypes that this graph prefers
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  std::vector<UOp> pool_;
  std::vector<Cost> costs_;  // by node id
  Inputs inputs_;
  std::map<std::int64_t, std::int64_t> same_buffer_;
  std::int64_t next_slot_ = 0;
  std::int64_t next_variable_ = 0;
};

}  // namespace uop::reference
