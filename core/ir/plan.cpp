#include "core/ir/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace uop {
namespace {

std::string refs_text(const std::vector<BufferRef>& refs) {
  std::vector<std::string> names;
  for (const BufferRef ref : refs) names.push_back(to_string(ref));
  return fmt::format("[{}]", fmt::join(names, ","));
}

/// Rows of text in columns as wide as their widest cell; numbers stand to the right.
class Table {
 public:
  /// '<' or '>' per column.
  explicit Table(std::string_view alignment) : alignment_(alignment) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const {
    std::vector<std::size_t> widths(alignment_.size());
    for (const auto& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string out;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t c = 0; c < row.size(); ++c)
        line += alignment_[c] == '<' ? fmt::format("  {:<{}}", row[c], widths[c])
                                     : fmt::format("  {:>{}}", row[c], widths[c]);
      out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return out;
  }

 private:
  std::string_view alignment_;
  std::vector<std::vector<std::string>> rows_;
};

std::string kernel_table(const Plan& plan) {
  Table table("><<>>>");
  table.add({"#", "name", "refs", "flops", "bytes", "parallel"});
  std::uint64_t bytes = 0;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const KernelLaunch& kernel = plan.kernels[k];
    bytes += kernel.bytes;
    table.add({std::to_string(k), kernel.name, refs_text(kernel.refs), std::to_string(kernel.flops),
               std::to_string(kernel.bytes), std::to_string(kernel.parallel)});
  }
  table.add({"", "total", "", std::to_string(plan.flops()), std::to_string(bytes)});
  return fmt::format("kernels: {}, of {} programs{}\n", plan.kernels.size(), plan.programs.size(),
                     plan.strict ? ", strict numerics" : "") +
         (plan.kernels.empty() ? "" : table.text());
}

std::string input_table(const Plan& plan) {
  Table table("<<>");
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    table.add(
        {fmt::format("in{}", i), std::string(name(plan.inputs[i].dtype)), std::to_string(plan.inputs[i].elements)});
  return fmt::format("inputs: {}\n", plan.inputs.size()) + table.text();
}

std::string variable_table(const Plan& plan) {
  Table table("<<");
  for (std::size_t i = 0; i < plan.variables.size(); ++i)
    table.add({fmt::format("var{}", i), fmt::format("{}..{}", plan.variables[i].min, plan.variables[i].max)});
  return plan.variables.empty() ? "" : fmt::format("variables: {}\n", plan.variables.size()) + table.text();
}

std::string temp_table(const Plan& plan) {
  Table table("<<>>>");
  table.add({"", "dtype", "elements", "kernels", "offset"});
  for (std::size_t t = 0; t < plan.temps.size(); ++t) {
    const TempSpec& temp = plan.temps[t];
    table.add({fmt::format("tmp{}", t), std::string(name(temp.tensor.dtype)), std::to_string(temp.tensor.elements),
               fmt::format("{}..{}", temp.first, temp.last), std::to_string(temp.offset)});
  }
  return fmt::format("temporaries: {}, in {} bytes\n", plan.temps.size(), plan.scratch_bytes) +
         (plan.temps.empty() ? "" : table.text());
}

std::string output_table(const Plan& plan) {
  Table table("<<><");
  for (std::size_t o = 0; o < plan.outputs.size(); ++o) {
    const OutputSpec& output = plan.outputs[o];
    table.add({fmt::format("out{}", o), std::string(name(output.tensor.dtype)), std::to_string(output.tensor.elements),
               output.alias_of_input < 0 ? "" : fmt::format("is in{}", output.alias_of_input)});
  }
  return fmt::format("outputs: {}, in {} bytes\n", plan.outputs.size(), plan.output_bytes()) + table.text();
}

}  // namespace

std::string to_string(BufferRef ref) {
  switch (ref.kind) {
    case BufferRef::Kind::kIn: return fmt::format("in{}", ref.index);
    case BufferRef::Kind::kTmp: return fmt::format("tmp{}", ref.index);
    case BufferRef::Kind::kOut: return fmt::format("out{}", ref.index);
  }
  return fmt::format("kind{}:{}", static_cast<int>(ref.kind), ref.index);  // of a plan that verify_plan refuses
}

std::uint64_t Plan::flops() const {
  std::uint64_t sum = 0;
  for (const KernelLaunch& kernel : kernels) sum += kernel.flops;
  return sum;
}

std::uint64_t Plan::output_bytes() const {
  std::uint64_t sum = 0;
  for (const OutputSpec& output : outputs)
    if (output.alias_of_input < 0) sum += output.tensor.bytes();
  return sum;
}

std::string to_text(const Plan& plan) {
  return kernel_table(plan) + input_table(plan) + variable_table(plan) + temp_table(plan) + output_table(plan);
}

}  // namespace uop
