#include "core/plan_cache.h"

#include "core/ir/structure.h"

namespace uop {
namespace {

/// Plans compared to explain a miss. The nearest one is nearly always among the last few: a model that recompiles
/// every step does so against the step before.
constexpr std::size_t kComparedPlans = 64;

/// What a plan keeps in memory, near enough.
std::uint64_t footprint(const CompiledPlan& compiled) {
  const Plan& p = compiled.plan;
  std::uint64_t bytes = sizeof(CompiledPlan) + compiled.structure.size() + sizeof(Digest) * compiled.kernel_keys.size();
  for (const KernelProgram& program : p.programs) bytes += sizeof(KernelProgram) + program.source.size();
  for (const KernelLaunch& k : p.kernels)
    bytes += sizeof(KernelLaunch) + k.name.size() + sizeof(BufferRef) * k.refs.size();
  return bytes + sizeof(TensorSpec) * p.inputs.size() + sizeof(TempSpec) * p.temps.size() +
         sizeof(OutputSpec) * p.outputs.size();
}

std::string option_difference(const CompileOptions& wanted, const CompileOptions& cached) {
  const auto a = to_pairs(wanted);
  const auto b = to_pairs(cached);
  std::string text;
  for (std::size_t i = 0; i < a.size(); i++)
    if (a[i].second != b[i].second)
      text += fmt::format("{}{}={} instead of {}", text.empty() ? "" : ", ", a[i].first, a[i].second, b[i].second);
  return text;
}

}  // namespace

CompiledPlanPtr PlanCache::find(const Digest& id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  plans_.splice(plans_.begin(), plans_, found->second);
  return *found->second;
}

void PlanCache::insert(CompiledPlanPtr plan) {
  const std::uint64_t bytes = footprint(*plan);
  const std::lock_guard lock(mutex_);
  if (by_id_.contains(plan->id) || bytes > max_bytes_) return;
  const Digest id = plan->id;
  plans_.push_front(std::move(plan));
  by_id_[id] = plans_.begin();
  bytes_ += bytes;
  while (bytes_ > max_bytes_) {
    bytes_ -= footprint(*plans_.back());
    by_id_.erase(plans_.back()->id);
    plans_.pop_back();
    evictions_++;
  }
}

std::vector<CompiledPlanPtr> PlanCache::recent(std::size_t most) const {
  const std::lock_guard lock(mutex_);
  std::vector<CompiledPlanPtr> list;
  for (auto it = plans_.begin(); it != plans_.end() && list.size() < most; ++it) list.push_back(*it);
  return list;
}

std::string PlanCache::explain_miss(const std::string& structure, const CompileOptions& options) {
  CompiledPlanPtr nearest;
  std::size_t longest = 0;
  for (const CompiledPlanPtr& plan : recent(kComparedPlans)) {
    if (plan->structure == structure)
      return fmt::format("the same structure is cached with other options: {}",
                         option_difference(options, plan->options));
    const std::size_t common = common_prefix(structure, plan->structure);
    if (nearest && common <= longest) continue;
    longest = common;
    nearest = plan;
  }
  if (!nearest) return "no plan was cached";
  return fmt::format("nearest cached plan {}: {}", nearest->id.hex().substr(0, 12),
                     first_difference(structure, nearest->structure).text);
}

std::uint64_t PlanCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::uint64_t PlanCache::count() const {
  const std::lock_guard lock(mutex_);
  return plans_.size();
}

std::uint64_t PlanCache::evictions() const {
  const std::lock_guard lock(mutex_);
  return evictions_;
}

}  // namespace uop
