#include "tests/fuzz/graph_of_bytes.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "tests/reference/random_values.h"

namespace uop::fuzz {
namespace {

using reference::Mood;
using reference::Random;

constexpr std::int64_t kMostElements = 100;
constexpr std::size_t kMostValues = 48;
constexpr std::size_t kMostRank = 6;
constexpr int kMostGradients = 2;
constexpr double kMostKernelNodes = 160;       // of one kernel's text, in which shared nodes may be repeated
constexpr double kMostKernelOperations = 3e5;  // of one kernel, however it is fused

/// The fuzzer's bytes, one choice each; zeros when they have run out.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool done() const { return next_ >= bytes_.size(); }
  std::int64_t byte() { return done() ? 0 : bytes_[next_++]; }
  std::int64_t below(std::int64_t n) { return n <= 0 ? 0 : byte() % n; }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(std::ssize(from)))];
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
};

std::vector<Op> ops_of_the_wire() {
  std::vector<Op> ops;
  for (const OpRow& r : op_rows())
    if (r.number != 0) ops.push_back(r.op);
  return ops;
}

std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
  for (const DTypeRow& r : dtype_rows()) dtypes.push_back(r.dtype);
  return dtypes;
}

class Builder {
 public:
  explicit Builder(std::span<const std::uint8_t> bytes) : choices_(bytes) {}

  Program build() {
    Program program;
    const std::int64_t options = choices_.byte();
    program.options.opt = options & 1;
    program.options.fuse_reduce = (options & 2) != 0;
    program.options.stage = (options & 4) == 0;
    program.options.numerics = (options & 8) != 0 ? "strict" : "default";
    const std::int64_t seed = choices_.byte();
    random_ = Random(static_cast<std::uint64_t>(seed));
    mood_ = seed % 3 == 0 ? Mood::kWild : Mood::kTame;
    keep(input(DType::kF32, {2, 3}));
    while (!choices_.done() && values_.size() < kMostValues) keep(next());
    const std::size_t roots = std::min(values_.size(), static_cast<std::size_t>(1 + (options >> 4) % 4));
    program.graph.seed = static_cast<std::uint64_t>(seed);
    program.graph.graph = {std::move(graph_), {values_.end() - static_cast<std::ptrdiff_t>(roots), values_.end()}};
    program.graph.inputs = std::move(inputs_);
    return program;
  }

 private:
  using Made = std::optional<UOp>;

  /// What a kernel that computes the node inline costs.
  struct Cost {
    double nodes = 1;
    double operations = 1;  // for each element
  };

  void keep(Made u) {
    if (u) values_.push_back(*u);
  }

  Made next() {
    const Op op = choices_.pick(ops_);
    switch (op_class(op)) {
      case OpClass::kSource: return source(op);
      case OpClass::kMovement: return movement(op, value());
      case OpClass::kReduce: return reduction(value());
      case OpClass::kStage: return make(op, {value()});
      case OpClass::kGradient: return op == Op::kGradient ? gradient() : make(op, {value()});
      case OpClass::kIndexed: return indexed(op);
      case OpClass::kAlu: return elementwise(op);
      case OpClass::kLoop: break;
    }
    return std::nullopt;
  }

  // --- Nodes ---

  Made source(Op op) {
    const DType dtype = choices_.pick(dtypes_);
    switch (op) {
      case Op::kBuffer: return input(dtype, shape());
      case Op::kIota: return make(op, {}, {.dtype = dtype, .ints = {choices_.below(20)}});
      case Op::kVariable: {
        const std::int64_t min = choices_.below(16) - 8;
        const std::int64_t max = min + choices_.below(16);
        const auto slot = static_cast<std::int64_t>(inputs_.variables.size());
        const Made made = make(op, {}, {.dtype = dtype, .value = slot, .ints = {min, max}});
        if (made) inputs_.variables[slot] = random_.between(min, max);
        return made;
      }
      default: return make(op, {}, {.dtype = dtype, .value = bits_of_constant(dtype)});
    }
  }

