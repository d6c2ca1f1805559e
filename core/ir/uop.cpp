#include "core/ir/uop.h"

#include "core/ir/shape_rules.h"

namespace uop {

std::size_t Graph::NodeHash::operator()(const Node* n) const {
  KeyedHash hash(key);
  hash.add(static_cast<std::uint64_t>(n->op) << 32 | static_cast<std::uint64_t>(n->arg.dtype) << 16 |
           (n->arg.op ? 1 + static_cast<std::uint64_t>(*n->arg.op) : 0));
  hash.add(n->src.size());
  for (const UOp s : n->src) hash.add(s.id());
  hash.add(static_cast<std::uint64_t>(n->arg.value));
  for (const std::int64_t i : n->arg.ints) hash.add(static_cast<std::uint64_t>(i));
  return hash.finish();
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
