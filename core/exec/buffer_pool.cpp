#include "core/exec/buffer_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/exec/mapped_memory.h"

namespace uop {
namespace {

constexpr std::uint64_t kAlignment = 64;  // a cache line, and the widest vector
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLargestPiece = 512 << 10;    // larger sizes have a region each
constexpr std::uint64_t kSmallestRegion = 64 << 10;   // what the first scalar of a size costs
constexpr std::uint64_t kLimitOfLimits = 1ULL << 47;  // the address space; keeps the sums below from wrapping

std::uint64_t round_up(std::uint64_t n, std::uint64_t step) {
  return (n + step - 1) / step * step;
}

/// The size that is handed out for `bytes`: four steps per power of two, so at most a quarter more than asked for
/// (but whole cache lines, and whole huge pages where it is bigger than one).
std::uint64_t size_class(std::uint64_t bytes) {
  const std::uint64_t smallest_step = bytes <= kHugePage ? kAlignment : kHugePage;
  return round_up(std::max<std::uint64_t>(bytes, 1), std::max(smallest_step, std::bit_floor(bytes) / 4));
}

/// The size of the regions that pieces of `piece` bytes are cut from.
std::uint64_t region_bytes(std::uint64_t piece) {
  return piece > kLargestPiece ? piece : std::clamp(round_up(16 * piece, kPage), kSmallestRegion, kHugePage);
}

/// Mapped memory, from which pieces of one size are cut as they are needed.
class Region {
 public:
  Region(MappedMemory memory, std::uint64_t piece_bytes) : memory_(std::move(memory)), piece_bytes_(piece_bytes) {
    ASAN_POISON_MEMORY_REGION(memory_.data(), memory_.bytes());  // and no pattern, which would touch every page
  }
  ~Region() { unpoison(memory_.data(), memory_.bytes()); }

  std::uint64_t bytes() const { return memory_.bytes(); }
  std::uint64_t piece_bytes() const { return piece_bytes_; }
  bool has_used_piece() const { return !free_.empty(); }
  bool exhausted() const { return free_.empty() && cut_ + piece_bytes_ > memory_.bytes(); }
  bool idle() const { return free_.size() * piece_bytes_ == cut_; }

  /// One that was given back, else one that nobody ever wrote to.
  std::byte* take() {
    if (free_.empty()) return memory_.data() + (cut_ += piece_bytes_) - piece_bytes_;
    std::byte* const piece = free_.back();
    free_.pop_back();
    return piece;
  }
  void give_back(std::byte* piece) { free_.push_back(piece); }

  std::uint64_t idle_since = 0;  // the key in Pool::idle_

 private:
  MappedMemory memory_;
  std::uint64_t piece_bytes_;
  std::uint64_t cut_ = 0;         // bytes of all pieces made so far
  std::vector<std::byte*> free_;  // pieces that came back
};

class Pool final : public BufferPool {
 public:
  Pool(std::uint64_t limit_bytes, bool poison) : limit_(std::min(limit_bytes, kLimitOfLimits)), poisons_(poison) {}

  StatusOr<BufferPtr> allocate(std::uint64_t bytes, bool zeroed) override;
  bool poisons() const override { return poisons_; }
  void trim() override;
  BufferPoolStats stats() const override;

  void give_back(Region& region, std::byte* piece, std::uint64_t asked);

 private:
  using Regions = std::vector<std::unique_ptr<Region>>;

  Region* find_or_map(std::uint64_t piece_bytes, Regions& dropped);
  void drop_oldest(Regions& dropped);

  const std::uint64_t limit_;
  const bool poisons_;
  mutable std::mutex mutex_;  // over all below; never held while memory is written or unmapped
  std::unordered_map<const Region*, std::unique_ptr<Region>> regions_;
  std::set<std::pair<std::uint64_t, Region*>> available_;  // those with a free piece, by size of piece
  std::map<std::uint64_t, Region*> idle_;                  // those with free pieces only, longest idle first
  std::uint64_t clock_ = 0;                                // counts the times a region fell idle
  std::uint64_t reserved_ = 0;                             // bytes of all regions
  std::uint64_t in_use_ = 0;                               // bytes of all pieces handed out
  std::uint64_t asked_ = 0;                                // bytes asked for by their owners
  std::uint64_t peak_ = 0, peak_asked_ = 0, allocations_ = 0, reuses_ = 0, refusals_ = 0;
};

class PooledBuffer final : public Buffer {
 public:
  PooledBuffer(Pool& pool, Region& region, std::byte* piece, std::uint64_t bytes) : pool_(pool), region_(region) {
    data_ = piece;
    bytes_ = bytes;
  }
  ~PooledBuffer() override { pool_.give_back(region_, static_cast<std::byte*>(data_), bytes_); }

