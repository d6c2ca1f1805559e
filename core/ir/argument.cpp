#include "core/ir/argument.h"

#include "core/ir/shape_rules.h"

namespace uop {
namespace {

static_assert(kMaxInts == 2 * kMaxRank);

constexpr ArgFields kRows[] = {
    {.op = Op::kBuffer, .value = "slot", .numbers = {"size"}},
    {.op = Op::kConst, .value = "value"},
    {.op = Op::kIota, .numbers = {"n"}},
    {.op = Op::kVariable, .value = "slot", .numbers = {"min", "max"}},
    {.op = Op::kReshape, .list = "shape"},
    {.op = Op::kPermute, .list = "order"},
    {.op = Op::kExpand, .list = "shape"},
    {.op = Op::kPad, .list = "before_after"},
    {.op = Op::kShrink, .list = "begin_end"},
    {.op = Op::kFlip, .list = "flags"},
    {.op = Op::kReduce, .value = "axes", .takes_op = true},
    {.op = Op::kGather, .value = "axis"},
    {.op = Op::kScatter, .value = "axis", .takes_op = true},
    {.op = Op::kParam, .value = "slot", .numbers = {"size"}},
    {.op = Op::kRange, .value = "id", .numbers = {"n"}},
    {.op = Op::kAccumulate, .takes_op = true},
    {.op = Op::kStore, .takes_op = true},
};

constexpr std::size_t kOps = static_cast<std::size_t>(Op::kSink) + 1;
constexpr std::array<ArgFields, kOps> kByOp = [] {
  std::array<ArgFields, kOps> rows{};
  for (const ArgFields& r : kRows) rows[static_cast<std::size_t>(r.op)] = r;
  return rows;
}();

Status check_bits(const Arg& arg) {
  if (arg.dtype == DType::kNone) return ok_status();  // shape_rules.h refuses it
  const auto bits = static_cast<std::uint64_t>(arg.value);
  if (arg.dtype == DType::kBool && bits > 1)
    return invalid_argument("a bool CONST is 0 or 1; its bits are {:#x}", bits);
  const std::int64_t width = 8 * byte_size(arg.dtype);
  if (width < 64 && bits >> width != 0)
    return invalid_argument("a CONST of {} has {} bits; its bits are {:#x}", name(arg.dtype), width, bits);
  return ok_status();
}

}  // namespace

const ArgFields& arg_fields(Op op) {
  return kByOp[static_cast<std::size_t>(op)];
}

bool is_reduce_op(Op op) {
  return op == Op::kAdd || op == Op::kMul || op == Op::kMax || op == Op::kMin;
}

Status check_argument(Op op, const Arg& arg) {
  const ArgFields& fields = arg_fields(op);
  if (arg.dtype != DType::kNone && !takes_dtype(op))
    return invalid_argument("{} takes no dtype; got {}", name(op), name(arg.dtype));
  if (arg.value != 0 && fields.value.empty()) return invalid_argument("{} takes no value; got {}", name(op), arg.value);
  if (arg.op && !fields.takes_op) return invalid_argument("{} takes no reduce op; got {}", name(op), name(*arg.op));
  if (arg.op && !is_reduce_op(*arg.op))
    return invalid_argument("the reduce op of {} is ADD, MUL, MAX or MIN; got {}", name(op), name(*arg.op));
  if (arg.ints.size() > kMaxInts)
    return invalid_argument("{} has {} numbers; the limit is {}", name(op), arg.ints.size(), kMaxInts);
  if (!arg.ints.empty() && fields.list.empty() && fields.numbers[0].empty())
    return invalid_argument("{} takes no numbers; got {}", name(op), shape_text(arg.ints));
  const bool has_slot = op == Op::kBuffer || op == Op::kVariable;
  if (has_slot && (arg.value < 0 || arg.value > kMaxSlot))
    return invalid_argument("the slot of a {} is 0..{}; got {}", name(op), kMaxSlot, arg.value);
  return op == Op::kConst ? check_bits(arg) : ok_status();
}

Status SlotTable::add(UOp u) {
  if (u.op() != Op::kBuffer && u.op() != Op::kVariable) return ok_status();
  const auto [place, is_new] = taken_.try_emplace({u.op(), u.arg().value}, u);
  const UOp first = place->second;
  if (is_new || first == u) return ok_status();
  if (u.op() == Op::kBuffer)
    return invalid_argument("slot {} is already a BUFFER of {}, here it is {}", u.arg().value,
                            type_text(first.dtype(), first.shape()), type_text(u.dtype(), u.shape()));
  return invalid_argument("slot {} is already a VARIABLE of {} {}, here it is {} {}", u.arg().value,
                          name(first.dtype()), shape_text(first.arg().ints), name(u.dtype()), shape_text(u.arg().ints));
}

}  // namespace uop
