// Memory for tensors: 64-byte aligned, mapped in huge pages where it is big, kept and handed out again, bounded.
//
// BufferPool::allocate is what others call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/exec/poison.h"
#include "core/support/status.h"

namespace uop {

class BufferPool;

/// A piece of pool memory; goes back to the pool when the last BufferPtr goes. The pool must outlive it.
class Buffer {
 public:
  virtual ~Buffer() = default;
  void* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }  // as asked for

 protected:
  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};
using BufferPtr = std::shared_ptr<Buffer>;

/// Bytes as they are reserved, so after rounding up to the sizes that the pool hands out.
struct BufferPoolStats {
  std::uint64_t in_use_bytes;
  std::uint64_t cached_bytes;      // reserved beyond that: free for the next who asks
  std::uint64_t peak_bytes;        // most ever in use at a time
  std::uint64_t peak_asked_bytes;  // the same before rounding: most bytes ever asked for by what was in use at a time
  std::uint64_t limit_bytes;
  std::uint64_t allocations;
  std::uint64_t reuses;  // allocations of memory that had been used before
  std::uint64_t refusals;
};

class BufferPool {
 public:
  /// `limit_bytes` bounds what is in use and cached together; what was cached longest goes first to make room.
  /// `poison`: memory is filled with kPoisonByte whenever its content becomes undefined.
  static std::unique_ptr<BufferPool> create(std::uint64_t limit_bytes, bool poison = kPoisonByDefault);
  virtual ~BufferPool() = default;

  /// Memory of `bytes` bytes (0 is legal). `zeroed`: all bytes 0; otherwise the content is what an earlier user of
  /// THIS process left there, so only for memory that is written before it is read by anyone. Errors:
  /// RESOURCE_EXHAUSTED that names the bytes asked for, in use and allowed.
  virtual StatusOr<BufferPtr> allocate(std::uint64_t bytes, bool zeroed = false) = 0;

  /// Whether who divides its memory further should fill as the pool does.
  virtual bool poisons() const = 0;

  /// Gives cached memory back to the system (all but what shares a region with memory in use).
  virtual void trim() = 0;
  virtual BufferPoolStats stats() const = 0;
};

}  // namespace uop
