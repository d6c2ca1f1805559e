#include "client/cpp/program.h"

#include "client/cpp/client_error.h"
#include "core/ir/build.h"
#include "core/ir/traverse.h"

namespace uop {
namespace {

/// Nodes that may be dead before a graph is rebuilt without them.
constexpr std::size_t kSlackNodes = 4096;

UOp base_of(UOp u) {
  while (u.op() == Op::kReshape) u = u.src(0);
  return u;
}

}  // namespace

bool& NoGrad::active() {
  static thread_local bool active = false;
  return active;
}

TensorState::TensorState(ProgramPtr owner, UOp value)
    : program(std::move(owner)), node(value), age(program->next_state_++) {
  program->live_.emplace(age, this);
}
TensorState::~TensorState() {
  program->live_.erase(age);
}

Program::Program(std::shared_ptr<Device> device, RunOptions options)
    : device_(std::move(device)), options_(std::move(options)) {}

UOp Program::leaf(BufferHandle buffer, const Shape& shape) {
  const TensorSpec tensor = buffer->tensor();
  const std::int64_t slot = next_slot_++;
  buffers_[slot] = std::move(buffer);
  return reshape(uop::buffer(*graph_, slot, tensor.dtype, tensor.elements), shape);
}

BufferHandle Program::buffer_of(UOp node) const {
  const UOp base = base_of(node);
  return base.op() == Op::kBuffer ? buffers_.at(base.arg().value) : nullptr;
}

Program::Request Program::request_for(std::span<TensorState* const> states) const {
  Request request{{}, {std::make_unique<Graph>(), {}}, {}};
  std::unordered_set<UOp, UOpHash> seen;
  for (const TensorState* state : states)
    if (base_of(state->node).op() != Op::kBuffer && seen.insert(state->node).second)
      request.wanted.push_back(state->node);
  Graph& graph = *request.graph.graph;
  request.graph.roots = rebuild(request.wanted, graph, [&](UOp original, UOp rebuilt) {
    if (original.op() != Op::kBuffer) return rebuilt;
    request.inputs.push_back(buffers_.at(original.arg().value));
    const auto slot = static_cast<std::int64_t>(request.inputs.size()) - 1;
    return uop::buffer(graph, slot, original.dtype(), original.numel());
  });
  return request;
}

CompileReport Program::compile(std::span<TensorState* const> states) {
  return value_or_throw(device_->compile(request_for(states).graph, options_.compile));
}

void Program::realize(std::span<TensorState* const> states) {
  const Request request = request_for(states);
  if (request.wanted.empty()) return;
  RunOutcome outcome = value_or_throw(device_->run(request.graph, request.inputs, {}, options_));
  report_ = std::move(outcome.report);

  std::unordered_map<UOp, UOp, UOpHash> leaves;
  for (std::size_t i = 0; i < request.wanted.size(); ++i)
    leaves[request.wanted[i]] = leaf(outcome.outputs[i], request.wanted[i].shape());
  for (const auto& [age, state] : live_) {
    const auto found = leaves.find(state->node);
    if (found == leaves.end()) continue;
    if (state->requires_grad && state->is_leaf) state->before = state->node;
    if (state->requires_grad && !state->is_leaf) origins_[base_of(found->second).arg().value] = state->node;
    state->node = found->second;
  }
  collect();
}

UOp Program::with_history(UOp u) {
  const auto origin = [&](UOp node) {
    if (node.op() != Op::kBuffer) return UOp();
    const auto found = origins_.find(node.arg().value);
    return found == origins_.end() ? UOp() : found->second;
  };
  // A replacement may read realized values itself.
  for (bool again = true; again;) {
    again = false;
    u = rebuild({&u, 1}, *graph_, [&](UOp original, UOp made) {
          const UOp computed_by = origin(original);
          if (!computed_by) return made;
          again = true;
          return reshape(computed_by, original.shape());
        }).front();
  }
  return u;
}

std::vector<std::shared_ptr<TensorState>> Program::parameters() const {
  std::vector<std::shared_ptr<TensorState>> list;
  for (const auto& [age, state] : live_)
    if (state->requires_grad && state->is_leaf) list.push_back(state->shared_from_this());
  return list;
}

/// Drops buffers that no live tensor reaches, and, when most of the graph is dead, the graph.
void Program::collect() {
  std::vector<UOp> roots;
  for (const auto& [age, state] : live_) {
    roots.push_back(state->node);
    if (state->before) roots.push_back(state->before);
  }
  const std::size_t of_states = roots.size();
  // What a realized value was computed by is alive as long as the value is.
  std::unordered_map<std::int64_t, UOp> origins;
  std::vector<std::int64_t> slots;  // of origins, as they stand in roots
  std::vector<UOp> alive;
  for (std::size_t known = roots.size() + 1; known != roots.size();) {
    known = roots.size();
    alive = toposort(roots);
    for (const UOp u : alive) {
      if (u.op() != Op::kBuffer) continue;
      const auto found = origins_.find(u.arg().value);
      if (found == origins_.end() || !origins.emplace(*found).second) continue;
      roots.push_back(found->second);
      slots.push_back(found->first);
    }
  }
  std::unordered_map<std::int64_t, BufferHandle> used;
  for (const UOp u : alive)
    if (u.op() == Op::kBuffer) used[u.arg().value] = buffers_.at(u.arg().value);
  buffers_ = std::move(used);
  origins_ = std::move(origins);
  if (graph_->size() < 2 * alive.size() + kSlackNodes) return;

  auto fresh = std::make_unique<Graph>();
  const std::vector<UOp> moved = rebuild(roots, *fresh, [](UOp, UOp rebuilt) { return rebuilt; });
  auto next = moved.begin();
  for (const auto& [age, state] : live_) {
    state->node = *next++;
    if (state->before) state->before = *next++;
  }
  for (std::size_t i = 0; i < slots.size(); i++) origins_[slots[i]] = moved[of_states + i];
  graph_ = std::move(fresh);
}

}  // namespace uop
