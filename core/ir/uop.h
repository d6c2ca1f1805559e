// UOp: a light handle to an immutable, interned node of a Graph; Graph: the arena that owns the nodes.
//
// Within one graph equal nodes are the same node, so "changed?" is pointer equality, and sharing is explicit. A graph
// is freed as a whole: a server makes one per request, a client one per program. Not thread-safe.
//
// Graph::try_make is the only way to a node, and it applies shape_rules.h: every node that exists is well-formed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "core/ir/dtype.h"
#include "core/ir/op.h"
#include "core/ir/scalar.h"
#include "core/support/keyed_hash.h"
#include "core/support/status.h"

namespace uop {

using Shape = std::vector<std::int64_t>;

/// The argument of a node. Which fields an op uses:
///   BUFFER dtype, value=slot, ints={elements}      CONST dtype, value=bit pattern        IOTA dtype, ints={n}
///   VARIABLE dtype (i32 or i64), value=slot, ints={min, max}
///   RESHAPE, EXPAND ints=shape      PERMUTE ints=order      FLIP ints=one 0 or 1 an axis
///   PAD ints={before0, after0, …}   SHRINK ints={begin0, end0, …}
///   REDUCE op, value=number of trailing axes        GATHER value=axis        SCATTER value=axis, op=ADD or none
///   CAST, BITCAST dtype             PARAM as BUFFER       RANGE dtype=i64, value=id, ints={n}
///   ACCUMULATE op                   STORE op=ADD or none
/// All other ops: nothing.
struct Arg {
  DType dtype = DType::kNone;
  std::optional<Op> op = std::nullopt;
  std::int64_t value = 0;
  std::vector<std::int64_t> ints = {};
  bool operator==(const Arg&) const = default;
};

class Graph;
struct Node;

class UOp {
 public:
  UOp() = default;  // no node; only for containers
  explicit UOp(const Node* node) : node_(node) {}

  Op op() const;
  DType dtype() const;
  const Shape& shape() const;
  const Arg& arg() const;
  std::span<const UOp> src() const;
  UOp src(std::size_t i) const { return src()[i]; }
  /// Number of elements; 1 for a 0-d value.
  std::int64_t numel() const;
  /// Position in the graph in order of creation: dense, so that a vector can be a map keyed by node.
  std::uint32_t id() const;
  Graph& graph() const;

  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const UOp&) const = default;
  const Node* node() const { return node_; }

 private:
  const Node* node_ = nullptr;
};

struct Node {
  Op op;
  DType dtype;
  std::uint32_t id;
  Graph* graph;
  std::int64_t numel;
  Shape shape;
  std::vector<UOp> src;
  Arg arg;
};

class Graph {
 public:
  Graph() : Graph(HashKey::random()) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// The node (op, src, arg), made or found. Errors: INVALID_ARGUMENT as shape_rules.h says.
  StatusOr<UOp> try_make(Op op, std::vector<UOp> src, Arg arg = {});
  /// The same where the caller knows that it is well-formed; throws BrokenInvariant otherwise.
  UOp make(Op op, std::vector<UOp> src, Arg arg = {});

  /// Number of nodes made so far; every id is below it.
  std::size_t size() const { return nodes_.size(); }

 private:
  /// Keyed, for a client chooses what is interned: with a hash that it knows it could put all nodes into one bucket.
  /// Not noexcept, so that libstdc++ keeps the hash of every node instead of computing it again.
  struct NodeHash {
    HashKey key;
    std::size_t operator()(const Node* n) const;
  };
  struct NodeEqual {
    bool operator()(const Node* a, const Node* b) const noexcept;
  };
  explicit Graph(HashKey key) : interned_(0, NodeHash{key}) {}

  std::deque<Node> nodes_;
  std::unordered_set<const Node*, NodeHash, NodeEqual> interned_;  // no order in it that anything may depend on
};

/// A graph with what is wanted of it.
struct RootedGraph {
  std::unique_ptr<Graph> graph;
  std::vector<UOp> roots;
};

inline Op UOp::op() const {
  return node_->op;
}
inline DType UOp::dtype() const {
  return node_->dtype;
}
inline const Shape& UOp::shape() const {
  return node_->shape;
}
inline const Arg& UOp::arg() const {
  return node_->arg;
}
inline std::span<const UOp> UOp::src() const {
  return node_->src;
}
inline std::int64_t UOp::numel() const {
  return node_->numel;
}
inline std::uint32_t UOp::id() const {
  return node_->id;
}
inline Graph& UOp::graph() const {
  return *node_->graph;
}

struct UOpHash {
  std::size_t operator()(UOp u) const noexcept { return std::hash<const Node*>()(u.node()); }
};

}  // namespace uop
