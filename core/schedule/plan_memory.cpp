#include "core/schedule/plan_memory.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/ir/verify_plan.h"
#include "core/support/status.h"

namespace uop {
namespace {

/// The free parts of a growing piece of memory, by offset; neighbours are merged.
class Arena {
 public:
  std::uint64_t take(std::uint64_t bytes) {
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
    if (best == free_.end()) return grow(bytes);
    const auto [offset, size] = *best;
    free_.erase(best);
    if (size > bytes) free_.emplace(offset + bytes, size - bytes);
    return offset;
  }

  void give_back(std::uint64_t offset, std::uint64_t bytes) {
    auto at = free_.emplace(offset, bytes).first;
    if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at == free_.begin()) return;
    if (const auto before = std::prev(at); before->first + before->second == at->first) {
      before->second += at->second;
      free_.erase(at);
    }
  }

  std::uint64_t size() const { return size_; }

 private:
  /// Makes the arena larger, using a free part at its end where there is one.
  std::uint64_t grow(std::uint64_t bytes) {
    std::uint64_t offset = size_;
    if (!free_.empty()) {
      const auto last = std::prev(free_.end());
      if (last->first + last->second == size_) {
        offset = last->first;
        free_.erase(last);
      }
    }
    size_ = offset + bytes;
    return offset;
  }

  std::map<std::uint64_t, std::uint64_t> free_;
  std::uint64_t size_ = 0;
};

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

}  // namespace

void plan_memory(Plan& plan, std::span<const TensorSpec> temps) {
  plan.temps.clear();
  for (const TensorSpec& t : temps) plan.temps.push_back({t, 0, 0, 0});
  std::vector<bool> touched(temps.size(), false);
  for (std::uint32_t k = 0; k < plan.kernels.size(); k++) {
    for (const BufferRef ref : plan.kernels[k].refs) {
      if (ref.kind != BufferRef::Kind::kTmp) continue;
      TempSpec& temp = plan.temps[ref.index];
      if (!touched[ref.index]) temp.first = k;
      touched[ref.index] = true;
      temp.last = k;
    }
  }
  std::vector<std::vector<std::uint32_t>> ending(plan.kernels.size());
  for (std::uint32_t t = 0; t < temps.size(); t++)
    if (touched[t]) ending[plan.temps[t].last].push_back(t);

  Arena arena;
  for (std::uint32_t k = 0; k < plan.kernels.size(); k++) {
    const BufferRef out = plan.kernels[k].refs.back();
    if (out.kind == BufferRef::Kind::kTmp) {
      TempSpec& temp = plan.temps[out.index];
      check(temp.first == k, "a temporary is read before it is written");
      temp.offset = arena.take(aligned(temp.tensor.bytes()));
    }
    for (const std::uint32_t t : ending[k])
      arena.give_back(plan.temps[t].offset, aligned(plan.temps[t].tensor.bytes()));
  }
  plan.scratch_bytes = arena.size();
}

}  // namespace uop
