// The steps by which a random graph grows. Ops come from the op table, so that a new row takes part by itself.
#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/reference/graph_growth.h"

namespace uop::reference {
namespace {

constexpr std::int64_t kMostElements = 4096;

std::vector<Op> elementwise_ops(int arity) {
  std::vector<Op> ops;
  for (const OpRow& r : op_rows())
    if (r.cls == OpClass::kAlu && r.arity == arity && r.result != OpResult::kArg) ops.push_back(r.op);
  return ops;
}

std::int64_t trailing(const Shape& shape, std::int64_t axes) {
  return count(Shape(shape.end() - axes, shape.end()));
}

}  // namespace

void GraphGrowth::add_source() {
  const std::int64_t kind = random_.below(5);
  if (kind == 0) add(variable());
  if (kind == 1) add(random_constant(random_dtype(), random_shape()));
  if (kind == 2) {
    DType dtype = random_dtype();
    if (dtype == DType::kBool) dtype = DType::kI64;
    add(make(Op::kIota, {}, {.dtype = dtype, .ints = {random_.chance(10) ? 300 : random_.below(40)}}));
  }
  if (kind >= 3) add(random_input(random_dtype(), random_shape()));
}

void GraphGrowth::add_unary() {
  const Op op = random_.pick(elementwise_ops(1));
  if (const auto x = any_where([&](UOp u) { return accepts(op, u.dtype()); })) add(make(op, {*x}));
}

void GraphGrowth::add_binary() {
  const Op op = random_.pick(elementwise_ops(2));
  const auto x = any_where([&](UOp u) { return accepts(op, u.dtype()); });
  if (!x) return;
  const UOp y = random_.chance(10) ? *x : operand(x->dtype(), x->shape());
  add(random_.chance(50) ? make(op, {*x, y}) : make(op, {y, *x}));
}

void GraphGrowth::add_where() {
  const UOp x = any();
  add(make(Op::kWhere, {operand(DType::kBool, x.shape()), x, operand(x.dtype(), x.shape())}));
}

void GraphGrowth::add_cast() {
  const UOp x = any();
  const DType dtype = random_dtype();
  const bool same_size = byte_size(dtype) == byte_size(x.dtype());
  add(make(same_size && random_.chance(40) ? Op::kBitcast : Op::kCast, {x}, {.dtype = dtype}));
}

void GraphGrowth::add_movement() {
  const UOp x = any();
  const Shape& shape = x.shape();
  const std::size_t rank = shape.size();
  Arg arg;
  switch (random_.below(6)) {
    case 0: {  // RESHAPE: split an axis, merge all, or insert a 1
      Shape to = shape;
      const auto at = rank == 0 ? 0 : static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(rank)));
      if (rank > 0 && shape[at] % 2 == 0 && random_.chance(60)) {
        to[at] /= 2;
        to.insert(to.begin() + static_cast<std::ptrdiff_t>(at) + random_.below(2), 2);
      } else if (random_.chance(50)) {
        to = {x.numel()};
      } else if (rank < 6) {
        to.insert(to.begin() + static_cast<std::ptrdiff_t>(at), 1);
      }
      return add(make(Op::kReshape, {x}, {.ints = to}));
    }
    case 1: {
      std::vector<std::int64_t> order(rank);
      std::iota(order.begin(), order.end(), 0);
      random_.shuffle(order);
      return add(make(Op::kPermute, {x}, {.ints = order}));
    }
    case 2: {  // EXPAND, behind a new axis of 1
      Shape ones = shape;
      const std::int64_t at = random_.between(0, static_cast<std::int64_t>(rank));
      if (rank < 6) ones.insert(ones.begin() + at, 1);
      Shape to = ones;
      for (std::int64_t& d : to)
        if (d == 1 && random_.chance(60)) d = random_.chance(3) ? 0 : random_.between(1, 6);
      if (count(to) > kMostElements) return;
      const UOp wide = ones == shape ? x : make(Op::kReshape, {x}, {.ints = ones});
      return add(make(Op::kExpand, {wide}, {.ints = to}));
    }
    case 3: {
      Shape to = shape;
      for (std::int64_t& d : to) {
        const std::int64_t before = random_.chance(50) ? random_.below(4) : 0;
        const std::int64_t after = random_.chance(50) ? random_.below(4) : 0;
        arg.ints.insert(arg.ints.end(), {before, after});
        d += before + after;
      }
      if (count(to) > kMostElements) return;
      return add(make(Op::kPad, {x}, arg));
    }
    case 4:
      for (const std::int64_t d : shape) {
        const std::int64_t begin = random_.chance(50) ? random_.between(0, std::min<std::int64_t>(d, 3)) : 0;
        const std::int64_t end = random_.chance(50) ? random_.between(std::min(begin + 1, d), d) : d;
        arg.ints.insert(arg.ints.end(), {begin, end});
      }
      return add(make(Op::kShrink, {x}, arg));
    case 5:
      for (std::size_t i = 0; i < rank; i++) arg.ints.push_back(random_.below(2));
      return add(make(Op::kFlip, {x}, arg));
  }
}

