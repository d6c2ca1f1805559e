// Every op for every dtype it takes on every pair of special values, operands as buffers and as constants, at every
// optimisation level, default and strict, against the reference; and on no element, and on a 0-d value.
#include <gtest/gtest.h>

#include "core/ir/build.h"
#include "tests/reference/batch.h"
#include "tests/reference/changed_case.h"
#include "tests/reference/interpret.h"
#include "tests/special_values.h"

namespace uop::reference {
namespace {

enum class Form { kBuffers, kConstants, kEmpty, kZeroD };

struct Shard {
  const char* name;
  Form form;
  const char* numerics;
};

Bytes bytes_of(DType dtype, std::span<const Scalar> values) {
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  Bytes bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); i++) store(dtype, values[i].bits, &bytes[i * size]);
  return bytes;
}

/// Few enough to stand in one kernel: zeros, ones, the ends of the range.
std::vector<Scalar> few_special_values(DType dtype) {
  std::vector<Scalar> values;
  const auto add = [&](Scalar s) {
    if (std::find(values.begin(), values.end(), s) == values.end()) values.push_back(s);
  };
  for (const double x : {0.0, -0.0, 1.0, -1.0, 2.0}) add(scalar_of(dtype, x));
  if (is_float(dtype)) add(scalar_of(dtype, std::nan("")));
  if (!is_float(dtype)) add({dtype, special_values(dtype).back().bits});
  add(reduce_identity(Op::kMax, dtype));
  add(reduce_identity(Op::kMin, dtype));
  return values;
}

/// A case in the making: one op on operands of given dtypes.
class OneOp {
 public:
  explicit OneOp(Form form) : form_(form) {}

  RandomCase take(UOp root) {
    case_.graph.roots = {root};
    case_.graph.graph = std::move(graph_);
    return std::move(case_);
  }

  UOp input(DType dtype, const Bytes& bytes, const Shape& shape) {
    const auto slot = static_cast<std::int64_t>(case_.inputs.buffers.size());
    case_.inputs.buffers[slot] = bytes;
    return reshape(buffer(*graph_, slot, dtype, count(shape)), shape);
  }

  /// The special values along one axis of a grid.
  UOp operand(DType dtype, std::size_t axis, std::size_t axes) {
    if (form_ == Form::kEmpty) return input(dtype, {}, {0});
    const std::vector<Scalar> values = special_values(dtype);
    if (form_ == Form::kZeroD) return input(dtype, bytes_of(dtype, std::span(values).last(1)), {});
    Shape shape(axes, 1);
    shape[axis] = static_cast<std::int64_t>(values.size());
    return input(dtype, bytes_of(dtype, values), shape);
  }

  /// `f` of each of the constants, one after the other along a new first axis.
  UOp of_each(const std::vector<Scalar>& constants, const std::function<UOp(UOp scalar)>& f) {
    std::vector<UOp> results;
    for (const Scalar s : constants) results.push_back(f(constant(*graph_, s)));
    Shape shape = results.front().shape();
    shape.insert(shape.begin(), static_cast<std::int64_t>(constants.size()));
    Shape first(shape.size(), 1);
    const auto wide = [&](UOp x) {
      Shape one = x.shape();
      one.insert(one.begin(), 1);
      return expand(reshape(x, one), shape);
    };
    first.front() = shape.front();
    const UOp place = expand(reshape(iota(*graph_, DType::kI32, shape.front()), first), shape);
    UOp all = wide(results.front());
    for (std::size_t i = 1; i < results.size(); i++)
      all = where(binary(Op::kCmpEq, place, full_like(place, static_cast<double>(i))), wide(results[i]), all);
    return all;
  }

  Graph& graph() { return *graph_; }
  Form form() const { return form_; }

 private:
  Form form_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  RandomCase case_;
};

RandomCase case_of_unary(Op op, DType from, DType to, Form form) {
  OneOp c(form);
  const auto apply_op = [&](UOp x) { return c.graph().make(op, {x}, {.dtype = to}); };
  if (form == Form::kConstants) return c.take(c.of_each(special_values(from), apply_op));
  return c.take(apply_op(c.operand(from, 0, 1)));
}

