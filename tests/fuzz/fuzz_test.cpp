// The fuzz targets without a fuzzer: on the seeds and on what fuzzing found, on changed copies of them, and, of graphs,
// with the kernels compiled and run. The libFuzzer builds run as the tests fuzz.*; scripts/fuzz runs them for long.
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <set>

#include "core/compiler.h"
#include "core/ir/traverse.h"
#include "tests/fuzz/compiled.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/graph_of_bytes.h"

namespace uop::fuzz {

inline void PrintTo(const Target& target, std::ostream* out) {
  *out << target.name;
}

namespace {

const std::filesystem::path kCorpus = UOP_FUZZ_CORPUS;

class FuzzTargets : public testing::TestWithParam<Target> {
 protected:
  std::vector<std::filesystem::path> seeds() const { return files_of(kCorpus / GetParam().name); }

  /// What the target has against the bytes, or "".
  std::string problem(Bytes bytes) const {
    try {
      GetParam().run(bytes);
      return "";
    } catch (const std::exception& e) {
      return e.what();
    }
  }
};

TEST_P(FuzzTargets, HoldForTheCorpus) {
  EXPECT_GT(seeds().size(), 10u);
  for (const std::filesystem::path& seed : seeds()) EXPECT_EQ(problem(bytes_of(seed)), "") << seed;
  EXPECT_EQ(problem({}), "");
}

void change(std::vector<std::uint8_t>& bytes, std::mt19937& random) {
  const std::size_t at = random() % (bytes.size() + 1);
  switch (random() % 5) {
    case 0: bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(random())); break;
    case 1: bytes.resize(at); break;
    case 2:
      if (at < bytes.size()) bytes[at] = static_cast<std::uint8_t>(random());
      break;
    case 3:
      if (at < bytes.size()) bytes[at] ^= static_cast<std::uint8_t>(1u << random() % 8);
      break;
    default: {
      const std::vector<std::uint8_t> copy = bytes;
      const auto length = static_cast<std::ptrdiff_t>(std::min<std::size_t>(random() % 16, copy.size()));
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), copy.begin(), copy.begin() + length);
    }
  }
}

TEST_P(FuzzTargets, HoldForChangedBytes) {
  const std::vector<std::filesystem::path> files = seeds();
  const unsigned runs = GetParam().run == graph_result ? 1500 : 15'000;
  for (unsigned seed = 0; seed < runs; seed++) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes = bytes_of(files[random() % files.size()]);
    for (auto left = 1 + random() % 4; left > 0; left--) change(bytes, random);
    ASSERT_EQ(problem(bytes), "") << "seed " << seed;
  }
}

std::string name_of(const testing::TestParamInfo<Target>& info) {
  return std::string(info.param.name);
}
INSTANTIATE_TEST_SUITE_P(All, FuzzTargets, testing::ValuesIn(targets()), name_of);

TEST(FuzzedGraphs, TheSeedsReachEveryOp) {
  std::set<Op> seen;
  std::size_t nodes = 0, planned = 0;
  const std::vector<std::filesystem::path> files = files_of(kCorpus / "graph_result");
  for (const std::filesystem::path& file : files) {
    const Program program = program_of_bytes(bytes_of(file));
    for (const UOp u : toposort(program.graph.graph.roots)) {
      seen.insert(u.op());
      nodes++;
    }
    planned += compile_plan(program.graph.graph.roots, program.options).ok() ? 1 : 0;
  }
  std::string missing;
  for (const OpRow& op : op_rows())
    if (op.number != 0 && !seen.contains(op.op)) missing += std::string(op.name) + " ";
  EXPECT_EQ(missing, "");
  EXPECT_GT(nodes, files.size() * 10);
  EXPECT_GT(planned, files.size() / 2);
}

TEST(FuzzedGraphs, GiveWhatTheReferenceGives) {
  const std::filesystem::path cache = std::filesystem::temp_directory_path() / ("uop_fuzz_" + std::to_string(getpid()));
  {
    reference::Differential engines(cache);
    const std::vector<std::filesystem::path> files = files_of(kCorpus / "graph_result");
    for (std::size_t i = 0; i < files.size(); i += 4)  // scripts/fuzz graph_compiled takes all
      EXPECT_EQ(compiled_problem(engines, bytes_of(files[i])).value_or(""), "") << files[i];
  }
  std::filesystem::remove_all(cache);
}

}  // namespace
}  // namespace uop::fuzz
