// The text form: what is written is read back, and what is wrong is named with its line and a remedy.
#include "core/ir/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/sample_graphs.h"

namespace uop {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string written(std::string_view text) {
  const auto graph = parse_text(text);
  return graph.ok() ? to_text(graph->roots) : message(graph.status());
}

TEST(TextTest, EveryOpAndDtypeIsReadBack) {
  for (const std::string& listing : sample_listings()) {
    SCOPED_TRACE(listing);
    const auto graph = parse_text(listing);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const std::string text = to_text(graph->roots);
    EXPECT_EQ(written(text), text);
    const auto again = parse_text(text);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(again->roots.size(), 3u);
    EXPECT_EQ(again->roots[0].arg(), graph->roots[0].arg());
    EXPECT_EQ(again->roots[0].shape(), graph->roots[0].shape());
    EXPECT_EQ(again->roots[0], again->roots[2]);
  }
}

TEST(TextTest, Goldens) {
  const char* const listings[] = {
      "%0 = BUFFER slot=0 size=32 : f32[32]\n"
      "%1 = RESHAPE(%0) shape=[4,8] : f32[4,8]\n"
      "%2 = REDUCE(%1) op=MAX axes=1 : f32[4]\n"
      "return %2\n",
      "%0 = VARIABLE slot=2 min=-1 max=9 : i32[]\n"
      "%1 = CONST value=-0 : f32[]\n"
      "%2 = CONST bits=0x7fc00001 : f32[]\n"
      "%3 = CMPLT(%1, %2) : bool[]\n"
      "%4 = CAST(%0) : f32[]\n"
      "%5 = WHERE(%3, %4, %2) : f32[]\n"
      "return %0, %5, %5\n",
      "%0 = PARAM slot=1 size=4 : f32[]\n"
      "%1 = RANGE id=0 n=4 : i64[]\n"
      "%2 = PARAM slot=0 size=32 : f32[]\n"
      "%3 = CONST value=8 : i64[]\n"
      "%4 = MUL(%1, %3) : i64[]\n"
      "%5 = RANGE id=1 n=8 : i64[]\n"
      "%6 = ADD(%4, %5) : i64[]\n"
      "%7 = LOAD(%2, %6) : f32[]\n"
      "%8 = ACCUMULATE(%7, %5) op=MAX : f32[]\n"
      "%9 = CONST value=true : bool[]\n"
      "%10 = STORE(%0, %1, %8, %9, %1)\n"
      "%11 = STORE(%0, %1, %7, %9, %1, %5) op=ADD\n"
      "%12 = SINK(%10, %11)\n"
      "return %12\n",
  };
  for (const std::string_view listing : listings) EXPECT_EQ(written(listing), listing);
}

TEST(TextTest, IsForgivingWhereNothingIsLost) {
  EXPECT_EQ(written("# a sum\n\n  %x=BUFFER size=2 slot=0 dtype=f32   # in\n%s_1 = REDUCE( %x )axes=1 op=ADD:f32[]\r\n"
                    "return %s_1,%x"),
            "%0 = BUFFER slot=0 size=2 : f32[2]\n"
            "%1 = REDUCE(%0) op=ADD axes=1 : f32[]\n"
            "return %1, %0\n");
}

TEST(TextTest, ConstantsKeepEveryBit) {
  std::mt19937_64 random(20240601);
  for (const DTypeRow& dtype : dtype_rows()) {
    const std::uint64_t mask = dtype.bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * dtype.bytes)) - 1;
    for (int i = 0; i < 1000; i++) {
      std::uint64_t bits = random() & mask;
      if (i % 4 == 1) bits = ~bits & mask & (bits << 9);
      if (i % 4 == 2) bits = mask >> (i / 4 % 64);           // runs of ones: limits, NaNs, infinities
      if (i % 4 == 3) bits = (mask << (i / 4 % 64)) & mask;  // signs, infinities, -0
      if (dtype.kind == DTypeKind::kBool) bits &= 1;
      RootedGraph graph{std::make_unique<Graph>(), {}};
      graph.roots = {constant(*graph.graph, Scalar{dtype.dtype, bits})};
      const std::string text = to_text(graph.roots);
      const auto again = parse_text(text);
      ASSERT_TRUE(again.ok()) << text << again.status();
      ASSERT_EQ(again->roots[0].arg(), graph.roots[0].arg()) << text;
    }
  }
}

