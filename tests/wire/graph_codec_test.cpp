// Graphs on the wire: what is encoded is decoded, and bad messages are refused with the node drawn and a remedy.
#include "core/wire/graph_codec.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/sample_graphs.h"

namespace uop {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

uopd::v1::Graph from_text(const std::string& text) {
  uopd::v1::Graph m;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &m)) << text;
  return m;
}

TEST(GraphCodecTest, EveryOpAndDtypeIsDecoded) {
  for (const std::string& listing : sample_listings()) {
    SCOPED_TRACE(listing);
    const auto graph = parse_text(listing);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const uopd::v1::Graph m = encode_graph(graph->roots);
    const auto decoded = parse_graph(m.SerializeAsString());
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(to_text(decoded->roots), to_text(graph->roots));
    EXPECT_EQ(encode_graph(decoded->roots).SerializeAsString(), m.SerializeAsString());
  }
}

TEST(GraphCodecTest, TheMessageIsAsDocumented) {
  const auto graph = parse_text(
      "%0 = BUFFER slot=3 size=6 : f32[6]\n%1 = RESHAPE(%0) shape=[2,3]\n%2 = CONST value=-1 : i8[]\n"
      "%3 = REDUCE(%1) op=ADD axes=1\nreturn %3, %2\n");
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(encode_graph(graph->roots).SerializeAsString(),
            from_text("nodes { op: 1 dtype: DTYPE_F32 value: 3 ints: 6 }"
                      "nodes { op: 10 src: 0 ints: [2, 3] }"
                      "nodes { op: 20 src: 1 value: 1 reduce_op: 120 }"
                      "nodes { op: 2 dtype: DTYPE_I8 bits: 255 }"
                      "roots: [2, 3]")
                .SerializeAsString());
}

TEST(GraphCodecTest, LoweredGraphsAreNotEncoded) {
  const auto graph = parse_text("%0 = RANGE id=0 n=4 : i64[]\nreturn %0\n");
  ASSERT_TRUE(graph.ok());
  EXPECT_THROW(encode_graph(graph->roots), BrokenInvariant);
}

// Rows are messages after two nodes that are there already: %0, a BUFFER of f32[4], and %1, an IOTA of i64[4].
constexpr const char* kBefore = "nodes { op: 1 dtype: DTYPE_F32 ints: 4 } nodes { op: 3 dtype: DTYPE_I64 ints: 4 }";

struct Row {
  const char* message;
  const char* what;
};

