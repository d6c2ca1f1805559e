// What every kernel has cost, in a bounded number of series: the kernels with the most seconds by name, the rest as
// "other".
//
// A kernel that overtakes a named one takes its place. What the displaced one had is added to "other", and the new one
// starts from what it does from then on, so no series that is shown ever falls, and their sum is always what was run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace uop {

struct KernelTotals {
  std::uint64_t runs = 0;
  double seconds = 0;
  std::uint64_t flops = 0;
  std::uint64_t bytes = 0;
  KernelTotals& operator+=(const KernelTotals& o);
};

class KernelTable {
 public:
  static constexpr std::size_t kNamed = 50;
  /// Names that are remembered, shown or not; beyond it the cheapest half of those that are not shown is forgotten.
  static constexpr std::size_t kRemembered = 2000;

  void record(const std::string& kernel, const KernelTotals& run);

  /// At most kNamed named rows, and "other" as the last.
  std::vector<std::pair<std::string, KernelTotals>> rows() const;

 private:
  struct Entry {
    double seconds = 0;  // since it is remembered: what it is ranked by
    bool named = false;
    KernelTotals shown;  // since it is named
  };
  using Entries = std::unordered_map<std::string, Entry>;

  void promote(Entry& entry);
  void forget_cheapest();

  mutable std::mutex mutex_;
  Entries entries_;
  std::vector<Entry*> named_;  // into entries_, whose nodes stay where they are
  KernelTotals other_;
};

}  // namespace uop
