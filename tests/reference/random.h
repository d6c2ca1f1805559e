// Random choices that are the same on every machine: a fixed generator, and mappings of our own (the standard's
// distributions differ between libraries).
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace uop::reference {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }

  /// 0 <= result < n; the bias of the remainder does not matter here. Requires n > 0.
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
  /// first <= result <= last
  std::int64_t between(std::int64_t first, std::int64_t last) { return first + below(last - first + 1); }
  bool chance(int percent) { return below(100) < percent; }

  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
  }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; i--)
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace uop::reference
