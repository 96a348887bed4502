// rooms: access
#include <cstdint>
#include <cstdlib>

#include "access/claim.h"
#include "access/verify.h"

namespace {
constexpr const char* kInNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
}

// The lines are a request's target, then its headers up to an empty one, then its body. What is signed is taken, by the
// header and by the query alike; with one byte of it changed it is not.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  using namespace espalier::access;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = [&text] {
    const auto end = std::min(text.find('\n'), text.size());
    const auto out = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return out;
  };
  http::Request request{"POST", std::string(line()), {{"Host", "x"}}, "", ""};
  for (auto header = line(); !header.empty(); header = line()) {
    const auto colon = header.find(':');
    if (colon == std::string_view::npos || colon == 0) continue;
    const std::string name(header.substr(0, colon));
    if (name.find_first_not_of(kInNames) != std::string::npos) continue;  // the server takes no such request
    if (!request.headers.contains(name)) request.headers.emplace(name, std::string(header.substr(colon + 1)));
  }
  request.body = std::string(text);
  const auto now = *parse_wire_time("20260101T000000Z");
  if (request.headers.contains("Authorization") || request.headers.size() + 2 > kMostSignedHeaders) return 0;
  sign(request, {"ESPKFUZZ", "secret"}, "us-west-2", "sagemaker", now);
  const auto claim = read_claim(request);
  if (!claim || !*claim) return 0;  // a query of its own says otherwise, or names that no header has
  if (!check_signature(request, **claim, "secret")) std::abort();
  request.body += "x";
  if (check_signature(request, **claim, "secret")) std::abort();
  return 0;
}
