#include "core/wire/graph_codec.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/ir/text.h"
#include "core/ir/traverse.h"
#include "core/support/remedy.h"
#include "core/wire/graph_bytes.h"

namespace uop {
namespace {

// What an error draws, so that it fits into the metadata of a reply (8 KiB): nodes just before the one at fault,
// sources and numbers of a node, and characters of a line.
constexpr int kDrawnBefore = 2;
constexpr int kDrawnSources = 8;
constexpr int kDrawnInts = 16;
constexpr std::size_t kDrawnLine = 200;

std::string cut(std::string line) {
  if (line.size() <= kDrawnLine) return line;
  line.resize(kDrawnLine);
  return line + " …";
}

/// A field of a newer protocol could change what the program means, so it is refused, never skipped.
bool has_unknown_field(const google::protobuf::Message& m) {
  return !m.GetReflection()->GetUnknownFields(m).empty();
}

/// Decodes one message. Nodes keep their positions in it as names: %7 is nodes[7].
class Decoder {
 public:
  explicit Decoder(const uopd::v1::Graph& message) : message_(message) {}

  StatusOr<RootedGraph> decode() {
    if (message_.nodes_size() > kMaxNodes) return over_limit("nodes", message_.nodes_size(), kMaxNodes);
    if (message_.roots_size() > kMaxRoots) return over_limit("roots", message_.roots_size(), kMaxRoots);
    nodes_.reserve(static_cast<std::size_t>(message_.nodes_size()));
    for (int i = 0; i < message_.nodes_size(); i++) {
      StatusOr<UOp> node = decode_node(i);
      if (!node.ok()) return node.status();
      nodes_.push_back(*node);
    }
    if (message_.roots_size() == 0)
      return invalid_argument(
          "the graph has no roots\nremedy: list the positions of the nodes whose values are wanted");
    RootedGraph result{std::move(graph_), {}};
    for (int i = 0; i < message_.roots_size(); i++) {
      const std::uint32_t root = message_.roots(i);
      if (root >= nodes_.size())
        return invalid_argument(
            "root {} is node %{}, but the graph has {} nodes\nremedy: a root is a position in `nodes`", i, root,
            nodes_.size());
      result.roots.push_back(nodes_[root]);
    }
    if (has_unknown_field(message_))
      return invalid_argument("the graph has a field that is not known here\nremedy: {}", kUnknownFieldRemedy);
    return result;
  }

 private:
  static Status over_limit(std::string_view what, int number, int limit) {
    return error(StatusCode::kResourceExhausted,
                 "the graph has {} {}, the limit is {}\nremedy: cut the program into several graphs", number, what,
                 limit);
  }

  StatusOr<UOp> decode_node(int i) {
    const uopd::v1::Node& m = message_.nodes(i);
    const std::optional<Op> op = op_of_number(m.op());
    if (!op) return fail(i, fmt::format("no op has the number {}", m.op()), "take numbers from the table (`uop ops`)");
    const auto refuse = [&](const std::string& why) {
      const Advice advice = advice_of(why, fmt::format("rewrite the node; {} is: {}", name(*op), row(*op).help));
      return fail(i, advice.what, advice.remedy);
    };

    if (m.src_size() != row(*op).arity)
      return refuse(fmt::format("{} takes {} sources, not {}", name(*op), row(*op).arity, m.src_size()));
    std::vector<UOp> src;
    for (const std::uint32_t s : m.src()) {
      if (s >= static_cast<std::uint32_t>(i))
        return fail(i, fmt::format("its source %{} does not come before it", s),
                    "list every node after its sources; a graph has no cycles");
      src.push_back(nodes_[s]);
    }

    Arg arg;
    if (m.dtype() != 0) {
      const std::optional<DType> dtype = dtype_of_number(static_cast<std::uint32_t>(m.dtype()));
      if (!dtype)
        return fail(i, fmt::format("no dtype has the number {}", static_cast<int>(m.dtype())),
                    "take numbers from the enum DType of graph.proto");
      arg.dtype = *dtype;
    }
    if (m.reduce_op() != 0) {
      arg.op = op_of_number(m.reduce_op());
      if (!arg.op)
        return fail(i, fmt::format("no op has the number {} of reduce_op", m.reduce_op()),
                    "give the number of ADD, MUL, MAX or MIN");
    }
    const bool is_const = *op == Op::kConst;
    if (is_const && m.value() != 0) return fail(i, "CONST takes bits, not value", "put the bit pattern into bits");
    if (!is_const && m.bits() != 0) return fail(i, fmt::format("{} takes no bits", name(*op)), "leave bits at 0");
    arg.value = is_const ? static_cast<std::int64_t>(m.bits()) : m.value();
    if (static_cast<std::size_t>(m.ints_size()) > kMaxInts)
      return refuse(fmt::format("it has {} ints, the limit is {}", m.ints_size(), kMaxInts));
    arg.ints.assign(m.ints().begin(), m.ints().end());
    if (has_unknown_field(m)) return fail(i, "it has a field that is not known here", kUnknownFieldRemedy);

    if (const Status checked = check_argument(*op, arg); !checked.ok()) return refuse(message(checked));
    const StatusOr<UOp> made = graph_->try_make(*op, std::move(src), std::move(arg));
    if (!made.ok()) return refuse(message(made.status()));
    if (const Status added = slots_.add(*made); !added.ok())
      return fail(i, message(added), "give every input a slot of its own");
    return *made;
  }

