// What a .plan file of the cache directory holds.
//
// Format: the 8 characters "uopplan1", the SHA-256 of the rest, and the rest: a uopd.v1.StoredPlan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ir/plan.h"
#include "core/support/digest.h"
#include "core/support/options.h"

namespace uop {

struct StoredPlanData {
  std::string structure;  // structure_bytes of the graph
  CompileOptions options;
  Plan plan;
  std::vector<Digest> kernel_keys;  // one per Plan::programs
  bool operator==(const StoredPlanData&) const = default;
};

/// The same bytes for the same data.
std::string serialize_stored_plan(const StoredPlanData& data);

/// The data again, its plan verified. The structure is not looked into: it is compared in full with the graph at hand,
/// or read by graph_of_structure. Errors: DATA_LOSS for bytes that are cut, changed, of another version (of the format
/// or of the table of options), or whose plan does not verify.
StatusOr<StoredPlanData> parse_stored_plan(std::string_view bytes);

}  // namespace uop