TEST(GraphCodecTest, BadNodesAreDrawn) {
  const Row rows[] = {
      {"op: 0", "no op has the number 0\n"},
      {"op: 9999 src: 0", "no op has the number 9999\n"},
      {"op: 4294967295", "no op has the number 4294967295\n"},
      {"op: 120 src: 0", "ADD takes 2 sources, not 1\n"},
      {"op: 120 src: [0, 0, 0]", "ADD takes 2 sources, not 3\n"},
      {"op: 1 dtype: DTYPE_F32 ints: 4 src: 0", "BUFFER takes 0 sources, not 1\n"},
      {"op: 102 src: 2", "its source %2 does not come before it\n"},
      {"op: 102 src: 3", "its source %3 does not come before it\n"},
      {"op: 102 src: 4294967295", "its source %4294967295 does not come before it\n"},
      {"op: 120 src: [0, 1]", "ADD takes operands of one dtype"},
      {"op: 124 src: [0, 0]", "MOD does not take f32"},
      {"op: 100 src: 0", "CAST needs a dtype"},
      {"op: 100 src: 0 dtype: 99", "no dtype has the number 99\n"},
      {"op: 100 src: 0 dtype: -1", "no dtype has the number -1\n"},
      {"op: 101 src: 0 dtype: DTYPE_F64", "BITCAST keeps the size"},
      {"op: 102 src: 0 dtype: DTYPE_F32", "NEG takes no dtype; got f32\n"},
      {"op: 102 src: 0 value: -7", "NEG takes no value; got -7\n"},
      {"op: 102 src: 0 bits: 7", "NEG takes no bits\n"},
      {"op: 102 src: 0 ints: [1, 2]", "NEG takes no numbers; got [1,2]\n"},
      {"op: 102 src: 0 reduce_op: 120", "NEG takes no reduce op; got ADD\n"},
      {"op: 10 src: 0 value: 1 ints: 4", "RESHAPE takes no value; got 1\n"},
      {"op: 10 src: 0 ints: 5", "RESHAPE keeps the number of elements"},
      {"op: 10 src: 0 ints: [-2, -2]", "RESHAPE keeps the number of elements"},
      {"op: 10 src: 0 ints: [9223372036854775807, 9223372036854775807, 4]", "RESHAPE keeps the number of elements"},
      {"op: 12 src: 0 ints: 8", "EXPAND repeats axes of size 1 only"},
      {"op: 13 src: 0 ints: [9223372036854775807, 1]", "PAD adds 0 to 2^56 elements"},
      {"op: 13 src: 0 ints: [72057594037927936, 1]", "more than 2^56 elements"},
      {"op: 14 src: 0 ints: [3, 2]", "SHRINK takes 0 <= begin <= end <= size"},
      {"op: 15 src: 0 ints: 2", "FLIP takes 0 or 1"},
      {"op: 11 src: 0 ints: 1", "PERMUTE order [1] names not every axis"},
      {"op: 20 src: 0 value: 1", "REDUCE is by ADD, MUL, MAX or MIN"},
      {"op: 20 src: 0 value: 2 reduce_op: 120", "REDUCE over 2 trailing axes"},
      {"op: 20 src: 0 value: 1 reduce_op: 121", "the reduce op of REDUCE is ADD, MUL, MAX or MIN; got SUB\n"},
      {"op: 20 src: 0 value: 1 reduce_op: 5555", "no op has the number 5555 of reduce_op\n"},
      {"op: 41 src: [0, 1, 0] reduce_op: 127", "SCATTER stores or, with ADD, adds; not MAX\n"},
      {"op: 40 src: [0, 0] value: 0", "GATHER takes an index of an integer dtype"},
      {"op: 40 src: [0, 1] value: -1", "GATHER along axis -1"},
      {"op: 32 src: [0, 0]", "GRADIENT takes a loss of one float element"},
      {"op: 2 dtype: DTYPE_F32 value: 1", "CONST takes bits, not value\n"},
      {"op: 2 bits: 1", "CONST needs a dtype"},
      {"op: 2 dtype: DTYPE_BOOL bits: 2", "a bool CONST is 0 or 1; its bits are 0x2\n"},
      {"op: 2 dtype: DTYPE_I8 bits: 256", "a CONST of i8 has 8 bits; its bits are 0x100\n"},
      {"op: 2 dtype: DTYPE_F32 bits: 4294967296", "a CONST of f32 has 32 bits; its bits are 0x100000000\n"},
      {"op: 1 dtype: DTYPE_F32 value: -1 ints: 4", "the slot of a BUFFER is 0..1000000; got -1\n"},
      {"op: 1 dtype: DTYPE_F32 value: 1000001 ints: 4", "the slot of a BUFFER is 0..1000000; got 1000001\n"},
      {"op: 1 dtype: DTYPE_F32 value: 1", "BUFFER takes one size; got []\n"},
      {"op: 1 dtype: DTYPE_F32 value: 1 ints: -4", "negative dimension"},
      {"op: 1 dtype: DTYPE_F32 ints: 5", "slot 0 is already a BUFFER of f32[4], here it is f32[5]\n"},
      {"op: 1 dtype: DTYPE_I32 ints: 4", "slot 0 is already a BUFFER of f32[4], here it is i32[4]\n"},
      {"op: 4 dtype: DTYPE_I64 value: -1 ints: [0, 1]", "the slot of a VARIABLE is 0..1000000; got -1\n"},
      {"op: 4 dtype: DTYPE_I64 ints: [2, 1]", "VARIABLE takes bounds min <= max"},
      {"op: 4 dtype: DTYPE_F32 ints: [1, 2]", "VARIABLE is i32 or i64"},
      {"op: 4 dtype: DTYPE_I64 ints: [1, 2] } nodes { op: 4 dtype: DTYPE_I64 ints: [1, 3]",
       "slot 0 is already a VARIABLE of i64 [1,2], here it is i64 [1,3]\n"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.message);
    const auto graph = decode_graph(from_text(fmt::format("{} nodes {{ {} }} roots: 0", kBefore, row.message)));
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(message(graph.status()),
                AllOf(StartsWith("node %"), HasSubstr(row.what), HasSubstr("\n  %1 = IOTA n=4 : i64[4]\n"),
                      HasSubstr("\n> %"), HasSubstr("\nremedy: ")));
  }
}

