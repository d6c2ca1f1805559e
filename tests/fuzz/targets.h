// The fuzz targets: what must hold whatever the bytes are. Each throws BrokenInvariant, or fails under a sanitizer,
// where it does not. libFuzzer calls them (libfuzzer_*.cpp), and so does the test that replays the corpus.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace uop::fuzz {

using Bytes = std::span<const std::uint8_t>;

/// The three readers of graphs, wire, text and structure: bytes are refused with a remedy, or give a graph that is
/// written and read back as itself.
void graph_bytes(Bytes bytes);

/// A graph that the bytes shape: it has a plan that verifies and is read back as itself, equal structures have equal
/// plans, and after every pass over the graph the reference gives what it gave before.
void graph_result(Bytes bytes);

/// What comes from files: store entries, stored plans, shared objects. Bytes are refused, or mean what they say; a plan
/// that verifies can be run.
void stored_file(Bytes bytes);

struct Target {
  std::string_view name;
  void (*run)(Bytes);
};
const std::vector<Target>& targets();

}  // namespace uop::fuzz
