// What a .plan file of the cache directory holds: a uopd.v1.StoredPlan. That the bytes are whole, and those of the plan
// that was asked for, is the store's business (core/compile/store_file.h).
#pragma once

#include <string>
#include <string_view>

#include "core/ir/plan.h"
#include "core/support/options.h"

namespace uop {

struct StoredPlanData {
  std::string structure;  // structure_bytes of the graph
  CompileOptions options;
  Plan plan;
  bool operator==(const StoredPlanData&) const = default;
};

/// The same bytes for the same data.
std::string serialize_stored_plan(const StoredPlanData& data);

/// The data again, its plan verified. The structure is not looked into: it is compared in full with the graph at hand,
/// or read by graph_of_structure. Errors: DATA_LOSS for bytes that are no such message, are of another version of the
/// table of options, or whose plan does not verify.
StatusOr<StoredPlanData> parse_stored_plan(std::string_view bytes);

}  // namespace uop
