// CPU levels: native resolves to a name, and nothing above the machine is accepted.
#include "core/compile/cpu_level.h"

#include <gtest/gtest.h>

namespace uop {
namespace {

TEST(CpuLevelTest, Rows) {
  struct Row {
    const char *option, *machine, *resolved;  // "": refused
  };
  for (const Row& row : std::vector<Row>{{"native", "x86-64-v3", "x86-64-v3"},
                                         {"x86-64", "x86-64-v3", "x86-64"},
                                         {"x86-64-v3", "x86-64-v3", "x86-64-v3"},
                                         {"x86-64-v4", "x86-64-v3", ""},
                                         {"x86-64-v2", "x86-64", ""},
                                         {"pentium", "x86-64-v3", ""},
                                         {"native", "armv8-a", "armv8-a"},
                                         {"x86-64", "armv8-a", ""}}) {
    SCOPED_TRACE(std::string(row.option) + " on " + row.machine);
    const auto level = resolve_cpu_level(row.option, row.machine);
    if (std::string(row.resolved).empty())
      EXPECT_EQ(level.status().code(), StatusCode::kInvalidArgument);
    else
      EXPECT_EQ(*level, row.resolved);
  }
}

TEST(CpuLevelTest, FlagsNameTheLevel) {
  for (const char* level : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a"})
    EXPECT_EQ(cpu_flags(level).at(0), std::string("-march=") + level);
  EXPECT_TRUE(cpu_flags("generic").empty());
}

#if defined(__x86_64__) && !defined(__clang__)
TEST(CpuLevelTest, TheMachineAgreesWithTheCompilersOwnTest) {
  __builtin_cpu_init();
  EXPECT_EQ(machine_cpu_level(), __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
                                 : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
                                 : __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2"
                                                                       : "x86-64");
}
#endif

}  // namespace
}  // namespace uop