  Made movement(Op op, UOp x) {
    const Shape& from = x.shape();
    const auto rank = static_cast<std::int64_t>(from.size());
    Arg arg;
    switch (op) {
      case Op::kReshape: arg.ints = reshaped(from); break;
      case Op::kPermute:
        arg.ints.resize(from.size());
        std::iota(arg.ints.begin(), arg.ints.end(), 0);
        if (rank > 1) std::swap(arg.ints[at(rank)], arg.ints[at(rank)]);
        break;
      case Op::kExpand:
        arg.ints = from;
        for (std::int64_t& d : arg.ints)
          if (d == 1) d = choices_.below(7);
        break;
      case Op::kPad:
        for (std::int64_t i = 0; i < 2 * rank; i++) arg.ints.push_back(choices_.below(4));
        break;
      case Op::kShrink:
        for (const std::int64_t d : from) {
          const std::int64_t begin = choices_.below(d + 1);
          arg.ints.insert(arg.ints.end(), {begin, begin + choices_.below(d - begin + 1)});
        }
        break;
      default:
        for (std::int64_t i = 0; i < rank; i++) arg.ints.push_back(choices_.below(2));
    }
    return make(op, {x}, arg);
  }

  Made reduction(UOp x) {
    const std::int64_t axes = choices_.below(std::ssize(x.shape()) + 1);
    return make(Op::kReduce, {x}, {.op = choices_.pick(reduce_ops_), .value = axes});
  }

  Made gradient() {
    const UOp x = value();
    const UOp wrt = value();
    if (gradients_++ >= kMostGradients) return std::nullopt;
    const Made loss = make(Op::kReduce, {x}, {.op = Op::kAdd, .value = std::ssize(x.shape())});
    return loss ? make(Op::kGradient, {*loss, wrt}) : std::nullopt;
  }

  Made indexed(Op op) {
    const UOp x = value();
    if (x.shape().empty()) return std::nullopt;
    const std::size_t axis = at(std::ssize(x.shape()));
    Shape to = x.shape();
    const std::int64_t n = std::exchange(to[axis], choices_.below(9));
    const DType dtype = choices_.pick(dtypes_);
    const bool from_memory = choices_.below(3) > 0 && is_integer(dtype);
    const Made index = from_memory ? input(dtype, to, n) : fitted(value(), dtype, to);
    if (!index) return std::nullopt;
    Arg arg{.value = static_cast<std::int64_t>(axis)};
    if (op == Op::kGather) return make(op, {x, *index}, arg);
    if (choices_.below(2) == 1) arg.op = Op::kAdd;
    const Made from = fitted(value(), x.dtype(), to);
    return from ? make(op, {x, *index, *from}, arg) : std::nullopt;
  }

  Made elementwise(Op op) {
    std::vector<UOp> src;
    UOp first = value();
    if (!accepts(op, first.dtype())) {
      const Made converted = make(Op::kCast, {first}, {.dtype = choices_.pick(dtypes_)});
      if (!converted) return std::nullopt;
      first = *converted;
    }
    if (op == Op::kWhere) {
      const Made condition = fitted(value(), DType::kBool, first.shape());
      if (!condition) return std::nullopt;
      src.push_back(*condition);
    }
    src.push_back(first);
    if (row(op).arity >= 2) {
      const Made second = fitted(value(), first.dtype(), first.shape());
      if (!second) return std::nullopt;
      src.push_back(*second);
    }
    Arg arg;
    if (row(op).result == OpResult::kArg) arg.dtype = choices_.pick(op == Op::kBitcast ? of_size(first) : dtypes_);
    return make(op, std::move(src), arg);
  }

  std::vector<DType> of_size(UOp x) const {
    std::vector<DType> same;
    for (const DType dtype : dtypes_)
      if (byte_size(dtype) == byte_size(x.dtype())) same.push_back(dtype);
    return same;
  }

  // --- Operands ---

  /// A value so far; small numbers are late ones.
  UOp value() { return values_[values_.size() - 1 - at(std::ssize(values_))]; }
  std::size_t at(std::int64_t n) { return static_cast<std::size_t>(choices_.below(n)); }

  Shape shape() {
    Shape s(at(4));
    for (std::int64_t& d : s) d = choices_.below(9);
    return s;
  }

