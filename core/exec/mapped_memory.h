// A range of memory mapped from the system, unmapped when it goes.
//
// `MappedMemory::map` is what others call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace uop {

/// The size and alignment of a huge page (x86-64).
inline constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

class MappedMemory {
 public:
  MappedMemory() = default;
  MappedMemory(MappedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedMemory();

  /// `bytes` of zeroed memory, a multiple of 4 KiB. From kHugePage up it is aligned to huge pages and asks for them:
  /// the first touch of memory in small pages costs tens of times more. Empty where the system has no more.
  static MappedMemory map(std::uint64_t bytes);

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  MappedMemory(std::byte* data, std::uint64_t bytes) : data_(data), bytes_(bytes) {}

  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace uop
