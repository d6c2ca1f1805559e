// The plans in memory, by structure key; the least recently used go when their bytes grow over the bound.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/engine.h"

namespace uop {

class PlanCache {
 public:
  explicit PlanCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  /// The plan, or null; it becomes the most recently used.
  CompiledPlanPtr find(const Digest& id);

  /// Keeps the plan. One that is over the bound alone is not kept.
  void insert(CompiledPlanPtr plan);

  /// Why a structure is not here: the nearest of the recently used plans and the first difference, or that there is
  /// none to compare with.
  std::string explain_miss(const std::string& structure, const CompileOptions& options);

  std::uint64_t bytes() const;
  std::uint64_t count() const;
  std::uint64_t evictions() const;

 private:
  std::vector<CompiledPlanPtr> recent(std::size_t most) const;

  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::list<CompiledPlanPtr> plans_;  // most recently used first
  std::unordered_map<Digest, std::list<CompiledPlanPtr>::iterator, DigestHash> by_id_;
  std::uint64_t bytes_ = 0;
  std::uint64_t evictions_ = 0;
};

}  // namespace uop
