#include "tests/reference/differential.h"

#include <cstring>

#include "tests/reference/interpret.h"

namespace uop::reference {
namespace {

StatusOr<BufferPtr> uploaded(Engine& engine, const Bytes& bytes) {
  StatusOr<BufferPtr> buffer = engine.pool().allocate(bytes.size());
  if (buffer.ok() && !bytes.empty()) std::memcpy((*buffer)->data(), bytes.data(), bytes.size());
  return buffer;
}

Bytes downloaded(const Buffer& buffer) {
  Bytes bytes(buffer.bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), buffer.data(), bytes.size());
  return bytes;
}

Numerics numerics_of(const CompileOptions& options) {
  return options.numerics == "strict" ? Numerics::kStrict : Numerics::kDefault;
}

std::optional<std::string> unlike(const RandomCase& c, const std::vector<Bytes>& a, const std::vector<Bytes>& b) {
  for (std::size_t r = 0; r < a.size(); r++)
    if (const auto at = difference(c.graph.roots[r].dtype(), a[r], b[r])) return fmt::format("root {}: {}", r, *at);
  return std::nullopt;
}

Comparison compare_all(const std::vector<Bytes>& actual, const std::vector<Tensor>& expected) {
  Comparison all;
  for (std::size_t r = 0; r < expected.size(); r++) {
    Comparison one = compare(actual[r], expected[r]);
    if (one.difference) one.difference = fmt::format("root {}: {}", r, *one.difference);
    all += one;
  }
  return all;
}

}  // namespace

std::string to_text(const CompileOptions& options) {
  return key_text(options);
}

std::vector<CompileOptions> all_options() {
  std::vector<CompileOptions> all;
  for (const std::int64_t opt : {0, 1})
    for (const bool fuse : {false, true}) {
      all.push_back({.opt = opt, .fuse_reduce = fuse, .numerics = "strict"});
      all.push_back({.opt = opt, .fuse_reduce = fuse});
    }
  all.push_back({.stage = false});
  return all;
}

StatusOr<std::vector<Bytes>> run_on(Engine& engine, const RandomCase& c, const CompileOptions& options) {
  const StatusOr<Compilation> compilation = engine.compile(c.graph, options);
  if (!compilation.ok()) return compilation.status();
  std::map<std::int64_t, BufferPtr> by_slot;
  for (const auto& [slot, bytes] : c.inputs.buffers) {
    const auto shared = c.same_buffer.find(slot);
    if (shared != c.same_buffer.end()) {
      by_slot[slot] = by_slot.at(shared->second);
      continue;
    }
    StatusOr<BufferPtr> buffer = uploaded(engine, bytes);
    if (!buffer.ok()) return buffer.status();
    by_slot[slot] = *std::move(buffer);
  }
  std::vector<BufferPtr> inputs;
  for (const std::int64_t slot : compilation->binding.inputs) inputs.push_back(by_slot.at(slot));
  std::vector<std::int64_t> variables;
  for (const std::int64_t slot : compilation->binding.variables) variables.push_back(c.inputs.variables.at(slot));
  const StatusOr<RunResult> run = engine.run(compilation->plan, inputs, variables);
  if (!run.ok()) return run.status();
  for (const auto& [slot, bytes] : c.inputs.buffers)
    if (!bytes.empty() && std::memcmp(by_slot.at(slot)->data(), bytes.data(), bytes.size()) != 0)
      return error(StatusCode::kDataLoss, "the input of slot {} was written to", slot);
  std::vector<Bytes> outputs;
  for (const std::uint32_t output : compilation->binding.roots)
    outputs.push_back(downloaded(*run->execution.outputs.at(output)));
  return outputs;
}

Differential::Differential(const std::string& cache_dir, const std::string& compiler) {
  for (const std::int64_t threads : {1, 2}) {
    StatusOr<std::unique_ptr<Engine>> engine =
        Engine::create({.cache_dir = cache_dir, .threads = threads, .compiler = compiler, .poison = true});
    check(engine.ok(), engine.ok() ? "" : message(engine.status()));
    engines_.push_back(*std::move(engine));
  }
}

Verdict Differential::run(const RandomCase& c, const std::vector<CompileOptions>& options) {
  Verdict verdict;
  std::map<Numerics, std::vector<Tensor>> expected;
  std::optional<std::vector<Bytes>> strict;
  for (const CompileOptions& o : options) {
    const auto fails = [&](std::string_view how, std::string_view what) {
      verdict.problem = fmt::format("{} ({})\n{}", how, to_text(o), what);
      return verdict;
    };
    const Numerics numerics = numerics_of(o);
    if (!expected.contains(numerics)) expected[numerics] = interpret(c.graph.roots, c.inputs, numerics);
    std::optional<std::vector<Bytes>> first;
    for (const std::unique_ptr<Engine>& engine : engines_) {
      StatusOr<std::vector<Bytes>> outputs = run_on(*engine, c, o);
      if (!outputs.ok()) return fails("the engine fails", message(outputs.status()));
      if (!first) {
        const Comparison comparison = compare_all(*outputs, expected[numerics]);
        if (comparison.difference) return fails("not as the reference says", *comparison.difference);
        verdict.comparison += comparison;
        first = *std::move(outputs);
      } else if (const auto at = unlike(c, *first, *outputs)) {
        return fails("two threads give other bits than one", *at);
      }
    }
    if (numerics != Numerics::kStrict) continue;
    if (!strict)
      strict = first;
    else if (const auto at = unlike(c, *strict, *first))
      return fails("strict gives other bits than under the first options", *at);
  }
  return verdict;
}

}  // namespace uop::reference
