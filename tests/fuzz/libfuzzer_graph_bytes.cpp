// The entry point that libFuzzer calls, for the target graph_bytes.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  uop::fuzz::graph_bytes({data, size});
  return 0;
}