RandomCase case_of_binary(Op op, DType dtype, Form form) {
  OneOp c(form);
  if (form == Form::kConstants) {
    const UOp x = c.input(dtype, bytes_of(dtype, special_values(dtype)),
                          {static_cast<std::int64_t>(special_values(dtype).size())});
    const UOp right =
        c.of_each(few_special_values(dtype), [&](UOp s) { return binary(op, x, broadcast_scalar(s, x.shape())); });
    const UOp left =
        c.of_each(few_special_values(dtype), [&](UOp s) { return binary(op, broadcast_scalar(s, x.shape()), x); });
    RandomCase both = c.take(right);
    both.graph.roots.push_back(left);
    return both;
  }
  UOp x = c.operand(dtype, 0, 2);
  UOp y = c.operand(dtype, 1, 2);
  if (form == Form::kBuffers) {
    const Shape grid = {x.shape()[0], y.shape()[1]};
    x = expand(x, grid);
    y = expand(y, grid);
  }
  return c.take(binary(op, x, y));
}

RandomCase case_of_where(DType dtype, Form form) {
  OneOp c(form);
  if (form == Form::kConstants) {
    const UOp x = c.input(dtype, bytes_of(dtype, special_values(dtype)),
                          {static_cast<std::int64_t>(special_values(dtype).size())});
    const UOp no = full_like(x, 1);
    return c.take(
        c.of_each(special_values(DType::kBool), [&](UOp s) { return where(broadcast_scalar(s, x.shape()), x, no); }));
  }
  UOp condition = c.operand(DType::kBool, 0, 2);
  UOp x = c.operand(dtype, 1, 2);
  if (form == Form::kBuffers) {
    const Shape grid = {condition.shape()[0], x.shape()[1]};
    condition = expand(condition, grid);
    x = expand(x, grid);
  }
  return c.take(where(condition, x, full_like(x, 1)));
}

/// Pairs, each reduced to one.
RandomCase case_of_reduce(Op op, DType dtype, Form form) {
  OneOp c(form);
  if (form == Form::kEmpty) return c.take(reduce(op, c.input(dtype, {}, {0, 3}), 1));
  if (form == Form::kZeroD) return c.take(reduce(op, c.operand(dtype, 0, 1), 0));
  const std::vector<Scalar> values = form == Form::kConstants ? few_special_values(dtype) : special_values(dtype);
  std::vector<Scalar> pairs;
  for (const Scalar a : values)
    for (const Scalar b : values) pairs.insert(pairs.end(), {a, b});
  const Shape shape = {static_cast<std::int64_t>(pairs.size()) / 2, 2};
  if (form == Form::kBuffers) return c.take(reduce(op, c.input(dtype, bytes_of(dtype, pairs), shape), 1));
  return c.take(c.of_each(values, [&](UOp s) { return reduce(op, broadcast_scalar(s, {3, 2}), 1); }));
}

/// Values at places that an index names, in and out of range.
RandomCase case_of_indexed(Op op, std::optional<Op> adds, DType dtype, DType index_dtype, Form form) {
  OneOp c(form);
  const std::vector<Scalar> values = special_values(dtype);
  const auto n = static_cast<std::int64_t>(values.size());
  const UOp x = form == Form::kEmpty ? c.input(dtype, {}, {0}) : c.input(dtype, bytes_of(dtype, values), {n});
  const std::vector<Scalar> places = special_values(index_dtype);
  const auto m = static_cast<std::int64_t>(places.size());
  const UOp index =
      form == Form::kConstants
          ? vector_of(c.graph(), m,
                      [&](std::int64_t i) { return constant(c.graph(), places[static_cast<std::size_t>(i)]); })
          : c.input(index_dtype, bytes_of(index_dtype, places), {m});
  if (op == Op::kGather) return c.take(c.graph().make(op, {x, index}, {.value = 0}));
  std::vector<Scalar> stored;
  for (std::size_t i = 0; i < places.size(); i++) stored.push_back(values[(7 * i) % values.size()]);
  const UOp source = c.input(dtype, bytes_of(dtype, stored), {m});
  return c.take(c.graph().make(op, {x, index, source}, {.op = adds, .value = 0}));
}

