#include "core/ir/text.h"

#include <bit>
#include <charconv>
#include <unordered_map>

#include "core/ir/argument.h"
#include "core/ir/shape_rules.h"
#include "core/ir/traverse.h"

namespace uop {
namespace {

template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  return problem == std::errc() && stop == end ? std::optional<T>(value) : std::nullopt;
}

/// "value=0.5" where that reads back as the same bits, else "bits=0x…".
std::string constant_text(DType dtype, std::int64_t value) {
  const Scalar s{dtype, static_cast<std::uint64_t>(value)};
  const bool is_valid = dtype != DType::kNone && check_argument(Op::kConst, {.dtype = dtype, .value = value}).ok();
  if (is_valid) {
    const std::string text = to_string(s);
    if (scalar_of_text(dtype, text) == s) return "value=" + text;
  }
  return fmt::format("bits={:#x}", s.bits);
}

/// The argument but for its dtype, which `const_dtype` gives for a CONST.
std::string argument_text(Op op, const Arg& arg, DType const_dtype) {
  const ArgFields& fields = arg_fields(op);
  std::string text;
  if (arg.op) text += fmt::format(" op={}", name(*arg.op));
  if (op == Op::kConst)
    text += " " + constant_text(const_dtype, arg.value);
  else if (!fields.value.empty() || arg.value != 0)
    text += fmt::format(" {}={}", fields.value.empty() ? "value" : fields.value, arg.value);
  const std::size_t named = fields.numbers[0].empty() ? 0 : fields.numbers[1].empty() ? 1 : 2;
  if (named != 0 && named == arg.ints.size())
    for (std::size_t i = 0; i < named; i++) text += fmt::format(" {}={}", fields.numbers[i], arg.ints[i]);
  else if (!fields.list.empty() || !arg.ints.empty())
    text += fmt::format(" {}={}", fields.list.empty() ? "ints" : fields.list, shape_text(arg.ints));
  return text;
}

std::string head_text(Op op, std::span<const std::string> sources) {
  return sources.empty() ? std::string(name(op)) : fmt::format("{}({})", name(op), fmt::join(sources, ", "));
}

}  // namespace

std::string node_text(Op op, const Arg& arg, std::span<const std::string> sources) {
  const std::string dtype = arg.dtype == DType::kNone ? "" : fmt::format(" dtype={}", name(arg.dtype));
  return head_text(op, sources) + argument_text(op, arg, arg.dtype) + dtype;
}

std::string node_text(UOp u, const std::function<std::string(UOp)>& number) {
  std::vector<std::string> sources;
  for (const UOp s : u.src()) sources.push_back(number(s));
  const std::string type = u.dtype() == DType::kNone ? "" : " : " + type_text(u.dtype(), u.shape());
  return head_text(u.op(), sources) + argument_text(u.op(), u.arg(), u.dtype()) + type;
}

std::string to_text(std::span<const UOp> roots) {
  std::unordered_map<UOp, std::size_t, UOpHash> numbers;
  const auto number = [&](UOp u) { return fmt::format("%{}", numbers.at(u)); };
  std::string text;
  for (const UOp u : toposort(roots)) {
    numbers.emplace(u, numbers.size());
    text += fmt::format("{} = {}\n", number(u), node_text(u, number));
  }
  std::vector<std::string> returned;
  for (const UOp r : roots) returned.push_back(number(r));
  return text + fmt::format("return {}\n", fmt::join(returned, ", "));
}

std::optional<Scalar> scalar_of_text(DType dtype, std::string_view text) {
  switch (row(dtype).kind) {
    case DTypeKind::kBool:
      if (text != "true" && text != "false") return std::nullopt;
      return Scalar{dtype, text == "true"};
    case DTypeKind::kSigned: {
      const auto value = number_of<std::int64_t>(text);
      if (!value || to_int64(scalar_of(dtype, *value)) != *value) return std::nullopt;
      return scalar_of(dtype, *value);
    }
    case DTypeKind::kUnsigned: {
      const auto value = number_of<std::uint64_t>(text);
      if (!value || scalar_of(dtype, *value).bits != *value) return std::nullopt;
      return scalar_of(dtype, *value);
    }
    case DTypeKind::kFloat: break;
  }
  // Read in the dtype itself where there is a reader: by way of f64 a value next to a tie would be rounded twice.
  if (dtype == DType::kF64) {
    const auto value = number_of<double>(text);
    return value ? std::optional(Scalar{dtype, std::bit_cast<std::uint64_t>(*value)}) : std::nullopt;
  }
  const auto value = number_of<float>(text);
  if (!value) return std::nullopt;
  if (dtype == DType::kF32) return Scalar{dtype, std::bit_cast<std::uint32_t>(*value)};
  return scalar_of(dtype, static_cast<double>(*value));
}

}  // namespace uop
