#include "core/ir/structure.h"

#include <algorithm>
#include <unordered_map>

#include "core/ir/argument.h"
#include "core/ir/text.h"
#include "core/ir/traverse.h"

namespace uop {
namespace {

constexpr std::uint64_t kVersion = 1;

bool has_slot(Op op) {
  return op == Op::kBuffer || op == Op::kVariable;
}
bool takes_value(Op op) {
  return !arg_fields(op).value.empty() && !has_slot(op);
}
bool takes_ints(Op op) {
  return !arg_fields(op).list.empty() || !arg_fields(op).numbers[0].empty();
}

class Writer {
 public:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void put_signed(std::int64_t value) {
    put((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what Writer wrote; after the end or a bad varint `ok` is false and every value 0.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  std::uint64_t get() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    left_ = {};
    return 0;
  }
  std::int64_t get_signed() {
    const std::uint64_t value = get();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  /// A number of things that follow, each of at least one byte; so no count asks for more memory than the bytes do.
  std::uint64_t get_count() {
    const std::uint64_t count = get();
    if (count > left_.size()) ok_ = false;
    return ok_ ? count : 0;
  }
  bool ok() const { return ok_; }
  std::string_view left() const { return left_; }

 private:
  std::string_view left_;
  bool ok_ = true;
};

struct Record {
  Op op = Op::kSink;
  std::vector<std::uint64_t> src;  // positions
  Arg arg;
  bool operator==(const Record&) const = default;
};

/// The records of a structure one by one, then the roots; slots are numbered as they come.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : in_(bytes) {
    has_version_ = in_.get() == kVersion;
    count_ = in_.get_count();
  }
  bool ok() const { return has_version_ && in_.ok(); }
  std::uint64_t count() const { return count_; }

  /// Nothing where the bytes are corrupt.
  std::optional<Record> next() {
    const std::optional<Op> op = op_of_number(get_u32());
    if (!op) return std::nullopt;
    Record record{.op = *op, .src = {}, .arg = {}};
    for (std::uint64_t left = in_.get_count(); left > 0; left--) {
      const std::uint64_t back = in_.get();
      if (back == 0 || back > position_) return std::nullopt;
      record.src.push_back(position_ - back);
    }
    if (takes_dtype(*op)) {
      const std::optional<DType> dtype = dtype_of_number(get_u32());
      if (!dtype) return std::nullopt;
      record.arg.dtype = *dtype;
    }
    if (has_slot(*op)) record.arg.value = *op == Op::kBuffer ? buffers_++ : variables_++;
    if (takes_value(*op)) record.arg.value = in_.get_signed();
    if (arg_fields(*op).takes_op) record.arg.op = op_of_number(get_u32());
    if (takes_ints(*op))
      for (std::uint64_t left = in_.get_count(); left > 0; left--) record.arg.ints.push_back(in_.get_signed());
    position_++;
    return in_.ok() ? std::optional(std::move(record)) : std::nullopt;
  }

  /// After the last record.
  std::vector<std::uint64_t> roots() {
    std::vector<std::uint64_t> positions;
    for (std::uint64_t left = in_.get_count(); left > 0; left--) positions.push_back(in_.get());
    return positions;
  }

 private:
  std::uint32_t get_u32() { return static_cast<std::uint32_t>(std::min<std::uint64_t>(in_.get(), UINT32_MAX)); }

  Reader in_;
  bool has_version_ = false;
  std::uint64_t count_ = 0;
  std::uint64_t position_ = 0;
  std::int64_t buffers_ = 0;
  std::int64_t variables_ = 0;
};

std::string text_of(const Record& record) {
  std::vector<std::string> sources;
  for (const std::uint64_t s : record.src) sources.push_back(fmt::format("%{}", s));
  return node_text(record.op, record.arg, sources);
}

Status corrupt(std::uint64_t position) {
  return error(StatusCode::kDataLoss,
               "the stored structure is corrupt at node {}\nremedy: remove the entry; it is made again from the graph",
               position);
}

}  // namespace

std::string structure_bytes(std::span<const UOp> roots) {
  const std::vector<UOp> order = toposort(roots);
  std::unordered_map<UOp, std::uint64_t, UOpHash> positions;
  Writer out;
  out.put(kVersion);
  out.put(order.size());
  for (const UOp u : order) {
    const std::uint64_t position = positions.size();
    positions.emplace(u, position);
    check(row(u.op()).number != 0, "the structure of a lowered graph is asked for");
    out.put(row(u.op()).number);
    out.put(u.src().size());
    for (const UOp s : u.src()) out.put(position - positions.at(s));
    const Arg& arg = u.arg();
    if (takes_dtype(u.op())) out.put(static_cast<std::uint64_t>(arg.dtype));
    if (takes_value(u.op())) out.put_signed(arg.value);
    if (arg_fields(u.op()).takes_op) out.put(arg.op ? row(*arg.op).number : 0);
    if (takes_ints(u.op())) {
      out.put(arg.ints.size());
      for (const std::int64_t i : arg.ints) out.put_signed(i);
    }
  }
  out.put(roots.size());
  for (const UOp r : roots) out.put(positions.at(r));
  return out.take();
}

StatusOr<RootedGraph> graph_of_structure(std::string_view bytes) {
  RecordReader in(bytes);
  if (!in.ok()) return corrupt(0);
  RootedGraph result{std::make_unique<Graph>(), {}};
  std::vector<UOp> nodes;
  while (nodes.size() < in.count()) {
    std::optional<Record> record = in.next();
    if (!record || !check_argument(record->op, record->arg).ok()) return corrupt(nodes.size());
    std::vector<UOp> src;
    for (const std::uint64_t s : record->src) src.push_back(nodes[s]);
    const StatusOr<UOp> made = result.graph->try_make(record->op, std::move(src), std::move(record->arg));
    if (!made.ok()) return corrupt(nodes.size());
    nodes.push_back(*made);
  }
  for (const std::uint64_t root : in.roots()) {
    if (root >= nodes.size()) return corrupt(nodes.size());
    result.roots.push_back(nodes[root]);
  }
  // Only canonical bytes are a structure: each node once, in the one order, nothing after the roots.
  if (result.roots.empty() || structure_bytes(result.roots) != bytes) return corrupt(nodes.size());
  return result;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto nodes = [](std::string_view bytes) {  // without the version and the number of nodes
    Reader in(bytes);
    in.get();
    in.get();
    return in.left();
  };
  const std::string_view x = nodes(a);
  const std::string_view y = nodes(b);
  return static_cast<std::size_t>(std::ranges::mismatch(x, y).in1 - x.begin());
}

StructureDifference first_difference(std::string_view a, std::string_view b) {
  constexpr std::string_view kUnreadable = "the nearest cached plan cannot be read";
  RecordReader in_a(a);
  RecordReader in_b(b);
  if (!in_a.ok() || !in_b.ok()) return {0, std::string(kUnreadable)};
  const std::uint64_t shared = std::min(in_a.count(), in_b.count());
  for (std::uint64_t at = 0; at < shared; at++) {
    const std::optional<Record> node_a = in_a.next();
    const std::optional<Record> node_b = in_b.next();
    if (!node_a || !node_b) return {at, std::string(kUnreadable)};
    if (*node_a != *node_b)
      return {at,
              fmt::format("node %{} is {}, the nearest cached plan has {}", at, text_of(*node_a), text_of(*node_b))};
  }
  if (in_a.count() != in_b.count()) {
    const bool a_is_longer = in_a.count() > in_b.count();
    const std::optional<Record> node = (a_is_longer ? in_a : in_b).next();
    if (!node) return {shared, std::string(kUnreadable)};
    return {shared, fmt::format("{} node %{}, {}",
                                a_is_longer ? "the nearest cached plan ends before"
                                            : "the graph ends where the nearest cached plan has",
                                shared, text_of(*node))};
  }
  const std::vector<std::uint64_t> roots_a = in_a.roots();
  const std::vector<std::uint64_t> roots_b = in_b.roots();
  if (roots_a == roots_b) return {shared, "no difference"};
  return {shared, fmt::format("the roots are %{}, of the nearest cached plan %{}", fmt::join(roots_a, ", %"),
                              fmt::join(roots_b, ", %"))};
}

}  // namespace uop
