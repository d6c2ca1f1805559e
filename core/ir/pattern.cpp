#include "core/ir/pattern.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "core/ir/build.h"

namespace uop {
namespace {

constexpr std::string_view kAnyNames = "xyz";
constexpr std::string_view kConstNames = "cd";

class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : text_(text) {}

  Pattern whole() {
    Pattern p = expression();
    check(word().empty(), fmt::format("rule text '{}' goes on where it should end", text_));
    return p;
  }

 private:
  // An op and its operands, without parentheses, or a single leaf.
  Pattern expression() {
    const std::string_view head = word();
    const std::optional<Op> op = op_of_name(head);
    if (!op) return leaf(head);
    Pattern p{Pattern::Kind::kOp};
    p.op = *op;
    for (int i = 0; i < row(*op).arity; i++) p.operands.push_back(operand());
    return p;
  }

  Pattern operand() {
    const std::string_view head = word();
    if (head != "(") return leaf(head);
    Pattern p = expression();
    check(word() == ")", fmt::format("rule text '{}' lacks a parenthesis", text_));
    return p;
  }

  Pattern leaf(std::string_view head) const {
    Pattern p{Pattern::Kind::kNumber};
    if (const std::size_t any = kAnyNames.find(head); head.size() == 1 && any != std::string_view::npos) {
      p.kind = Pattern::Kind::kAny;
      p.binding = any;
    } else if (const std::size_t c = kConstNames.find(head); head.size() == 1 && c != std::string_view::npos) {
      p.kind = Pattern::Kind::kConst;
      p.binding = kAnyNames.size() + c;
    } else if (head == "true" || head == "false") {
      p.number = head == "true" ? 1 : 0;
    } else {
      const auto end = std::from_chars(head.data(), head.data() + head.size(), p.number).ptr;
      check(!head.empty() && end == head.data() + head.size(),
            fmt::format("rule text '{}': what is '{}'?", text_, head));
    }
    return p;
  }

  std::string_view word() {
    while (at_ < text_.size() && text_[at_] == ' ') at_++;
    const std::size_t begin = at_;
    if (at_ < text_.size() && (text_[at_] == '(' || text_[at_] == ')')) return text_.substr(at_++, 1);
    while (at_ < text_.size() && text_[at_] != ' ' && text_[at_] != '(' && text_[at_] != ')') at_++;
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_number(UOp u, double number) {
  return u.op() == Op::kConst &&
         number_in(u.dtype(), number) == Scalar{u.dtype(), std::bit_cast<std::uint64_t>(u.arg().value)};
}

bool matches(const Pattern& p, UOp u, Bindings& bindings) {
  switch (p.kind) {
    case Pattern::Kind::kConst:
      if (u.op() != Op::kConst) return false;
      [[fallthrough]];
    case Pattern::Kind::kAny:
      if (bindings[p.binding]) return bindings[p.binding] == u;
      bindings[p.binding] = u;
      return true;
    case Pattern::Kind::kNumber: return is_number(u, p.number);
    case Pattern::Kind::kOp:
      if (u.op() != p.op) return false;
      for (std::size_t i = 0; i < p.operands.size(); i++)
        if (!matches(p.operands[i], u.src(i), bindings)) return false;
      return true;
  }
  return false;
}

using Make = std::function<UOp(Op, std::vector<UOp>)>;

/// `dtype`: what a number is to be, where no other operand tells.
UOp built(const Pattern& p, Graph& g, DType dtype, const Bindings& bindings, const Make& make) {
  switch (p.kind) {
    case Pattern::Kind::kAny:
    case Pattern::Kind::kConst: return bindings[p.binding];
    case Pattern::Kind::kNumber: return constant(g, number_in(dtype, p.number));
    case Pattern::Kind::kOp: break;
  }
  std::vector<UOp> operands;
  for (const Pattern& o : p.operands) operands.push_back(built(o, g, dtype, bindings, make));
  return make(p.op, std::move(operands));
}

}  // namespace

Rule parse_rule(std::string_view kinds, std::string_view pattern, std::string_view replacement) {
  return {fmt::format("{} -> {}", pattern, replacement), std::string(kinds), PatternParser(pattern).whole(),
          PatternParser(replacement).whole()};
}

Scalar number_in(DType dtype, double number) {
  return is_float(dtype) ? scalar_of(dtype, number) : scalar_of(dtype, static_cast<std::int64_t>(number));
}

bool has_kind(std::string_view kinds, DType dtype) {
  const auto has = [&](char kind) { return kinds.find(kind) != std::string_view::npos; };
  switch (row(dtype).kind) {
    case DTypeKind::kBool: return has('B');
    case DTypeKind::kSigned: return has('I') || has('S');
    case DTypeKind::kUnsigned: return has('I');
    case DTypeKind::kFloat: return has('F');
  }
  return false;
}

UOp apply_rule(const Rule& rule, UOp u, const std::function<UOp(Op, std::vector<UOp>)>& make) {
  if (u.op() != rule.pattern.op || !has_kind(rule.kinds, u.src().back().dtype())) return UOp();
  Bindings bindings;
  if (!matches(rule.pattern, u, bindings)) return UOp();
  return built(rule.replacement, u.graph(), u.dtype(), bindings, make);
}

}  // namespace uop
