// What an Execute tells about its run.
#pragma once

#include <chrono>

#include "core/engine.h"
#include "uopd/v1/service.pb.h"

namespace uop {

/// Fills `report` as far as `verbosity` (1..4) asks; the levels are described in service.proto.
void fill_report(const Compilation& compilation, const RunResult& result, std::chrono::nanoseconds queued,
                 std::uint32_t verbosity, uopd::v1::Report& report);

}  // namespace uop
