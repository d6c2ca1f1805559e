// Small graphs by number, each with a kernel of its own, and what they must give: what the tests of the cache directory
// build, in this process and in others.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "client/cpp/client_error.h"
#include "client/cpp/device.h"
#include "core/ir/text.h"

namespace uop {

inline constexpr int kElements = 16;

/// Number `n` of 0..1023: one step for each of its ten bits, a sum or a product.
inline RootedGraph numbered_graph(int n) {
  std::string text = fmt::format("%x = BUFFER slot=0 size={0} : i32[{0}]\n%v0 = ADD(%x, %x)\n", kElements);
  for (int bit = 0; bit < 10; ++bit)
    text += fmt::format("%v{} = {}(%v{}, %x)\n", bit + 1, (n >> bit & 1) != 0 ? "MUL" : "ADD", bit);
  return value_or_throw(parse_text(text + "return %v10\n"));
}

inline std::vector<std::int32_t> numbered_input() {
  std::vector<std::int32_t> values;
  for (int i = 0; i < kElements; ++i) values.push_back(3 * i - 20);
  return values;
}

inline std::vector<std::int32_t> numbered_answer(int n) {
  std::vector<std::int32_t> answer;
  for (const std::int32_t value : numbered_input()) {
    const auto x = static_cast<std::uint32_t>(value);  // wraps, as the language says
    std::uint32_t v = x + x;
    for (int bit = 0; bit < 10; ++bit) v = (n >> bit & 1) != 0 ? v * x : v + x;
    answer.push_back(static_cast<std::int32_t>(v));
  }
  return answer;
}

inline std::vector<std::int32_t> values_of(Device& device, const BufferHandle& buffer) {
  const std::vector<std::byte> bytes = value_or_throw(device.get(buffer));
  std::vector<std::int32_t> values(bytes.size() / sizeof(std::int32_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Runs graph `n` on the device. Whether the answer is right; or why there is none.
inline StatusOr<bool> run_numbered(Device& device, int n, const RunOptions& options = {}) {
  const std::vector<std::int32_t> input = numbered_input();
  const auto put = device.put(std::as_bytes(std::span(input)), {DType::kI32, kElements});
  if (!put.ok()) return put.status();
  const auto outcome = device.run(numbered_graph(n), std::vector<BufferHandle>{*put}, {}, options);
  if (!outcome.ok()) return outcome.status();
  return values_of(device, outcome->outputs.at(0)) == numbered_answer(n);
}

/// A number of the device's status by name.
inline double status_number(Device& device, const std::string& name) {
  for (const StatusRow& row : value_or_throw(device.status()))
    if (row.name == name) return row.number;
  throw std::runtime_error("no status row " + name);
}

}  // namespace uop