TEST(GraphCodecTest, BadRoots) {
  const Row rows[] = {
      {"", "the graph has no roots\nremedy: "},
      {"roots: 2", "root 0 is node %2, but the graph has 2 nodes\nremedy: "},
      {"roots: [1, 4294967295]", "root 1 is node %4294967295, but the graph has 2 nodes\nremedy: "},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.message);
    const auto graph = decode_graph(from_text(fmt::format("{} {}", kBefore, row.message)));
    EXPECT_EQ(graph.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(message(graph.status()), StartsWith(row.what));
  }
  EXPECT_FALSE(decode_graph({}).ok());
}

TEST(GraphCodecTest, TheDrawing) {
  std::string text = kBefore;
  for (int i = 2; i < 40; i++) text += fmt::format("nodes {{ op: 102 src: {} }}", i == 2 ? 0 : i - 1);
  const auto graph = decode_graph(from_text(text + "nodes { op: 120 src: [5, 1] value: 3 } roots: 40"));
  EXPECT_EQ(message(graph.status()),
            "node %40: ADD takes no value; got 3\n"
            "  …\n"
            "  %1 = IOTA n=4 : i64[4]\n"
            "  …\n"
            "  %5 = NEG(%4) : f32[4]\n"
            "  …\n"
            "  %38 = NEG(%37) : f32[4]\n"
            "  %39 = NEG(%38) : f32[4]\n"
            "> %40 = ADD(%5, %1) value=3\n"
            "remedy: rewrite the node; ADD is: sum; integers wrap");
}

// The rule that was broken knows best; where it knows nothing, the op's help stands in.
TEST(GraphCodecTest, TheRemedyIsThatOfTheRule) {
  const struct {
    const char* message;
    const char* remedy;
  } rows[] = {
      {"op: 120 src: [0, 1]", "\nremedy: CAST them"},
      {"op: 124 src: [0, 0]", "\nremedy: CAST it"},
      {"op: 101 src: 0 dtype: DTYPE_F64", "\nremedy: use CAST"},
      {"op: 12 src: 0 ints: [1, 4]", "\nremedy: add axes of size 1 with RESHAPE first"},
      {"op: 13 src: 0 ints: [-1, 0]", "\nremedy: remove elements by SHRINK"},
      {"op: 40 src: [0, 0] value: 0", "\nremedy: CAST the index"},
      {"op: 4 dtype: DTYPE_F32 ints: [1, 2]", "\nremedy: CAST its value"},
      {"op: 20 src: 0 value: 1 reduce_op: 121", "\nremedy: rewrite the node; REDUCE is: "},
      {"op: 15 src: 0 ints: 2", "\nremedy: rewrite the node; FLIP is: "},
  };
  for (const auto& row : rows) {
    const auto graph = decode_graph(from_text(fmt::format("{} nodes {{ {} }} roots: 0", kBefore, row.message)));
    const std::string text = message(graph.status());
    EXPECT_EQ(text.find("\nremedy: "), text.rfind("\nremedy: ")) << text;
    EXPECT_THAT(text.substr(text.rfind('\n')), StartsWith(row.remedy)) << row.message;
  }
}

