// Reads the text form. The text may come from anyone: every line is checked as a node of the wire is.
#include <algorithm>
#include <charconv>
#include <map>

#include "core/ir/argument.h"
#include "core/ir/shape_rules.h"
#include "core/ir/text.h"
#include "core/support/remedy.h"

namespace uop {
namespace {

constexpr std::string_view kSpace = " \t\r";
/// Most characters of a line that an error shows.
constexpr std::size_t kShownLine = 160;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::optional<std::uint64_t> hex_of(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const auto [stop, problem] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (problem != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  const auto s = scalar_of_text(DType::kI64, text);
  return s ? std::optional(to_int64(*s)) : std::nullopt;
}

/// "[4,8]"
std::optional<std::vector<std::int64_t>> list_of(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::int64_t> list;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto item = integer_of(text.substr(0, comma));
    if (!item || comma + 1 == text.size()) return std::nullopt;
    list.push_back(*item);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

/// The fields of a line, taken one by one.
class Fields {
 public:
  void add(std::string_view key, std::string_view value) { left_.emplace_back(key, value); }
  std::optional<std::string_view> take(std::string_view key) {
    const auto found = std::find_if(left_.begin(), left_.end(), [key](const auto& f) { return f.first == key; });
    if (found == left_.end()) return std::nullopt;
    const std::string_view value = found->second;
    left_.erase(found);
    return value;
  }
  std::optional<std::string_view> first_left() const {
    return left_.empty() ? std::nullopt : std::optional(left_.front().first);
  }

 private:
  std::vector<std::pair<std::string_view, std::string_view>> left_;
};

/// Its methods return false, with status_ set, where the text is wrong.
class Reader {
 public:
  StatusOr<RootedGraph> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      line_ = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (++line_number_ > kMaxTextLines)
        return error(StatusCode::kResourceExhausted,
                     "the listing has more than {} lines\nremedy: cut the program into several graphs", kMaxTextLines);
      if (!read_line()) return status_;
    }
    if (result_.roots.empty())
      return invalid_argument("line {}: the listing ends without its roots\nremedy: end it with `return %name`",
                              line_number_);
    return std::move(result_);
  }

 private:
  bool fail(std::string_view what, std::string_view remedy) {
    const std::string cut = line_.size() > kShownLine ? " …" : "";
    status_ = invalid_argument("line {}: {}\n> {}{}\nremedy: {}", line_number_, what,
                               trimmed(line_.substr(0, kShownLine)), cut, remedy);
    return false;
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size())); }

