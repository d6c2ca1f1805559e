#include "core/schedule/plan_memory.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/support/status.h"

namespace uop {
namespace {

/// The free parts of a growing piece of memory; neighbours are merged. The smallest part that is large enough is used
/// first, of equal ones the one with the lowest offset.
class Arena {
 public:
  std::uint64_t take(std::uint64_t bytes) {
    const auto best = by_size_.lower_bound({bytes, 0});
    if (best == by_size_.end()) return grow(bytes);
    const auto [size, offset] = *best;
    remove(by_offset_.find(offset));
    if (size > bytes) insert(offset + bytes, size - bytes);
    return offset;
  }

  void give_back(std::uint64_t offset, std::uint64_t bytes) {
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      if (const auto before = std::prev(next); before->first + before->second == offset) {
        offset = before->first;
        bytes += before->second;
        remove(before);
      }
    }
    if (next != by_offset_.end() && offset + bytes == next->first) {
      bytes += next->second;
      remove(next);
    }
    insert(offset, bytes);
  }

  std::uint64_t size() const { return size_; }

 private:
  using ByOffset = std::map<std::uint64_t, std::uint64_t>;

  void insert(std::uint64_t offset, std::uint64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }

  void remove(ByOffset::iterator part) {
    by_size_.erase({part->second, part->first});
    by_offset_.erase(part);
  }

  /// Makes the arena larger, using a free part at its end where there is one.
  std::uint64_t grow(std::uint64_t bytes) {
    std::uint64_t offset = size_;
    if (!by_offset_.empty()) {
      const auto last = std::prev(by_offset_.end());
      if (last->first + last->second == size_) {
        offset = last->first;
        remove(last);
      }
    }
    size_ = offset + bytes;
    return offset;
  }

  ByOffset by_offset_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;
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
