// rooms: access
#include <cstdint>
#include <cstdlib>

#include "access/claim.h"
#include "access/query.h"
#include "access/verify.h"

// The first line is the request's target, the second its Authorization, what follows its body. What is read of a claim
// is bounded, and making its signature never fails; a claim that was not made with the secret is never taken.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  using namespace espalier::access;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto first = std::min(text.find('\n'), text.size());
  const auto second = std::min(text.find('\n', std::min(first + 1, size)), text.size());
  http::Request request{"POST",
                        std::string(text.substr(0, first)),
                        {{"Host", "x"}, {"X-Amz-Date", "20260101T000000Z"}},
                        std::string(text.substr(std::min(second + 1, size))),
                        ""};
  const auto authorization = text.substr(std::min(first + 1, size), second - std::min(first + 1, second));
  if (!authorization.empty()) request.headers.emplace("Authorization", authorization);
  (void)percent_decode(percent_encode(text));
  if (percent_decode(percent_encode(text)) != text) std::abort();
  const auto claim = read_claim(request);
  if (!claim || !*claim) return 0;
  if ((*claim)->key_id.size() > 128 || (*claim)->signed_headers.size() > kMostSignedHeaders) std::abort();
  (void)check_claim(request, **claim, "sagemaker", *parse_wire_time("20260101T000000Z"));
  if (check_signature(request, **claim, "a secret that no input knows")) std::abort();
  auto right = **claim;
  right.signature = signature(request, right, "secret");
  if (!check_signature(request, right, "secret")) std::abort();
  return 0;
}
