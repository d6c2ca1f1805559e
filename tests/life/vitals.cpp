#include "tests/life/vitals.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace uop {
namespace {

namespace fs = std::filesystem;

std::int64_t entries(const char* directory) {
  const fs::directory_iterator all(directory);
  return std::distance(begin(all), end(all));
}

std::int64_t lines(const char* path) {
  std::ifstream file(path);
  return std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
}

std::int64_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident;
}

/// The parent in a line of /proc/<pid>/stat; the name before it may hold anything, brackets among it.
std::int64_t parent_of(const fs::path& process) {
  std::ifstream file(process / "stat");
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;  // it has gone
  std::istringstream rest(line.substr(name_end + 1));
  std::string state;
  std::int64_t parent = 0;
  rest >> state >> parent;
  return parent;
}

std::int64_t children() {
  std::int64_t count = 0;
  std::error_code gone;
  for (fs::directory_iterator it("/proc", gone), end; it != end; it.increment(gone)) {
    const std::string name = it->path().filename();
    if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
      count += parent_of(it->path()) == ::getpid() ? 1 : 0;
  }
  return count;
}

}  // namespace

Vitals vitals() {
  const struct mallinfo2 heap = ::mallinfo2();
  return {.resident_kib = resident_pages() * ::sysconf(_SC_PAGESIZE) / 1024,
          .heap_kib = static_cast<std::int64_t>((heap.uordblks + heap.hblkhd) / 1024),
          .descriptors = entries("/proc/self/fd"),
          .mappings = lines("/proc/self/maps"),
          .threads = entries("/proc/self/task"),
          .children = children()};
}

std::string to_text(const Vitals& v) {
  return fmt::format("resident {} KiB, heap {} KiB, {} descriptors, {} mappings, {} threads, {} children",
                     v.resident_kib, v.heap_kib, v.descriptors, v.mappings, v.threads, v.children);
}

std::string growth(const Vitals& before, const Vitals& after, const Slack& slack) {
  std::string grown;
  const auto note = [&](const char* what, std::int64_t from, std::int64_t to, std::int64_t allowed) {
    if (to > from + allowed)
      grown += fmt::format("{} grew from {} to {} (allowed: {} more); ", what, from, to, allowed);
  };
  note("resident KiB", before.resident_kib, after.resident_kib, slack.resident_kib);
  note("heap KiB", before.heap_kib, after.heap_kib, slack.heap_kib);
  note("mappings", before.mappings, after.mappings, slack.mappings);
  note("descriptors", before.descriptors, after.descriptors, 0);
  note("threads", before.threads, after.threads, 0);
  note("children", 0, after.children, 0);
  return grown;
}

}  // namespace uop
