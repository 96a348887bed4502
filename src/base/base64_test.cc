#include "base/base64.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(Base64, HasTheExamplesOfTheRfc) {
  const std::vector<std::pair<const char*, const char*>> examples = {
      {"", ""}, {"Zg==", "f"}, {"Zm8=", "fo"}, {"Zm9v", "foo"}, {"Zm9vYg==", "foob"}, {"Zm9vYmFy", "foobar"}};
  for (const auto& [text, bytes] : examples) {
    EXPECT_EQ(from_base64(text).value_or("?"), bytes) << text;
    EXPECT_EQ(to_base64(bytes), text);
  }
  EXPECT_EQ(from_base64("AP8A+/8=").value_or("?"), std::string("\0\xff\0\xfb\xff", 5));
  EXPECT_EQ(to_base64(std::string("\0\xff\0\xfb\xff", 5)), "AP8A+/8=");
}

TEST(Base64, NeverShowsWhatItRefuses) {
  for (const char* text : {"Zm9", "Zm9!", "Zm=v"}) {
    const auto refused = from_base64(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().message.find("Zm"), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace espalier
