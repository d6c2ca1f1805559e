// The compiler: a graph becomes a plan. compiler.cpp is the page to read first: the list of passes is there.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/ir/plan.h"
#include "core/ir/uop.h"
#include "core/support/cancel.h"
#include "core/support/options.h"

namespace uop {

/// Part of every structure key: to be raised whenever an equal graph may give another plan than before, so that plans
/// stored by an earlier build are not served. tests/engine/plan_epoch_test.cpp tells when.
inline constexpr int kPlanEpoch = 3;

/// Called after each pass with its name ("lower r_4_8" for a pass over one kernel) and, made only when asked for, the
/// text of what came out.
using PassObserver = std::function<void(std::string_view pass, const std::function<std::string()>& text)>;

/// The plan of the graph under `roots`, which are unique. New nodes are made in the roots' graph. Ensures: the plan
/// passes verify_plan; equal structures and options give equal plans. Errors: those of expand_gradients;
/// RESOURCE_EXHAUSTED over kMaxTemporaryBytes and kMaxIterationWork; CANCELLED and DEADLINE_EXCEEDED, asked between
/// passes and kernels.
StatusOr<Plan> compile_plan(std::span<const UOp> roots, const CompileOptions& options,
                            const PassObserver& observer = nullptr, const Cancel& cancel = {});

/// Most statements executed for one iteration of a kernel's outer loop, which nothing can interrupt: some minutes.
/// Beyond it a kernel would hold a thread for hours or for years (a sum over an EXPAND of 2^56 elements).
inline constexpr std::uint64_t kMaxIterationWork = std::uint64_t{1} << 40;
/// Most bytes of all temporaries of a plan: more than any machine has, and far from where sums of them wrap.
inline constexpr std::uint64_t kMaxTemporaryBytes = std::uint64_t{1} << 56;

}  // namespace uop
