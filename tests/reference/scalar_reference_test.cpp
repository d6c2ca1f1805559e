// core/ir/scalar.h against the reference: every elementwise op of the table, every dtype, on extreme values. Both were
// written from the contract alone, so what they agree on is likely what it says.
#include <gtest/gtest.h>

#include <cmath>

#include "core/ir/scalar.h"
#include "tests/reference/compare.h"
#include "tests/reference/random_values.h"
#include "tests/reference/scalar_meaning.h"

namespace uop::reference {
namespace {

constexpr int kValues = 3000;  // for each op and pair of dtypes

std::vector<DType> results_of(const OpRow& op, DType operand) {
  if (op.result == OpResult::kSame) return {operand};
  if (op.result == OpResult::kBool) return {DType::kBool};
  std::vector<DType> dtypes;
  for (const DTypeRow& r : dtype_rows())
    if (op.op == Op::kCast || r.bytes == byte_size(operand)) dtypes.push_back(r.dtype);
  return dtypes;
}

void check_op(const OpRow& op, DType operand, DType result) {
  Random random(static_cast<std::uint64_t>(op.number) * 1000 + static_cast<std::uint64_t>(operand) * 20 +
                static_cast<std::uint64_t>(result));
  const auto arity = static_cast<std::size_t>(op.arity);
  for (int i = 0; i < kValues; i++) {
    std::vector<Bits> bits;
    std::vector<Scalar> scalars;
    bool has_nan = false;
    for (std::size_t k = 0; k < arity; k++) {
      const DType dtype = op.op == Op::kWhere && k == 0 ? DType::kBool : operand;
      bits.push_back(random_value(random, dtype, Mood::kWild));
      scalars.push_back({dtype, bits.back()});
      has_nan = has_nan || (is_float(dtype) && std::isnan(real(dtype, bits.back())));
    }
    const std::optional<Scalar> actual = evaluate(op.op, result, scalars);
    ASSERT_TRUE(actual);
    ASSERT_EQ(actual->dtype, result);
    if (op.op == Op::kBitcast && has_nan) continue;  // the pattern of a NaN is nobody's promise
    Bytes memory(static_cast<std::size_t>(byte_size(result)));
    store(result, actual->bits, memory.data());
    const Tensor expected{result, {1}, {exact(result, meaning(op.op, result, operand, bits))}};
    const auto difference = compare(memory, expected).difference;
    std::string operands;
    for (std::size_t k = 0; k < arity; k++) operands += " " + to_text(scalars[k].dtype, bits[k]);
    ASSERT_EQ(difference, std::nullopt) << op.name << operands;
    ASSERT_EQ(actual->bits >> (byte_size(result) * 8 - 1) >> 1, 0u) << "bits above the dtype's " << op.name << operands;
  }
}

class ScalarAgainstReference : public testing::TestWithParam<OpRow> {};

TEST_P(ScalarAgainstReference, Agrees) {
  const OpRow& op = GetParam();
  for (const DTypeRow& operand : dtype_rows()) {
    if (!accepts(op.op, operand.dtype)) continue;
    for (const DType result : results_of(op, operand.dtype)) {
      check_op(op, operand.dtype, result);
      if (HasFatalFailure()) return;
    }
  }
}

std::vector<OpRow> evaluated_ops() {
  std::vector<OpRow> rows;
  for (const OpRow& r : op_rows())
    if (r.cls == OpClass::kAlu && !is_approximate(r.op)) rows.push_back(r);
  return rows;
}
std::string name_of(const testing::TestParamInfo<OpRow>& info) {
  return std::string(info.param.name);
}
INSTANTIATE_TEST_SUITE_P(Ops, ScalarAgainstReference, testing::ValuesIn(evaluated_ops()), name_of);

TEST(ScalarAgainstReference, AgreesOnReduceIdentities) {
  for (const DTypeRow& r : dtype_rows())
    for (const Op op : {Op::kAdd, Op::kMul, Op::kMax, Op::kMin})
      if (accepts(op, r.dtype)) {
        EXPECT_EQ(reduce_identity(op, r.dtype).bits, identity(op, r.dtype)) << name(op) << " " << r.name;
      }
}

}  // namespace
}  // namespace uop::reference
