// The entry point that libFuzzer calls, for the target stored_file.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  uop::fuzz::stored_file({data, size});
  return 0;
}