TEST(TextTest, Errors) {
  struct Row {
    const char* text;
    const char* what;
  };
  const Row rows[] = {
      {"", "line 0: the listing ends without its roots"},
      {"%0 = CONST value=1 : f32[]\n", "line 1: the listing ends without its roots"},
      {"hello\n", "line 1: neither a node nor `return`"},
      {"%0 CONST\n", "line 1: '=' is missing"},
      {"\n\n% = CONST\n", "line 3: a name is missing"},
      {"return\n", "line 1: a name is missing"},
      {"return %0\n", "line 1: %0 is not defined above"},
      {"%0 = FOO\n", "line 1: unknown op 'FOO'"},
      {"%0 = NEG(%0)\n", "line 1: %0 is not defined above"},
      {"%0 = NEG(\n", "line 1: a name is missing"},
      {"%0 = IOTA n=1 : f32[1]\n%1 = NEG(%0\n", "line 2: ')' is missing"},
      {"%0 = IOTA n=1 : f32[1]\n%1 = ADD(%0)\n", "line 2: ADD takes 2 sources; got 1"},
      {"%0 = IOTA n=1 : f32[1]\n%0 = NEG(%0)\n", "line 2: the name is defined twice"},
      {"%0 = IOTA n=1 : f32[1]\n%1 = NEG(%0) axes=1\n", "line 2: NEG takes no (second) field 'axes'"},
      {"%0 = IOTA n=1 n=2 : f32[1]\n", "line 1: IOTA takes no (second) field 'n'"},
      {"%0 = IOTA n : f32[1]\n", "line 1: a field is not `name=value`"},
      {"%0 = IOTA : f32[1]\n", "line 1: IOTA needs n"},
      {"%0 = IOTA n=x : f32[1]\n", "line 1: n is not a 64-bit integer"},
      {"%0 = IOTA n=9223372036854775808 : f32[1]\n", "line 1: n is not a 64-bit integer"},
      {"%0 = IOTA n=9\n", "line 1: the dtype is missing or unknown"},
      {"%0 = IOTA n=9 : f99[9]\n", "line 1: the dtype is missing or unknown"},
      {"%0 = IOTA n=9 : f32[8]\n", "line 1: the type of the node is f32[9]"},
      {"%0 = IOTA n=-1 : f32[-1]\n", "line 1: shape [-1] has a negative dimension"},
      {"%0 = BUFFER slot=-1 size=1 : f32[1]\n", "line 1: the slot of a BUFFER is 0..1000000; got -1"},
      {"%0 = BUFFER slot=1 size=1 : f32[1]\n%1 = BUFFER slot=1 size=2 : f32[2]\n",
       "line 2: slot 1 is already a BUFFER of f32[1], here it is f32[2]"},
      {"%0 = CONST value=256 : u8[]\n", "line 1: the value is not one of u8"},
      {"%0 = CONST value=-1 : u8[]\n", "line 1: the value is not one of u8"},
      {"%0 = CONST value=128 : i8[]\n", "line 1: the value is not one of i8"},
      {"%0 = CONST value=1e999 : f32[]\n", "line 1: the value is not one of f32"},
      {"%0 = CONST value=1 : bool[]\n", "line 1: the value is not one of bool"},
      {"%0 = CONST bits=0x2 : bool[]\n", "line 1: a bool CONST is 0 or 1"},
      {"%0 = CONST bits=0x10000 : f16[]\n", "line 1: a CONST of f16 has 16 bits"},
      {"%0 = CONST bits=7 : f32[]\n", "line 1: bits is not a 64-bit hexadecimal number"},
      {"%0 = CONST : f32[]\n", "line 1: CONST needs value"},
      {"%0 = IOTA n=4 : f32[4]\n%1 = RESHAPE(%0) shape=[2,2\n", "line 2: shape is not a list"},
      {"%0 = IOTA n=4 : f32[4]\n%1 = RESHAPE(%0) shape=[2,,2]\n", "line 2: shape is not a list"},
      {"%0 = IOTA n=4 : f32[4]\n%1 = RESHAPE(%0) shape=[2,2,]\n", "line 2: shape is not a list"},
      {"%0 = IOTA n=4 : f32[4]\n%1 = RESHAPE(%0) shape=[5]\n", "line 2: RESHAPE keeps the number of elements"},
      {"%0 = IOTA n=4 : f32[4]\n%1 = REDUCE(%0) op=SUB axes=1\n", "line 2: the reduce op of REDUCE is ADD, MUL"},
      {"%0 = IOTA n=4 : f32[4]\n%1 = REDUCE(%0) op=X axes=1\n", "line 2: op is not the name of an op"},
      {"%0 = IOTA n=4 : f32[4]\n%1 = REDUCE(%0) axes=1\n", "line 2: REDUCE is by ADD, MUL"},
      {"%0 = IOTA n=4 : f32[4]\nreturn %0\n%1 = NEG(%0)\n", "line 3: a line after `return`"},
      {"%0 = IOTA n=4 : f32[4]\nreturn %0 %0\n", "line 2: more text after the roots"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const auto graph = parse_text(row.text);
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(message(graph.status()), AllOf(testing::StartsWith(row.what), HasSubstr("\nremedy: ")));
  }
}

TEST(TextTest, AnErrorShowsItsLineCut) {
  const auto graph = parse_text("%0 = " + std::string(100'000, 'A'));
  ASSERT_FALSE(graph.ok());
  EXPECT_LT(message(graph.status()).size(), 1000u);
  EXPECT_THAT(message(graph.status()), HasSubstr("\n> %0 = AAAA"));
}

TEST(TextTest, TooManyLinesAreRefused) {
  const auto graph = parse_text(std::string(kMaxTextLines + 1, '\n'));
  EXPECT_EQ(graph.status().code(), StatusCode::kResourceExhausted);
}

TEST(TextTest, ADeepGraphNeedsNoStack) {
  const RootedGraph chain = deep_chain(100'000);
  const std::string text = to_text(chain.roots);
  EXPECT_EQ(written(text), text);
}

TEST(TextTest, ChangedBytesGiveAGraphOrAnError) {
  const std::vector<std::string> listings = sample_listings();
  for (unsigned seed = 0; seed < 20'000; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::string text = listings[random() % listings.size()];
    for (auto left = 1 + random() % 3; left > 0; left--) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text[at] = "%=()[]:,#0-9x\n"[random() % 14]; break;
        case 2: text.erase(at, random() % 5); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 9));
      }
    }
    const auto graph = parse_text(text);
    if (graph.ok()) {
      EXPECT_EQ(written(to_text(graph->roots)), to_text(graph->roots));
    } else {
      EXPECT_THAT(message(graph.status()), AllOf(testing::StartsWith("line "), HasSubstr("\nremedy: ")));
    }
  }
}

}  // namespace
}  // namespace uop
