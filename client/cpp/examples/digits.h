// Handwritten digits by their nearest neighbour: the first 1,200 images of a directory are references, the others are
// classified. `classify_digits` is what the demo and the tests call.
#pragma once

#include <string>

#include "client/cpp/program.h"

namespace uop {

struct DigitsResult {
  std::int64_t right = 0;  // as the device found
  std::int64_t queries = 0;
  std::int64_t expected = 0;     // as an exact computation in plain C++ finds
  bool same_neighbours = false;  // whether it also found the same nearest image for every query
};

/// Reads images.npy (u8, n x 8 x 8) and labels.npy (i32, n) of `directory`; runs one graph on the program's device.
/// Throws ClientError.
DigitsResult classify_digits(const ProgramPtr& program, const std::string& directory);

}  // namespace uop
