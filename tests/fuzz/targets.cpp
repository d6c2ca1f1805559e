#include "tests/fuzz/targets.h"

namespace uop::fuzz {

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"graph_bytes", graph_bytes}, {"graph_result", graph_result}, {"stored_file", stored_file}};
  return all;
}

}  // namespace uop::fuzz
