#include "server/execute_inputs.h"

#include <cstring>

#include "core/ir/argument.h"
#include "server/tensor_message.h"

namespace uop {
namespace {

StatusOr<BufferPtr> copy_inline(BufferPool& pool, const std::string& bytes, const TensorSpec& wanted,
                                std::int64_t slot) {
  if (bytes.size() != wanted.bytes())
    return invalid_argument(
        "inputs[{}].inline_bytes: {} bytes, but the program takes {}, which is {} bytes; send all of it", slot,
        bytes.size(), describe(wanted), wanted.bytes());
  StatusOr<BufferPtr> memory = pool.allocate(bytes.size());
  if (memory.ok() && !bytes.empty()) std::memcpy((*memory)->data(), bytes.data(), bytes.size());
  return memory;
}

Status check_buffer(const StoredBuffer& buffer, const TensorSpec& wanted, std::int64_t slot) {
  if (buffer.tensor == wanted) return ok_status();
  return invalid_argument(
      "inputs[{}].buffer: it holds {}, but the program takes {}; put a buffer of that dtype and size, "
      "or CAST, BITCAST or RESHAPE in the graph",
      slot, describe(buffer.tensor), describe(wanted));
}

Status check_count(std::string_view what, int count) {
  if (count <= kMaxSlot + 1) return ok_status();
  return error(StatusCode::kResourceExhausted,
               "{}: there are {}, and no program has a slot over {}; send those it takes", what, count, kMaxSlot);
}

}  // namespace

Status ExecuteInputs::accept(const Call& call, const uopd::v1::ExecuteRequest& request) {
  if (const Status s = check_count("inputs", request.inputs_size()); !s.ok()) return s;
  if (const Status s = check_count("variables", request.variables_size()); !s.ok()) return s;
  request_ = &request;
  stored_.resize(static_cast<std::size_t>(request.inputs_size()));
  std::uint64_t inline_bytes = 0;
  for (int i = 0; i < request.inputs_size(); ++i) {
    const uopd::v1::Input& input = request.inputs(i);
    inline_bytes += input.inline_bytes().size();
    if (!input.has_buffer()) continue;
    const StatusOr<Session*> session = call.session();
    if (!session.ok()) return session.status();
    StatusOr<StoredBuffer> buffer = (*session)->find(input.buffer());
    if (!buffer.ok()) return error(buffer.status().code(), "inputs[{}]: {}", i, message(buffer.status()));
    stored_[static_cast<std::size_t>(i)] = *std::move(buffer);
  }
  const std::uint64_t limit = call.state().limits.inline_bytes;
  if (inline_bytes <= limit) return ok_status();
  return error(StatusCode::kResourceExhausted,
               "inputs: {} bytes inline, at most {} are allowed; upload large ones by PutBuffer", inline_bytes, limit);
}

StatusOr<std::vector<BufferPtr>> ExecuteInputs::bind(const Call& call, const Plan& plan, const Binding& binding) const {
  std::vector<BufferPtr> bound;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const TensorSpec& wanted = plan.inputs[i];
    const std::int64_t slot = binding.inputs[i];
    if (slot < 0 || slot >= request_->inputs_size())
      return invalid_argument("inputs[{}]: the program takes {} from there, the request has {} inputs; add it", slot,
                              describe(wanted), request_->inputs_size());
    const uopd::v1::Input& input = request_->inputs(static_cast<int>(slot));
    switch (input.value_case()) {
      case uopd::v1::Input::kBuffer: {
        const StoredBuffer& buffer = stored_[static_cast<std::size_t>(slot)];
        if (const Status s = check_buffer(buffer, wanted, slot); !s.ok()) return s;
        bound.push_back(buffer.memory);
        break;
      }
      case uopd::v1::Input::kInlineBytes: {
        StatusOr<BufferPtr> memory = copy_inline(call.state().engine->pool(), input.inline_bytes(), wanted, slot);
        if (!memory.ok()) return memory.status();
        bound.push_back(*std::move(memory));
        break;
      }
      case uopd::v1::Input::VALUE_NOT_SET:
        return invalid_argument("inputs[{}]: it is empty, but the program takes {}; give a buffer or inline_bytes",
                                slot, describe(wanted));
    }
  }
  return bound;
}

StatusOr<std::vector<std::int64_t>> bind_variables(const uopd::v1::ExecuteRequest& request, const Binding& binding) {
  std::vector<std::int64_t> values;
  for (const std::int64_t slot : binding.variables) {
    if (slot < 0 || slot >= request.variables_size())
      return invalid_argument("variables[{}]: the program takes a value from there, the request has {}; add it", slot,
                              request.variables_size());
    values.push_back(request.variables(static_cast<int>(slot)));
  }
  return values;
}

}  // namespace uop
