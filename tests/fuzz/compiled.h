// What the fuzzer found for graph_result, with the kernels compiled and run: what libFuzzer has no time for.
#pragma once

#include <optional>
#include <string>

#include "tests/fuzz/targets.h"
#include "tests/reference/differential.h"

namespace uop::fuzz {

/// What is wrong with the graph that the bytes shape, as the engines run it under its own options; gradients are
/// expanded first, since the reference has none. Graphs that have no plan are right as they are.
std::optional<std::string> compiled_problem(reference::Differential& engines, Bytes bytes);

}  // namespace uop::fuzz
