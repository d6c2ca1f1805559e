#include "core/ir/reshape_groups.h"

namespace uop {

std::vector<ReshapeGroup> reshape_groups(const Shape& from, const Shape& to) {
  std::vector<ReshapeGroup> groups;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() || j < to.size()) {
    ReshapeGroup g{i, i, j, j};
    std::int64_t a = i < from.size() ? from[i++] : 1;
    std::int64_t b = j < to.size() ? to[j++] : 1;
    while (a != b) {
      if (a < b) {
        a *= from[i++];
      } else {
        b *= to[j++];
      }
    }
    g.from_end = i;
    g.to_end = j;
    groups.push_back(g);
  }
  return groups;
}

}  // namespace uop
