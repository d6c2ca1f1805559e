#include "server/kernel_table.h"

#include <algorithm>

namespace uop {

KernelTotals& KernelTotals::operator+=(const KernelTotals& o) {
  runs += o.runs;
  seconds += o.seconds;
  flops += o.flops;
  bytes += o.bytes;
  return *this;
}

void KernelTable::record(const std::string& kernel, const KernelTotals& run) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= kRemembered && !entries_.contains(kernel)) forget_cheapest();
  Entry& entry = entries_[kernel];
  entry.seconds += run.seconds;
  if (!entry.named) promote(entry);
  (entry.named ? entry.shown : other_) += run;
}

/// Names the entry where there is room, or where it has twice the seconds of the cheapest named one: the factor keeps
/// two kernels of about the same cost from taking turns.
void KernelTable::promote(Entry& entry) {
  if (named_.size() < kNamed) {
    named_.push_back(&entry);
  } else {
    Entry*& cheapest = *std::ranges::min_element(named_, {}, &Entry::seconds);
    if (entry.seconds <= 2 * cheapest->seconds) return;
    other_ += cheapest->shown;
    cheapest->shown = {};
    cheapest->named = false;
    cheapest = &entry;
  }
  entry.named = true;
}

void KernelTable::forget_cheapest() {
  std::vector<double> seconds;
  for (const auto& [name, entry] : entries_)
    if (!entry.named) seconds.push_back(entry.seconds);
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  std::erase_if(entries_, [bound = *middle](const auto& e) { return !e.second.named && e.second.seconds <= bound; });
}

std::vector<std::pair<std::string, KernelTotals>> KernelTable::rows() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, KernelTotals>> rows;
  for (const auto& [name, entry] : entries_)
    if (entry.named) rows.emplace_back(name, entry.shown);
  rows.emplace_back("other", other_);
  return rows;
}

}  // namespace uop
