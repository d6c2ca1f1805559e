// The reference interpreter against results worked out by hand, and the bounds that it gives.
#include "tests/reference/interpret.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/ir/text.h"
#include "tests/reference/compare.h"
#include "tests/reference/value_text.h"

namespace uop::reference {
namespace {

/// A graph of one root; input i is the BUFFER of slot i, of the dtype that the graph gives it.
struct Row {
  const char* name;
  const char* graph;
  std::vector<const char*> inputs;
  const char* expected;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

Inputs inputs_of(const RootedGraph& graph, const std::vector<const char*>& texts) {
  Inputs inputs;
  for (std::uint32_t id = 0; id < texts.size(); id++) inputs.buffers[id];
  std::vector<UOp> open = graph.roots;
  for (std::size_t i = 0; i < open.size(); i++) {
    const UOp u = open[i];
    for (const UOp s : u.src()) open.push_back(s);
    if (u.op() == Op::kBuffer)
      inputs.buffers[u.arg().value] = bytes_of_text(u.dtype(), texts.at(static_cast<std::size_t>(u.arg().value)));
    if (u.op() == Op::kVariable) inputs.variables[u.arg().value] = u.arg().ints[1];
  }
  return inputs;
}

class Interpret : public testing::TestWithParam<Row> {};

TEST_P(Interpret, GivesWhatIsWorkedOutByHand) {
  const Row& row = GetParam();
  const StatusOr<RootedGraph> graph = parse_text(row.graph);
  ASSERT_TRUE(graph.ok()) << message(graph.status());
  for (const Numerics numerics : {Numerics::kStrict, Numerics::kDefault}) {
    const Tensor result = interpret(graph->roots, inputs_of(*graph, row.inputs), numerics).front();
    const Bytes expected = bytes_of_text(result.dtype, row.expected);
    EXPECT_EQ(text_of_bytes(result.dtype, bytes_of(result)), text_of_bytes(result.dtype, expected));
    EXPECT_EQ(compare(expected, result).difference, std::nullopt);
  }
}

const Row kRows[] = {
    {"reshape", "%0 = BUFFER slot=0 size=4 : i32[4]\n%1 = RESHAPE(%0) shape=[2,2]\nreturn %1", {"1 2 3 4"}, "1 2 3 4"},
    {"permute",
     "%0 = BUFFER slot=0 size=6 : i32[6]\n%1 = RESHAPE(%0) shape=[1,2,3]\n%2 = PERMUTE(%1) order=[2,0,1]\nreturn %2",
     {"1 2 3 4 5 6"},
     "1 4 2 5 3 6"},
    {"expand",
     "%0 = BUFFER slot=0 size=2 : i32[2]\n%1 = RESHAPE(%0) shape=[2,1]\n%2 = EXPAND(%1) shape=[2,3]\nreturn %2",
     {"1 2"},
     "1 1 1 2 2 2"},
    {"pad",
     "%0 = BUFFER slot=0 size=2 : f32[2]\n%1 = RESHAPE(%0) shape=[2,1]\n%2 = PAD(%1) before_after=[1,0,0,1]\nreturn %2",
     {"1 nan"},
     "0 0 1 0 nan 0"},
    {"shrink", "%0 = BUFFER slot=0 size=5 : i8[5]\n%1 = SHRINK(%0) begin_end=[1,4]\nreturn %1", {"1 2 3 4 5"}, "2 3 4"},
    {"flip",
     "%0 = BUFFER slot=0 size=4 : i8[4]\n%1 = RESHAPE(%0) shape=[2,2]\n%2 = FLIP(%1) flags=[0,1]\nreturn %2",
     {"1 2 3 4"},
     "2 1 4 3"},
    {"iota_wraps",
     "%0 = IOTA n=258 : i8[258]\n%1 = SHRINK(%0) begin_end=[126,130]\nreturn %1",
     {},
     "126 127 -128 -127"},
    {"variable", "%0 = VARIABLE slot=0 min=-3 max=9 : i32[]\nreturn %0", {}, "9"},
    {"reduce_drops_the_last_axes",
     "%0 = BUFFER slot=0 size=8 : i32[8]\n%1 = RESHAPE(%0) shape=[2,2,2]\n%2 = REDUCE(%1) op=ADD axes=2\nreturn %2",
     {"1 2 3 4 5 6 7 8"},
     "10 26"},
    {"sum_of_none", "%0 = BUFFER slot=0 size=0 : f32[0]\n%1 = REDUCE(%0) op=ADD axes=1\nreturn %1", {""}, "0"},
    {"product_of_none", "%0 = BUFFER slot=0 size=0 : i16[0]\n%1 = REDUCE(%0) op=MUL axes=1\nreturn %1", {""}, "1"},
    {"integers_wrap", "%0 = BUFFER slot=0 size=2 : u8[2]\n%1 = REDUCE(%0) op=ADD axes=1\nreturn %1", {"200 100"}, "44"},
    {"max_with_nan",
     "%0 = BUFFER slot=0 size=3 : f32[3]\n%1 = REDUCE(%0) op=MAX axes=1\nreturn %1",
     {"1 nan 3"},
     "nan"},
    {"halves_accumulate_in_f32",  // in f16 2048 + 1 + 1 stays at 2048
     "%0 = BUFFER slot=0 size=3 : f16[3]\n%1 = REDUCE(%0) op=ADD axes=1\nreturn %1",
     {"2048 1 1"},
     "2050"},
    {"gather",
     "%0 = BUFFER slot=0 size=4 : f32[4]\n%1 = RESHAPE(%0) shape=[2,2]\n%2 = BUFFER slot=1 size=6 : i64[6]\n"
     "%3 = RESHAPE(%2) shape=[2,3]\n%4 = GATHER(%1, %3) axis=1\nreturn %4",
     {"1 inf nan 4", "1 0 -1 2 0 1"},
     "inf 1 0 0 nan 4"},
    {"scatter_in_order",
     "%0 = BUFFER slot=0 size=3 : i32[3]\n%1 = BUFFER slot=1 size=4 : u8[4]\n%2 = BUFFER slot=2 size=4 : i32[4]\n"
     "%3 = SCATTER(%0, %1, %2) axis=0\nreturn %3",
     {"7 8 9", "1 1 0 3", "10 20 30 40"},
     "30 20 9"},
    {"scatter_adds",
     "%0 = BUFFER slot=0 size=3 : i32[3]\n%1 = BUFFER slot=1 size=4 : u8[4]\n%2 = BUFFER slot=2 size=4 : i32[4]\n"
     "%3 = SCATTER(%0, %1, %2) op=ADD axis=0\nreturn %3",
     {"7 8 9", "1 1 0 255", "10 20 30 40"},
     "37 38 9"},
    {"bool_is_any_byte",
     "%0 = BUFFER slot=0 size=3 : bool[3]\n%1 = NOT(%0)\nreturn %1",
     {"0x0 0x1 0x80"},
     "true false false"},
    {"half_rounds_after_each_op",  // 2048 + 1 is a tie, to even
     "%0 = BUFFER slot=0 size=2 : f16[2]\n%1 = ADD(%0, %0)\n%2 = MUL(%1, %1)\nreturn %2",
     {"0.1 200"},
     "0x291e inf"},
    {"saturating_cast",
     "%0 = BUFFER slot=0 size=6 : f64[6]\n%1 = CAST(%0) : i8[6]\nreturn %1",
     {"-1.9 127.9 128 -inf nan 1e300"},
     "-1 127 127 -128 0 127"},
    {"stage_and_detach_are_the_identity",
     "%0 = BUFFER slot=0 size=1 : f32[1]\n%1 = STAGE(%0)\n%2 = DETACH(%1)\nreturn %2",
     {"-0"},
     "-0"},
    {"where",
     "%0 = BUFFER slot=0 size=2 : bool[2]\n%1 = BUFFER slot=1 size=2 : f32[2]\n%2 = NEG(%1)\n"
     "%3 = WHERE(%0, %1, %2)\nreturn %3",
     {"true false", "nan 5"},
     "nan -5"},
};

std::string name_of(const testing::TestParamInfo<Row>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Rows, Interpret, testing::ValuesIn(kRows), name_of);

/// One number and its encodings, rounded to nearest even.
TEST(Number, IsRoundedOnce) {
  struct Encoding {
    DType dtype;
    long double value;
    Bits bits;
  };
  const Encoding rows[] = {
      {DType::kF16, 1, 0x3c00},
      {DType::kF16, -2, 0xc000},
      {DType::kF16, 65519.99L, 0x7bff},
      {DType::kF16, 65520, 0x7c00},
      {DType::kF16, 0x1p-24L, 1},
      {DType::kF16, 0x1p-25L, 0},
      {DType::kF16, 0x1.8p-24L, 2},
      {DType::kF16, 0x1.ff8p-15L, 0x3ff},
      {DType::kF16, 0x1.fffp-15L, 0x400},
      {DType::kF16, 2049, 0x6800},
      {DType::kF16, 2051, 0x6802},
      {DType::kBF16, 1.00390625L, 0x3f80},
      {DType::kBF16, 1.01171875L, 0x3f82},
      {DType::kBF16, 0x1p-133L, 1},
      {DType::kF32, 16777217, 0x4b800000},
      {DType::kF32, 0x1p-149L, 1},
      {DType::kF32, -0.0L, 0x80000000},
      {DType::kF64, 0x1p-1074L, 1},
      {DType::kF64, 1, 0x3ff0000000000000},
  };
  for (const Encoding& r : rows) {
    EXPECT_EQ(rounded(r.dtype, r.value), r.bits) << name(r.dtype) << " " << r.value;
    EXPECT_EQ(rounded(r.dtype, real(r.dtype, r.bits)), r.bits);
  }
  for (const DType half : {DType::kF16, DType::kBF16})
    for (Bits bits = 0; bits < 0x10000; bits++)
      if (!std::isnan(real(half, bits))) {
        ASSERT_EQ(rounded(half, real(half, bits)), bits);
      }
}

Element bounded(double value, double low, double high) {
  return {.bits = rounded(DType::kF32, value), .low = low, .high = high};
}

TEST(Bounds, CancellationWidensAndADecisionIsLeftOpen) {
  const DType f32 = DType::kF32;
  const Element near_one = bounded(1, 0.999, 1.001);
  const Element one = exact(f32, rounded(f32, 1));
  const Element pair[] = {near_one, one};
  EXPECT_LT(apply(Op::kSub, f32, f32, pair).low, 0);
  EXPECT_TRUE(apply(Op::kCmpLt, DType::kBool, f32, pair).open);
  EXPECT_TRUE(apply(Op::kCast, DType::kI32, f32, {&near_one, 1}).open);
  EXPECT_FALSE(apply(Op::kCast, DType::kBool, f32, {&near_one, 1}).open);
  const Element difference = apply(Op::kSub, f32, f32, pair);
  EXPECT_TRUE(apply(Op::kReciprocal, f32, f32, {&difference, 1}).open);
  EXPECT_EQ(apply(Op::kAbs, f32, f32, {&difference, 1}).low, 0);
}

TEST(Bounds, OnlyTheDefaultNumericsFreesTheOrderOfASum) {
  std::vector<Element> elements(100, exact(DType::kF32, rounded(DType::kF32, 0.1L)));
  EXPECT_TRUE(is_exact(reduced(Op::kAdd, DType::kF32, elements, Numerics::kStrict)));
  const Element sum = reduced(Op::kAdd, DType::kF32, elements, Numerics::kDefault);
  EXPECT_LT(sum.low, 10);
  EXPECT_GT(sum.high, 10);
  EXPECT_LT(sum.high - sum.low, 1e-3);
  EXPECT_TRUE(is_exact(reduced(Op::kMax, DType::kF32, elements, Numerics::kDefault)));
}

TEST(Compare, SeesAWrongBitAndAWrongSize) {
  const Tensor expected = tensor_of(DType::kF32, bytes_of_text(DType::kF32, "1 nan"));
  EXPECT_EQ(compare(bytes_of_text(DType::kF32, "1 0xffc00001"), expected).difference, std::nullopt);
  EXPECT_NE(compare(bytes_of_text(DType::kF32, "0x3f800001 nan"), expected).difference, std::nullopt);
  EXPECT_NE(compare(bytes_of_text(DType::kF32, "1"), expected).difference, std::nullopt);
}

}  // namespace
}  // namespace uop::reference
