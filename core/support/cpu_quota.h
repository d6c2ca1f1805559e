// How many CPUs this process may use now: the smaller of its affinity mask and its cgroup's quota (v1 and v2). A
// container that may use 2 of 64 CPUs would otherwise start 64 threads and be throttled.
//
// `available_cpus` is what others call.
#pragma once

#include <optional>
#include <string>

namespace uop {

/// At least 1. Reads /proc and /sys each time (well under a millisecond), since an operator may change the quota of a
/// running container. Part of a CPU counts as one.
int available_cpus();

/// The tightest CPU quota, in CPUs, of the cgroups that `cgroup_file` names, found by the mounts of `mountinfo_file`
/// (formats of /proc/self/cgroup and /proc/self/mountinfo; see proc(5)). Nothing where there is no limit, or where a
/// file can't be read.
std::optional<double> cgroup_cpu_limit(const std::string& mountinfo_file = "/proc/self/mountinfo",
                                       const std::string& cgroup_file = "/proc/self/cgroup");

}  // namespace uop
