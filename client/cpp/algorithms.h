// Whole computations made of tensor operations: matmul, softmax, argmax and the like.
#pragma once

#include "client/cpp/tensor.h"

namespace uop {

/// (…,n,k) @ (…,k,m) -> (…,n,m); leading axes broadcast. A vector on the left is one row, on the right one column,
/// and that axis is dropped from the result. A sum of products over k, in the operands' promoted dtype.
Tensor matmul(const Tensor& a, const Tensor& b);

/// exp(x - max) / sum(exp(x - max)) along an axis; of integers: f32.
Tensor softmax(const Tensor& x, std::int64_t axis = -1);
/// log(softmax(x)), computed without overflow.
Tensor log_softmax(const Tensor& x, std::int64_t axis = -1);
/// (x - mean) / sqrt(var + epsilon) along the last axis, without scale and shift.
Tensor layernorm(const Tensor& x, double epsilon = 1e-5);

/// The index of the greatest (least) element along an axis; the first one where several are equal. NaN counts as the
/// extreme. i32, or i64 where the axis is longer than an i32 counts.
Tensor argmax(const Tensor& x, std::int64_t axis = -1, bool keepdim = false);
Tensor argmin(const Tensor& x, std::int64_t axis = -1, bool keepdim = false);

/// out[…i…] = x[…index[…i…]…] along an axis: `index` is of an integer dtype and has the shape of x but for that axis.
/// An index outside 0..n-1 gives 0.
Tensor gather(const Tensor& x, std::int64_t axis, const Tensor& index);

}  // namespace uop
