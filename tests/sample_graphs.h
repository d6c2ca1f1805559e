// Graphs for tests of what reads and writes graphs: every op of the wire with every dtype that it takes.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/ir/build.h"
#include "core/ir/op.h"
#include "core/ir/text.h"

namespace uop {

/// The line after `%r = ` in a listing where %x and %y are {t}[2,3], %i is i64[2,3] and %c is bool[2,3].
inline std::string sample_node(Op op, DType dtype) {
  const std::string_view t = name(dtype);
  switch (op) {
    case Op::kBuffer: return fmt::format("BUFFER slot=7 size=0 : {}[0]", t);
    case Op::kConst: return fmt::format("CONST value={} : {}[]", to_string(scalar_of(dtype, std::int64_t{1})), t);
    case Op::kIota: return fmt::format("IOTA n=5 : {}[5]", t);
    case Op::kVariable: return fmt::format("VARIABLE slot=3 min=-2 max=900 : {}[]", t);
    case Op::kReshape: return fmt::format("RESHAPE(%x) shape=[3,1,2] : {}[3,1,2]", t);
    case Op::kPermute: return fmt::format("PERMUTE(%x) order=[1,0] : {}[3,2]", t);
    case Op::kExpand: return fmt::format("EXPAND(%x) shape=[2,3] : {}[2,3]", t);
    case Op::kPad: return fmt::format("PAD(%x) before_after=[1,0,0,4] : {}[3,7]", t);
    case Op::kShrink: return fmt::format("SHRINK(%x) begin_end=[1,1,0,2] : {}[0,2]", t);
    case Op::kFlip: return fmt::format("FLIP(%x) flags=[0,1] : {}[2,3]", t);
    case Op::kReduce: return fmt::format("REDUCE(%x) op=MAX axes=2 : {}[]", t);
    case Op::kGradient: return fmt::format("GRADIENT(%loss, %x) : {}[2,3]", t);
    case Op::kGather: return fmt::format("GATHER(%x, %i) axis=1 : {}[2,3]", t);
    case Op::kScatter: return fmt::format("SCATTER(%x, %i, %y) axis=0 : {}[2,3]", t);
    case Op::kCast: return "CAST(%x) : f16[2,3]";
    case Op::kBitcast: return fmt::format("BITCAST(%x) : {}[2,3]", t);
    case Op::kWhere: return fmt::format("WHERE(%c, %x, %y) : {}[2,3]", t);
    default: return fmt::format("{}(%x{})", name(op), row(op).arity == 2 ? ", %y" : "");
  }
}

/// One listing for each op and dtype.
inline std::vector<std::string> sample_listings() {
  std::vector<std::string> listings;
  for (const OpRow& op : op_rows()) {
    if (op.number == 0) continue;
    for (const DTypeRow& dtype : dtype_rows()) {
      if (op.cls != OpClass::kSource && !accepts(op.op, dtype.dtype)) continue;
      if (op.op == Op::kIota && dtype.dtype == DType::kBool) continue;
      if (op.op == Op::kVariable && dtype.dtype != DType::kI32 && dtype.dtype != DType::kI64) continue;
      std::string text = fmt::format(
          "%a = BUFFER slot=0 size=6 : {0}[6]\n"
          "%b = BUFFER slot=2 size=6 : {0}[6]\n"
          "%j = BUFFER slot=5 size=6 : i64[6]\n"
          "%x = RESHAPE(%a) shape=[2,3]\n"
          "%y = RESHAPE(%b) shape=[2,3]\n"
          "%i = RESHAPE(%j) shape=[2,3]\n"
          "%c = CMPLT(%i, %i)\n",
          dtype.name);
      if (op.op == Op::kGradient) text += "%loss = REDUCE(%x) op=ADD axes=2\n";
      listings.push_back(text + fmt::format("%r = {}\nreturn %r, %y, %r\n", sample_node(op.op, dtype.dtype)));
    }
  }
  return listings;
}

/// x + x + … : a chain of `nodes` nodes.
inline RootedGraph deep_chain(int nodes) {
  RootedGraph result{std::make_unique<Graph>(), {}};
  UOp u = buffer(*result.graph, 0, DType::kI32, 4);
  for (int i = 1; i < nodes; i++) u = binary(Op::kAdd, u, u);
  result.roots = {u};
  return result;
}

}  // namespace uop
