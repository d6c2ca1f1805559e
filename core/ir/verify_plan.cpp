#include "core/ir/verify_plan.h"

#include <algorithm>
#include <map>
#include <queue>

#include "core/ir/shape_rules.h"

namespace uop {
namespace {

template <class... Args>
Status bad(fmt::format_string<Args...> text, Args&&... args) {
  return error(StatusCode::kDataLoss, "the plan is corrupt: {}\nremedy: remove it; it is made again from the graph",
               fmt::format(text, std::forward<Args>(args)...));
}

bool is_tensor(const TensorSpec& spec) {
  return spec.dtype != DType::kNone && spec.elements >= 0 && spec.elements <= kMaxElements;
}

Status check_specs(const Plan& plan) {
  for (std::size_t i = 0; i < plan.inputs.size(); i++)
    if (!is_tensor(plan.inputs[i])) return bad("in{} has no dtype or a wrong size", i);
  for (std::size_t t = 0; t < plan.temps.size(); t++)
    if (!is_tensor(plan.temps[t].tensor)) return bad("tmp{} has no dtype or a wrong size", t);
  for (std::size_t v = 0; v < plan.variables.size(); v++)
    if (plan.variables[v].min > plan.variables[v].max) return bad("variable {} has min > max", v);
  for (std::size_t o = 0; o < plan.outputs.size(); o++) {
    const OutputSpec& out = plan.outputs[o];
    if (!is_tensor(out.tensor)) return bad("out{} has no dtype or a wrong size", o);
    if (out.alias_of_input < -1 || out.alias_of_input >= static_cast<std::int64_t>(plan.inputs.size()))
      return bad("out{} is an alias of in{}, which does not exist", o, out.alias_of_input);
    if (out.alias_of_input >= 0 && plan.inputs[static_cast<std::size_t>(out.alias_of_input)] != out.tensor)
      return bad("out{} is an alias of in{}, but of another dtype or size", o, out.alias_of_input);
  }
  return ok_status();
}

/// Follows the kernels in order and notes what is written.
class Writes {
 public:
  explicit Writes(const Plan& plan)
      : plan_(plan), temp_written_(plan.temps.size(), false), output_written_(plan.outputs.size(), false) {}

  Status check_kernels() {
    for (std::uint32_t k = 0; k < plan_.kernels.size(); k++) {
      const KernelLaunch& kernel = plan_.kernels[k];
      if (kernel.program >= plan_.programs.size()) return bad("kernel {} has no program", k);
      if (kernel.parallel < 0 || kernel.parallel > kMaxElements) return bad("kernel {} has a wrong parallel loop", k);
      for (const std::uint32_t v : kernel.variables)
        if (v >= plan_.variables.size()) return bad("kernel {} takes variable {}, which does not exist", k, v);
      for (const BufferRef ref : kernel.refs)
        if (ref.kind > BufferRef::Kind::kOut) return bad("kernel {} has a reference of no known kind", k);
      if (kernel.refs.empty()) return bad("kernel {} writes nothing", k);
      for (std::size_t r = 0; r + 1 < kernel.refs.size(); r++)
        if (Status read = check_read(k, kernel.refs[r]); !read.ok()) return read;
      if (Status written = note_write(k, kernel.refs.back()); !written.ok()) return written;
    }
    for (std::size_t o = 0; o < plan_.outputs.size(); o++)
      if (plan_.outputs[o].alias_of_input < 0 && plan_.outputs[o].tensor.elements > 0 && !output_written_[o])
        return bad("out{} is never written", o);
    return ok_status();
  }

  /// After check_kernels: the temporaries that have memory, in order of their first kernel.
  std::vector<std::uint32_t> temps_in_use() const {
    std::vector<std::uint32_t> used;
    for (std::uint32_t t = 0; t < plan_.temps.size(); t++)
      if (temp_written_[t]) used.push_back(t);
    std::stable_sort(used.begin(), used.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return plan_.temps[a].first < plan_.temps[b].first; });
    return used;
  }

