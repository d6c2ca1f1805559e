// Golden texts of every stage: tests/data/stages/*.txt hold a listing and, below it, what each pass makes of it, as
// `uop explain` prints it. UOPD_REFRESH_GOLDENS=1 writes them anew: read the difference before committing it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/compiler.h"
#include "core/ir/text.h"
#include "core/support/environment.h"

namespace uop {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// "option NAME=VALUE" lines of the head, which are comments of the listing.
CompileOptions options_of(const std::string& listing) {
  constexpr std::string_view kPrefix = "# option ";
  CompileOptions options;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kPrefix)) continue;
    const std::string option = line.substr(kPrefix.size());
    const std::size_t equals = option.find('=');
    const Status set = set_option(options, option.substr(0, equals), option.substr(equals + 1));
    EXPECT_TRUE(set.ok()) << message(set);
  }
  return options;
}

class Stages : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Stages, AreAsWritten) {
  const std::string golden = content_of(GetParam());
  const std::string listing = golden.substr(0, golden.find("\n== "));
  StatusOr<RootedGraph> graph = parse_text(listing);
  ASSERT_TRUE(graph.ok()) << message(graph.status());

  std::string text = listing;
  std::string before;
  const StatusOr<Plan> plan = compile_plan(
      graph->roots, options_of(listing), [&](std::string_view stage, const std::function<std::string()>& made) {
        const std::string now = made();
        if (stage != "graph") text += fmt::format("\n== {}\n{}", stage, now == before ? "as before\n" : now);
        before = now;
      });
  ASSERT_TRUE(plan.ok()) << message(plan.status());
  if (environment("UOPD_REFRESH_GOLDENS"))
    std::ofstream(GetParam()) << text;
  else
    EXPECT_EQ(text, golden) << "if this is right: UOPD_REFRESH_GOLDENS=1 " << UOP_BINARY_DIR
                            << "/engine_test --gtest_filter='Stages.*'";
}

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(UOP_TEST_DATA "/stages")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Goldens, Stages, testing::ValuesIn(golden_files()),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace uop
