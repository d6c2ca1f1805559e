#include "core/ir/shape_rules.h"

#include <algorithm>
#include <limits>

namespace uop {
namespace {

using Ints = std::span<const std::int64_t>;

/// Number of elements of a shape; nothing where a dimension is negative or the product is over kMaxElements.
std::optional<std::int64_t> element_count(Ints shape) {
  std::int64_t n = 1;
  bool empty = false;
  for (const std::int64_t d : shape) {
    if (d < 0 || d > kMaxElements) return std::nullopt;
    if (d == 0) empty = true;
    if (d != 0 && n > kMaxElements / d) return std::nullopt;  // also where another dimension is 0
    if (d != 0) n *= d;
  }
  return empty ? 0 : n;
}

StatusOr<Inferred> result(DType dtype, Shape shape) {
  if (shape.size() > kMaxRank)
    return invalid_argument("a tensor of {} axes is over the limit of {}\nremedy: merge axes with RESHAPE",
                            shape.size(), kMaxRank);
  const auto n = element_count(shape);
  if (!n)
    return invalid_argument("shape {} has a negative dimension or more than 2^56 elements\nremedy: split the tensor",
                            shape_text(shape));
  return Inferred{dtype, std::move(shape), *n};
}

/// The last line of a message, if there is a remedy that its op's help does not say.
std::string remedy_line(std::string_view remedy) {
  return remedy.empty() ? "" : fmt::format("\nremedy: {}", remedy);
}

Status takes(Op op, std::string_view what, std::span<const UOp> src, std::string_view remedy = {}) {
  std::string got;
  for (const UOp s : src) got += (got.empty() ? "" : ", ") + type_text(s.dtype(), s.shape());
  return invalid_argument("{} takes {}; got {}{}", name(op), what, got.empty() ? "nothing" : got, remedy_line(remedy));
}

Status wrong_length(Op op, Ints ints, std::size_t expected, std::string_view each, std::string_view remedy = {}) {
  return invalid_argument("{} takes {} numbers ({}); got {}: {}{}", name(op), expected, each, ints.size(),
                          shape_text(ints), remedy_line(remedy));
}

StatusOr<Inferred> infer_source(Op op, const Arg& arg) {
  if (arg.dtype == DType::kNone) return invalid_argument("{} needs a dtype", name(op));
  switch (op) {
    case Op::kConst: return result(arg.dtype, {});
    case Op::kVariable: {
      if (arg.dtype != DType::kI32 && arg.dtype != DType::kI64)
        return invalid_argument("VARIABLE is i32 or i64, not {}\nremedy: CAST its value", name(arg.dtype));
      if (arg.ints.size() != 2 || arg.ints[0] > arg.ints[1])
        return invalid_argument("VARIABLE takes bounds min <= max; got {}", shape_text(arg.ints));
      using Limits = std::numeric_limits<std::int32_t>;
      if (arg.dtype == DType::kI32 && (arg.ints[0] < Limits::min() || arg.ints[1] > Limits::max()))
        return invalid_argument("the bounds {} of an i32 VARIABLE do not fit into it\nremedy: use i64",
                                shape_text(arg.ints));
      return result(arg.dtype, {});
    }
    default: break;
  }
  if (arg.ints.size() != 1) return invalid_argument("{} takes one size; got {}", name(op), shape_text(arg.ints));
  if (op == Op::kIota && arg.dtype == DType::kBool) return invalid_argument("IOTA counts in numbers, not in bool");
  return result(arg.dtype, {arg.ints[0]});
}

StatusOr<Inferred> infer_movement(Op op, UOp x, Ints ints) {
  const Shape& from = x.shape();
  const std::size_t rank = from.size();
  Shape to(ints.begin(), ints.end());
  switch (op) {
    case Op::kReshape: {
      const auto n = element_count(to);
      if (!n || *n != x.numel())
        return invalid_argument("RESHAPE keeps the number of elements: {} has {}, {} has {}", shape_text(from),
                                x.numel(), shape_text(to), n ? std::to_string(*n) : "a negative or too big dimension");
      break;
    }
    case Op::kExpand:
      if (to.size() != rank)
        return wrong_length(op, ints, rank, "the new shape", "add axes of size 1 with RESHAPE first");
      for (std::size_t i = 0; i < rank; i++)
        if (to[i] != from[i] && from[i] != 1)
          return invalid_argument("EXPAND repeats axes of size 1 only: axis {} of {} is {}, wanted {}", i,
                                  shape_text(from), from[i], to[i]);
      break;
    case Op::kPermute: {
      if (to.size() != rank) return wrong_length(op, ints, rank, "a source axis for each result axis");
      std::vector<bool> seen(rank, false);
      for (std::size_t i = 0; i < rank; i++) {
        if (ints[i] < 0 || ints[i] >= static_cast<std::int64_t>(rank) || seen[static_cast<std::size_t>(ints[i])])
          return invalid_argument("PERMUTE order {} names not every axis 0..{} once", shape_text(ints), rank - 1);
        seen[static_cast<std::size_t>(ints[i])] = true;
        to[i] = from[static_cast<std::size_t>(ints[i])];
      }
      break;
    }
    case Op::kPad:
      if (ints.size() != 2 * rank) return wrong_length(op, ints, 2 * rank, "before and after for each axis");
      to = from;
      for (std::size_t i = 0; i < rank; i++) {
        const std::int64_t before = ints[2 * i];
        const std::int64_t after = ints[2 * i + 1];
        if (before < 0 || after < 0 || before > kMaxElements || after > kMaxElements)
          return invalid_argument(
              "PAD adds 0 to 2^56 elements: axis {} has {} and {}\nremedy: remove elements by SHRINK", i, before,
              after);
        to[i] += before + after;
      }
      break;
    case Op::kShrink:
      if (ints.size() != 2 * rank) return wrong_length(op, ints, 2 * rank, "begin and end for each axis");
      to = from;
      for (std::size_t i = 0; i < rank; i++) {
        const std::int64_t begin = ints[2 * i];
        const std::int64_t end = ints[2 * i + 1];
        if (begin < 0 || begin > end || end > from[i])
          return invalid_argument("SHRINK takes 0 <= begin <= end <= size: axis {} of {} has {}..{}", i,
                                  shape_text(from), begin, end);
        to[i] = end - begin;
      }
      break;
    case Op::kFlip:
      if (ints.size() != rank) return wrong_length(op, ints, rank, "0 or 1 for each axis");
      for (const std::int64_t flag : ints)
        if (flag != 0 && flag != 1)
          return invalid_argument("FLIP takes 0 or 1 for each axis; got {}", shape_text(ints));
      to = from;
      break;
    default: check(false, "not a movement op");
  }
  return result(x.dtype(), std::move(to));
}

StatusOr<Inferred> infer_reduce(UOp x, const Arg& arg) {
  const std::optional<Op> op = arg.op;
  if (op != Op::kAdd && op != Op::kMul && op != Op::kMax && op != Op::kMin)
    return invalid_argument("REDUCE is by ADD, MUL, MAX or MIN, not {}", op ? name(*op) : "nothing");
  if (!accepts(*op, x.dtype()))
    return invalid_argument("REDUCE by {} does not take {}\nremedy: CAST it", name(*op), name(x.dtype()));
  const auto rank = static_cast<std::int64_t>(x.shape().size());
  if (arg.value < 0 || arg.value > rank)
    return invalid_argument("REDUCE over {} trailing axes, but {} has {}", arg.value, shape_text(x.shape()), rank);
  Shape kept(x.shape().begin(), x.shape().end() - arg.value);
  StatusOr<Inferred> inferred = result(x.dtype(), std::move(kept));
  const bool has_identity = op == Op::kAdd || op == Op::kMul;
  if (inferred.ok() && !has_identity && x.numel() == 0 && inferred->numel > 0)
    return invalid_argument("a {} over no elements (of {}) has no value\nremedy: PAD or test the size first", name(*op),
                            shape_text(x.shape()));
  return inferred;
}

StatusOr<Inferred> infer_indexed(Op op, std::span<const UOp> src, const Arg& arg) {
  const UOp x = src[0];
  const UOp index = src[1];
  const auto rank = static_cast<std::int64_t>(x.shape().size());
  if (!is_integer(index.dtype())) return takes(op, "an index of an integer dtype", src.subspan(1, 1), "CAST the index");
  if (arg.value < 0 || arg.value >= rank)
    return invalid_argument("{} along axis {}, but {} has {} axes", name(op), arg.value, shape_text(x.shape()), rank);
  if (index.shape().size() != x.shape().size())
    return takes(op, "an index of as many axes as its first source", src, "RESHAPE the index");
  for (std::int64_t i = 0; i < rank; i++) {
    const auto at = static_cast<std::size_t>(i);
    if (i != arg.value && index.shape()[at] != x.shape()[at])
      return invalid_argument(
          "{} along axis {}: axis {} of the index is {}, of the first source {}\nremedy: EXPAND the index", name(op),
          arg.value, i, index.shape()[at], x.shape()[at]);
  }
  if (op == Op::kGather) return result(x.dtype(), index.shape());
  if (src[2].dtype() != x.dtype() || src[2].shape() != index.shape())
    return takes(op, "base, index and a source of base's dtype and the index's shape", src);
  if (arg.op && arg.op != Op::kAdd) return invalid_argument("SCATTER stores or, with ADD, adds; not {}", name(*arg.op));
  if (arg.op && !accepts(Op::kAdd, x.dtype()))
    return invalid_argument("SCATTER with ADD does not take {}\nremedy: CAST it", name(x.dtype()));
  return result(x.dtype(), x.shape());
}

StatusOr<Inferred> infer_alu(Op op, std::span<const UOp> src, const Arg& arg) {
  const UOp last = src.back();
  const bool is_where = op == Op::kWhere;
  if (is_where && src[0].dtype() != DType::kBool) return takes(op, "a bool condition and two values", src);
  for (std::size_t i = is_where ? 1 : 0; i < src.size(); i++) {
    if (src[i].dtype() != last.dtype()) return takes(op, "operands of one dtype", src, "CAST them");
    if (!accepts(op, src[i].dtype()))
      return invalid_argument("{} does not take {}\nremedy: CAST it", name(op), name(src[i].dtype()));
  }
  for (const UOp s : src)
    if (s.shape() != last.shape()) return takes(op, "operands of one shape", src, "RESHAPE and EXPAND them");
  switch (row(op).result) {
    case OpResult::kBool: return Inferred{DType::kBool, last.shape(), last.numel()};
    case OpResult::kArg:
      if (arg.dtype == DType::kNone) return invalid_argument("{} needs a dtype", name(op));
      if (op == Op::kBitcast && byte_size(arg.dtype) != byte_size(last.dtype()))
        return invalid_argument("BITCAST keeps the size: {} has {} bytes, {} has {}\nremedy: use CAST",
                                name(last.dtype()), byte_size(last.dtype()), name(arg.dtype), byte_size(arg.dtype));
      return Inferred{arg.dtype, last.shape(), last.numel()};
    case OpResult::kSame:
    case OpResult::kNone: break;
  }
  return Inferred{last.dtype(), last.shape(), last.numel()};
}

bool is_index(UOp u) {
  return u.dtype() == DType::kI64 && u.shape().empty();
}
bool is_gate(UOp u) {
  return u.dtype() == DType::kBool && u.shape().empty();
}

StatusOr<Inferred> infer_loop(Op op, std::span<const UOp> src, const Arg& arg) {
  const auto all_ranges = [&](std::size_t from) {
    return std::all_of(src.begin() + static_cast<std::ptrdiff_t>(std::min(from, src.size())), src.end(),
                       [](UOp s) { return s.op() == Op::kRange; });
  };
  switch (op) {
    case Op::kParam:
      if (arg.dtype == DType::kNone || arg.ints.size() != 1) return invalid_argument("PARAM takes a dtype and a size");
      return Inferred{arg.dtype, {}, 1};
    case Op::kRange:
      if (arg.dtype != DType::kI64 || arg.ints.size() != 1 || arg.ints[0] < 1)
        return invalid_argument("RANGE is i64 and counts to at least 1");
      return Inferred{DType::kI64, {}, 1};
    case Op::kLoad:
      if (src.size() < 2 || src.size() > 3 || src[0].op() != Op::kParam || !is_index(src[1]) ||
          (src.size() == 3 && !is_gate(src[2])))
        return takes(op, "PARAM, an i64 index and at most a bool gate", src);
      return Inferred{src[0].dtype(), {}, 1};
    case Op::kAccumulate:
      if (src.empty() || !all_ranges(1) || !arg.op) return takes(op, "a value, ranges and an op", src);
      return Inferred{src[0].dtype(), {}, 1};
    case Op::kStore:
      if (src.size() < 4 || src[0].op() != Op::kParam || !is_index(src[1]) || src[2].dtype() != src[0].dtype() ||
          !is_gate(src[3]) || !all_ranges(4))
        return takes(op, "PARAM, an i64 index, a value of its dtype, a bool gate and ranges", src);
      return Inferred{DType::kNone, {}, 1};
    case Op::kSink:
      if (std::any_of(src.begin(), src.end(), [](UOp s) { return s.op() != Op::kStore; }))
        return takes(op, "stores", src);
      return Inferred{DType::kNone, {}, 1};
    default: break;
  }
  check(false, "not a loop op");
  return Inferred{};
}

}  // namespace

StatusOr<Inferred> infer(Op op, std::span<const UOp> src, const Arg& arg) {
  const OpRow& r = row(op);
  if (r.arity >= 0 && src.size() != static_cast<std::size_t>(r.arity))
    return invalid_argument("{} takes {} source{}; got {}", r.name, r.arity, r.arity == 1 ? "" : "s", src.size());
  switch (r.cls) {
    case OpClass::kSource: return infer_source(op, arg);
    case OpClass::kMovement: return infer_movement(op, src[0], arg.ints);
    case OpClass::kReduce: return infer_reduce(src[0], arg);
    case OpClass::kStage: return Inferred{src[0].dtype(), src[0].shape(), src[0].numel()};
    case OpClass::kGradient:
      if (op == Op::kDetach) return Inferred{src[0].dtype(), src[0].shape(), src[0].numel()};
      if (!is_float(src[0].dtype()) || src[0].numel() != 1)
        return takes(op, "a loss of one float element, then wrt", src);
      if (!is_float(src[1].dtype())) return takes(op, "a wrt of a float dtype", src.subspan(1), "CAST it");
      return Inferred{src[1].dtype(), src[1].shape(), src[1].numel()};
    case OpClass::kIndexed: return infer_indexed(op, src, arg);
    case OpClass::kAlu: return infer_alu(op, src, arg);
    case OpClass::kLoop: return infer_loop(op, src, arg);
  }
  check(false, "an op class is missing");
  return Inferred{};
}

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

std::string type_text(DType dtype, const Shape& shape) {
  return fmt::format("{}{}", name(dtype), shape_text(shape));
}

}  // namespace uop
