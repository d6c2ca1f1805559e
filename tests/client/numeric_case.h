// The cases of tests/data/numeric: what is in the file, and a case's inputs as tensors of a program that is not run.
#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cpp/npy.h"
#include "client/cpp/tensor.h"
#include "core/ir/build.h"
#include "core/ir/traverse.h"
#include "tests/reference/changed_case.h"

namespace uop::numeric {

struct NumericCase {
  int id = 0;
  std::string name;
  std::string expression;  // NumPy
  std::string kind;        // bits, exact, close, policy, raises
  double rtol = 0;
  double atol = 0;
  std::map<std::string, NpyArray> inputs;
  std::vector<NpyArray> accepted;  // any of them; none: an error
};

inline reference::Bits bits_of_json(DType dtype, const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_string()) return reference::rounded(dtype, std::stod(value.get<std::string>()));
  if (is_float(dtype)) return reference::rounded(dtype, value.get<double>());
  return value.is_number_unsigned() ? reference::wrapped(dtype, value.get<std::uint64_t>())
                                    : reference::wrapped(dtype, value.get<std::int64_t>());
}

inline NpyArray array_of_json(const nlohmann::json& json, const std::string& directory) {
  if (json.contains("file"))
    return read_npy(directory + "/" + json.at("file").get<std::string>()).value();  // throws where it can't be read
  static const std::map<std::string, DType> kNames = {
      {"bool", DType::kBool},  {"int8", DType::kI8},     {"int16", DType::kI16},   {"int32", DType::kI32},
      {"int64", DType::kI64},  {"uint8", DType::kU8},    {"uint16", DType::kU16},  {"uint32", DType::kU32},
      {"uint64", DType::kU64}, {"float16", DType::kF16}, {"float32", DType::kF32}, {"float64", DType::kF64}};
  NpyArray array{kNames.at(json.at("dtype").get<std::string>()), json.at("shape").get<Shape>(), {}};
  const auto size = static_cast<std::size_t>(byte_size(array.dtype));
  for (const nlohmann::json& value : json.at("data")) {
    array.bytes.resize(array.bytes.size() + size);
    reference::store(array.dtype, bits_of_json(array.dtype, value), &array.bytes[array.bytes.size() - size]);
  }
  return array;
}

inline std::vector<NumericCase> read_cases(const std::string& directory) {
  std::ifstream file(directory + "/cases.json");
  std::vector<NumericCase> cases;
  for (const nlohmann::json& json : nlohmann::json::parse(file)) {
    NumericCase c{
        json.at("id"), json.at("name"), json.at("expr"), json.at("kind"), json.at("rtol"), json.at("atol"), {}, {}};
    for (const auto& [name, input] : json.at("inputs").items()) c.inputs[name] = array_of_json(input, directory);
    if (json.contains("expected") && json.at("expected").is_object())
      c.accepted.push_back(array_of_json(json.at("expected"), directory));
    if (json.contains("accept"))
      for (const nlohmann::json& choice : json.at("accept"))
        if (choice.is_object()) c.accepted.push_back(array_of_json(choice, directory));
    cases.push_back(std::move(c));
  }
  return cases;
}

enum class Operands { kBuffers, kConstants };

/// A case's inputs as tensors; as constants where they have few elements.
class Inputs {
 public:
  Inputs(const NumericCase& c, Operands how) : case_(c), how_(how) {}

  /// A new BUFFER on each call.
  Tensor operator()(const std::string& name) {
    constexpr std::int64_t kMostConstants = 40;
    const NpyArray& array = case_.inputs.at(name);
    const auto slot = static_cast<std::int64_t>(read_.size());
    const std::int64_t n = reference::count(array.shape);
    Graph& g = program_->graph();
    if (how_ == Operands::kConstants && n > 0 && n <= kMostConstants) {
      const auto item = [&](std::int64_t i) { return reference::constant_at(g, array.dtype, array.bytes, i); };
      return Tensor(program_, uop::reshape(reference::vector_of(g, n, item), array.shape));
    }
    read_.push_back(name);
    return Tensor(program_, uop::reshape(uop::buffer(g, slot, array.dtype, n), array.shape));
  }
  const ProgramPtr& program() const { return program_; }

  /// The graph of `roots`; an input that was asked for twice is one buffer bound twice.
  reference::RandomCase graph_of(const std::vector<Tensor>& roots) const {
    reference::RandomCase c;
    c.graph.graph = std::make_unique<Graph>();
    std::vector<UOp> nodes;
    for (const Tensor& t : roots) nodes.push_back(t.node());
    c.graph.roots = rebuild(nodes, *c.graph.graph, [](UOp, UOp made) { return made; });
    std::map<std::string, std::int64_t> first;
    for (std::size_t i = 0; i < read_.size(); i++) {
      const auto slot = static_cast<std::int64_t>(i);
      c.inputs.buffers[slot] = case_.inputs.at(read_[i]).bytes;
      const auto [at, is_new] = first.emplace(read_[i], slot);
      if (!is_new) c.same_buffer[slot] = at->second;
    }
    return c;
  }

 private:
  const NumericCase& case_;
  Operands how_;
  ProgramPtr program_ = std::make_shared<Program>(nullptr);  // graphs only: nothing is realized
  std::vector<std::string> read_;                            // of each slot
};

}  // namespace uop::numeric
