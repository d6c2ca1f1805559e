// The C functions that rendered kernels bring along, since they include no header and link no library.
//
// `prelude_for` is what others call.
#pragma once

#include <string>
#include <string_view>

namespace uop {

/// The definitions, as C text, of every function `uop_…` that occurs in `body`, each once and after what it needs.
/// Throws BrokenInvariant for a name that the prelude does not have.
///
/// Names (T: a dtype's name; halves are kept as `unsigned short` and computed as float):
///   uop_exp2_T uop_log2_T uop_sin_T uop_sqrt_T uop_trunc_T uop_floor_T uop_ceil_T uop_round_T   T: f32 f64
///   uop_div_T uop_mod_T uop_floordiv_T uop_floormod_T uop_shl_T uop_shr_T                      T: every integer
///   uop_max_T uop_min_T (bool too) uop_abs_T                                                   T: every integer, f32
///   f64 uop_bits_T(x) -> its bits, unsigned; uop_of_bits_T(bits) -> x                              T: f32 f64
///   uop_load_T(unsigned short) -> float, uop_store_T(float) -> unsigned short, uop_round_T(float) -> float: the value
///   rounded to nearest even in T                                                                T: f16 bf16
///   uop_cast_S_T(value of S) -> value of T, for every pair where C's own conversion does not do what the contract
///   says: float (f32 f64; halves are f32 values) to every integer, and f64, i32, u32, i64, u64 to f16 and bf16
std::string prelude_for(std::string_view body);

}  // namespace uop