 private:
  Pool& pool_;
  Region& region_;
};

/// The region to take a piece from, or null where the limit or the system does not allow another.
Region* Pool::find_or_map(std::uint64_t piece_bytes, Regions& dropped) {
  const auto found = available_.lower_bound({piece_bytes, nullptr});
  if (found != available_.end() && found->first == piece_bytes) return found->second;

  std::uint64_t bytes = region_bytes(piece_bytes);
  if (reserved_ + bytes > limit_) bytes = round_up(piece_bytes, kPage);  // what little is left is for one piece
  if (bytes > limit_) return nullptr;
  while (reserved_ + bytes > limit_ && !idle_.empty()) drop_oldest(dropped);
  if (reserved_ + bytes > limit_) return nullptr;
  MappedMemory memory = MappedMemory::map(bytes);
  if (!memory) return nullptr;
  auto region = std::make_unique<Region>(std::move(memory), piece_bytes);
  Region* const made = region.get();
  regions_.emplace(made, std::move(region));
  available_.emplace(piece_bytes, made);
  reserved_ += bytes;
  return made;
}

void Pool::drop_oldest(Regions& dropped) {
  Region* const region = idle_.begin()->second;
  idle_.erase(idle_.begin());
  available_.erase({region->piece_bytes(), region});
  reserved_ -= region->bytes();
  dropped.push_back(std::move(regions_.extract(region).mapped()));
}

StatusOr<BufferPtr> Pool::allocate(std::uint64_t bytes, bool zeroed) {
  Regions dropped;  // unmapped at the end, without the lock
  Region* region = nullptr;
  std::byte* piece = nullptr;
  bool used = false;
  {
    const std::lock_guard lock(mutex_);
    if (bytes <= limit_) region = find_or_map(size_class(bytes), dropped);
    if (!region) {
      ++refusals_;
      return error(
          StatusCode::kResourceExhausted,
          "the buffer pool can't give {} bytes (with rounding {}): {} bytes are in use and {} are allowed; free "
          "buffers, or start the process with a larger pool_bytes or more memory",
          bytes, bytes <= limit_ ? round_up(size_class(bytes), kPage) : bytes, in_use_, limit_);
    }
    idle_.erase(region->idle_since);
    used = region->has_used_piece();
    piece = region->take();
    if (region->exhausted()) available_.erase({region->piece_bytes(), region});
    in_use_ += region->piece_bytes();
    peak_ = std::max(peak_, in_use_);
    asked_ += bytes;
    peak_asked_ = std::max(peak_asked_, asked_);
    ++allocations_;
    reuses_ += used;
  }
  unpoison(piece, bytes);
  if (!zeroed && poisons_)
    fill_with_poison(piece, bytes);  // also of fresh memory, whose zeros would pass for values
  else if (zeroed && used)
    std::memset(piece, 0, bytes);  // what the system maps is zero already
  return std::make_shared<PooledBuffer>(*this, *region, piece, bytes);
}

void Pool::give_back(Region& region, std::byte* piece, std::uint64_t asked) {
  poison(piece, region.piece_bytes(), poisons_);
  const std::lock_guard lock(mutex_);
  in_use_ -= region.piece_bytes();
  asked_ -= asked;
  region.give_back(piece);
  available_.emplace(region.piece_bytes(), &region);
  if (!region.idle()) return;
  region.idle_since = ++clock_;
  idle_.emplace(region.idle_since, &region);
}

void Pool::trim() {
  Regions dropped;
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) drop_oldest(dropped);
}

BufferPoolStats Pool::stats() const {
  const std::lock_guard lock(mutex_);
  return {.in_use_bytes = in_use_,
          .cached_bytes = reserved_ - in_use_,
          .peak_bytes = peak_,
          .peak_asked_bytes = peak_asked_,
          .limit_bytes = limit_,
          .allocations = allocations_,
          .reuses = reuses_,
          .refusals = refusals_};
}

}  // namespace

std::unique_ptr<BufferPool> BufferPool::create(std::uint64_t limit_bytes, bool poison) {
  return std::make_unique<Pool>(limit_bytes, poison);
}

}  // namespace uop
