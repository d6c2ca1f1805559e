#include "core/exec/mapped_memory.h"

#include <sys/mman.h>

namespace uop {

MappedMemory::~MappedMemory() {
  if (data_) munmap(data_, bytes_);
}

MappedMemory MappedMemory::map(std::uint64_t bytes) {
  const std::uint64_t alignment = bytes >= kHugePage ? kHugePage : 1;
  const std::uint64_t reserved = bytes + alignment - 1 - (alignment - 1) % 4096;
  void* const address = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return {};
  auto* const begin = static_cast<std::byte*>(address);
  if (alignment == 1) return MappedMemory(begin, bytes);

  // What lies before the first aligned address and after the last wanted byte goes back.
  const std::uint64_t before = -reinterpret_cast<std::uintptr_t>(begin) % kHugePage;
  std::byte* const data = begin + before;
  if (before) munmap(begin, before);
  if (const std::uint64_t after = reserved - before - bytes) munmap(data + bytes, after);
  madvise(data, bytes, MADV_HUGEPAGE);  // only advice: without huge pages everything works, slower
  return MappedMemory(data, bytes);
}

}  // namespace uop
