#include "core/render/render_c.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "core/ir/traverse.h"
#include "core/render/c_expression.h"
#include "core/render/prelude.h"
#include "core/support/kernel_abi.h"
#include "core/support/status.h"

namespace uop {
namespace {

/// Not inlined into the entry point, so that `restrict` of the parameters holds.
constexpr std::string_view kAttributes = "noinline";

/// gcc 12 vectorises `gate ? data[i] : 0` in short loops with wrong masks. Without turning branches into masks it does
/// not vectorise them at all; -ffp-contract, -fwrapv and the rest of the command line stay in force. clang ignores it.
constexpr std::string_view kGatedAttributes = "noinline, optimize(\"no-tree-loop-if-convert\")";

class CRenderer {
 public:
  CRenderer(const LoopNest& nest, std::string_view kernel_name) : nest_(nest), kernel_name_(kernel_name) {
    find_arguments();
  }

  RenderedKernel run() {
    for (const Statement& s : nest_.statements) write(s);
    RenderedKernel kernel;
    for (const auto& [slot, param] : params_) kernel.slots.push_back(slot);
    for (const auto& [slot, position] : variables_) kernel.variables.push_back(slot);
    const std::string function = this->function();
    const std::string prelude = prelude_for(function);
    kernel.text = prelude + (prelude.empty() ? "" : "\n") + function + "\n" + entry_point();
    return kernel;
  }

 private:
  struct Param {
    UOp node;
    bool written = false;
  };

  /// An access that happens only where a gate holds: a load beside a PAD or by GATHER, a store of SCATTER.
  static bool is_gated(UOp u) {
    if (u.op() == Op::kLoad) return u.src().size() == 3;
    return u.op() == Op::kStore && u.src(3).op() != Op::kConst;
  }

  void find_arguments() {
    std::vector<UOp> used;
    for (const Statement& s : nest_.statements)
      if (s.node) used.push_back(s.node);
    for (const UOp u : toposort(used)) {
      if (u.op() == Op::kParam) params_[u.arg().value].node = u;
      if (u.op() == Op::kVariable) variables_.emplace(u.arg().value, 0);
      if (u.op() == Op::kStore) params_[u.src(0).arg().value].written = true;
      has_gates_ |= is_gated(u);
    }
    std::size_t position = 0;
    for (auto& [slot, at] : variables_) at = position++;
  }

  static std::string range_name(UOp range) { return fmt::format("ridx{}", range.arg().value); }
  static std::string param_name(UOp param) { return fmt::format("data{}", param.arg().value); }

  void line(std::string_view text) {
    body_ += std::string(2 * depth_, ' ');
    body_ += text;
    body_ += '\n';
  }

  void write(const Statement& s) {
    switch (s.kind) {
      case StatementKind::kLoop: {
        const std::string i = range_name(s.node);
        const bool sliced = s.node == nest_.parallel;
        line(fmt::format("for (long {0} = {1}; {0} < {2}; {0}++) {{", i, sliced ? "begin" : "0",
                         sliced ? "end" : std::to_string(s.node.arg().ints[0])));
        depth_++;
        break;
      }
      case StatementKind::kEnd:
        depth_--;
        line("}");
        break;
      case StatementKind::kLet: {
        const std::string text = expression(s.node);
        const std::string value_name = fmt::format("{}{}", s.node.op() == Op::kLoad ? "val" : "alu", next_value_++);
        line(fmt::format("const {} {} = {};", row(s.node.dtype()).c_value, value_name, unwrapped(text)));
        names_[s.node] = value_name;
        break;
      }
      case StatementKind::kAccumulator: {
        const std::string acc = fmt::format("acc{}", next_accumulator_++);
        line(fmt::format("{} {} = {};", row(s.node.dtype()).c_value, acc,
                         c_literal(reduce_identity(*s.node.arg().op, s.node.dtype()))));
        names_[s.node] = acc;
        break;
      }
      case StatementKind::kUpdate: {
        const std::string& acc = names_.at(s.node);
        line(fmt::format("{} = {};", acc,
                         unwrapped(c_binary(*s.node.arg().op, s.node.dtype(), acc, expression(s.node.src(0))))));
        break;
      }
      case StatementKind::kStore: write_store(s.node); break;
    }
  }

