// One op as a C expression: the op table's column "C", and what depends on the dtype.
#pragma once

#include <span>
#include <string>

#include "core/ir/uop.h"

namespace uop {

/// A constant as a C literal of the dtype's value type.
std::string c_literal(Scalar value);

/// The elementwise op `u` applied to operands given as C expressions (atoms, or in parentheses).
std::string c_alu(UOp u, std::span<const std::string> operands);

/// `op` (ADD, MUL, MAX, MIN) of two values of `dtype`: what an accumulator or an adding store does.
std::string c_binary(Op op, DType dtype, const std::string& a, const std::string& b);

/// An element in memory (an lvalue) as a value, and a value as an element in memory.
std::string c_from_memory(DType dtype, const std::string& element);
std::string c_to_memory(DType dtype, const std::string& value);

}  // namespace uop
