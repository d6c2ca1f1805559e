#include "tests/reference/verdict.h"

#include <algorithm>
#include <cstring>

#include "core/ir/traverse.h"

namespace uop::reference {
namespace {

bool has_bitcast_of_float(const RandomCase& c) {
  const std::vector<UOp> nodes = toposort(c.graph.roots);
  return std::any_of(nodes.begin(), nodes.end(),
                     [](UOp u) { return u.op() == Op::kBitcast && is_float(u.src(0).dtype()); });
}

/// `bytes` with zeros for the elements that are open.
Bytes closed(const Tensor& expected, Bytes bytes) {
  const auto size = static_cast<std::size_t>(byte_size(expected.dtype));
  for (std::size_t i = 0; i < expected.elements.size() && (i + 1) * size <= bytes.size(); i++)
    if (expected.elements[i].open) std::memset(bytes.data() + i * size, 0, size);
  return bytes;
}

}  // namespace

Comparison compare_all(const Outputs& actual, const std::vector<Tensor>& expected) {
  Comparison all;
  for (std::size_t r = 0; r < expected.size(); r++) {
    Comparison one = compare(actual.at(r), expected[r]);
    if (one.difference) one.difference = fmt::format("root {}: {}", r, *one.difference);
    all += one;
  }
  return all;
}

std::optional<std::string> unlike(const RandomCase& c, const std::vector<Tensor>& expected, const Outputs& a,
                                  const Outputs& b) {
  const bool nan_patterns = has_bitcast_of_float(c);
  for (std::size_t r = 0; r < expected.size(); r++) {
    const DType dtype = expected[r].dtype;
    const auto at = nan_patterns ? difference(dtype, closed(expected[r], a.at(r)), closed(expected[r], b.at(r)))
                                 : difference(dtype, a.at(r), b.at(r));
    if (at) return fmt::format("root {}: {}", r, *at);
  }
  return std::nullopt;
}

StatusOr<BoundInputs> BoundInputs::bind(const RandomCase& c, BufferPool& pool) {
  BoundInputs bound;
  for (const auto& [slot, bytes] : c.inputs.buffers) {
    const auto shared = c.same_buffer.find(slot);
    if (shared != c.same_buffer.end()) {
      bound.by_slot_[slot] = bound.by_slot_.at(shared->second);
      continue;
    }
    StatusOr<BufferPtr> buffer = pool.allocate(bytes.size());
    if (!buffer.ok()) return buffer.status();
    if (!bytes.empty()) std::memcpy((*buffer)->data(), bytes.data(), bytes.size());
    bound.by_slot_[slot] = *std::move(buffer);
  }
  return bound;
}

Status BoundInputs::unchanged(const RandomCase& c) const {
  for (const auto& [slot, bytes] : c.inputs.buffers)
    if (!bytes.empty() && std::memcmp(at(slot)->data(), bytes.data(), bytes.size()) != 0)
      return error(StatusCode::kDataLoss, "the input of slot {} was written to", slot);
  return ok_status();
}

Bytes downloaded(const Buffer& buffer) {
  Bytes bytes(buffer.bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), buffer.data(), bytes.size());
  return bytes;
}

}  // namespace uop::reference
