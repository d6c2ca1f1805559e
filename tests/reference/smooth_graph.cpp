#include "tests/reference/smooth_graph.h"

#include <numeric>

#include "core/ir/build.h"
#include "tests/reference/random.h"

namespace uop::reference {
namespace {

constexpr std::int64_t kMostElements = 24;  // each costs two evaluations of the loss

class SmoothGrowth {
 public:
  explicit SmoothGrowth(std::uint64_t seed) : seed_(seed), random_(seed) {}

  RandomCase grow(int steps) {
    const std::vector<UOp> inputs = {input({2, 3}), input({3})};
    for (const UOp x : inputs) pool_.push_back(reshape(x, shapes_.at(static_cast<std::size_t>(x.arg().value))));
    for (int i = 0; i < steps; i++) step();
    const UOp last = pool_.back();  // and all others, so that each has a part in the loss
    UOp loss = total(weighed(last));
    for (const UOp x : pool_) loss = binary(Op::kAdd, loss, total(weighed(x)));
    RandomCase c;
    c.seed = seed_;
    c.graph.roots = {loss};
    for (const UOp x : inputs) c.graph.roots.push_back(graph_->make(Op::kGradient, {loss, x}));
    c.graph.graph = std::move(graph_);
    c.inputs = std::move(inputs_);
    return c;
  }

 private:
  UOp input(const Shape& shape) {
    const auto slot = static_cast<std::int64_t>(shapes_.size());
    const std::int64_t n = count(shape);
    Bytes bytes(static_cast<std::size_t>(8 * n));
    for (std::int64_t i = 0; i < n; i++)
      store(DType::kF64, rounded(DType::kF64, random_.between(-1500, 1500) / 1000.0L + 0.0003L), bytes.data() + 8 * i);
    inputs_.buffers[slot] = bytes;
    shapes_.push_back(shape);
    return buffer(*graph_, slot, DType::kF64, n);
  }

  static UOp total(UOp x) { return reduce(Op::kAdd, x, static_cast<std::int64_t>(x.shape().size())); }
  static UOp plus(UOp x, double y) { return binary(Op::kAdd, x, full_like(x, y)); }
  static UOp positive(UOp x) { return plus(binary(Op::kMul, x, x), 1); }

  /// x times other numbers for each element.
  UOp weighed(UOp x) {
    const UOp place = cast(reshape(iota(*graph_, DType::kI32, x.numel()), x.shape()), DType::kF64);
    return binary(Op::kMul, x, unary(Op::kSin, plus(place, static_cast<double>(random_.between(1, 9)))));
  }

  UOp any() { return pool_[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(pool_.size())))]; }

  /// A value of the shape, made of another.
  UOp fitted(UOp x, const Shape& shape) {
    const std::int64_t wanted = count(shape);
    UOp flat = reshape(x, {x.numel()});
    if (x.numel() < wanted) flat = pad(flat, {random_.chance(50) ? wanted - x.numel() : 0, 0});
    if (flat.numel() < wanted) flat = pad(flat, {0, wanted - flat.numel()});
    if (flat.numel() > wanted) flat = shrink(flat, {0, wanted});
    return reshape(flat, shape);
  }

  UOp indices(const Shape& shape, std::int64_t n) {
    const auto slot = static_cast<std::int64_t>(shapes_.size());
    shapes_.push_back(shape);
    inputs_.buffers[slot] = Bytes(static_cast<std::size_t>(4 * count(shape)));
    for (std::int64_t i = 0; i < count(shape); i++)
      store(DType::kI32, wrapped(DType::kI32, random_.between(-1, n)), inputs_.buffers[slot].data() + 4 * i);
    return reshape(buffer(*graph_, slot, DType::kI32, count(shape)), shape);
  }