 private:
  bool exists(BufferRef ref) const {
    switch (ref.kind) {
      case BufferRef::Kind::kIn: return ref.index < plan_.inputs.size();
      case BufferRef::Kind::kTmp: return ref.index < plan_.temps.size();
      case BufferRef::Kind::kOut:
        return ref.index < plan_.outputs.size() && plan_.outputs[ref.index].alias_of_input < 0;
    }
    return false;
  }

  bool is_alive(std::uint32_t k, BufferRef ref) const {
    return ref.kind != BufferRef::Kind::kTmp || (plan_.temps[ref.index].first <= k && k <= plan_.temps[ref.index].last);
  }

  Status check_read(std::uint32_t k, BufferRef ref) const {
    if (!exists(ref)) return bad("kernel {} reads {}, which does not exist or is an alias", k, to_string(ref));
    const bool is_written = ref.kind == BufferRef::Kind::kIn ||
                            (ref.kind == BufferRef::Kind::kTmp ? temp_written_ : output_written_)[ref.index];
    if (!is_written) return bad("kernel {} reads {} before it is written", k, to_string(ref));
    if (!is_alive(k, ref)) return bad("kernel {} reads {} outside its lifetime", k, to_string(ref));
    return ok_status();
  }

  Status note_write(std::uint32_t k, BufferRef ref) {
    if (!exists(ref)) return bad("kernel {} writes {}, which does not exist or is an alias", k, to_string(ref));
    if (ref.kind == BufferRef::Kind::kIn) return bad("kernel {} writes {}, an input", k, to_string(ref));
    if (!is_alive(k, ref)) return bad("kernel {} writes {} outside its lifetime", k, to_string(ref));
    (ref.kind == BufferRef::Kind::kTmp ? temp_written_ : output_written_)[ref.index] = true;
    return ok_status();
  }

  const Plan& plan_;
  std::vector<bool> temp_written_, output_written_;
};

/// Sweeps over the kernels; `used` is in order of first kernel. Of those alive at a time no two share a byte, so the
/// neighbours by offset are all that a new one has to be compared with.
Status check_memory(const Plan& plan, const std::vector<std::uint32_t>& used) {
  std::map<std::uint64_t, std::uint32_t> alive;  // by offset
  const auto ends_later = [&](std::uint32_t a, std::uint32_t b) { return plan.temps[a].last > plan.temps[b].last; };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(ends_later)> ending(ends_later);
  const auto end_of = [&](std::uint32_t t) { return plan.temps[t].offset + plan.temps[t].tensor.bytes(); };
  for (const std::uint32_t t : used) {
    const TempSpec& temp = plan.temps[t];
    if (temp.offset % kScratchAlignment != 0) return bad("tmp{} is not aligned", t);
    if (temp.offset > plan.scratch_bytes || temp.tensor.bytes() > plan.scratch_bytes - temp.offset)
      return bad("tmp{} lies outside the scratch memory of {} bytes", t, plan.scratch_bytes);
    if (temp.tensor.elements == 0) continue;
    for (; !ending.empty() && plan.temps[ending.top()].last < temp.first; ending.pop())
      alive.erase(plan.temps[ending.top()].offset);
    const auto after = alive.lower_bound(temp.offset);
    if (after != alive.end() && after->first < end_of(t)) return bad("tmp{} overlaps tmp{}", t, after->second);
    if (after != alive.begin() && end_of(std::prev(after)->second) > temp.offset)
      return bad("tmp{} overlaps tmp{}", t, std::prev(after)->second);
    alive.emplace_hint(after, temp.offset, t);
    ending.push(t);
  }
  return ok_status();
}

}  // namespace

Status verify_plan(const Plan& plan) {
  if (Status specs = check_specs(plan); !specs.ok()) return specs;
  Writes writes(plan);
  if (Status kernels = writes.check_kernels(); !kernels.ok()) return kernels;
  return check_memory(plan, writes.temps_in_use());
}

}  // namespace uop
