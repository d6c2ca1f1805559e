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

TensorState::TensorState(ProgramPtr owner, UOp value) : program(std::move(owner)), node(value) {
  program->live_.insert(this);
}
TensorState::~TensorState() {
  program->live_.erase(this);
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
  for (TensorState* state : live_) {
    const auto found = leaves.find(state->node);
    if (found == leaves.end()) continue;
    if (state->node.numel() == 1) state->history = state->node;
    state->node = found->second;
  }
  collect();
}

/// Drops buffers that no live tensor reaches, and, when most of the graph is dead, the graph.
void Program::collect() {
  std::vector<UOp> roots;
  for (const TensorState* state : live_) {
    roots.push_back(state->node);
    if (state->history) roots.push_back(state->history);
  }
  const std::vector<UOp> alive = toposort(roots);
  std::unordered_map<std::int64_t, BufferHandle> used;
  for (const UOp u : alive)
    if (u.op() == Op::kBuffer) used[u.arg().value] = buffers_.at(u.arg().value);
  buffers_ = std::move(used);
  if (graph_->size() < 2 * alive.size() + kSlackNodes) return;

  auto fresh = std::make_unique<Graph>();
  const std::vector<UOp> moved = rebuild(roots, *fresh, [](UOp, UOp rebuilt) { return rebuilt; });
  auto next = moved.begin();
  for (TensorState* state : live_) {
    state->node = *next++;
    if (state->history) state->history = *next++;
  }
  graph_ = std::move(fresh);
}

}  // namespace uop
