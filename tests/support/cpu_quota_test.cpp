// CPU quotas as the files of /proc and /sys describe them, on invented files.
#include "core/support/cpu_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_directory.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

class CpuQuotaTest : public testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text) {
    const fs::path path = directory_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  TemporaryDirectory directory_;
};

struct Row {
  const char* about;
  const char* mount;  // "root point type super-options", the point relative to the test's directory
  const char* cgroup;
  std::vector<std::pair<const char*, const char*>> files;
  double limit;  // 0: none
};

TEST_F(CpuQuotaTest, Rows) {
  const std::vector<Row> rows = {
      {"v2", "/ a cgroup2 rw", "0::/x\n", {{"a/x/cpu.max", "150000 100000\n"}}, 1.5},
      {"v2, none", "/ b cgroup2 rw", "0::/x\n", {{"b/x/cpu.max", "max 100000\n"}}, 0},
      {"v2, the parent's binds",
       "/ c cgroup2 rw",
       "0::/x/y\n",
       {{"c/x/y/cpu.max", "400000 100000\n"}, {"c/x/cpu.max", "200000 100000\n"}},
       2},
      {"v2, a namespace's root", "/ d cgroup2 rw", "0::/\n", {{"d/cpu.max", "300000 100000\n"}}, 3},
      {"v2, bind-mounted below the root",
       "/docker/id e cgroup2 rw",
       "0::/docker/id/x\n",
       {{"e/x/cpu.max", "100000 100000\n"}},
       1},
      {"v2, a root that only looks like a prefix",
       "/docker/i f cgroup2 rw",
       "0::/docker/id\n",
       {{"f/cpu.max", "500000 100000\n"}},
       5},
      {"v2, a group outside of the namespace",
       "/ g cgroup2 rw",
       "0::/../../other\n",
       {{"g/cpu.max", "600000 100000\n"}},
       6},
      {"v1",
       "/ h cgroup rw,cpu,cpuacct",
       "4:memory:/y\n3:cpuacct,cpu:/x\n0::/\n",
       {{"h/x/cpu.cfs_quota_us", "50000\n"}, {"h/x/cpu.cfs_period_us", "100000\n"}},
       0.5},
      {"v1, none",
       "/ i cgroup rw,cpu",
       "3:cpu:/x\n",
       {{"i/x/cpu.cfs_quota_us", "-1\n"}, {"i/x/cpu.cfs_period_us", "100000\n"}},
       0},
      {"v1, another controller",
       "/ j cgroup rw,cpuset",
       "3:cpuset:/x\n",
       {{"j/x/cpu.cfs_quota_us", "50000\n"}, {"j/x/cpu.cfs_period_us", "100000\n"}},
       0},
      {"not a cgroup file", "/ k cgroup2 rw", "nonsense\n\n:\n", {}, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.about);
    for (const auto& [name, text] : row.files) put(name, text);
    std::istringstream mount(row.mount);
    std::string root, point, type, super;
    mount >> root >> point >> type >> super;
    const std::string mountinfo = put("mountinfo", "36 35 98:0 " + root + " " + directory_ / point +
                                                       " rw,noatime shared:1 - " + type + " cgroup " + super + "\n");
    const auto limit = cgroup_cpu_limit(mountinfo, put("cgroup", row.cgroup));
    EXPECT_EQ(limit.value_or(0), row.limit);
  }
}

TEST_F(CpuQuotaTest, MissingFilesMeanNoLimit) {
  EXPECT_FALSE(cgroup_cpu_limit(directory_ / "no", directory_ / "such"));
}

TEST(AvailableCpusTest, AtLeastOne) {
  EXPECT_GE(available_cpus(), 1);
}

}  // namespace
}  // namespace uop
