#include "tests/reference/graph_growth.h"

#include <algorithm>
#include <bit>
#include <set>

namespace uop::reference {
namespace {

constexpr std::int64_t kMostElements = 2048;
constexpr double kMostNodes = 160;       // of one kernel's text
constexpr double kMostOperations = 3e6;  // of one kernel

std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
  for (const DTypeRow& r : dtype_rows()) dtypes.push_back(r.dtype);
  return dtypes;
}

bool is_input(UOp u) {
  return u.op() == Op::kBuffer || (u.op() == Op::kReshape && u.src(0).op() == Op::kBuffer);
}

}  // namespace

GraphGrowth::GraphGrowth(std::uint64_t seed)
    : seed_(seed), random_(seed), mood_(random_.chance(35) ? Mood::kWild : Mood::kTame) {
  // f32 leads, as in real programs; the others take turns.
  palette_ = {DType::kF32, random_.pick(all_dtypes()), random_.pick(all_dtypes())};
  if (random_.chance(25)) palette_.front() = random_.pick(std::vector{DType::kF16, DType::kBF16, DType::kF64});
}

RandomCase GraphGrowth::grow(int steps) {
  for (int i = 0; i < 3; i++) add(random_input(random_dtype(), random_shape()));
  using Step = void (GraphGrowth::*)();
  const std::vector<Step> all = {
      &GraphGrowth::add_source,   &GraphGrowth::add_unary,      &GraphGrowth::add_unary,    &GraphGrowth::add_unary,
      &GraphGrowth::add_binary,   &GraphGrowth::add_binary,     &GraphGrowth::add_binary,   &GraphGrowth::add_binary,
      &GraphGrowth::add_where,    &GraphGrowth::add_cast,       &GraphGrowth::add_cast,     &GraphGrowth::add_movement,
      &GraphGrowth::add_movement, &GraphGrowth::add_movement,   &GraphGrowth::add_movement, &GraphGrowth::add_reduce,
      &GraphGrowth::add_reduce,   &GraphGrowth::add_normalised, &GraphGrowth::add_matmul,   &GraphGrowth::add_indexed,
      &GraphGrowth::add_indexed,  &GraphGrowth::add_mark};
  for (int i = 0; i < steps; i++) (this->*random_.pick(all))();
  RandomCase c;
  c.seed = seed_;
  c.graph.roots = choose_roots();
  c.graph.graph = std::move(graph_);
  c.inputs = std::move(inputs_);
  c.same_buffer = std::move(same_buffer_);
  return c;
}

/// Values that nothing reads, mostly one of them; now and then a value that something reads, an
/// input, or a root twice.
std::vector<UOp> GraphGrowth::choose_roots() {
  std::set<std::uint32_t> read;
  for (const UOp u : pool_)
    for (const UOp s : u.src()) read.insert(s.id());
  std::vector<UOp> unread;
  for (const UOp u : pool_)
    if (!read.contains(u.id()) && !is_input(u)) unread.push_back(u);
  random_.shuffle(unread);
  std::vector<UOp> roots;
  const auto wanted = static_cast<std::size_t>(random_.chance(80) ? 1 : random_.between(2, 5));
  for (std::size_t i = 0; i < std::min(wanted, unread.size()); i++) roots.push_back(unread[i]);
  if (roots.empty() || random_.chance(15)) roots.push_back(random_.pick(pool_));
  if (random_.chance(10)) roots.push_back(random_.pick(roots));
  if (random_.chance(15))
    if (const auto input = any_where(is_input)) roots.push_back(*input);
  random_.shuffle(roots);
  return roots;
}

// --- Sources ---

UOp GraphGrowth::input(DType dtype, const Shape& shape, const Bytes& bytes) {
  const std::int64_t slot = next_slot_;
  next_slot_ += random_.between(1, 3);
  inputs_.buffers[slot] = bytes;
  const UOp u = make(Op::kBuffer, {}, {.dtype = dtype, .value = slot, .ints = {count(shape)}});
  return shape.size() == 1 && random_.chance(70) ? u : make(Op::kReshape, {u}, {.ints = shape});
}

UOp GraphGrowth::random_input(DType dtype, const Shape& shape) {
  const Bytes bytes = random_bytes(random_, dtype, count(shape), random_.chance(70) ? mood_ : Mood::kTame);
  if (random_.chance(30)) {  // bind the same memory a second time
    for (const auto& [slot, known] : inputs_.buffers) {
      if (known.size() != bytes.size() || same_buffer_.contains(slot)) continue;
      same_buffer_[next_slot_] = slot;
      return input(dtype, shape, Bytes(known));
    }
  }
  return input(dtype, shape, bytes);
}

UOp GraphGrowth::random_constant(DType dtype, const Shape& shape) {
  const Bits bits = random_value(random_, dtype, random_.chance(50) ? mood_ : Mood::kTame);
  const UOp scalar = make(Op::kConst, {}, {.dtype = dtype, .value = std::bit_cast<std::int64_t>(bits)});
  return fitted(scalar, shape);
}

