// The compiler: a graph becomes a plan. compiler.cpp is the page to read first: the list of passes is there.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/ir/plan.h"
#include "core/ir/uop.h"
#include "core/support/options.h"

namespace uop {

/// Called after each pass with its name and, made only when asked for, the text of what came out.
using PassObserver = std::function<void(std::string_view pass, const std::function<std::string()>& text)>;

/// The plan of the graph under `roots`, which are unique. New nodes are made in the roots' graph. Deterministic: equal
/// structures and options give equal plans. Errors: INVALID_ARGUMENT from expand_gradients.
StatusOr<Plan> compile_plan(std::span<const UOp> roots, const CompileOptions& options,
                            const PassObserver& observer = nullptr);

}  // namespace uop
