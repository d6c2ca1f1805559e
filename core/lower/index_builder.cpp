#include "core/lower/index_builder.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/ir/build.h"

namespace uop {
namespace {

__extension__ typedef __int128 Wide;  // wide enough for any product of two int64

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

std::int64_t clamp_to_int64(Wide v) {
  return v < kLowest ? kLowest : v > kHighest ? kHighest : static_cast<std::int64_t>(v);
}

Bounds plus(Bounds a, Bounds b) {
  return {clamp_to_int64(Wide(a.low) + b.low), clamp_to_int64(Wide(a.high) + b.high)};
}

Bounds times(Bounds a, std::int64_t factor) {
  const std::int64_t x = clamp_to_int64(Wide(a.low) * factor);
  const std::int64_t y = clamp_to_int64(Wide(a.high) * factor);
  return {std::min(x, y), std::max(x, y)};
}

bool within(Bounds b, std::int64_t low, std::int64_t high) {
  return b.low >= low && b.high <= high;
}

bool is_number(UOp u) {
  return u.op() == Op::kConst;
}

Bounds dtype_bounds(DType dtype) {
  const std::int64_t bits = byte_size(dtype) * 8;
  if (!is_integer(dtype) || bits == 64) return {kLowest, kHighest};  // a u64 wraps when it becomes an index
  if (is_signed(dtype)) return {kLowest >> (64 - bits), kHighest >> (64 - bits)};
  return {0, (std::int64_t{1} << bits) - 1};
}

}  // namespace

UOp IndexBuilder::number(std::int64_t value) {
  return constant(graph_, DType::kI64, value);
}

UOp IndexBuilder::always() {
  return constant(graph_, DType::kBool, std::int64_t{1});
}
UOp IndexBuilder::never() {
  return constant(graph_, DType::kBool, std::int64_t{0});
}
bool IndexBuilder::is_always(UOp gate) const {
  return is_number(gate) && gate.arg().value == 1;
}
bool IndexBuilder::is_never(UOp gate) const {
  return is_number(gate) && gate.arg().value == 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums

void IndexBuilder::accumulate(Sum& sum, UOp a, std::int64_t factor) const {
  std::vector<Term> stack{{a, factor}};
  while (!stack.empty()) {
    const auto [u, f] = stack.back();
    stack.pop_back();
    if (is_number(u)) {
      sum.constant += u.arg().value * f;
    } else if (u.op() == Op::kAdd) {
      stack.push_back({u.src(1), f});
      stack.push_back({u.src(0), f});
    } else if (u.op() == Op::kMul && is_number(u.src(1))) {
      stack.push_back({u.src(0), f * u.src(1).arg().value});
    } else {
      const auto same = std::ranges::find(sum.terms, u, &Term::value);
      if (same == sum.terms.end()) {
        sum.terms.push_back({u, f});
      } else {
        same->factor += f;
      }
    }
  }
}

IndexBuilder::Sum IndexBuilder::sum_of(UOp a) const {
  Sum sum;
  accumulate(sum, a, 1);
  return sum;
}

// x/m * km + x%m * k is x * k; and (x/m)%n * km + x%m * k is x%(mn) * k: what merging split axes leaves behind.
bool IndexBuilder::merge_one_quotient(Sum& sum) {
  for (std::size_t i = 0; i < sum.terms.size(); i++) {
    const Term low = sum.terms[i];
    if (low.value.op() != Op::kMod) continue;
    const UOp x = low.value.src(0);
    const std::int64_t m = low.value.src(1).arg().value;
    for (std::size_t j = 0; j < sum.terms.size(); j++) {
      const Term high = sum.terms[j];
      if (i == j || high.factor != low.factor * m) continue;
      UOp merged;
      if (high.value == div(x, m)) {
        merged = x;
      } else if (high.value.op() == Op::kMod && high.value.src(0) == div(x, m)) {
        merged = mod(x, m * high.value.src(1).arg().value);
      }
      if (!merged) continue;
      sum.terms.erase(sum.terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
      sum.terms.erase(sum.terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
      accumulate(sum, merged, low.factor);
      return true;
    }
  }
  return false;
}

void IndexBuilder::merge_quotients(Sum& sum) {
  while (merge_one_quotient(sum)) {
  }
}

void IndexBuilder::sort_terms(Sum& sum) {
  std::erase_if(sum.terms, [](const Term& t) { return t.factor == 0; });
  // Loop counters are made from the outermost in, so this order puts what changes least first.
  std::ranges::sort(sum.terms, {}, [](const Term& t) { return t.value.id(); });
}

IndexBuilder::Sum IndexBuilder::remainders(const Sum& sum, std::int64_t divisor) {
  Sum reduced = sum;
  for (Term& t : reduced.terms) t.factor %= divisor;
  sort_terms(reduced);
  return reduced;
}

UOp IndexBuilder::node_of(const Sum& sum) {
  UOp result;
  for (const Term& t : sum.terms) {
    const UOp term = t.factor == 1 ? t.value : binary(Op::kMul, t.value, number(t.factor));
    result = result ? binary(Op::kAdd, result, term) : term;
  }
  if (!result) return number(sum.constant);
  return sum.constant == 0 ? result : binary(Op::kAdd, result, number(sum.constant));
}

UOp IndexBuilder::add(UOp a, UOp b) {
  Sum sum = sum_of(a);
  accumulate(sum, b, 1);
  merge_quotients(sum);
  sort_terms(sum);
  return node_of(sum);
}

UOp IndexBuilder::mul(UOp a, std::int64_t factor) {
  Sum sum;
  accumulate(sum, a, factor);
  sort_terms(sum);
  return node_of(sum);
}

UOp IndexBuilder::flatten(std::span<const UOp> index, std::span<const std::int64_t> shape) {
  Sum sum;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    accumulate(sum, index[i], stride);
    stride *= shape[i];
  }
  merge_quotients(sum);
  sort_terms(sum);
  return node_of(sum);
}

// ---------------------------------------------------------------------------------------------------------------------
// Quotients

// `div`, `mod` and the merging of quotients recurse. What bounds them: each call divides the divisor by a common factor
// (at most 63 times), or takes the whole part out (at most once in between), or goes to the operand of a DIV or MOD
// within `a`. These nest only where a RESHAPE splits what a SHRINK or PAD has shifted, so no deeper than a kernel has
// movement ops over one another, of which kMaxKernelWork * kOversize (materialization_points.h) end it.
UOp IndexBuilder::div(UOp a, std::int64_t divisor) {
  if (divisor == 1) return a;
  Sum whole;
  Sum rest;
  std::int64_t common = divisor;
  for (const Term& t : sum_of(a).terms) {
    if (t.factor % divisor == 0) {
      whole.terms.push_back({t.value, t.factor / divisor});
    } else {
      rest.terms.push_back(t);
      common = std::gcd(common, t.factor);
    }
  }
  const std::int64_t constant = sum_of(a).constant;
  rest.constant = ((constant % divisor) + divisor) % divisor;
  whole.constant = (constant - rest.constant) / divisor;
  sort_terms(whole);
  sort_terms(rest);
  const Bounds rest_bounds = bounds_of(rest);
  if (within(rest_bounds, 0, divisor - 1)) return node_of(whole);
  // (i + 10 k) / 9 is k where i + k is below 9: what windows (rows one longer than what they repeat) are made of.
  if (within(bounds_of(remainders(rest, divisor)), 0, divisor - 1)) {
    for (const Term& t : rest.terms) whole.terms.push_back({t.value, t.factor / divisor});
    sort_terms(whole);
    return node_of(whole);
  }
  if (rest_bounds.low < 0) {  // taking the whole part out could make the numerator negative
    const UOp plain = binary(Op::kDiv, a, number(divisor));
    return plain;
  }
  if (!whole.terms.empty() || whole.constant != 0) return add(node_of(whole), div(node_of(rest), divisor));
  if (common > 1) {  // (gx + k) / gc = (x + k/g) / c
    Sum smaller;
    for (const Term& t : rest.terms) smaller.terms.push_back({t.value, t.factor / common});
    smaller.constant = rest.constant / common;
    return div(node_of(smaller), divisor / common);
  }
  const UOp x = node_of(rest);
  if (x.op() == Op::kDiv) return div(x.src(0), x.src(1).arg().value * divisor);
  if (x.op() == Op::kMod && x.src(1).arg().value % divisor == 0)
    return mod(div(x.src(0), divisor), x.src(1).arg().value / divisor);
  return binary(Op::kDiv, x, number(divisor));
}

UOp IndexBuilder::mod(UOp a, std::int64_t divisor) {
  if (divisor == 1) return number(0);
  Sum rest;
  std::int64_t common = divisor;
  const Sum sum = sum_of(a);
  for (const Term& t : sum.terms) {
    if (t.factor % divisor == 0) continue;
    rest.terms.push_back(t);  // not reduced by the divisor: merge_quotients must find the same sum in `div`
    common = std::gcd(common, t.factor);
  }
  rest.constant = ((sum.constant % divisor) + divisor) % divisor;
  sort_terms(rest);
  const Bounds rest_bounds = bounds_of(rest);
  if (within(rest_bounds, 0, divisor - 1)) return node_of(rest);
  const Sum reduced = remainders(rest, divisor);  // as in `div`
  if (within(bounds_of(reduced), 0, divisor - 1)) return node_of(reduced);
  if (rest_bounds.low < 0) return binary(Op::kMod, a, number(divisor));
  if (common > 1 && rest.constant % common == 0) {  // (gx) % (gc) = g * (x % c)
    Sum smaller;
    for (const Term& t : rest.terms) smaller.terms.push_back({t.value, t.factor / common});
    smaller.constant = rest.constant / common;
    return mul(mod(node_of(smaller), divisor / common), common);
  }
  const UOp x = node_of(rest);
  if (x.op() == Op::kMod && x.src(1).arg().value % divisor == 0) return mod(x.src(0), divisor);
  return binary(Op::kMod, x, number(divisor));
}

// ---------------------------------------------------------------------------------------------------------------------
// Gates

UOp IndexBuilder::at_least(UOp a, std::int64_t low) {
  const Bounds b = bounds(a);
  if (b.low >= low) return always();
  if (b.high < low) return never();
  return binary(Op::kCmpLe, number(low), a);
}

UOp IndexBuilder::below(UOp a, std::int64_t high) {
  const Bounds b = bounds(a);
  if (b.high < high) return always();
  if (b.low >= high) return never();
  return binary(Op::kCmpLt, a, number(high));
}

UOp IndexBuilder::both(UOp a, UOp b) {
  if (is_always(a) || a == b) return b;
  if (is_always(b)) return a;
  if (is_never(a) || is_never(b)) return never();
  return binary(Op::kAnd, a, b);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bounds

Bounds IndexBuilder::bounds_of(const Sum& sum) {
  Bounds b{sum.constant, sum.constant};
  for (const Term& t : sum.terms) b = plus(b, times(bounds(t.value), t.factor));
  return b;
}

Bounds IndexBuilder::compute_bounds(UOp a) const {
  const auto known = [&](UOp u) { return *bounds_[u.id()]; };
  switch (a.op()) {
    case Op::kConst: return {a.arg().value, a.arg().value};
    case Op::kRange: return {0, a.arg().ints[0] - 1};
    case Op::kVariable: return {a.arg().ints[0], a.arg().ints[1]};
    case Op::kAdd: return plus(known(a.src(0)), known(a.src(1)));
    case Op::kMul:
      return is_number(a.src(1)) ? times(known(a.src(0)), a.src(1).arg().value) : Bounds{kLowest, kHighest};
    case Op::kDiv: {
      if (!is_number(a.src(1)) || a.src(1).arg().value < 1) return {kLowest, kHighest};
      const Bounds b = known(a.src(0));
      return {b.low / a.src(1).arg().value, b.high / a.src(1).arg().value};
    }
    case Op::kMod: {
      if (!is_number(a.src(1)) || a.src(1).arg().value < 1) return {kLowest, kHighest};
      const std::int64_t last = a.src(1).arg().value - 1;
      const Bounds b = known(a.src(0));
      return {b.low < 0 ? -last : 0, b.high >= 0 ? std::min(b.high, last) : 0};
    }
    case Op::kCast: return dtype_bounds(a.src(0).dtype());
    default: return {kLowest, kHighest};
  }
}

Bounds IndexBuilder::bounds(UOp index) {
  const auto is_arithmetic = [](UOp u) {
    return u.dtype() == DType::kI64 &&
           (u.op() == Op::kAdd || u.op() == Op::kMul || u.op() == Op::kDiv || u.op() == Op::kMod);
  };
  std::vector<UOp> stack{index};
  while (!stack.empty()) {
    const UOp u = stack.back();
    bounds_.resize(std::max<std::size_t>(bounds_.size(), graph_.size()));
    bool ready = true;
    if (!bounds_[u.id()] && is_arithmetic(u))
      for (const UOp s : u.src())
        if (!bounds_[s.id()]) {
          stack.push_back(s);
          ready = false;
        }
    if (!ready) continue;
    if (!bounds_[u.id()]) bounds_[u.id()] = compute_bounds(u);
    stack.pop_back();
  }
  return *bounds_[index.id()];
}

}  // namespace uop