TEST(GraphCodecTest, TheDrawingIsBounded) {
  uopd::v1::Graph m = from_text(kBefore);
  uopd::v1::Node& node = *m.add_nodes();
  node.set_op(10);
  for (int i = 0; i < 1'000'000; i++) node.add_src(1);
  for (int i = 0; i < 1'000'000; i++) node.add_ints(-1234567890123456789);
  EXPECT_LT(message(decode_graph(m).status()).size(), 2000u);
  node.clear_src();
  node.add_src(0);
  EXPECT_THAT(message(decode_graph(m).status()), HasSubstr("it has 1000000 ints, the limit is 64"));
  EXPECT_LT(message(decode_graph(m).status()).size(), 2000u);
}

TEST(GraphCodecTest, Limits) {
  uopd::v1::Graph nodes = from_text("roots: 0");
  for (int i = 0; i <= kMaxNodes; i++) nodes.add_nodes();
  EXPECT_EQ(decode_graph(nodes).status().code(), StatusCode::kResourceExhausted);
  uopd::v1::Graph roots = from_text(kBefore);
  for (int i = 0; i < kMaxRoots; i++) roots.add_roots(1);
  EXPECT_TRUE(decode_graph(roots).ok());
  roots.add_roots(1);
  EXPECT_EQ(decode_graph(roots).status().code(), StatusCode::kResourceExhausted);
}

TEST(GraphCodecTest, FieldsOfANewerProtocolAreRefused) {
  const std::string bytes = from_text(fmt::format("{} roots: 0", kBefore)).SerializeAsString();
  ASSERT_TRUE(parse_graph(bytes).ok());
  EXPECT_THAT(message(parse_graph(bytes + "\x78\x01").status()), HasSubstr("a field that is not known here"));  // 15: 1
  uopd::v1::Graph m = from_text(fmt::format("{} roots: 0", kBefore));
  uopd::v1::Node& node = *m.mutable_nodes(1);
  node.GetReflection()->MutableUnknownFields(&node)->AddVarint(15, 1);
  EXPECT_THAT(message(decode_graph(m).status()), StartsWith("node %1: it has a field that is not known here"));
}

TEST(GraphCodecTest, ADeepGraphNeedsNoStack) {
  const RootedGraph chain = deep_chain(100'000);
  const std::string bytes = encode_graph(chain.roots).SerializeAsString();
  const auto graph = parse_graph(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(encode_graph(graph->roots).SerializeAsString(), bytes);
}

TEST(GraphCodecTest, ChangedBytesGiveAGraphOrAnError) {
  std::vector<std::string> graphs;
  for (const std::string& listing : sample_listings())
    if (const auto graph = parse_text(listing); graph.ok())
      graphs.push_back(encode_graph(graph->roots).SerializeAsString());
  int decoded = 0;
  for (unsigned seed = 0; seed < 30'000; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::string bytes = graphs[random() % graphs.size()];
    for (auto left = 1 + random() % 4; left > 0; left--) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8)); break;
        case 2: bytes.resize(at + 1); break;
        default: bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 20));
      }
    }
    const auto graph = parse_graph(bytes);
    if (!graph.ok()) {
      EXPECT_THAT(message(graph.status()), HasSubstr("\nremedy: "));
      continue;
    }
    decoded++;
    const std::string canonical = encode_graph(graph->roots).SerializeAsString();
    const auto again = parse_graph(canonical);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(encode_graph(again->roots).SerializeAsString(), canonical);
  }
  EXPECT_GT(decoded, 100);
}

}  // namespace
}  // namespace uop
