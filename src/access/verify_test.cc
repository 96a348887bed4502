// What an attacker would try with a request that he has seen.
#include "access/verify.h"

#include <gmock/gmock.h>

#include "access/claim.h"

namespace espalier::access {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

const Time kNow = *parse_wire_time("20260101T000000Z");
constexpr const char* kSecret = "secret";

http::Request good(Time at = kNow, const char* service = "sagemaker") {
  http::Request request{"POST",
                        "/",
                        {{"Host", "127.0.0.1:8650"},
                         {"Content-Type", "application/x-amz-json-1.1"},
                         {"X-Amz-Target", "SageMaker.ListClusters"}},
                        "{}",
                        ""};
  sign(request, {"ESPKEXAMPLE", kSecret}, "us-west-2", service, at);
  request.headers.emplace("User-Agent", "tests");  // added on the way: not signed, and no harm
  return request;
}

// "" when it holds, else the kind and what is said.
std::string verdict(const http::Request& request, Time now = kNow) {
  const auto claim = read_claim(request);
  if (!claim) return "incomplete: " + claim.error().message;
  if (!*claim) return "unsigned";
  auto ok = check_claim(request, **claim, "sagemaker", now);
  if (ok) ok = check_signature(request, **claim, kSecret);
  if (ok) return "";
  const auto& [kind, message] = ok.error();
  return (kind == RefusalKind::kMismatch ? "mismatch: "
          : kind == RefusalKind::kSkew   ? "skew: "
                                         : "incomplete: ") +
         message;
}

void set(http::Request& request, const std::string& name, const std::string& value) {
  request.headers.erase(name);
  request.headers.emplace(name, value);
}
void replace(http::Request& request, std::string_view from, std::string_view to) {
  auto text = http::header(request.headers, "Authorization");
  text.replace(text.find(from), from.size(), to);
  set(request, "Authorization", text);
}

TEST(Verify, AGoodRequest) { EXPECT_EQ(verdict(good()), ""); }

TEST(Verify, FiveMinutesEitherWay) {
  EXPECT_EQ(verdict(good(), kNow + 5min), "");
  EXPECT_EQ(verdict(good(), kNow - 5min), "");
  EXPECT_THAT(verdict(good(), kNow + 5min + 1s),
              AllOf(HasSubstr("skew: Signature expired: 20260101T000000Z is now earlier than 20260101T000001Z"),
                    HasSubstr("(20260101T000501Z - 5 min.)")));
  EXPECT_THAT(verdict(good(), kNow - 5min - 1s), HasSubstr("skew: Signature not yet current: 20260101T000000Z"));
}

TEST(Verify, AlteredInAnyPart) {
  auto body = good();
  body.body = "{ }";
  EXPECT_THAT(verdict(body), HasSubstr("mismatch"));
  auto method = good();
  method.method = "PUT";
  EXPECT_THAT(verdict(method), HasSubstr("mismatch"));
  auto target = good();
  target.target = "/?a=b";
  EXPECT_THAT(verdict(target), HasSubstr("mismatch"));
  for (const auto* name : {"Host", "Content-Type", "X-Amz-Target"}) {
    auto header = good();
    set(header, name, "SageMaker.DeleteCluster");
    EXPECT_THAT(verdict(header), HasSubstr("mismatch")) << name;
  }
}

TEST(Verify, ATimeThatIsNotTheSignedOne) {
  auto later = good();
  set(later, "X-Amz-Date", "20260101T000459Z");
  EXPECT_THAT(verdict(later, kNow + 9min), HasSubstr("mismatch"));
  set(later, "X-Amz-Date", "yesterday");
  EXPECT_THAT(verdict(later), HasSubstr("incomplete: X-Amz-Date"));
}

TEST(Verify, AnotherScope) {
  EXPECT_THAT(verdict(good(kNow, "ec2")), HasSubstr("mismatch: The credential is scoped to the service 'ec2'"));
  auto date = good();
  replace(date, "/20260101/", "/20251231/");
  EXPECT_THAT(verdict(date), HasSubstr("mismatch: The date in the credential's scope, 20251231"));
  auto region = good();
  replace(region, "/us-west-2/", "/us-east-1/");
  EXPECT_THAT(verdict(region), HasSubstr("mismatch: The request signature"));
}

TEST(Verify, WhatTheSignatureMustCover) {
  auto added = good();
  added.headers.emplace("X-Amz-Security-Token", "stolen");
  EXPECT_THAT(verdict(added), HasSubstr("'X-Amz-Security-Token' must be a signed header"));
  auto uncovered = good();
  replace(uncovered, ";x-amz-target", "");
  EXPECT_THAT(verdict(uncovered), HasSubstr("'X-Amz-Target' must be a signed header"));
  auto host = good();
  replace(host, "host;", "");
  EXPECT_THAT(verdict(host), HasSubstr("'Host' must be a signed header"));
  auto gone = good();
  gone.headers.erase("Content-Type");
  EXPECT_THAT(verdict(gone), HasSubstr("'content-type' is signed, and not there"));
}

TEST(Verify, HeadersThatAreThereTwice) {
  for (const auto* name : {"X-Amz-Target", "X-Amz-Date", "Authorization", "X-Amz-Security-Token"}) {
    auto twice = good();
    if (std::string_view(name) == "X-Amz-Security-Token") twice.headers.emplace(name, "a");
    twice.headers.emplace(name, http::header(twice.headers, name));
    EXPECT_THAT(verdict(twice), HasSubstr("incomplete")) << name;
  }
}

TEST(Claim, OtherSchemesAreRefused) {
  for (const auto* text : {"Bearer x", "Basic eDp5", "AWS4-HMAC-SHA512 Credential=x", "AWS4-HMAC-SHA256", "",
                           "AWS4-ECDSA-P256-SHA256 Credential=x"}) {
    auto request = good();
    set(request, "Authorization", text);
    EXPECT_THAT(verdict(request), HasSubstr("incomplete")) << text;
  }
}

TEST(Claim, NoSignatureAtAll) {
  auto request = good();
  request.headers.erase("Authorization");
  EXPECT_EQ(verdict(request), "unsigned");
}

TEST(Claim, EveryPartMustBeRight) {
  struct Change {
    const char *from, *to;
  };
  for (const auto& [from, to] : std::vector<Change>{{"Credential=ESPKEXAMPLE/", "Credential=/"},
                                                    {"Credential=ESPKEXAMPLE/", "Credential=ESPK'; --/"},
                                                    {"Credential=ESPKEXAMPLE/", "Credential=a/b/"},
                                                    {"/20260101/", "/2026-01-01/"},
                                                    {"/us-west-2/", "/us west/"},
                                                    {"aws4_request", "aws5_request"},
                                                    {"SignedHeaders=", "SignedHeaders=;"},
                                                    {"SignedHeaders=", "SignedHeaders=Host;"},
                                                    {"SignedHeaders=", "SignedHeaders=zz;"},
                                                    {"SignedHeaders=content-type;", "SignedHeaders=host;"},
                                                    {"Signature=", "Signature=0"},
                                                    {"Signature=", "Signatur="},
                                                    {"Signature=", "Signature=0, Signature="}}) {
    auto request = good();
    replace(request, from, to);
    EXPECT_THAT(verdict(request), HasSubstr("incomplete")) << from << " → " << to;
  }
  auto upper = good();
  auto text = http::header(upper.headers, "Authorization");
  std::transform(text.end() - 64, text.end(), text.end() - 64, [](char c) { return c >= 'a' ? c - 32 : c; });
  set(upper, "Authorization", text);
  EXPECT_THAT(verdict(upper), HasSubstr("incomplete"));
}

TEST(Claim, BoundsHold) {
  auto request = good();
  replace(request, "Signature=", "Signature=" + std::string(kLongestClaim, '0'));
  EXPECT_THAT(verdict(request), HasSubstr("too long"));
  auto query = good();
  query.target = "/?a=" + std::string(kLongestClaim, 'x');
  EXPECT_THAT(verdict(query), HasSubstr("longer than"));
  std::string many;
  for (std::size_t i = 0; i <= kMostSignedHeaders; ++i) many += fmt::format("a{:03};", i);
  auto headers = good();
  replace(headers, "SignedHeaders=", "SignedHeaders=" + many);
  EXPECT_THAT(verdict(headers), HasSubstr("at most 64 names"));
}

TEST(Claim, PresignedMustBeWhole) {
  const std::string parts[] = {"X-Amz-Algorithm=AWS4-HMAC-SHA256",
                               "X-Amz-Credential=ESPKEXAMPLE%2F20260101%2Fus-west-2%2Fsagemaker%2Faws4_request",
                               "X-Amz-Date=20260101T000000Z",
                               "X-Amz-Expires=60",
                               "X-Amz-SignedHeaders=host",
                               "X-Amz-Signature=" + std::string(64, '0')};
  http::Request request{"POST", "", {{"Host", "x"}}, "", ""};
  const auto query = [&](int without) {
    std::string out = "/?";
    for (int i = 0; i < 6; ++i)
      if (i != without) out += parts[i] + "&";
    return out;
  };
  request.target = query(6);
  EXPECT_THAT(verdict(request), HasSubstr("mismatch"));
  for (int without : {0, 1, 2, 3, 4, 5}) {
    request.target = query(without);
    EXPECT_THAT(verdict(request), HasSubstr("incomplete")) << parts[without];
    request.target = query(6) + parts[without];
    EXPECT_THAT(verdict(request), HasSubstr("twice")) << parts[without];
  }
  for (const auto* expires : {"0", "-1", "604801", "99999999999999999999", "1x", ""}) {
    request.target = query(3) + "X-Amz-Expires=" + expires;
    EXPECT_THAT(verdict(request), HasSubstr("X-Amz-Expires")) << expires;
  }
  request.target = query(6);
  request.headers.emplace("Authorization", "AWS4-HMAC-SHA256 x");
  EXPECT_THAT(verdict(request), HasSubstr("sign it once"));
}

}  // namespace
}  // namespace espalier::access