  void write_store(UOp store) {
    const DType dtype = store.src(0).dtype();
    const std::string element = fmt::format("{}[{}]", param_name(store.src(0)), unwrapped(expression(store.src(1))));
    std::string value = expression(store.src(2));
    if (store.arg().op) value = c_binary(*store.arg().op, dtype, c_from_memory(dtype, element), value);
    const UOp gate = store.src(3);
    const bool always = gate.op() == Op::kConst && gate.arg().value == 1;
    line(fmt::format("{}{} = {};", always ? "" : fmt::format("if ({}) ", unwrapped(expression(gate))), element,
                     unwrapped(c_to_memory(dtype, value))));
  }

  /// The C expression of a value: its name if it has one. Recursion is bounded by kMaxExpressionDepth of linearize.
  std::string expression(UOp u) {
    if (const auto named = names_.find(u); named != names_.end()) return named->second;
    switch (u.op()) {
      case Op::kConst: return c_literal({u.dtype(), std::bit_cast<std::uint64_t>(u.arg().value)});
      case Op::kRange: return range_name(u);
      case Op::kVariable:
        return fmt::format("(({})variables[{}])", row(u.dtype()).c_value, variables_.at(u.arg().value));
      case Op::kLoad: return load(u);
      default: break;
    }
    std::vector<std::string> operands;
    for (const UOp s : u.src()) operands.push_back(expression(s));
    return c_alu(u, operands);
  }

  std::string load(UOp u) {
    const std::string element = fmt::format("{}[{}]", param_name(u.src(0)), unwrapped(expression(u.src(1))));
    const std::string value = c_from_memory(u.dtype(), element);
    if (u.src().size() == 2) return value;
    return fmt::format("({}?{}:{})", expression(u.src(2)), value, c_literal({u.dtype(), 0}));
  }

  /// Without the outermost parentheses, where they enclose all of it.
  static std::string_view unwrapped(const std::string& text) {
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') return text;
    int open = 0;
    for (std::size_t i = 0; i + 1 < text.size(); i++) {
      if (text[i] == '(') open++;
      if (text[i] == ')' && --open == 0) return text;
    }
    return std::string_view(text).substr(1, text.size() - 2);
  }

  std::string function() const {
    std::string parameters;
    for (const auto& [slot, p] : params_)
      parameters += fmt::format("{}{} *restrict {}, ", p.written ? "" : "const ", row(p.node.dtype()).c_memory,
                                param_name(p.node));
    return fmt::format("static __attribute__(({})) void {}({}const long *variables, long begin, long end) {{\n{}}}\n",
                       has_gates_ ? kGatedAttributes : kAttributes, kernel_name_, parameters, body_);
  }

  std::string entry_point() const {
    std::string arguments;
    for (std::size_t i = 0; i < params_.size(); i++) arguments += fmt::format("buffers[{}], ", i);
    return fmt::format(
        "void {}(void *const *buffers, const long *variables, long begin, long end) {{\n  {}({}variables, begin, "
        "end);\n}}\n",
        kEntryMacro, kernel_name_, arguments);
  }

  const LoopNest& nest_;
  const std::string kernel_name_;
  std::map<std::int64_t, Param> params_;
  std::map<std::int64_t, std::size_t> variables_;  // slot -> position
  std::unordered_map<UOp, std::string, UOpHash> names_;
  bool has_gates_ = false;
  std::string body_;
  std::size_t depth_ = 1;
  int next_value_ = 0;
  int next_accumulator_ = 0;
};

}  // namespace

RenderedKernel render_c(const LoopNest& nest, std::string_view name) {
  return CRenderer(nest, name).run();
}

}  // namespace uop
