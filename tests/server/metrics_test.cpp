// What Prometheus reads: names, types, bounds, and that the numbers are those of what happened.
#include <gmock/gmock.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "server_fixture.h"

namespace uop {
namespace {

using testing::HasSubstr;

class MetricsTest : public ServerTest {
 protected:
  void SetUp() override { start(measured()); }

  std::set<std::string> names() const {
    std::set<std::string> found;
    std::istringstream text(scrape());
    for (std::string word, line; std::getline(text, line);)
      if (line.starts_with("# TYPE ")) found.insert(line.substr(7, line.rfind(' ') - 7));
    return found;
  }
};

/// The names that dashboards are built on.
const std::set<std::string> kNames = {"uopd_rpcs_total",
                                      "uopd_rpc_seconds",
                                      "uopd_queue_seconds",
                                      "uopd_kernel_runs_total",
                                      "uopd_kernel_seconds_total",
                                      "uopd_kernel_flops_total",
                                      "uopd_kernel_bytes_total",
                                      "uopd_plan_cache_hits_total",
                                      "uopd_plan_cache_misses_total",
                                      "uopd_plan_cache_evictions_total",
                                      "uopd_plan_cache_bytes",
                                      "uopd_plan_cache_plans",
                                      "uopd_kernel_cache_hits_total",
                                      "uopd_kernel_cache_misses_total",
                                      "uopd_kernels_loaded",
                                      "uopd_store_bytes",
                                      "uopd_store_entries",
                                      "uopd_store_evictions_total",
                                      "uopd_store_bad_entries_total",
                                      "uopd_store_errors_total",
                                      "uopd_compile_seconds",
                                      "uopd_compile_failures_total",
                                      "uopd_pool_bytes",
                                      "uopd_pool_limit_bytes",
                                      "uopd_pool_peak_bytes",
                                      "uopd_sessions",
                                      "uopd_buffers",
                                      "uopd_draining",
                                      "uopd_uptime_seconds",
                                      "uopd_build_info"};

TEST_F(MetricsTest, AllAreThereFromTheStart) {
  const std::set<std::string> found = names();
  for (const std::string& name : kNames) EXPECT_TRUE(found.contains(name)) << name;
  EXPECT_EQ(metric(R"(uopd_rpcs_total{code="OK",method="Execute"})"), 0);
  EXPECT_EQ(metric(R"(uopd_rpcs_total{code="INTERNAL",method="Compile"})"), 0);
  EXPECT_EQ(metric(R"(uopd_plan_cache_hits_total{tier="memory"})"), 0);
  EXPECT_EQ(metric(R"(uopd_kernel_cache_hits_total{tier="store"})"), 0);
  EXPECT_EQ(metric(R"(uopd_kernel_seconds_total{kernel="other"})"), 0);
  EXPECT_EQ(metric("uopd_pool_limit_bytes"), 256 << 20);
}

TEST_F(MetricsTest, CountWhatHappened) {
  TestClient c = client();
  EXPECT_TRUE(c.can_still_add());
  EXPECT_TRUE(c.can_still_add());
  v1::ExecuteReply reply;
  EXPECT_FALSE(c.call(&Stub::Execute, v1::ExecuteRequest(), reply).ok());
  EXPECT_EQ(metric(R"(uopd_rpcs_total{code="OK",method="Hello"})"), 1);
  EXPECT_EQ(metric(R"(uopd_rpcs_total{code="OK",method="Execute"})"), 2);
  EXPECT_EQ(metric(R"(uopd_rpcs_total{code="INVALID_ARGUMENT",method="Execute"})"), 1);
  EXPECT_EQ(metric(R"(uopd_rpc_seconds_count{method="Execute"})"), 3);
  EXPECT_EQ(metric("uopd_queue_seconds_count"), 4) << "each run waits for a compile thread and for a run thread";
  EXPECT_EQ(metric("uopd_plan_cache_misses_total"), 1);
  EXPECT_EQ(metric(R"(uopd_plan_cache_hits_total{tier="memory"})"), 1);
  EXPECT_EQ(metric("uopd_compile_seconds_count"), 1);
  EXPECT_EQ(metric("uopd_sessions"), 1);
  EXPECT_EQ(metric(R"(uopd_kernel_runs_total{kernel="e_4"})"), 2);
  EXPECT_EQ(metric(R"(uopd_kernel_flops_total{kernel="e_4"})"), 8);
}

TEST_F(MetricsTest, SeriesAreBounded) {
  const TestClient c = client();
  const auto series = [this] {
    const std::string text = scrape();
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = series();
  for (int n = 1; n <= 70; ++n) {
    v1::ExecuteRequest request;
    *request.mutable_graph() = graph_of(doubled(n));
    request.add_inputs()->set_inline_bytes(std::string(static_cast<std::size_t>(n) * 4, '\0'));
    request.set_inline_outputs(true);
    v1::ExecuteReply reply;
    ASSERT_TRUE(c.call(&Stub::Execute, request, reply).ok());
  }
  EXPECT_LE(series() - before, 4 * 50);
  EXPECT_GE(metric(R"(uopd_kernel_runs_total{kernel="other"})"), 20);
}

TEST_F(MetricsTest, PromtoolFindsNothingToSay) {
  EXPECT_TRUE(client().can_still_add());
  const std::string file = directory / "metrics", said = directory / "said";
  std::ofstream(file) << scrape();
  const int code = std::system(fmt::format("promtool check metrics < {} > {} 2>&1", file, said).c_str());
  EXPECT_EQ(code, 0) << read_file(said) << "\n(promtool comes with the package prometheus; scripts/setup installs it)";
  EXPECT_EQ(read_file(said), "");
}

}  // namespace
}  // namespace uop