void GraphGrowth::add_reduce() {
  static const std::vector<Op> ops = {Op::kAdd, Op::kAdd, Op::kMul, Op::kMax, Op::kMin};
  UOp x = any();
  const auto rank = static_cast<std::int64_t>(x.shape().size());
  if (rank == 0 && random_.chance(80)) return;
  const std::int64_t axes = random_.chance(4) ? 0 : random_.between(rank == 0 ? 0 : 1, rank);
  Op op = random_.pick(ops);
  if (x.dtype() == DType::kBool && accepts(op, DType::kF32) && !accepts(op, DType::kBool)) op = Op::kMax;
  const bool from_nothing = x.numel() == 0 && trailing(x.shape(), axes) == 0;
  if (from_nothing && (op == Op::kMax || op == Op::kMin)) {  // has no value
    if (x.dtype() == DType::kBool) return;
    op = Op::kAdd;
  }
  add(make(Op::kReduce, {x}, {.op = op, .value = axes}));
}

/// A value joined with its own reduction, as in softmax and LayerNorm.
void GraphGrowth::add_normalised() {
  static const std::vector<Op> joins = {Op::kAdd, Op::kSub, Op::kMul, Op::kMax, Op::kCmpEq, Op::kDiv};
  const auto x = any_where([](UOp u) { return u.shape().size() > 0 && u.numel() > 0 && u.dtype() != DType::kBool; });
  if (!x) return;
  const std::int64_t axes = random_.between(1, static_cast<std::int64_t>(x->shape().size()));
  const UOp reduced = make(Op::kReduce, {*x}, {.op = random_.chance(50) ? Op::kAdd : Op::kMax, .value = axes});
  add(reduced);
  Shape ones(x->shape().begin(), x->shape().end() - axes);
  ones.resize(x->shape().size(), 1);
  const UOp back = make(Op::kExpand, {make(Op::kReshape, {reduced}, {.ints = ones})}, {.ints = x->shape()});
  add(make(random_.pick(joins), {*x, back}));
}

/// (m,k) times (k,n): products of two expanded views, summed.
void GraphGrowth::add_matmul() {
  const auto x = any_where([](UOp u) { return u.shape().size() == 2 && u.dtype() != DType::kBool; });
  if (!x) return;
  const std::int64_t m = x->shape()[0];
  const std::int64_t k = x->shape()[1];
  const std::int64_t n = random_.between(1, 9);
  if (m * k * n > 2 * kMostElements || k * n > kMostElements) return;
  const UOp y = operand(x->dtype(), {n, k});
  const Shape all = {m, n, k};
  const UOp left = make(Op::kExpand, {make(Op::kReshape, {*x}, {.ints = {m, 1, k}})}, {.ints = all});
  const UOp right = make(Op::kExpand, {make(Op::kReshape, {y}, {.ints = {1, n, k}})}, {.ints = all});
  add(make(Op::kReduce, {make(Op::kMul, {left, right})}, {.op = Op::kAdd, .value = 1}));
}

void GraphGrowth::add_indexed() {
  static const std::vector<DType> index_dtypes = {DType::kI32, DType::kI64, DType::kI8,  DType::kI16,
                                                  DType::kU8,  DType::kU16, DType::kU32, DType::kU64};
  const auto x = any_where([](UOp u) { return u.shape().size() > 0; });
  if (!x) return;
  const std::int64_t axis = random_.below(static_cast<std::int64_t>(x->shape().size()));
  const std::int64_t n = x->shape()[static_cast<std::size_t>(axis)];
  Shape shape = x->shape();
  shape[static_cast<std::size_t>(axis)] = random_.below(9);
  if (count(shape) > kMostElements) return;
  const DType dtype = random_.pick(index_dtypes);
  const UOp index =
      random_.chance(70) ? input(dtype, shape, random_indices(random_, dtype, count(shape), n)) : operand(dtype, shape);
  if (random_.chance(50)) return add(make(Op::kGather, {*x, index}, {.value = axis}));
  const bool adds = x->dtype() != DType::kBool && random_.chance(60);
  const Arg arg{.op = adds ? std::optional(Op::kAdd) : std::nullopt, .value = axis};
  add(make(Op::kScatter, {*x, index, operand(x->dtype(), shape)}, arg));
}

void GraphGrowth::add_mark() {
  add(make(random_.chance(60) ? Op::kStage : Op::kDetach, {any()}));
}

}  // namespace uop::reference
