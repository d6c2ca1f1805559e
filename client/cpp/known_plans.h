// The plans a client has at a server: what a graph, under some options, is called there and how it is bound. The least
// recently used goes when there are many; thread-safe.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "client/cpp/report.h"

namespace uop {

class KnownPlans {
 public:
  using PlanPtr = std::shared_ptr<const CompileReport>;

  /// `capacity`: a program runs a few structures; the bound is for one whose shapes keep changing.
  explicit KnownPlans(std::size_t capacity = 1024) : capacity_(capacity) {}

  PlanPtr find(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }

  void remember(const std::string& key, PlanPtr plan) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = index_.find(key); found != index_.end()) order_.erase(found->second);
    order_.emplace_front(key, std::move(plan));
    index_[key] = order_.begin();
    if (order_.size() <= capacity_) return;
    index_.erase(order_.back().first);
    order_.pop_back();
  }

 private:
  using Entry = std::pair<std::string, PlanPtr>;
  const std::size_t capacity_;
  std::mutex mutex_;
  std::list<Entry> order_;
  std::unordered_map<std::string, std::list<Entry>::iterator> index_;
};

}  // namespace uop
