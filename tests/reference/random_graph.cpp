#include "tests/reference/random_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/ir/text.h"
#include "tests/reference/compare.h"
#include "tests/reference/graph_growth.h"

namespace uop::reference {

RandomCase random_case(std::uint64_t seed, int steps) {
  GraphGrowth growth(seed);
  return growth.grow(steps);
}

std::string to_text(const RandomCase& c) {
  constexpr std::size_t kShown = 12;
  std::string text = fmt::format("seed {}\n{}\n", c.seed, to_text(c.graph.roots));
  for (const auto& [slot, value] : c.inputs.variables) text += fmt::format("VARIABLE slot={} is {}\n", slot, value);
  for (const auto& [slot, bytes] : c.inputs.buffers) {
    const auto shared = c.same_buffer.find(slot);
    text += fmt::format("BUFFER slot={}{}:", slot,
                        shared == c.same_buffer.end() ? "" : fmt::format(" (the buffer of slot {})", shared->second));
    for (std::size_t i = 0; i < std::min(kShown, bytes.size()); i++)
      text += fmt::format(" {:02x}", std::to_integer<int>(bytes[i]));
    text += bytes.size() > kShown ? fmt::format(" … {} bytes\n", bytes.size()) : "\n";
  }
  return text;
}

}  // namespace uop::reference
