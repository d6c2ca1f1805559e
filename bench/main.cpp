// uop_bench: ours against a peer, one JSON object a line. Flags are Google Benchmark's: --benchmark_filter=REGEX,
// --benchmark_list_tests.
#include "bench/cases.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  uop::bench::register_kernel_cases();
  uop::bench::register_plan_cases();
  uop::bench::register_rpc_cases();
  uop::bench::register_scale_cases();
  uop::bench::JsonLines reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return 0;
}