  Shape reshaped(const Shape& from) {
    Shape to = from;
    const std::size_t axis = at(std::ssize(from) + 1);
    const std::int64_t by = 1 + choices_.below(4);
    if (axis == from.size()) return {reference::count(from)};
    if (to[axis] % by == 0) {
      to[axis] /= by;
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis), by);
    }
    return to;
  }

  std::int64_t bits_of_constant(DType dtype) {
    const bool small = choices_.below(2) == 0;
    const Scalar value = scalar_of(dtype, choices_.byte() - 128);
    const reference::Bits any = reference::random_value(random_, dtype, mood_);
    return static_cast<std::int64_t>(small ? value.bits : any);
  }

  Made input(DType dtype, const Shape& to, std::optional<std::int64_t> indexes = std::nullopt) {
    const std::int64_t n = reference::count(to);
    if (n > kMostElements) return std::nullopt;
    const auto slot = static_cast<std::int64_t>(inputs_.buffers.size());
    inputs_.buffers[slot] = indexes ? reference::random_indices(random_, dtype, n, *indexes)
                                    : reference::random_bytes(random_, dtype, n, mood_);
    const Made memory = make(Op::kBuffer, {}, {.dtype = dtype, .value = slot, .ints = {n}});
    return memory ? make(Op::kReshape, {*memory}, {.ints = to}) : std::nullopt;
  }

  /// `x` as that dtype and shape: elements are repeated, dropped or zeros added where the number differs.
  Made fitted(UOp x, DType dtype, const Shape& to) {
    Made y = x.dtype() == dtype ? x : make(Op::kCast, {x}, {.dtype = dtype});
    if (!y || y->shape() == to) return y;
    const std::int64_t n = y->numel();
    const std::int64_t wanted = reference::count(to);
    if (n == 1) {
      y = make(Op::kReshape, {*y}, {.ints = Shape(to.size(), 1)});
      return y ? make(Op::kExpand, {*y}, {.ints = to}) : y;
    }
    if (y && y->shape().size() != 1) y = make(Op::kReshape, {*y}, {.ints = {n}});
    if (y && n < wanted) y = make(Op::kPad, {*y}, {.ints = {0, wanted - n}});
    if (y && n > wanted) y = make(Op::kShrink, {*y}, {.ints = {n - wanted, n}});
    return y ? make(Op::kReshape, {*y}, {.ints = to}) : y;
  }

  /// The node, or nothing where it is not well-formed or costs too much.
  Made make(Op op, std::vector<UOp> src, Arg arg = {}) {
    Cost cost;
    for (const UOp s : src) {
      cost.nodes += costs_[s.id()].nodes;
      cost.operations += costs_[s.id()].operations;
    }
    if (op == Op::kReduce) cost.operations *= static_cast<double>(std::max<std::int64_t>(src[0].numel(), 1));
    if (op == Op::kGradient) cost.nodes *= 8;  // forward and backward
    if (op == Op::kStage) cost = {};
    const StatusOr<UOp> made = graph_->try_make(op, std::move(src), std::move(arg));
    costs_.resize(graph_->size());
    if (!made.ok() || made->numel() > kMostElements || made->shape().size() > kMostRank) return std::nullopt;
    if (cost.nodes > kMostKernelNodes || cost.operations > kMostKernelOperations) return std::nullopt;
    costs_[made->id()] = cost;
    return *made;
  }

  Choices choices_;
  Random random_{0};
  Mood mood_ = Mood::kTame;
  const std::vector<Op> ops_ = ops_of_the_wire();
  const std::vector<DType> dtypes_ = all_dtypes();
  const std::vector<Op> reduce_ops_ = {Op::kAdd, Op::kMul, Op::kMax, Op::kMin};
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  std::vector<UOp> values_;
  std::vector<Cost> costs_;  // by node id
  reference::Inputs inputs_;
  int gradients_ = 0;
};

}  // namespace

Program program_of_bytes(std::span<const std::uint8_t> bytes) {
  return Builder(bytes).build();
}

}  // namespace uop::fuzz