  bool accept(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view take_until(std::string_view stops) {
    const std::string_view taken = rest_.substr(0, std::min(rest_.find_first_of(stops), rest_.size()));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view take_word() {
    skip_space();
    std::size_t size = 0;
    const auto is_word = [](char c) {
      return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    while (size < rest_.size() && is_word(rest_[size])) size++;
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }

  bool take_name(std::string_view& word) {
    if (accept('%') && !(word = take_word()).empty()) return true;
    return fail("a name is missing", "name nodes '%' and letters, digits or '_': %0 = CONST value=1 : f32[]");
  }

  bool take_known(std::vector<UOp>& nodes) {
    std::string_view word;
    if (!take_name(word)) return false;
    const auto found = names_.find(word);
    if (found == names_.end())
      return fail(fmt::format("%{} is not defined above", word.substr(0, kShownLine)),
                  "define every node on a line before its first use");
    nodes.push_back(found->second);
    return true;
  }

  bool read_line() {
    rest_ = line_.substr(0, std::min(line_.find('#'), line_.size()));
    skip_space();
    if (rest_.empty()) return true;
    if (!result_.roots.empty()) return fail("a line after `return`", "make `return` the last line");
    if (rest_.starts_with('%')) return read_node();
    if (take_word() != "return")
      return fail("neither a node nor `return`", "write `%name = OP(%sources) fields : type`, or `return %name`");
    do
      if (!take_known(result_.roots)) return false;
    while (accept(','));
    skip_space();
    return rest_.empty() || fail("more text after the roots", "separate roots by ','");
  }

  bool read_node() {
    std::string_view word;
    if (!take_name(word)) return false;
    if (names_.contains(word)) return fail("the name is defined twice", "give every node a name of its own");
    if (!accept('=')) return fail("'=' is missing after the name", "write `%name = OP(%sources) fields : type`");
    const std::string_view op_name = take_word();
    const std::optional<Op> op = op_of_name(op_name);
    if (!op)
      return fail(fmt::format("unknown op '{}'", op_name.substr(0, kShownLine)), "use an op of the table (`uop ops`)");
    std::vector<UOp> sources;
    if (accept('(')) {
      do
        if (!take_known(sources)) return false;
      while (accept(','));
      if (!accept(')')) return fail("')' is missing after the sources", "close the list of sources");
    }
    Fields fields;
    while (!accept(':') && !rest_.empty()) {
      const std::string_view key = take_word();
      if (key.empty() || !accept('='))
        return fail("a field is not `name=value`", "write fields like axes=1 shape=[4,8]");
      fields.add(key, take_until(" \t\r:"));
    }
    const std::string_view type = trimmed(rest_);
    Arg arg;
    return read_argument(*op, fields, type, arg) && make(word, *op, std::move(sources), std::move(arg), type);
  }

  bool make(std::string_view word, Op op, std::vector<UOp> sources, Arg arg, std::string_view type) {
    const auto refuse = [&](const std::string& why) {
      const Advice advice = advice_of(why, fmt::format("rewrite the node; {} is {}", name(op), row(op).help));
      return fail(advice.what, advice.remedy);
    };
    if (const Status checked = check_argument(op, arg); !checked.ok()) return refuse(message(checked));
    const StatusOr<UOp> made = result_.graph->try_make(op, std::move(sources), std::move(arg));
    if (!made.ok()) return refuse(message(made.status()));
    const std::string is = made->dtype() == DType::kNone ? "" : type_text(made->dtype(), made->shape());
    if (!type.empty() && type != is)
      return fail(fmt::format("the type of the node is {}", is.empty() ? "none" : is),
                  "correct the type or leave it out");
    if (const Status added = slots_.add(*made); !added.ok())
      return fail(message(added), "give every input a slot of its own");
    names_.emplace(word, *made);
    return true;
  }

  bool read_argument(Op op, Fields& fields, std::string_view type, Arg& arg) {
    const ArgFields& takes = arg_fields(op);
    if (takes_dtype(op)) {
      const std::string_view text =
          fields.take("dtype").value_or(type.substr(0, std::min(type.find('['), type.size())));
      const std::optional<DType> dtype = dtype_of_name(text);
      if (!dtype) return fail("the dtype is missing or unknown", "end the line with a type like `: f32[4,8]`");
      arg.dtype = *dtype;
    }
    if (takes.takes_op)
      if (const auto text = fields.take("op")) {
        arg.op = op_of_name(*text);
        if (!arg.op) return fail("op is not the name of an op", "write op=ADD, MUL, MAX or MIN");
      }
    if (const auto bits = op == Op::kConst ? fields.take("bits") : std::nullopt) {
      const auto value = hex_of(*bits);
      if (!value) return fail("bits is not a 64-bit hexadecimal number", "write the pattern like bits=0x7fc00001");
      arg.value = static_cast<std::int64_t>(*value);
    } else if (!takes.value.empty()) {
      const auto text = fields.take(takes.value);
      if (!text) return missing(op, takes.value);
      if (op == Op::kConst) {
        const auto value = scalar_of_text(arg.dtype, *text);
        if (!value)
          return fail(fmt::format("the value is not one of {}", name(arg.dtype)), "write a value of the dtype");
        arg.value = static_cast<std::int64_t>(value->bits);
      } else if (const auto value = integer_of(*text)) {
        arg.value = *value;
      } else {
        return not_integer(takes.value);
      }
    }
    for (const std::string_view key : takes.numbers) {
      if (key.empty()) break;
      const auto text = fields.take(key);
      if (!text) return missing(op, key);
      const auto number = integer_of(*text);
      if (!number) return not_integer(key);
      arg.ints.push_back(*number);
    }
    if (!takes.list.empty()) {
      const auto text = fields.take(takes.list);
      if (!text) return missing(op, takes.list);
      auto list = list_of(*text);
      if (!list) return fail(fmt::format("{} is not a list of integers", takes.list), "write it like [4,8]");
      arg.ints = std::move(*list);
    }
    if (const auto left = fields.first_left())
      return fail(fmt::format("{} takes no (second) field '{}'", name(op), left->substr(0, kShownLine)),
                  "leave it out");
    return true;
  }

  bool missing(Op op, std::string_view key) {
    return fail(fmt::format("{} needs {}", name(op), key), fmt::format("add {}=… to the line", key));
  }
  bool not_integer(std::string_view key) {
    return fail(fmt::format("{} is not a 64-bit integer", key), "write decimal digits, after '-' where negative");
  }

  RootedGraph result_{std::make_unique<Graph>(), {}};
  std::map<std::string_view, UOp> names_;  // ordered: no choice of names makes it slow
  SlotTable slots_;
  std::string_view line_, rest_;
  std::size_t line_number_ = 0;
  Status status_;
};

}  // namespace

StatusOr<RootedGraph> parse_text(std::string_view text) {
  return Reader().read(text);
}

}  // namespace uop
