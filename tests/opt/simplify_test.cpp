// What simplification makes of small expressions: rows of (text in, text out).
#include "core/opt/simplify.h"

#include <gtest/gtest.h>

#include "core/ir/text.h"

namespace uop {
namespace {

struct Row {
  const char* what;
  const char* value;  // lines that end in %9, given x = %3, y = %4 of the dtype
  const char* dtype;
  const char* expected;  // a line that must be in the result
  const char* absent;    // text that must not
};

constexpr Row kRows[] = {
    {"x*0 of integers deletes the reads", "%8 = CONST value=0 dtype=i32\n%9 = MUL(%3, %8)", "i32",
     "CONST value=0 : i32", "LOAD"},
    {"x*0 of floats stays", "%8 = CONST value=0 dtype=f32\n%9 = MUL(%3, %8)", "f32", "MUL(", "CONST value=1 : f32"},
    {"x+0 of floats stays", "%8 = CONST value=0 dtype=f32\n%9 = ADD(%3, %8)", "f32", "ADD(", "SUB"},
    {"x+y*-1 is x-y", "%7 = CONST value=-1 dtype=f32\n%8 = MUL(%4, %7)\n%9 = ADD(%3, %8)", "f32", "SUB(", "MUL("},
    {"constants are folded",
     "%6 = CONST value=3 dtype=i32\n%7 = CONST value=4 dtype=i32\n%8 = ADD(%6, %7)\n%9 = ADD(%3, %8)", "i32",
     "CONST value=7 : i32", "CONST value=3 : i32"},
    {"sums of constants are gathered",
     "%5 = CONST value=3 dtype=i32\n%6 = CONST value=4 dtype=i32\n%7 = ADD(%3, %5)\n%9 = ADD(%7, %6)", "i32",
     "CONST value=7 : i32", "CONST value=3 : i32"},
    {"EXP2 of a constant is left to the kernel", "%8 = CONST value=0.5 dtype=f32\n%9 = EXP2(%8)", "f32", "EXP2(",
     "LOAD"},
};

TEST(Simplify, Rows) {
  for (const Row& r : kRows) {
    const std::string d = r.dtype;
    const std::string text =
        "%0 = PARAM slot=0 dtype=" + d + " size=4\n%1 = PARAM slot=1 dtype=" + d +
        " size=4\n%2 = RANGE id=0 n=4 dtype=i64\n%3 = LOAD(%0, %2)\n%4 = LOAD(%1, %2)\n" + r.value +
        "\n%10 = PARAM slot=2 dtype=" + d +
        " size=4\n%11 = CONST value=true dtype=bool\n%12 = STORE(%10, %2, %9, %11, %2)\n%13 = SINK(%12)\n"
        "return %13\n";
    const StatusOr<RootedGraph> graph = parse_text(text);
    ASSERT_TRUE(graph.ok()) << message(graph.status());
    const UOp sink = simplify(graph->roots.front());
    const std::string result = to_text({&sink, 1});
    EXPECT_NE(result.find(r.expected), std::string::npos) << r.what << "\n" << result;
    EXPECT_EQ(result.find(r.absent), std::string::npos) << r.what << "\n" << result;
  }
}

}  // namespace
}  // namespace uop
