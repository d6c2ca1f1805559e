// The benchmark cases, by what they are about.
#pragma once

#include "bench/pair.h"

namespace uop::bench {

void register_kernel_cases();
void register_plan_cases();
void register_rpc_cases();
void register_scale_cases();

}  // namespace uop::bench
