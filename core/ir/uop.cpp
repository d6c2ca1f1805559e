#include "core/ir/uop.h"

#include "core/ir/shape_rules.h"

namespace uop {
namespace {

// A multiply-xorshift mix, as in SplitMix64's finalizer (Steele, Lea, Flood 2014).
std::size_t mix(std::size_t h, std::size_t v) {
  std::uint64_t x = h + 0x9e3779b97f4a7c15u + v;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

std::size_t Graph::NodeHash::operator()(const Node* n) const noexcept {
  std::size_t h = static_cast<std::size_t>(n->op);
  for (const UOp s : n->src) h = mix(h, s.id());
  h = mix(h, static_cast<std::size_t>(n->arg.dtype));
  h = mix(h, n->arg.op ? 1 + static_cast<std::size_t>(*n->arg.op) : 0);
  h = mix(h, static_cast<std::size_t>(n->arg.value));
  for (const std::int64_t i : n->arg.ints) h = mix(h, static_cast<std::size_t>(i));
  return h;
}

bool Graph::NodeEqual::operator()(const Node* a, const Node* b) const noexcept {
  return a->op == b->op && a->src == b->src && a->arg == b->arg;
}

StatusOr<UOp> Graph::try_make(Op op, std::vector<UOp> src, Arg arg) {
  for (const UOp s : src) check(s && &s.graph() == this, "a source belongs to another graph");
  Node candidate{op, DType::kNone, 0, this, 0, {}, std::move(src), std::move(arg)};
  if (const auto found = interned_.find(&candidate); found != interned_.end()) return UOp(*found);
  StatusOr<Inferred> type = infer(op, candidate.src, candidate.arg);
  if (!type.ok()) return type.status();
  candidate.dtype = type->dtype;
  candidate.shape = std::move(type->shape);
  candidate.numel = type->numel;
  candidate.id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(std::move(candidate));
  interned_.insert(&nodes_.back());
  return UOp(&nodes_.back());
}

UOp Graph::make(Op op, std::vector<UOp> src, Arg arg) {
  StatusOr<UOp> made = try_make(op, std::move(src), std::move(arg));
  check(made.ok(), message(made.status()));
  return *made;
}

}  // namespace uop
