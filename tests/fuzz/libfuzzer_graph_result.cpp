// The entry point that libFuzzer calls, for the target graph_result.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  uop::fuzz::graph_result({data, size});
  return 0;
}
