// Values of options from text: what is taken, and what is refused with the name, the text and what is allowed.
#include "core/support/option_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace uop {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Row {
  const char* check;
  const char* text;
  const char* allowed;  // of the message; nullptr: the text is taken
};

/// Assigns each row's text to a copy of `before`.
template <class Value>
void expect_rows(std::initializer_list<Row> rows, const Value& before) {
  for (const Row& row : rows) {
    Value value = before;
    const Status status = assign_option("name_of_it", row.check, row.text, value);
    EXPECT_EQ(status.ok(), row.allowed == nullptr) << row.check << " " << row.text;
    if (status.ok()) {
      EXPECT_EQ(option_text(value), row.text);
      continue;
    }
    EXPECT_EQ(value, before) << row.text;
    EXPECT_THAT(message(status), AllOf(HasSubstr("name_of_it"), HasSubstr("'" + std::string(row.text) + "'"),
                                       HasSubstr("give " + std::string(row.allowed))));
  }
}

TEST(OptionValueTest, Integers) {
  expect_rows<std::int64_t>({{"0..7", "0", nullptr},
                             {"0..7", "7", nullptr},
                             {"5..", "9223372036854775807", nullptr},
                             {"", "-3", nullptr},
                             {"0..7", "8", "an integer in 0..7"},
                             {"0..7", "-1", "an integer in 0..7"},
                             {"5..", "4", "an integer in 5.."},
                             {"0..7", "", "an integer in 0..7"},
                             {"0..7", "1x", "an integer in 0..7"},
                             {"0..7", " 1", "an integer in 0..7"},
                             {"", "9223372036854775808", "an integer"}},
                            6);
}

TEST(OptionValueTest, Booleans) {
  expect_rows<bool>({{"", "true", nullptr}, {"", "false", nullptr}, {"", "yes", "true or false"}}, true);
  bool value = false;
  EXPECT_TRUE(assign_option("x", "", "on", value).ok() && value);
  EXPECT_TRUE(assign_option("x", "", "0", value).ok() && !value);
}

TEST(OptionValueTest, Texts) {
  expect_rows<std::string>({{"", "", nullptr},
                            {"", "a b", nullptr},
                            {"text|json", "json", nullptr},
                            {"text|json", "jso", "one of text|json"},
                            {"text|json", "text|json", "one of text|json"},
                            {"text|json", "", "one of text|json"}},
                           "before");
}

TEST(OptionValueTest, Names) {
  EXPECT_EQ(option_variable("cache_dir"), "UOPD_CACHE_DIR");
  EXPECT_TRUE(is_option("cache_dir", "cache-dir"));
  EXPECT_TRUE(is_option("cache_dir", "cache_dir"));
  EXPECT_FALSE(is_option("cache_dir", "cache_di"));
}

}  // namespace
}  // namespace uop
