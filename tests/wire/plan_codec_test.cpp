// Plans as messages and as files: what is written is read back, and a file that was touched is refused.
#include "core/wire/plan_codec.h"

#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <random>

#include "core/wire/stored_plan.h"
#include "tests/sample_plan.h"

namespace uop {
namespace {

using testing::HasSubstr;

StoredPlanData sample() {
  StoredPlanData data{std::string("\x01\x00structure", 11), {}, sample_plan()};
  data.options.opt = 0;
  data.options.numerics = "strict";
  return data;
}

TEST(PlanCodecTest, APlanIsReadBack) {
  const auto plan = decode_plan(encode_plan(sample_plan(), true));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(*plan, sample_plan());
  EXPECT_TRUE(decode_plan({}).ok());
}

TEST(PlanCodecTest, SourcesMayBeLeftOut) {
  const auto plan = decode_plan(encode_plan(sample_plan(), false));
  ASSERT_TRUE(plan.ok()) << plan.status();
  Plan expected = sample_plan();
  for (KernelProgram& program : expected.programs) program.source.clear();
  EXPECT_EQ(*plan, expected);
}

TEST(PlanCodecTest, BadMessagesAreRefused) {
  struct Row {
    const char* what;
    void (*change)(uopd::v1::Plan&);
  };
  const Row rows[] = {
      {"in0 has no dtype", [](uopd::v1::Plan& m) { m.mutable_inputs(0)->set_dtype(uopd::v1::DTYPE_UNSPECIFIED); }},
      {"in0 has no dtype", [](uopd::v1::Plan& m) { m.mutable_inputs(0)->set_dtype(static_cast<uopd::v1::DType>(-9)); }},
      {"tmp0 has no dtype", [](uopd::v1::Plan& m) { m.mutable_temps(0)->clear_tensor(); }},
      {"kernel 0 has a reference of no known kind",
       [](uopd::v1::Plan& m) {
         m.mutable_kernels(0)->mutable_refs(0)->set_kind(static_cast<uopd::v1::BufferRef::Kind>(256));
       }},
      {"kernel 0 has a reference of no known kind",
       [](uopd::v1::Plan& m) {
         m.mutable_kernels(0)->mutable_refs(0)->set_kind(static_cast<uopd::v1::BufferRef::Kind>(-1));
       }},
      {"out1 is an alias of in4294967295", [](uopd::v1::Plan& m) { m.mutable_outputs(1)->set_alias_of_input(~0u); }},
      {"kernel 2 has no program", [](uopd::v1::Plan& m) { m.mutable_kernels(2)->set_program(2); }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    uopd::v1::Plan m = encode_plan(sample_plan(), true);
    row.change(m);
    const auto plan = decode_plan(m);
    EXPECT_EQ(plan.status().code(), StatusCode::kDataLoss);
    EXPECT_THAT(message(plan.status()), HasSubstr(row.what));
  }
}

TEST(PlanCodecTest, ChangedMessagesGiveAGoodPlanOrAnError) {
  const google::protobuf::LogSilencer silence;  // of bytes that are not UTF-8
  const std::string good = encode_plan(sample_plan(), true).SerializeAsString();
  for (unsigned seed = 0; seed < 20'000; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::string bytes = good;
    for (auto left = 1 + random() % 3; left > 0; left--) bytes[random() % bytes.size()] = static_cast<char>(random());
    uopd::v1::Plan m;
    if (!m.ParseFromString(bytes)) continue;
    if (const auto plan = decode_plan(m); plan.ok()) to_text(*plan);
  }
}

TEST(StoredPlanTest, IsReadBack) {
  const std::string bytes = serialize_stored_plan(sample());
  EXPECT_EQ(bytes, serialize_stored_plan(sample()));
  const auto data = parse_stored_plan(bytes);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(*data, sample());
}

/// The store sees to it that bytes are whole; whatever they are, they are a good plan or an error.
TEST(StoredPlanTest, CutOrChangedBytesGiveAGoodPlanOrAnError) {
  const google::protobuf::LogSilencer silence;  // of bytes that are not UTF-8
  const std::string good = serialize_stored_plan(sample());
  const auto read = [](const std::string& bytes) {
    const auto data = parse_stored_plan(bytes);
    if (data.ok())
      to_text(data->plan);
    else
      EXPECT_EQ(data.status().code(), StatusCode::kDataLoss);
  };
  for (std::size_t size = 0; size < good.size(); size++) read(good.substr(0, size));
  EXPECT_EQ(parse_stored_plan("").status().code(), StatusCode::kDataLoss);
  for (std::size_t bit = 0; bit < 8 * good.size(); bit++) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    read(bytes);
  }
}

TEST(StoredPlanTest, BadContentIsRefused) {
  struct Row {
    const char* what;
    void (*change)(uopd::v1::StoredPlan&);
  };
  const Row rows[] = {
      {"options of another version", [](uopd::v1::StoredPlan& m) { m.mutable_options()->erase("opt"); }},
      {"options of another version", [](uopd::v1::StoredPlan& m) { (*m.mutable_options())["later"] = "1"; }},
      {"options of another version", [](uopd::v1::StoredPlan& m) { (*m.mutable_options())["opt"] = "77"; }},
      {"scratch memory", [](uopd::v1::StoredPlan& m) { m.mutable_plan()->set_scratch_bytes(0); }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    uopd::v1::StoredPlan m;
    ASSERT_TRUE(m.ParseFromString(serialize_stored_plan(sample())));
    row.change(m);
    const auto data = parse_stored_plan(m.SerializeAsString());
    EXPECT_EQ(data.status().code(), StatusCode::kDataLoss);
    EXPECT_THAT(message(data.status()), HasSubstr(row.what));
  }
  EXPECT_THAT(message(parse_stored_plan("no message").status()), HasSubstr("not a uopd.v1.StoredPlan"));
}

}  // namespace
}  // namespace uop