  /// The error with node `i` drawn below its sources and the nodes just before it.
  Status fail(int i, std::string_view what, std::string_view remedy) const {
    std::set<int> drawn;
    for (int before = std::max(0, i - kDrawnBefore); before < i; before++) drawn.insert(before);
    for (int k = 0; k < std::min(message_.nodes(i).src_size(), kDrawnSources); k++)
      if (const std::uint32_t s = message_.nodes(i).src(k); s < static_cast<std::uint32_t>(i))
        drawn.insert(static_cast<int>(s));
    std::string listing;
    int next = 0;
    for (const int d : drawn) {
      if (d > next) listing += "  …\n";
      listing += cut(fmt::format("  %{} = {}", d, decoded_text(d))) + "\n";
      next = d + 1;
    }
    listing += cut(fmt::format("> %{} = {}", i, raw_text(message_.nodes(i))));
    return invalid_argument("node %{}: {}\n{}\nremedy: {}", i, what, listing, remedy);
  }

  std::string decoded_text(int i) const {
    return node_text(nodes_[static_cast<std::size_t>(i)], [&](UOp source) {
      for (const std::uint32_t s : message_.nodes(i).src())
        if (nodes_[s] == source) return fmt::format("%{}", s);
      return std::string("?");  // not reached: a node's sources are those of its message
    });
  }

  /// A node as it stands in the message, as far as it can be understood.
  static std::string raw_text(const uopd::v1::Node& m) {
    std::vector<std::string> sources;
    for (int k = 0; k < std::min(m.src_size(), kDrawnSources); k++) sources.push_back(fmt::format("%{}", m.src(k)));
    if (m.src_size() > kDrawnSources) sources.push_back("…");
    const std::optional<Op> op = op_of_number(m.op());
    if (!op) return fmt::format("OP_{}({})", m.op(), fmt::join(sources, ", "));
    Arg arg;
    const std::optional<DType> dtype = dtype_of_number(static_cast<std::uint32_t>(m.dtype()));
    if (dtype) arg.dtype = *dtype;
    if (m.reduce_op() != 0) arg.op = op_of_number(m.reduce_op());
    arg.value = *op == Op::kConst ? static_cast<std::int64_t>(m.bits()) : m.value();
    arg.ints.assign(m.ints().begin(), m.ints().begin() + std::min(m.ints_size(), kDrawnInts));
    std::string text = node_text(*op, arg, sources);
    if (m.ints_size() > kDrawnInts) text += fmt::format(" … ({} ints)", m.ints_size());
    if (!dtype && m.dtype() != 0) text += fmt::format(" dtype={}", static_cast<int>(m.dtype()));
    if (!arg.op && m.reduce_op() != 0) text += fmt::format(" reduce_op={}", m.reduce_op());
    if (*op == Op::kConst && m.value() != 0) text += fmt::format(" (value={})", m.value());
    if (*op != Op::kConst && m.bits() != 0) text += fmt::format(" bits={:#x}", m.bits());
    return text;
  }

  const uopd::v1::Graph& message_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  std::vector<UOp> nodes_;  // by position in the message
  SlotTable slots_;
};

}  // namespace

StatusOr<RootedGraph> decode_graph(const uopd::v1::Graph& message) {
  return Decoder(message).decode();
}

StatusOr<RootedGraph> parse_graph(std::string_view bytes) {
  if (Status fits = check_graph_bytes(bytes); !fits.ok()) return fits;
  uopd::v1::Graph message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return invalid_argument("the bytes are not a serialized uopd.v1.Graph\nremedy: check that the file is whole");
  return decode_graph(message);
}

uopd::v1::Graph encode_graph(std::span<const UOp> roots) {
  uopd::v1::Graph message;
  std::unordered_map<UOp, std::uint32_t, UOpHash> positions;
  for (const UOp u : toposort(roots)) {
    check(row(u.op()).number != 0, "a lowered graph does not go on the wire");
    uopd::v1::Node& m = *message.add_nodes();
    m.set_op(row(u.op()).number);
    for (const UOp s : u.src()) m.add_src(positions.at(s));
    const Arg& arg = u.arg();
    m.set_dtype(static_cast<uopd::v1::DType>(arg.dtype));
    m.mutable_ints()->Add(arg.ints.begin(), arg.ints.end());
    if (u.op() == Op::kConst)
      m.set_bits(static_cast<std::uint64_t>(arg.value));
    else
      m.set_value(arg.value);
    if (arg.op) m.set_reduce_op(row(*arg.op).number);
    positions.emplace(u, static_cast<std::uint32_t>(positions.size()));
  }
  for (const UOp r : roots) message.add_roots(positions.at(r));
  return message;
}

}  // namespace uop
