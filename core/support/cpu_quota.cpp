#include "core/support/cpu_quota.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

namespace uop {
namespace {

constexpr int kMostCpus = 1 << 16;  // where the growing affinity mask stops; Linux itself is built for at most 8192

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool has_item(std::string_view list, std::string_view item) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    if (list.substr(at, comma - at) == item) return true;
    at = comma + 1;
  }
  return false;
}

/// A mounted hierarchy that can limit CPU time.
struct Hierarchy {
  bool v2;
  std::string root;   // the directory of the hierarchy that is mounted: "/" unless bind-mounted
  std::string point;  // where
};

std::vector<Hierarchy> cpu_hierarchies(const std::string& mountinfo_file) {
  std::vector<Hierarchy> found;
  std::ifstream file(mountinfo_file);
  for (std::string line; std::getline(file, line);) {
    // id parent major:minor root mount-point options [optional fields] - type source super-options
    const std::vector<std::string> field = words(line);
    const auto dash = std::find(field.begin(), field.end(), "-");
    if (field.size() < 6 || field.end() - dash < 4) continue;
    if (dash[1] == "cgroup2") found.push_back({true, field[3], field[4]});
    if (dash[1] == "cgroup" && has_item(dash[3], "cpu")) found.push_back({false, field[3], field[4]});
  }
  return found;
}

/// This process's group in the hierarchy, as a path from the hierarchy's root.
std::optional<std::string> group_of(const std::string& cgroup_file, bool v2) {
  std::ifstream file(cgroup_file);
  for (std::string line; std::getline(file, line);) {  // id:controllers:path; v2 is "0::path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (v2 ? line.starts_with("0::") : has_item(controllers, "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// quota / period of one group's directory, in CPUs.
std::optional<double> limit_of(const std::string& directory, bool v2) {
  double quota = 0, period = 0;
  if (v2) {
    std::ifstream(directory + "/cpu.max") >> quota >> period;  // "max 100000" where there is none: reading fails
  } else {
    std::ifstream(directory + "/cpu.cfs_quota_us") >> quota;  // -1 where there is none
    std::ifstream(directory + "/cpu.cfs_period_us") >> period;
  }
  if (!(quota > 0) || !(period > 0)) return std::nullopt;
  return quota / period;
}

int affinity_cpus() {
  for (int cpus = 1024; cpus <= kMostCpus; cpus *= 2) {  // the kernel refuses a mask smaller than its own
    std::vector<cpu_set_t> mask(static_cast<std::size_t>(cpus) / CPU_SETSIZE);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) return CPU_COUNT_S(bytes, mask.data());
  }
  return 1;
}

}  // namespace

std::optional<double> cgroup_cpu_limit(const std::string& mountinfo_file, const std::string& cgroup_file) {
  std::optional<double> tightest;
  for (const Hierarchy& h : cpu_hierarchies(mountinfo_file)) {
    std::string path = group_of(cgroup_file, h.v2).value_or("/");
    // The mount shows the hierarchy from `root` down; a group outside it is not visible, and the mount point itself
    // is then the best that is known.
    if (h.root != "/") path = (path + "/").starts_with(h.root + "/") ? path.substr(h.root.size()) : "";
    if (path == "/" || !path.starts_with("/") || path.find("/..") != std::string::npos) path.clear();
    // A parent's quota binds its children too.
    while (true) {
      if (const auto limit = limit_of(h.point + path, h.v2)) tightest = std::min(*limit, tightest.value_or(*limit));
      if (path.empty()) break;
      path.resize(path.rfind('/'));
    }
  }
  return tightest;
}

int available_cpus() {
  const int affinity = std::max(1, affinity_cpus());
  const auto limit = cgroup_cpu_limit();
  return limit ? std::clamp(static_cast<int>(std::ceil(std::min(*limit, 1e6))), 1, affinity) : affinity;
}

}  // namespace uop
