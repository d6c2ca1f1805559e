// The cases of tests/data/numeric as tensors: `kBuilders` has one row a case, in the order of the file. Where the
// client library has no such operation (truncated division, roll, sort, …) it is built of ops here.
#pragma once

#include <cmath>
#include <functional>

#include "client/cpp/algorithms.h"
#include "client/cpp/operators.h"
#include "tests/client/numeric_case.h"

namespace uop::numeric {

using Roots = std::vector<Tensor>;  // what np.stack puts together along its first axis are several roots

// --- Operations beyond the client library ---

inline Tensor op(Op o, const Tensor& a) {
  return {a.program(), unary(o, a.node())};
}
inline Tensor op(Op o, const Tensor& a, const Tensor& b) {
  return {a.program(), binary(o, a.node(), b.node())};
}
inline Tensor op(Op o, const Tensor& a, std::int64_t b) {
  return op(o, a, Tensor(a.program(), broadcast_scalar(constant(a.node().graph(), a.dtype(), b), a.shape())));
}
inline Tensor bits_as(const Tensor& x, DType dtype) {
  return {x.program(), x.node().graph().make(Op::kBitcast, {x.node()}, {.dtype = dtype})};
}
inline Tensor rounded_to(const Tensor& x, DType dtype) {
  return x.cast(dtype).cast(DType::kF32);
}
inline Tensor places(const Tensor& x, std::int64_t axis) {  // the index along an axis, in x's shape
  Shape ones(x.shape().size(), 1);
  const std::int64_t n = x.shape()[static_cast<std::size_t>(axis)];
  ones[static_cast<std::size_t>(axis)] = n;
  return Tensor::arange(x.program(), n).reshape(ones).expand(x.shape());
}
inline Tensor part(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> bounds;
  for (std::size_t i = 0; i < x.shape().size(); i++) bounds.insert(bounds.end(), {0, x.shape()[i]});
  bounds[static_cast<std::size_t>(2 * axis)] = begin;
  bounds[static_cast<std::size_t>(2 * axis + 1)] = end;
  return x.shrink(bounds);
}
inline Tensor joined(const Tensor& a, const Tensor& b, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(2 * axis);
  const std::int64_t n = a.shape()[at / 2];
  std::vector<std::int64_t> after(2 * a.shape().size());
  std::vector<std::int64_t> before = after;
  after[at + 1] = b.shape()[at / 2];
  before[at] = n;
  const Tensor left = a.pad(after);
  return where(places(left, axis) < n, left, b.pad(before));
}
inline Tensor taken(const Tensor& x, std::int64_t axis, const Tensor& index) {  // index: one axis
  Shape shape = x.shape();
  Shape ones(shape.size(), 1);
  shape[static_cast<std::size_t>(axis)] = ones[static_cast<std::size_t>(axis)] = index.numel();
  return gather(x, axis, index.reshape(ones).expand(shape));
}
inline Tensor rolled(const Tensor& x, std::int64_t by, std::int64_t axis) {
  const std::int64_t n = x.shape()[static_cast<std::size_t>(axis)];
  return taken(x, axis, op(Op::kFloorMod, Tensor::arange(x.program(), n) - by, n));
}
inline Tensor running_sums(const Tensor& x) {  // of a vector
  const std::int64_t n = x.numel();
  const Tensor grid = x.reshape({1, n}).expand({n, n});
  return where(places(grid, 1) <= places(grid, 0), grid, 0).sum({1});
}
inline Tensor sorted(const Tensor& x) {  // of a vector: each element goes where as many others come before it
  const std::int64_t n = x.numel();
  const Tensor self = x.reshape({n, 1}).expand({n, n});
  const Tensor other = x.reshape({1, n}).expand({n, n});
  const Tensor before = where(other < self, 1, where(equal(other, self), places(self, 1) < places(self, 0), 0));
  const Tensor rank = before.cast(DType::kI32).sum({1});
  return {x.program(), x.node().graph().make(Op::kScatter, {x.node(), rank.node(), x.node()}, {.value = 0})};
}
inline Tensor power(const Tensor& a, const Tensor& b) {
  return where(equal(b, 0), 1.0, exp2(b * log2(a)));
}
inline Tensor flat_argmax(const Tensor& x) {
  return argmax(x.reshape({-1})).cast(DType::kI64);
}
inline Tensor scalar(const Inputs& in, DType dtype, std::int64_t value) {
  return {in.program(), constant(in.program()->graph(), dtype, value)};
}

inline Tensor standardised(const Tensor& x) {
  const Tensor centred = x - x.mean();
  return centred / sqrt(square(centred).mean());
}

// --- The rows ---

struct Builder {
  int id;
  std::function<Roots(Inputs&)> build;
};

inline Roots bias_corrected_steps(Inputs& in) {  // 165
  Tensor b = in("b"), m = in("m"), p = in("p");
  for (int i = 0; i < 10; i++) {
    m = m * 0.9 + 0.1;
    p = p - m / (1.0 - b);
    b = b * 0.9;
  }
  return {p, m, b};
}
inline Roots long_chain(Inputs& in) {  // 147
  Tensor x = in("x");
  for (int i = 0; i < 10'000; i++) x = x + 1;
  return {x};
}
inline Roots log_of_weighted_sum(Inputs& in) {  // 29
  const Tensor b = in("b");
  const Tensor a = where(not_equal(b, 0), in("a"), -INFINITY);
  return {log((b * exp(a - a.max())).sum()) + a.max()};
}
inline Roots step_function(Inputs& in) {  // 23
  const Tensor x = in("x");
  return {where(x < 0, 0.0, where(x > 0, 1.0, where(equal(x, 0), 0.5, x)))};
}
inline Roots sign_copied(Inputs& in) {  // 17
  const Tensor a = bits_as(in("a"), DType::kU32), b = bits_as(in("b"), DType::kU32);
  return {bits_as(op(Op::kOr, op(Op::kAnd, a, 0x7fffffff), op(Op::kAnd, b, 0x80000000)), DType::kF32)};
}
inline Roots convolution(Inputs& in) {  // 137
  const Tensor x = in("x").reshape({28, 28}), w = in("w").reshape({9});
  Tensor sum = Tensor::full(in.program(), {26, 26}, 0);
  for (std::int64_t i = 0; i < 9; i++)
    sum = sum + x.shrink({i / 3, i / 3 + 26, i % 3, i % 3 + 26}) * part(w, 0, i, i + 1);
  return {sum};
}
inline Roots sliced_selected_padded(Inputs& in) {  // 115
  const Tensor x = in("x");
  const Tensor chosen = where(equal(part(x, 1, 7, 22), 0), 42.0, part(x, 1, 0, 15)).pad({0, 0, 0, 15});
  return {where(places(chosen, 1) < 15, chosen, 42.0)};
}

inline const Builder kBuilders[] = {
    {1, [](Inputs& in) -> Roots { return {in("x").max()}; }},
    {3,
     [](Inputs& in) -> Roots {
       return {in("x").max({0}), in("x").min({0})};
     }},
    {5, [](Inputs& in) -> Roots { return {flat_argmax(in("x"))}; }},
    {7, [](Inputs& in) -> Roots { return {in("x") * 0.0}; }},
    {9,
     [](Inputs& in) -> Roots {
       const Tensor x = in("x");
       return {op(Op::kDiv, x, x)};
     }},
    {11, [](Inputs& in) -> Roots { return {gather(in("x"), 0, in("i"))}; }},
    {13, [](Inputs& in) -> Roots { return {-in("x")}; }},
    {15, [](Inputs& in) -> Roots { return {in("x") + 0.0}; }},
    {17, sign_copied},
    {19, [](Inputs& in) -> Roots { return {minimum(maximum(in("x"), -1.0), 1.0)}; }},
    {21,
     [](Inputs& in) -> Roots {
       const Tensor x = in("x");
       return {sqrt(abs(x * x))};
     }},
    {23, step_function},
    {25, [](Inputs& in) -> Roots { return {softmax(in("x"))}; }},
    {27, [](Inputs& in) -> Roots { return {softmax(in("x"))}; }},
    {29, log_of_weighted_sum},
    {31,
     [](Inputs& in) -> Roots {
       const Tensor m = in("m");
       return {where(m, softmax(where(m, in("x"), -INFINITY)), 0.0)};
     }},
    {33, [](Inputs& in) -> Roots { return {standardised(in("x"))}; }},
    {35, [](Inputs& in) -> Roots { return {op(Op::kFloor, op(Op::kDiv, in("a"), in("b")))}; }},
    {37, [](Inputs& in) -> Roots { return {power(in("a"), in("b"))}; }},
    {39, [](Inputs& in) -> Roots { return {in("x").max()}; }},
    {41,
     [](Inputs& in) -> Roots {
       return {argmin(in("x"), 1).reshape({0, 3}).cast(DType::kI64)};
     }},
    {43,
     [](Inputs& in) -> Roots {
       const Tensor x = in("x");
       Roots roots;
       for (const std::int64_t d : {4, 5, 6}) {
         const Tensor n = Tensor::full(in.program(), {}, static_cast<double>(x.numel() - d));
         roots.push_back(where(n > 0, square(x - x.mean()).sum() / n, NAN));
       }
       return roots;
     }},
    {45, [](Inputs& in) -> Roots { return {rolled(in("x"), 1, 1)}; }},
    {47, [](Inputs& in) -> Roots { return {running_sums(in("x"))}; }},
    {49, [](Inputs& in) -> Roots { return {in("x").sum()}; }},
    {51,
     [](Inputs& in) -> Roots {
       const Tensor x = in("x");
       return {part(x, 0, 0, std::min<std::int64_t>(10, x.numel()))};
     }},
    {53,
     [](Inputs& in) -> Roots {
       return {op(Op::kDiv, in("a"), in("b")), op(Op::kMod, in("a"), in("b"))};
     }},
    {55, [](Inputs& in) -> Roots { return {op(Op::kFloorMod, op(Op::kFloorMod, in("a") * 5, 12), 5)}; }},
    {57,
     [](Inputs& in) -> Roots {
       const Tensor g = in("g");
       const auto over = [&](std::int64_t n) { return op(Op::kFloorDiv, g, n); };
       const Tensor middle = op(Op::kFloorMod, over(3), 224) * 3;
       return {middle + over(600) * 600, over(672) * 700 + middle, middle + op(Op::kFloorMod, g, 3) + over(672) * 672};
     }},
    {59,
     [](Inputs& in) -> Roots {
       const Tensor y = in("x") * 48 + 241;
       return {op(Op::kDiv, y, 16), op(Op::kFloorDiv, y, 16)};
     }},
    {61, [](Inputs& in) -> Roots { return {op(Op::kFloorMod, scalar(in, DType::kI32, 7), 3)}; }},
    {63,
     [](Inputs& in) -> Roots {
       return {op(Op::kFloorDiv, in("a"), in("b")), op(Op::kFloorMod, in("a"), in("b"))};
     }},
    {65,
     [](Inputs& in) -> Roots {
       return {op(Op::kFloorDiv, in("a"), in("b")), op(Op::kFloorMod, in("a"), in("b"))};
     }},
    {67,
     [](Inputs& in) -> Roots {
       const Tensor x = in("x");
       return {op(Op::kFloorDiv, x, x), op(Op::kFloorMod, x, x)};
     }},
    {69,
     [](Inputs& in) -> Roots {
       return {in("a") + in("b"), in("a") * in("b")};
     }},
    {71,
     [](Inputs& in) -> Roots {
       const Tensor c = in("c"), x = in("x"), y = in("y");
       return {(c * (x + y)).cast(DType::kI32), (c * x + c * y).cast(DType::kI32)};
     }},
    {73,
     [](Inputs& in) -> Roots {
       return {op(Op::kShl, in("a"), in("s")), op(Op::kShr, in("a"), in("s"))};
     }},
    {75, [](Inputs& in) -> Roots { return {op(Op::kShr, in("a"), in("s"))}; }},
    {77,
     [](Inputs& in) -> Roots {
       const Tensor x = in("x").cast(DType::kF32);
       Roots roots;
       for (const double e : {0.5, 1.5, 2.0, -1.0, 0.0})
         roots.push_back(power(x, Tensor::full(in.program(), x.shape(), e)));
       return roots;
     }},
    {79, [](Inputs& in) -> Roots { return {in("x").cast(DType::kI64).sum()}; }},
    {81, [](Inputs& in) -> Roots { return {not_equal(running_sums(not_equal(in("x"), 0).cast(DType::kI32)), 0)}; }},
    {83,
     [](Inputs& in) -> Roots {
       return {in("x").sum(), in("x").max(), in("x").min()};
     }},
    {85, [](Inputs& in) -> Roots { return {in("x") + 4294967295}; }},
    {87,
     [](Inputs& in) -> Roots {
       return {gather(part(in("x"), 0, 999, 1000).reshape({1}), 0, in("j").reshape({1})).reshape({})};
     }},
    {89,
     [](Inputs& in) -> Roots {
       Roots roots;
       for (const char* name : {"a", "b"}) {
         roots.push_back(argmax(in(name)).cast(DType::kI64));
         roots.push_back(argmin(in(name)).cast(DType::kI64));
       }
       return roots;
     }},
    {91, [](Inputs& in) -> Roots { return {argmax(in("x"), 0).cast(DType::kI64)}; }},
    {93, [](Inputs& in) -> Roots { return {in("x").min()}; }},
    {95, [](Inputs& in) -> Roots { return {sorted(in("x"))}; }},
    {97, [](Inputs& in) -> Roots { return {in("x").cast(DType::kI32)}; }},
    {99, [](Inputs& in) -> Roots { return {rounded_to(in("x"), DType::kBF16)}; }},
    {101, [](Inputs& in) -> Roots { return {rounded_to(in("x"), DType::kBF16)}; }},
    {103, [](Inputs& in) -> Roots { return {(in("x") * 200).cast(DType::kF32)}; }},
    {105, [](Inputs& in) -> Roots { return {exp2(in("x"))}; }},
    {107, [](Inputs& in) -> Roots { return {sin(in("x"))}; }},
    {109, [](Inputs& in) -> Roots { return {log2(in("x"))}; }},
    {111,
     [](Inputs& in) -> Roots {
       const Tensor a = in("a"), b = in("b");
       const Tensor i = Tensor::arange(in.program(), 10, DType::kF32);
       const Tensor line = where(equal(i, 9), b, a + i * ((b - a) / 9));
       return {part(line, 0, 0, 1), part(line, 0, 9, 10)};
     }},
    {113, [](Inputs& in) -> Roots { return {in("x") * 0x1p64 * 0x1p64}; }},
    {114, [](Inputs& in) -> Roots { return {in("x").mean()}; }},
    {115, sliced_selected_padded},
    {117,
     [](Inputs& in) -> Roots {
       const Tensor b = in("b");
       return {b.pad({1, 1, 0, 0}).sum({1}) + part(b.pad({1, 2, 0, 0}), 0, 0, 6).sum({1})};
     }},
    {119,
     [](Inputs& in) -> Roots {
       return {reciprocal(in("x").pad({0, 1})).sum(), reciprocal(in("x")).pad({0, 1}).sum()};
     }},
    {121,
     [](Inputs& in) -> Roots {
       return {Tensor::full(in.program(), {4}, 1).pad({1, 1})};
     }},
    {123,
     [](Inputs& in) -> Roots {
       const Tensor wrapped = op(Op::kFloorMod, Tensor::arange(in.program(), 4) - 1, 3);
       return {taken(taken(in("x"), 0, wrapped), 1, wrapped).shrink({0, 3, 0, 3})};
     }},
    {125,
     [](Inputs& in) -> Roots {
       return {in("x").reshape({2, 1, 4}).expand({2, 3, 4}).flip({0, 2}) + 0.0};
     }},
    {127,
     [](Inputs& in) -> Roots {
       return {(in("a").transpose().reshape({6, 4, 1}) * in("b").transpose().reshape({1, 4, 7})).sum({1})};
     }},
    {129, [](Inputs& in) -> Roots { return {flat_argmax(sin(in("x")).transpose())}; }},
    {131,
     [](Inputs& in) -> Roots {
       return {in("x").mean({2, 3, 4, 5}, true) + in("y")};
     }},
    {133,
     [](Inputs& in) -> Roots {
       return {joined(in("x").reshape({1, 1}), in("y").reshape({1, 1}), 0).max({0})};
     }},
    {135,
     [](Inputs& in) -> Roots {
       return {where(in("c"), Tensor::full(in.program(), {}, 1.5), Tensor::full(in.program(), {}, 0.0))};
     }},
    {137, convolution},
    {139,
     [](Inputs& in) -> Roots {
       const Tensor x = in("x");
       return {x * 2, x * 2, x * 2 - x * 2};
     }},
    {141, [](Inputs& in) -> Roots { return {in("a") * 2 + in("a")}; }},
    {143, [](Inputs& in) -> Roots { return {gather(in("x"), 0, in("i"))}; }},
    {145,
     [](Inputs& in) -> Roots { return {Tensor::full(in.program(), {1}, 1, DType::kI64).expand({2147483656}).sum()}; }},
    {147, long_chain},
    {149,
     [](Inputs& in) -> Roots {
       const Tensor x = in("x");
       return {joined(part(x, 0, 0, 1), part(x, 0, 0, 7) + 1, 0)};
     }},
    {151,
     [](Inputs& in) -> Roots {
       const Tensor x = in("X");
       return {joined(rolled(part(x, 0, 0, 1), 5, 1), part(x, 0, 1, 2), 0)};
     }},
    {153,
     [](Inputs& in) -> Roots {
       const Tensor a = in("a");
       return {joined(part(a, 0, 1000, a.numel()), part(a, 0, a.numel() - 1000, a.numel()), 0)};
     }},
    {155, [](Inputs& in) -> Roots { return {in("a").flip({0}) + in("a")}; }},
    {157,
     [](Inputs& in) -> Roots {
       const Tensor b = in("b");
       const Tensor a = in("a") + b;
       return {a, b + a};
     }},
    {159,
     [](Inputs& in) -> Roots {
       return {in("a") + in("b"), in("a") * in("b")};
     }},
    {161,
     [](Inputs& in) -> Roots {
       const Tensor p = part(in("b"), 0, 0, 2).sum();
       return {p, Tensor::full(in.program(), {4}, 10).sum()};
     }},
    {163,
     [](Inputs& in) -> Roots {
       const Tensor x = in("x");
       return {x, x + 1, x + 1 + 1, x + 1 + 1 + 1};
     }},
    {165, bias_corrected_steps},
};

}  // namespace uop::numeric
