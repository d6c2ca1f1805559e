// Rows of the prelude for integers: division that never traps, shifts by any amount.
#include "core/render/prelude_table.h"

namespace uop {
namespace {

constexpr std::string_view kSigned = "i8 i16 i32 i64";
constexpr std::string_view kUnsigned = "u8 u16 u32 u64";
constexpr std::string_view kAll = "i8 i16 i32 i64 u8 u16 u32 u64";

constexpr PreludeRow kRows[] = {
    // The divisors 0 and -1 are replaced by 1, and their results chosen afterwards.
    {"uop_div_$T", kSigned, "", R"(
static inline $C uop_div_$T($C a, $C b) {
  $C q = ($C)(a / ($C)(b == 0 || b == -1 ? 1 : b));
  return b == 0 ? ($C)0 : b == -1 ? ($C)(0 - ($N)a) : q;
}
)"},
    {"uop_mod_$T", kSigned, "", R"(
static inline $C uop_mod_$T($C a, $C b) { return ($C)(a % ($C)(b == 0 || b == -1 ? 1 : b)); }
)"},
    {"uop_floordiv_$T", kSigned, "", R"(
static inline $C uop_floordiv_$T($C a, $C b) {
  $C r = uop_mod_$T(a, b);
  return ($C)(uop_div_$T(a, b) - ((r != 0) & ((r < 0) != (b < 0))));
}
)"},
    {"uop_floormod_$T", kSigned, "", R"(
static inline $C uop_floormod_$T($C a, $C b) {
  $C r = uop_mod_$T(a, b);
  return ($C)(r + (((r != 0) & ((r < 0) != (b < 0))) ? b : 0));
}
)"},
    {"uop_div_$T", kUnsigned, "", R"(
static inline $C uop_div_$T($C a, $C b) {
  $C q = ($C)(a / (b == 0 ? ($C)1 : b));
  return b == 0 ? ($C)0 : q;
}
)"},
    {"uop_mod_$T", kUnsigned, "", R"(
static inline $C uop_mod_$T($C a, $C b) { return ($C)(a % (b == 0 ? ($C)1 : b)); }
)"},
    {"uop_floordiv_$T", kUnsigned, "", R"(
static inline $C uop_floordiv_$T($C a, $C b) { return uop_div_$T(a, b); }
)"},
    {"uop_floormod_$T", kUnsigned, "", R"(
static inline $C uop_floormod_$T($C a, $C b) { return uop_mod_$T(a, b); }
)"},
    // A negative amount is a big unsigned one.
    {"uop_shl_$T", kAll, "", R"(
static inline $C uop_shl_$T($C a, $C b) {
  $C r = ($C)(($N)a << (b & ($W - 1)));
  return ($N)b < $W ? r : ($C)0;
}
)"},
    {"uop_shr_$T", kSigned, "", R"(
static inline $C uop_shr_$T($C a, $C b) { return ($C)(a >> (($N)b < $W ? b : ($C)($W - 1))); }
)"},
    {"uop_shr_$T", kUnsigned, "", R"(
static inline $C uop_shr_$T($C a, $C b) {
  $C r = ($C)(a >> (b & ($W - 1)));
  return b < $W ? r : ($C)0;
}
)"},
};

}  // namespace

std::span<const PreludeRow> integer_rows() {
  return kRows;
}

}  // namespace uop
