// Structure bytes: equal for the same program on different data and only then, and readable again.
#include "core/ir/structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/sample_graphs.h"

namespace uop {
namespace {

std::string structure_of(std::string_view listing) {
  const auto graph = parse_text(listing);
  EXPECT_TRUE(graph.ok()) << listing << graph.status();
  return graph.ok() ? structure_bytes(graph->roots) : "";
}

TEST(StructureTest, TheFormatIsKept) {
  const std::string bytes = structure_of(
      "%0 = BUFFER slot=9 size=300 : f32[300]\n"
      "%1 = REDUCE(%0) op=MAX axes=1 : f32[]\n"
      "return %1\n");
  const unsigned char expected[] = {1,  2,                     // version, nodes
                                    1,  0, 12, 1, 0xd8, 0x04,  // BUFFER, no sources, f32, one int: zigzag(300)
                                    20, 1, 1,  2, 127,         // REDUCE of one back, zigzag(1), MAX
                                    1,  1};                    // one root, the second node
  EXPECT_EQ(bytes, std::string(std::begin(expected), std::end(expected)));
}

TEST(StructureTest, EveryOpAndDtypeIsReadBack) {
  for (const std::string& listing : sample_listings()) {
    SCOPED_TRACE(listing);
    const std::string bytes = structure_of(listing);
    const auto graph = graph_of_structure(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(structure_bytes(graph->roots), bytes);
    EXPECT_EQ(graph->roots.size(), 3u);
  }
}

constexpr std::string_view kProgram =
    "%a = BUFFER slot=4 size=4 : f32[4]\n%b = BUFFER slot=2 size=4 : f32[4]\n%n = VARIABLE slot=1 min=0 max=4 : i64[]\n"
    "%c = CONST value=0.5 : f32[]\n%r = RESHAPE(%c) shape=[1]\n%e = EXPAND(%r) shape=[4]\n%s = ADD(%a, %b)\n"
    "%p = MUL(%s, %e)\nreturn %p, %n\n";

std::string with(std::string_view from, std::string_view to) {
  std::string text(kProgram);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(StructureTest, SlotsAndNamesAreNotStructure) {
  const std::string bytes = structure_of(kProgram);
  EXPECT_EQ(structure_of(with("slot=4", "slot=0")), bytes);
  EXPECT_EQ(structure_of(with("slot=2", "slot=77")), bytes);
  EXPECT_EQ(structure_of(with("slot=1", "slot=5")), bytes);
  EXPECT_EQ(structure_of(with("ADD(%a, %b)", "ADD(%b, %a)")), bytes);
  const auto graph = graph_of_structure(bytes);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(to_text(graph->roots),
            "%0 = BUFFER slot=0 size=4 : f32[4]\n%1 = BUFFER slot=1 size=4 : f32[4]\n%2 = ADD(%0, %1) : f32[4]\n"
            "%3 = CONST value=0.5 : f32[]\n%4 = RESHAPE(%3) shape=[1] : f32[1]\n%5 = EXPAND(%4) shape=[4] : f32[4]\n"
            "%6 = MUL(%2, %5) : f32[4]\n%7 = VARIABLE slot=0 min=0 max=4 : i64[]\nreturn %6, %7\n");
}

TEST(StructureTest, AllElseIsStructureAndExplained) {
  struct Row {
    const char* from;
    const char* to;
    std::size_t position;
    const char* text;  // the changed graph at hand, kProgram in the cache
  };
  const Row rows[] = {
      {"value=0.5", "value=0.25", 3,
       "node %3 is CONST value=0.25 dtype=f32, the nearest cached plan has CONST value=0.5 dtype=f32"},
      {"value=0.5", "value=-0.5", 3, "node %3 is CONST value=-0.5"},
      {"ADD(%a, %b)", "ADD(%b, %a)", 8, "no difference"},
      {"ADD(%a, %b)", "ADD(%a, %a)", 1, "node %1 is ADD(%0, %0), the nearest cached plan has BUFFER slot=1 size=4"},
      {"ADD(%a, %b)", "SUB(%a, %b)", 2, "node %2 is SUB(%0, %1), the nearest cached plan has ADD(%0, %1)"},
      {"MUL(%s, %e)", "MUL(%e, %s)", 0, "node %0 is CONST value=0.5"},
      {"max=4", "max=5", 7, "node %7 is VARIABLE slot=0 min=0 max=5 dtype=i64"},
      {"return %p, %n", "return %p", 7,
       "the graph ends where the nearest cached plan has node %7, VARIABLE slot=0 min=0 max=4 dtype=i64"},
      {"return %p, %n", "%q = NEG(%p)\nreturn %p, %n, %q", 8, "the nearest cached plan ends before node %8, NEG(%6)"},
      {"return %p, %n", "return %p, %n, %p", 8, "the roots are %6, %7, %6, of the nearest cached plan %6, %7"},
  };
  const std::string cached = structure_of(kProgram);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.to);
    const std::string at_hand = structure_of(with(row.from, row.to));
    const StructureDifference difference = first_difference(at_hand, cached);
    EXPECT_EQ(difference.position, row.position);
    EXPECT_THAT(difference.text, testing::StartsWith(row.text));
    EXPECT_EQ(at_hand == cached, difference.text == "no difference");
  }
  EXPECT_EQ(first_difference(cached, "junk").text, "the nearest cached plan cannot be read");
}

TEST(StructureTest, SharingIsStructure) {
  // exp2(a) + exp2(b) on two buffers, and with both the same: one node less.
  const char* const apart =
      "%a = BUFFER slot=0 size=4 : f32[4]\n%b = BUFFER slot=1 size=4 : f32[4]\n%x = EXP2(%a)\n%y = EXP2(%b)\n"
      "%s = ADD(%x, %y)\nreturn %s\n";
  const char* const shared =
      "%a = BUFFER slot=0 size=4 : f32[4]\n%x = EXP2(%a)\n%y = EXP2(%a)\n%s = ADD(%x, %y)\nreturn %s\n";
  EXPECT_NE(structure_of(apart), structure_of(shared));
}

TEST(StructureTest, LoweredGraphsHaveNone) {
  const auto graph = parse_text("%0 = RANGE id=0 n=4 : i64[]\nreturn %0\n");
  ASSERT_TRUE(graph.ok());
  EXPECT_THROW(structure_bytes(graph->roots), BrokenInvariant);
}

TEST(StructureTest, OnlyCanonicalBytesAreRead) {
  const std::vector<std::string> listings = sample_listings();
  for (const std::string& listing : {listings.front(), listings.back(), std::string(kProgram)}) {
    const std::string bytes = structure_of(listing);
    for (std::size_t size = 0; size < bytes.size(); size++)
      EXPECT_EQ(graph_of_structure(bytes.substr(0, size)).status().code(), StatusCode::kDataLoss) << size;
    EXPECT_FALSE(graph_of_structure(bytes + '\0').ok());
  }
  std::vector<std::string> structures;
  for (const std::string& listing : listings) structures.push_back(structure_of(listing));
  const std::string other = structure_of(kProgram);
  for (unsigned seed = 0; seed < 20'000; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::string bytes = structures[random() % structures.size()];
    for (auto left = 1 + random() % 3; left > 0; left--) bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto graph = graph_of_structure(bytes);
    if (graph.ok()) {
      EXPECT_EQ(structure_bytes(graph->roots), bytes);
    }
    first_difference(bytes, other);
  }
}

TEST(StructureTest, ADeepGraphNeedsNoStack) {
  const RootedGraph chain = deep_chain(100'000);
  const std::string bytes = structure_bytes(chain.roots);
  const auto graph = graph_of_structure(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(first_difference(structure_bytes(graph->roots), bytes).position, 100'000u);
}

}  // namespace
}  // namespace uop