  void step() {
    const UOp x = any();
    switch (random_.below(5)) {
      case 0: return add(function_of(x));
      case 1: return add(pair_of(x, fitted(any(), x.shape())));
      case 2: return add(moved(x));
      case 3: return add(gathered_or_scattered(x));
      case 4:
        if (x.shape().empty()) return;
        return add(reduce(Op::kAdd, x, random_.between(1, static_cast<std::int64_t>(x.shape().size()))));
    }
  }

  void add(UOp x) {
    if (x && x.numel() > 0 && x.numel() <= kMostElements) pool_.push_back(x);
  }

  UOp function_of(UOp x) {
    switch (random_.below(7)) {
      case 0: return unary(Op::kSin, x);
      case 1: return unary(Op::kExp2, unary(Op::kSin, x));
      case 2: return unary(Op::kSqrt, positive(x));
      case 3: return unary(Op::kReciprocal, positive(x));
      case 4: return unary(Op::kLog2, positive(x));
      case 5: return unary(Op::kNeg, x);
      default: return graph_->make(Op::kStage, {x});
    }
  }

  UOp pair_of(UOp x, UOp y) {
    switch (random_.below(6)) {
      case 0: return binary(Op::kAdd, x, y);
      case 1: return binary(Op::kSub, x, y);
      case 2: return binary(Op::kMul, unary(Op::kSin, x), y);
      case 3: return binary(Op::kDiv, x, positive(y));
      case 4: {
        const UOp place = reshape(iota(*graph_, DType::kI32, x.numel()), x.shape());
        return where(binary(Op::kCmpLt, place, full_like(place, 2)), x, y);
      }
      default: return binary(Op::kAdd, unary(Op::kSin, x), graph_->make(Op::kDetach, {constant_part(y)}));
    }
  }

  /// A value that does not depend on the inputs where DETACH stands: differences do not stop at it.
  UOp constant_part(UOp like) { return full_like(like, 0.75); }

  UOp moved(UOp x) {
    const std::size_t rank = x.shape().size();
    std::vector<std::int64_t> ints;
    switch (random_.below(6)) {
      case 0: return reshape(x, {x.numel()});
      case 1: {
        std::vector<std::int64_t> order(rank);
        std::iota(order.begin(), order.end(), 0);
        random_.shuffle(order);
        return permute(x, order);
      }
      case 2: {
        Shape ones = x.shape();
        ones.insert(ones.begin() + random_.between(0, static_cast<std::int64_t>(rank)), 1);
        Shape to = ones;
        for (std::int64_t& d : to)
          if (d == 1) d = random_.between(1, 3);
        return count(to) <= kMostElements ? expand(reshape(x, ones), to) : UOp();
      }
      case 3:
        for (std::size_t i = 0; i < 2 * rank; i++) ints.push_back(random_.below(2));
        return pad(x, ints);
      case 4:
        for (const std::int64_t d : x.shape()) {
          const std::int64_t begin = random_.below(d);
          ints.insert(ints.end(), {begin, random_.between(begin + 1, d)});
        }
        return shrink(x, ints);
      default:
        for (std::size_t i = 0; i < rank; i++) ints.push_back(random_.below(2));
        return flip(x, ints);
    }
  }

  UOp gathered_or_scattered(UOp x) {
    if (x.shape().empty()) return {};
    const std::int64_t axis = random_.below(static_cast<std::int64_t>(x.shape().size()));
    const std::int64_t n = x.shape()[static_cast<std::size_t>(axis)];
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = random_.between(1, 4);
    if (count(shape) > kMostElements) return {};
    const UOp index = indices(shape, n);
    if (random_.chance(50)) return graph_->make(Op::kGather, {x, index}, {.value = axis});
    return graph_->make(Op::kScatter, {x, index, fitted(any(), shape)}, {.op = Op::kAdd, .value = axis});
  }

  std::uint64_t seed_;
  Random random_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  std::vector<UOp> pool_;
  std::vector<Shape> shapes_;  // by slot
  Inputs inputs_;
};

}  // namespace

RandomCase smooth_case(std::uint64_t seed, int steps) {
  return SmoothGrowth(seed).grow(steps);
}

}  // namespace uop::reference
