#include "client/cpp/promote.h"

#include <gtest/gtest.h>

#include "client/cpp/client_error.h"

namespace uop {
namespace {

TEST(PromoteTest, Rows) {
  struct Row {
    DType a, b, expected;
  };
  const Row rows[] = {
      {DType::kF32, DType::kF32, DType::kF32},  {DType::kBool, DType::kU8, DType::kU8},
      {DType::kBool, DType::kF16, DType::kF16}, {DType::kI64, DType::kF16, DType::kF16},
      {DType::kF32, DType::kF64, DType::kF64},  {DType::kF16, DType::kBF16, DType::kF32},
      {DType::kF16, DType::kF32, DType::kF32},  {DType::kI8, DType::kI32, DType::kI32},
      {DType::kU8, DType::kU64, DType::kU64},   {DType::kU8, DType::kI8, DType::kI16},
      {DType::kU16, DType::kI8, DType::kI32},   {DType::kU32, DType::kI32, DType::kI64},
      {DType::kU8, DType::kI32, DType::kI32},   {DType::kU64, DType::kF32, DType::kF32},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(promote(row.a, row.b), row.expected) << name(row.a) << " " << name(row.b);
    EXPECT_EQ(promote(row.b, row.a), row.expected) << name(row.b) << " " << name(row.a);
  }
  EXPECT_THROW(promote(DType::kU64, DType::kI64), ClientError);
}

TEST(PromoteTest, NumberRows) {
  struct Row {
    DType dtype;
    bool fractional;
    DType expected;
  };
  const Row rows[] = {
      {DType::kF16, true, DType::kF16},  {DType::kF64, false, DType::kF64},  {DType::kI32, true, DType::kF32},
      {DType::kI64, false, DType::kI64}, {DType::kBool, false, DType::kI32}, {DType::kBool, true, DType::kF32},
  };
  for (const Row& row : rows) EXPECT_EQ(promote_number(row.dtype, row.fractional), row.expected) << name(row.dtype);
}

TEST(PromoteTest, BroadcastRows) {
  EXPECT_EQ(broadcast_shape({2, 3}, {3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shape({2, 1}, {1, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shape({}, {4}), (Shape{4}));
  EXPECT_EQ(broadcast_shape({0, 1}, {1, 5}), (Shape{0, 5}));
  EXPECT_THROW(broadcast_shape({2}, {3}), ClientError);
  EXPECT_THROW(broadcast_shape({0}, {3}), ClientError);
}

}  // namespace
}  // namespace uop
