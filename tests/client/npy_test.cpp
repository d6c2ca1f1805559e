#include "client/cpp/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ir/dtype.h"
#include "tests/client/process.h"

namespace uop {
namespace {

std::string file_of(const std::string& header, const std::string& data, char version = 1) {
  std::string content = std::string("\x93NUMPY") + version + '\0';
  content += static_cast<char>(header.size());
  content += '\0';
  if (version > 1) content += std::string(2, '\0');
  return content + header + data;
}

std::string header_of(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

TEST(NpyTest, EveryDTypeAndRankSurvivesAFile) {
  const TemporaryDirectory dir;
  for (const DTypeRow& row : dtype_rows())
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 5}}) {
      NpyArray array{row.dtype, shape, {}};
      std::int64_t elements = 1;
      for (const std::int64_t size : shape) elements *= size;
      for (std::int64_t i = 0; i < elements * row.bytes; ++i) array.bytes.push_back(static_cast<std::byte>(i & 1));
      ASSERT_TRUE(write_npy(dir / "a.npy", array).ok());
      const StatusOr<NpyArray> read = read_npy(dir / "a.npy");
      ASSERT_TRUE(read.ok()) << row.name << ": " << message(read.status());
      EXPECT_EQ(read->dtype, array.dtype);
      EXPECT_EQ(read->shape, array.shape);
      EXPECT_EQ(read->bytes, array.bytes);
      EXPECT_EQ((testing::content_of(dir / "a.npy").size() - array.bytes.size()) % 64, 0u) << "data is aligned";
    }
}

TEST(NpyTest, GoodHeaderRows) {
  const std::string four(4, '\0');
  const std::string contents[] = {
      file_of(header_of("<f4", "(1,)"), four),
      file_of(header_of("<f4", "(1,)"), four, 2),
      file_of(header_of("<f4", "(1,)"), four, 3),
      file_of("{\"shape\": ( 1 , ), \"fortran_order\":False,\"descr\":\"=f4\"}", four),
  };
  for (const std::string& content : contents) {
    const StatusOr<NpyArray> array = parse_npy(content);
    ASSERT_TRUE(array.ok()) << message(array.status());
    EXPECT_EQ(array->dtype, DType::kF32);
    EXPECT_EQ(array->shape, (Shape{1}));
  }
}

TEST(NpyTest, HostileRows) {
  const std::string eight(8, 'x');
  const std::pair<std::string, std::string> rows[] = {
      {"", "does not begin as a .npy file"},
      {"PK\x03\x04 something else", "does not begin as a .npy file"},
      {std::string("\x93NUMPY\x01\x00", 8), "does not begin as a .npy file"},
      {file_of(header_of("<f4", "(2,)"), eight, 9), "format version is 9"},
      {file_of(header_of("<f4", "(2,)"), "").substr(0, 30), "longer than the file"},
      {file_of(header_of("<f4", "(2,)"), "xxxx"), "says f32[2], but 4 bytes follow"},
      {file_of(header_of("<f4", "(2,)"), eight + "x"), "says f32[2], but 9 bytes follow"},
      {file_of(header_of("<f4", "(-2,)"), eight), "bytes follow"},
      {file_of(header_of("<f4", "(4611686018427387904, 4)"), eight), "bytes follow"},
      {file_of(header_of("<f4", "(99999999999999999999,)"), eight), "not the dictionary"},
      {file_of(header_of("<f4", "(2"), eight), "not the dictionary"},
      {file_of(header_of("<f4", "2"), eight), "not the dictionary"},
      {file_of(header_of("<f4", "(2,)", "True"), eight), "Fortran order"},
      {file_of(header_of("<f4", "(2,)", "maybe"), eight), "not the dictionary"},
      {file_of(header_of(">f4", "(2,)"), eight), "big-endian"},
      {file_of(header_of("<c8", "(1,)"), eight), "its type '<c8'"},
      {file_of(header_of("|O", "(1,)"), eight), "its type '|O'"},
      {file_of(header_of("", "(1,)"), eight), "its type ''"},
      {file_of("{'descr': '<f4', 'shape': (2,)}", eight), "not the dictionary"},
      {file_of("{'descr': '<f4", eight), "not the dictionary"},
      {file_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", eight), "not the dictionary"},
      {file_of(header_of("<f4", "(2,)") + "}", eight), "not the dictionary"},
      {file_of(header_of("<f4", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2)"), eight),
       "33 axes"},
  };
  for (const auto& [content, text] : rows) {
    const StatusOr<NpyArray> array = parse_npy(content);
    ASSERT_FALSE(array.ok()) << text;
    EXPECT_THAT(message(array.status()), ::testing::HasSubstr(text));
  }
}

TEST(NpyTest, FileErrorsNameThePath) {
  EXPECT_THAT(message(read_npy("/nowhere/x.npy").status()), ::testing::HasSubstr("/nowhere/x.npy cannot be read"));
  EXPECT_THAT(message(write_npy("/nowhere/x.npy", {DType::kU8, {0}, {}})),
              ::testing::HasSubstr("/nowhere/x.npy cannot be written"));
}

}  // namespace
}  // namespace uop
