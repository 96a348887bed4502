// The signatures that the vendor publishes for its signers (the "Signature Version 4 test suite"), and its worked
// example; the requests are written down here anew.
#include "access/sigv4.h"

#include <gmock/gmock.h>

#include "access/claim.h"
#include "access/query.h"
#include "access/verify.h"

namespace espalier::access {
namespace {

constexpr const char* kSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
constexpr const char* kTime = "20150830T123600Z";
constexpr const char* kToken = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";
constexpr const char* kUnreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const Time kThen = *parse_wire_time(kTime);

struct Vector {
  std::string method, target;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string signature;
};

const std::vector<Vector>& vectors() {
  static const std::string vanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
  static const std::string example = "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84";
  static const std::vector<Vector> all{
      {"GET", "/", {}, "", vanilla},
      {"POST", "/", {}, "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"GET", "//", {}, "", vanilla},
      {"GET", "/./", {}, "", vanilla},
      {"GET", "/example/..", {}, "", vanilla},
      {"GET", "/example1/example2/../..", {}, "", vanilla},
      {"GET", "//example//", {}, "", example},
      {"GET", "/example space/", {}, "", "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
      {"GET", "/\xE1\x88\xB4", {}, "", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"GET",
       std::string("/") + kUnreserved,
       {},
       "",
       "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
      {"GET", "/?Param1=value1", {}, "", "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
      {"GET",
       "/?Param2=value2&Param1=value1",
       {},
       "",
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"GET",
       "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
       {},
       "",
       "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"},
      {"GET",
       fmt::format("/?{0}={0}", kUnreserved),
       {},
       "",
       "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
      {"GET", "/?\xE1\x88\xB4=bar", {}, "", "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
      {"GET",
       "/",
       {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
       "",
       "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
      {"GET",
       "/",
       {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
       "",
       "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
      {"POST", "/", {{"My-Header1", "value1"}}, "", "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
      {"POST",
       "/",
       {{"Content-Type", "application/x-www-form-urlencoded"}},
       "Param1=value1",
       "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
  };
  return all;
}

http::Request request_of(const Vector& vector) {
  http::Request out{vector.method, vector.target, {{"Host", "example.amazonaws.com"}}, vector.body, ""};
  for (const auto& header : vector.headers) out.headers.insert(header);
  return out;
}

http::Request signed_request(const Vector& vector, const std::string& token = "", const char* service = "service") {
  auto out = request_of(vector);
  sign(out, {"AKIDEXAMPLE", kSecret, token}, "us-east-1", service, kThen);
  return out;
}

TEST(SigV4, MakesThePublishedSignatures) {
  for (const auto& vector : vectors()) {
    const auto request = signed_request(vector);
    EXPECT_THAT(http::header(request.headers, "Authorization"), testing::HasSubstr("Signature=" + vector.signature))
        << vector.method << ' ' << vector.target;
  }
}

TEST(SigV4, VerifiesThePublishedSignatures) {
  for (const auto& vector : vectors()) {
    const auto request = signed_request(vector);
    const auto claim = read_claim(request);
    ASSERT_TRUE(claim) << claim.error().message;
    EXPECT_EQ((*claim)->signature, vector.signature);
    EXPECT_TRUE(check_signature(request, **claim, kSecret)) << vector.target;
    EXPECT_FALSE(check_signature(request, **claim, "another secret")) << vector.target;
  }
}

TEST(SigV4, SessionTokensAreSigned) {
  const auto request = signed_request(vectors()[0], kToken);
  EXPECT_EQ(http::header(request.headers, "Authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date;x-amz-security-token, "
            "Signature=07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8");
  EXPECT_EQ((*read_claim(request))->session_token, kToken);
}

// The worked example of the documentation: ListUsers of IAM.
TEST(SigV4, WorkedExample) {
  http::Request request{
      "GET",
      "/?Action=ListUsers&Version=2010-05-08",
      {{"Host", "iam.amazonaws.com"}, {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
      "",
      ""};
  sign(request, {"AKIDEXAMPLE", kSecret}, "us-east-1", "iam", kThen);
  EXPECT_THAT(http::header(request.headers, "Authorization"),
              testing::HasSubstr("5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"));
}

std::string presigned(std::string_view parameters, std::string_view signature, std::string_view extra = "") {
  return fmt::format(
      "/?{}X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-east-1%2Fservice%2Faws4_"
      "request"
      "&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host&X-Amz-Expires=3600{}&X-Amz-Signature={}",
      parameters, extra, signature);
}

TEST(SigV4, VerifiesPresignedRequests) {
  for (const auto& target :
       {presigned("Param2=value2&Param1=value1&", "86012e2c9ad4d77369f5d81c11f75158aae4f895a085212cc6d3f923d300bed5"),
        presigned("\xE1\x88\xB4=bar&", "0bdd809b1519ac4f0c1dc3540e2cc46bd0c7f778eda408b2ebf3b913d21ff600")}) {
    const http::Request request{"GET", target, {{"Host", "example.amazonaws.com"}}, "", ""};
    const auto claim = read_claim(request);
    ASSERT_TRUE(claim) << claim.error().message;
    EXPECT_TRUE(check_signature(request, **claim, kSecret)) << target;
    EXPECT_TRUE(check_claim(request, **claim, "service", kThen + std::chrono::minutes(59)));
    EXPECT_EQ(check_claim(request, **claim, "service", kThen + std::chrono::minutes(61)).error().kind,
              RefusalKind::kSkew);
    EXPECT_EQ(check_claim(request, **claim, "service", kThen - std::chrono::minutes(6)).error().kind,
              RefusalKind::kSkew);
  }
}

TEST(WireTime, ThereAndBack) {
  EXPECT_EQ(wire_time(kThen), kTime);
  EXPECT_EQ(wire_time(*parse_wire_time("20240229T235959Z")), "20240229T235959Z");
  for (const auto* wrong : {"", "20150830", "20150830T123600", "20150830T123600z", "20150230T123600Z",
                            "20150830T243600Z", "2015083OT123600Z", "20150830T123600Z ", "99999999T999999Z"})
    EXPECT_FALSE(parse_wire_time(wrong)) << wrong;
}

TEST(Query, PathsAreNormal) {
  EXPECT_EQ(normal_path(""), "/");
  EXPECT_EQ(normal_path("/a/b/../c"), "/a/c");
  EXPECT_EQ(normal_path("/../../a/"), "/a/");
  EXPECT_EQ(normal_path("/a/."), "/a/");
}

TEST(Query, Decodes) {
  EXPECT_EQ(percent_decode("%41%2f%zz%4"), "A/%zz%4");
  EXPECT_EQ(percent_encode("a/b c\xFF"), "a%2Fb%20c%FF");
  EXPECT_EQ(parse_query("a=1&&b&c=%3D=").size(), 3u);
  EXPECT_EQ(parse_query("a=1&&b&c=%3D=")[2].second, "==");
}

}  // namespace
}  // namespace espalier::access
