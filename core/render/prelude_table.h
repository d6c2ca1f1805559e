// The table behind the prelude: C text by function, one row for all the dtypes that a function exists for.
//
// What holds for every row: plain GNU C for gcc and clang; no header, no library, no undefined behaviour; the same
// bits with and without contraction of a*b+c, unless the comment of the row gives an error bound; no product that is
// relied on to be rounded (where a product's exactness matters, its factors are short enough). Functions have no
// branch where they can, so that loops that call them become vector loops.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace uop {

/// In `name` and `text`, of the dtype T, an element of `types`:
///   $T its name   $C its C type   $W its width in bits   $N the unsigned type as wide as T, and at least as wide as
///   int of a float also: $F the suffix of its literals   $M its mantissa bits   $I the integer type as wide as T
/// and of the source S of a cast, an element of `sources`: $S its name   $D its C type.
/// A function calls others by name; nothing else declares what it needs.
struct PreludeRow {
  std::string_view name;
  std::string_view types;    // dtype names, separated by spaces
  std::string_view sources;  // casts only
  std::string_view text;
};

std::span<const PreludeRow> integer_rows();         // prelude_integer.cpp: division, shifts
std::span<const PreludeRow> order_rows();           // prelude_order.cpp: max, min, abs
std::span<const PreludeRow> rounding_rows();        // prelude_rounding.cpp: to integral values, halves, casts
std::span<const PreludeRow> transcendental_rows();  // prelude_transcendental.cpp: exp2, log2
std::span<const PreludeRow> sine_rows();            // prelude_sine.cpp

/// The tables of 2/pi that the sines reduce big arguments with: `uop_two_over_pi` and `uop_over_pi_f32`, as C text.
std::string two_over_pi_text();
std::string over_pi_f32_text();

}  // namespace uop