/// All cases of a form; what the form has no case of is left out (GATHER along an axis needs an axis).
std::vector<RandomCase> cases_of(Form form) {
  std::vector<RandomCase> all;
  for (const OpRow& r : op_rows())
    for (const DTypeRow& d : dtype_rows()) {
      if (!accepts(r.op, d.dtype)) continue;
      if (r.op == Op::kCast || r.op == Op::kBitcast) {
        for (const DTypeRow& to : dtype_rows())
          if (r.op == Op::kCast || byte_size(to.dtype) == byte_size(d.dtype))
            all.push_back(case_of_unary(r.op, d.dtype, to.dtype, form));
      } else if (r.op == Op::kWhere) {
        all.push_back(case_of_where(d.dtype, form));
      } else if (r.cls == OpClass::kAlu) {
        all.push_back(r.arity == 1 ? case_of_unary(r.op, d.dtype, DType::kNone, form)
                                   : case_of_binary(r.op, d.dtype, form));
      } else if (r.op == Op::kReduce) {
        for (const Op op : {Op::kAdd, Op::kMul, Op::kMax, Op::kMin})
          if (d.dtype != DType::kBool || accepts(op, d.dtype)) all.push_back(case_of_reduce(op, d.dtype, form));
      }
    }
  if (form == Form::kZeroD) return all;
  for (const DTypeRow& d : dtype_rows())
    for (const DTypeRow& index : dtype_rows()) {
      if (is_float(index.dtype) || index.dtype == DType::kBool) continue;
      if (d.dtype != DType::kF32 && index.dtype != DType::kI32) continue;  // each of both, not each pair
      all.push_back(case_of_indexed(Op::kGather, std::nullopt, d.dtype, index.dtype, form));
      all.push_back(case_of_indexed(Op::kScatter, std::nullopt, d.dtype, index.dtype, form));
      if (d.dtype != DType::kBool) all.push_back(case_of_indexed(Op::kScatter, Op::kAdd, d.dtype, index.dtype, form));
    }
  return all;
}

class EveryOp : public testing::TestWithParam<Shard> {};

TEST_P(EveryOp, GivesWhatTheReferenceGives) {
  constexpr std::size_t kBatch = 150;
  const Shard& shard = GetParam();
  std::vector<Variant> variants;
  for (const std::int64_t opt : {0, 1}) variants.push_back({.options = {.opt = opt, .numerics = shard.numerics}});
  const std::vector<RandomCase> all = cases_of(shard.form);
  Batches batches;
  Comparison comparison;
  for (std::size_t begin = 0; begin < all.size(); begin += kBatch) {
    const std::span some = std::span(all).subspan(begin, std::min(kBatch, all.size() - begin));
    const std::vector<Verdict> verdicts = batches.run(some, [&](std::uint64_t) { return variants; });
    for (std::size_t i = 0; i < some.size(); i++) {
      EXPECT_EQ(verdicts[i].problem, std::nullopt) << to_text(some[i]);
      comparison += verdicts[i].comparison;
    }
  }
  RecordProperty("cases", static_cast<int>(all.size()));
  EXPECT_GT(all.size(), 400u);
  EXPECT_LE(comparison.skipped, comparison.checked / 10);
}

constexpr Shard kShards[] = {
    {"buffers_strict", Form::kBuffers, "strict"},
    {"buffers_default", Form::kBuffers, "default"},
    {"constants_strict", Form::kConstants, "strict"},
    {"constants_default", Form::kConstants, "default"},
    {"empty", Form::kEmpty, "strict"},
    {"zero_d", Form::kZeroD, "strict"},
};

INSTANTIATE_TEST_SUITE_P(Forms, EveryOp, testing::ValuesIn(kShards),
                         [](const auto& shard) { return std::string(shard.param.name); });

}  // namespace
}  // namespace uop::reference
