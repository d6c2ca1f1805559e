// Bytes that would take far more memory as a message than as bytes are refused before they are one.
#include "core/wire/graph_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "core/wire/graph_codec.h"
#include "tests/sample_graphs.h"

namespace uop {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string repeated(std::string_view what, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; i++) all += what;
  return all;
}

/// A field of the graph, with a length of up to four bytes.
std::string field(int number, std::string_view content) {
  std::string bytes(1, static_cast<char>(number << 3 | 2));
  for (std::size_t n = content.size(); bytes.size() < 4; n >>= 7) bytes += static_cast<char>(n % 128 | 128);
  bytes += static_cast<char>(content.size() >> 21);
  return bytes.append(content);
}

long most_resident_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

constexpr std::string_view kEmptyNode("\x0A\x00", 2);

TEST(GraphBytesTest, WhatTakesTooMuchIsRefusedUnparsed) {
  const struct {
    const char* what;
    std::string bytes;
    StatusCode code;
    const char* expected;
  } rows[] = {
      {"empty nodes", repeated(kEmptyNode, kMaxGraphBytes / 2), StatusCode::kResourceExhausted, "1000000 nodes"},
      {"one node too many", repeated(kEmptyNode, kMaxNodes + 1), StatusCode::kResourceExhausted, "1000000 nodes"},
      {"a node of numbers", field(1, field(4, std::string(8 << 20, '\1'))), StatusCode::kInvalidArgument,
       "node %0 has"},
      {"a node of sources", field(1, field(2, std::string(kMaxNodeBytes, '\1'))), StatusCode::kInvalidArgument,
       "node %0 has"},
      {"packed roots", field(2, std::string(8 << 20, '\1')), StatusCode::kResourceExhausted, "65536 roots"},
      {"roots one by one", repeated("\x10\x01", 4 << 20), StatusCode::kResourceExhausted, "65536 roots"},
      {"unknown fields", repeated("\x78\x01", 4 << 20), StatusCode::kInvalidArgument, "not known here"},
      {"a long graph", std::string(kMaxGraphBytes + 1, '\0'), StatusCode::kResourceExhausted, "67108864 bytes"},
  };
  const long before = most_resident_kib();
  for (const auto& row : rows) {
    const Status status = parse_graph(row.bytes).status();
    EXPECT_EQ(status.code(), row.code) << row.what;
    EXPECT_THAT(message(status), AllOf(HasSubstr(row.expected), HasSubstr("remedy: "))) << row.what;
  }
  EXPECT_LT(most_resident_kib() - before, 64 << 10) << "KiB more than the bytes themselves";
}

TEST(GraphBytesTest, WhatFitsIsLeftToTheParser) {
  for (const std::string& listing : sample_listings())
    EXPECT_TRUE(check_graph_bytes(encode_graph(parse_text(listing)->roots).SerializeAsString()).ok()) << listing;
  for (const std::string& bytes : {std::string(), std::string("\x0A\x05 cut"), std::string("\x0A"),
                                   std::string("\0", 1), std::string("\x10\xFF\xFF")}) {
    EXPECT_TRUE(check_graph_bytes(bytes).ok());
    EXPECT_THAT(message(parse_graph(bytes).status()), HasSubstr("remedy: "));
  }
}

// The widest node that an op can take: 32 axes, two numbers of ten bytes for each.
TEST(GraphBytesTest, TheWidestNodeFits) {
  uopd::v1::Graph m;
  uopd::v1::Node& node = *m.add_nodes();
  node.set_op(4'000'000'000);
  for (int i = 0; i < 3; i++) node.add_src(4'000'000'000);
  node.set_dtype(static_cast<uopd::v1::DType>(-1));
  for (int i = 0; i < 64; i++) node.add_ints(std::numeric_limits<std::int64_t>::min());
  node.set_value(std::numeric_limits<std::int64_t>::min());
  node.set_bits(~std::uint64_t{0});
  node.set_reduce_op(4'000'000'000);
  EXPECT_TRUE(check_graph_bytes(m.SerializeAsString()).ok());
}

}  // namespace
}  // namespace uop