UOp GraphGrowth::variable() {
  const std::int64_t slot = next_variable_++;
  const std::int64_t min = random_.between(-5, 5);
  const std::int64_t max = min + random_.below(10);
  inputs_.variables[slot] = random_.between(min, max);
  return make(Op::kVariable, {},
              {.dtype = random_.chance(50) ? DType::kI32 : DType::kI64, .value = slot, .ints = {min, max}});
}

// --- Operands ---

UOp GraphGrowth::any() {
  const auto n = static_cast<std::int64_t>(pool_.size());
  return pool_[static_cast<std::size_t>(std::max(random_.below(n), random_.below(n)))];
}

std::optional<UOp> GraphGrowth::any_where(const std::function<bool(UOp)>& accepts) {
  std::vector<UOp> fitting;
  std::copy_if(pool_.begin(), pool_.end(), std::back_inserter(fitting), accepts);
  if (fitting.empty()) return std::nullopt;
  const auto n = static_cast<std::int64_t>(fitting.size());
  return fitting[static_cast<std::size_t>(std::max(random_.below(n), random_.below(n)))];
}

UOp GraphGrowth::operand(DType dtype, const Shape& shape) {
  const std::int64_t kind = random_.below(10);
  if (kind < 5)
    if (const auto found = any_where([&](UOp u) { return u.dtype() == dtype && u.shape() == shape; })) return *found;
  if (kind < 8) return fitted(converted(any(), dtype), shape);
  return kind == 8 ? random_constant(dtype, shape) : random_input(dtype, shape);
}

UOp GraphGrowth::fitted(UOp x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const std::int64_t wanted = count(shape);
  const std::int64_t n = x.numel();
  if (n == 1) {
    const UOp ones = make(Op::kReshape, {x}, {.ints = Shape(shape.size(), 1)});
    return make(Op::kExpand, {ones}, {.ints = shape});
  }
  if (n == wanted) return make(Op::kReshape, {x}, {.ints = shape});
  if (x.shape().size() < shape.size() && std::equal(x.shape().begin(), x.shape().end(), shape.begin())) {
    Shape ones = x.shape();  // as a reduction over trailing axes is broadcast back
    ones.resize(shape.size(), 1);
    return make(Op::kExpand, {make(Op::kReshape, {x}, {.ints = ones})}, {.ints = shape});
  }
  const UOp flat = make(Op::kReshape, {x}, {.ints = {n}});
  const UOp sized = n < wanted ? make(Op::kPad, {flat}, {.ints = {0, wanted - n}})
                               : make(Op::kShrink, {flat}, {.ints = {n - wanted, n}});
  return make(Op::kReshape, {sized}, {.ints = shape});
}

UOp GraphGrowth::converted(UOp x, DType dtype) {
  return x.dtype() == dtype ? x : make(Op::kCast, {x}, {.dtype = dtype});
}

Shape GraphGrowth::random_shape() {
  static const std::vector<std::int64_t> sizes = {1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 16, 17, 31, 33};
  Shape shape(static_cast<std::size_t>(random_.below(5)));
  std::int64_t n = 1;
  for (std::int64_t& d : shape) {
    d = random_.chance(2) ? 0 : random_.pick(sizes);
    if (d * n > kMostElements) d = 1;
    n *= std::max<std::int64_t>(d, 1);
  }
  return shape;
}

DType GraphGrowth::random_dtype() {
  return random_.chance(85) ? random_.pick(palette_) : random_.pick(all_dtypes());
}

// --- Nodes ---

GraphGrowth::Cost GraphGrowth::cost_of(Op op, std::span<const UOp> src, const Arg& arg) const {
  if (op == Op::kStage) return {};
  Cost cost;
  for (const UOp s : src) {
    cost.nodes += costs_[s.id()].nodes;
    cost.work += costs_[s.id()].work;
  }
  if (op == Op::kReduce) {
    const Shape& from = src[0].shape();
    cost.work *= static_cast<double>(std::max<std::int64_t>(count(Shape(from.end() - arg.value, from.end())), 1));
  }
  return cost;
}

UOp GraphGrowth::make(Op op, std::vector<UOp> src, Arg arg) {
  StatusOr<UOp> made = graph_->try_make(op, src, arg);
  check(made.ok(), fmt::format("the generator made a bad node: {}", made.ok() ? "" : message(made.status())));
  Cost cost = cost_of(op, src, arg);
  if (!src.empty() && (cost.nodes > kMostNodes || cost.work * static_cast<double>(made->numel()) > kMostOperations)) {
    for (UOp& s : src) s = graph_->make(Op::kStage, {s});
    costs_.resize(graph_->size());
    made = graph_->make(op, src, arg);
    cost = cost_of(op, src, arg);
  }
  costs_.resize(graph_->size());
  costs_[made->id()] = cost;
  return *made;
}

}  // namespace uop::reference
