// Rows of the prelude for MAX, MIN and ABS.
#include "core/render/prelude_table.h"

namespace uop {
namespace {

constexpr std::string_view kIntegers = "i8 i16 i32 i64 u8 u16 u32 u64";

constexpr PreludeRow kRows[] = {
    // NaN if either is NaN; of equal operands (+0 and -0) the second.
    {"uop_max_$T", "f32 f64", "", R"(
static inline $C uop_max_$T($C a, $C b) { return ((a > b) | (a != a)) ? a : b; }
)"},
    {"uop_min_$T", "f32 f64", "", R"(
static inline $C uop_min_$T($C a, $C b) { return ((a < b) | (a != a)) ? a : b; }
)"},
    {"uop_abs_$T", "f32 f64", "", R"(
static inline $C uop_abs_$T($C a) {
  union { $C value; $N bits; } u = {a};
  u.bits = u.bits << 1 >> 1;
  return u.value;
}
)"},
    {"uop_max_$T", kIntegers, "", R"(
static inline $C uop_max_$T($C a, $C b) { return a > b ? a : b; }
)"},
    {"uop_min_$T", kIntegers, "", R"(
static inline $C uop_min_$T($C a, $C b) { return a < b ? a : b; }
)"},
    {"uop_max_$T", "bool", "", R"(
static inline $C uop_max_$T($C a, $C b) { return a | b; }
)"},
    {"uop_min_$T", "bool", "", R"(
static inline $C uop_min_$T($C a, $C b) { return a & b; }
)"},
    // The lowest value has no opposite and stays.
    {"uop_abs_$T", "i8 i16 i32 i64", "", R"(
static inline $C uop_abs_$T($C a) { return a < 0 ? ($C)(0 - ($N)a) : a; }
)"},
    {"uop_abs_$T", "u8 u16 u32 u64", "", R"(
static inline $C uop_abs_$T($C a) { return a; }
)"},
};

}  // namespace

std::span<const PreludeRow> order_rows() {
  return kRows;
}

}  // namespace uop
