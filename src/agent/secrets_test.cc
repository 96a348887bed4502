#include "agent/secrets.h"

#include <gtest/gtest.h>

namespace espalier::agent {
namespace {

TEST(Secrets, ThatAreNamedAreMasked) {
  const std::pair<const char*, const char*> examples[] = {
      {"mysql -u root --password=hunter2 db", "mysql -u root --password=*** db"},
      {"mysql --password hunter2 db", "mysql --password *** db"},
      {"+ export AWS_SECRET_ACCESS_KEY=abc/def+1", "+ export AWS_SECRET_ACCESS_KEY=***"},
      {R"({"SessionToken": "abc", "x": 1})", R"({"SessionToken": "***", "x": 1})"},
      {"password: hunter2", "password: ***"},
      {"curl https://h/x?api_key=abc&page=2", "curl https://h/x?api_key=***&page=2"},
      {"DB_PASSWD='a b'", "DB_PASSWD='*** b'"}};
  for (const auto& [text, expected] : examples) EXPECT_EQ(without_secrets(text), expected);
}

TEST(Secrets, OrdinaryTextStays) {
  for (const char* text : {"", "\n", "a\n\nb\n", "reading the token of the slot", "no password given",
                           "E: line 3: exit 1", "munge.key is there", "secret"})
    EXPECT_EQ(without_secrets(text), text);
}

TEST(Secrets, PrivateKeysAreMaskedAlsoWhenCutOff) {
  EXPECT_EQ(without_secrets("a\n-----BEGIN RSA PRIVATE KEY-----\nMII\nxyz\n-----END RSA PRIVATE KEY-----\nb"),
            "a\n-----BEGIN RSA PRIVATE KEY-----\n***\n***\n-----END RSA PRIVATE KEY-----\nb");
  EXPECT_EQ(without_secrets("-----BEGIN PRIVATE KEY-----\nMII"), "-----BEGIN PRIVATE KEY-----\n***");
  EXPECT_EQ(without_secrets("-----BEGIN CERTIFICATE-----\nMII"), "-----BEGIN CERTIFICATE-----\nMII");
}

}  // namespace
}  // namespace espalier::agent
