#include "tests/engine/counted_new.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> count = 0;
std::atomic<std::uint64_t> bytes = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++count;
  bytes += size;
  if (void* const memory = std::malloc(std::max<std::size_t>(size, 1))) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

uop::Allocated uop::allocated() {
  return {count, bytes};
}
