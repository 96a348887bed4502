#include "access/claim.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "access/query.h"

namespace espalier::access {

namespace {

constexpr std::size_t kLongestKeyId = 128;
constexpr std::size_t kLongestScopePart = 64;
constexpr std::size_t kSignatureDigits = 64;
constexpr std::chrono::seconds kLongestPresigned{7 * 24 * 3600};

using Parts = std::map<std::string, std::string, std::less<>>;

template <typename... Args>
auto incomplete(fmt::format_string<Args...> format, Args&&... args) {
  return refuse(RefusalKind::kIncomplete, format, std::forward<Args>(args)...);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto end = text.find(at);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

bool only(std::string_view text, std::string_view extra, std::size_t longest) {
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, [extra](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           extra.find(c) != std::string_view::npos;
  });
}

// KEY/20260101/us-west-2/sagemaker/aws4_request
Checked<void> read_credential(std::string_view text, Claim& claim) {
  const auto parts = split(text, '/');
  const bool good = parts.size() == 5 && only(parts[0], "_", kLongestKeyId) && only(parts[1], "", 8) &&
                    only(parts[2], "-", kLongestScopePart) && only(parts[3], "-", kLongestScopePart) &&
                    parts[4] == kTerminator;
  if (!good)
    return incomplete("The credential must read <access key>/<date>/<region>/<service>/{}, and does not.", kTerminator);
  claim.key_id = parts[0];
  claim.scope = {std::string(parts[1]), std::string(parts[2]), std::string(parts[3])};
  return {};
}

Checked<void> read_signed_headers(std::string_view text, Claim& claim) {
  for (const auto name : split(text, ';')) {
    const bool lower_case = std::ranges::none_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!lower_case || !only(name, "!#$%&'*+-.^_`|~", kLongestClaim) ||
        claim.signed_headers.size() >= kMostSignedHeaders)
      return incomplete("SignedHeaders must be at most {} names in lower case, with semicolons.", kMostSignedHeaders);
    if (!claim.signed_headers.empty() && claim.signed_headers.back() >= name)
      return incomplete("SignedHeaders must be sorted, each name once.");
    claim.signed_headers.emplace_back(name);
  }
  return {};
}

Checked<void> read_signature(std::string_view text, Claim& claim) {
  const bool hex = text.size() == kSignatureDigits &&
                   std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!hex) return incomplete("The signature must be {} hexadecimal digits in lower case.", kSignatureDigits);
  claim.signature = text;
  return {};
}

Checked<void> read_parts(const Parts& parts, Claim& claim, std::string_view prefix) {
  const auto part = [&](std::string_view name) { return parts.find(fmt::format("{}{}", prefix, name)); };
  for (const auto* name : {"Credential", "SignedHeaders", "Signature"})
    if (part(name) == parts.end()) return incomplete("The request's signature has no {}{}.", prefix, name);
  if (auto ok = read_credential(part("Credential")->second, claim); !ok) return ok;
  if (auto ok = read_signed_headers(part("SignedHeaders")->second, claim); !ok) return ok;
  return read_signature(part("Signature")->second, claim);
}

// A header that means something here must be there once: two would be read by two readers in two ways.
Checked<std::string> single(const http::Headers& headers, std::string_view name) {
  if (headers.count(name) > 1) return incomplete("The header {} is there more than once.", name);
  return http::header(headers, name);
}

// AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…
Checked<Claim> from_header(const http::Request& request, std::string_view text) {
  if (text.size() > kLongestClaim) return incomplete("The Authorization header is too long.");
  if (!text.starts_with(kAlgorithm) || !text.substr(kAlgorithm.size()).starts_with(' '))
    return incomplete("The Authorization header must begin with {}: sign with AWS Signature Version 4.", kAlgorithm);
  Parts parts;
  for (const auto piece : split(text.substr(kAlgorithm.size()), ',')) {
    const auto pair = trimmed(piece);
    const auto equals = std::min(pair.find('='), pair.size());
    const auto value = pair.substr(std::min(equals + 1, pair.size()));
    if (!parts.emplace(pair.substr(0, equals), value).second)
      return incomplete("The Authorization header has {} twice.", pair.substr(0, std::min<std::size_t>(equals, 20)));
  }
  Claim claim;
  if (auto ok = read_parts(parts, claim, ""); !ok) return tl::unexpected(ok.error());
  auto time = single(request.headers, "X-Amz-Date");
  auto token = single(request.headers, "X-Amz-Security-Token");
  if (!time || !token) return tl::unexpected(time ? token.error() : time.error());
  claim.time = std::move(*time);
  claim.session_token = std::move(*token);
  return claim;
}

Checked<Claim> from_query(const Parameters& parameters) {
  Parts parts;
  for (const auto& [name, value] : parameters)
    if (name.starts_with("X-Amz-") && !parts.emplace(name, value).second)
      return incomplete("The query has a parameter of the signature twice.");
  if (parts["X-Amz-Algorithm"] != kAlgorithm) return incomplete("X-Amz-Algorithm must be {}.", kAlgorithm);
  Claim claim;
  if (auto ok = read_parts(parts, claim, "X-Amz-"); !ok) return tl::unexpected(ok.error());
  claim.time = parts["X-Amz-Date"];
  claim.session_token = parts["X-Amz-Security-Token"];
  const std::string& expires = parts["X-Amz-Expires"];
  int seconds = 0;
  const auto [end, error] = std::from_chars(expires.data(), expires.data() + expires.size(), seconds);
  if (error != std::errc() || end != expires.data() + expires.size() || seconds < 1 ||
      seconds > kLongestPresigned.count())
    return incomplete("X-Amz-Expires must be from 1 to {} seconds.", kLongestPresigned.count());
  claim.expires = std::chrono::seconds(seconds);
  return claim;
}

}  // namespace

Checked<std::optional<Claim>> read_claim(const http::Request& request) {
  const auto query = split_target(request.target).query;
  if (query.size() > kLongestClaim) return incomplete("The query is longer than {} bytes.", kLongestClaim);
  const auto parameters = parse_query(query);
  const bool presigned = std::ranges::any_of(
      parameters, [](const auto& each) { return each.first == "X-Amz-Signature" || each.first == "X-Amz-Algorithm"; });
  auto authorization = single(request.headers, "Authorization");
  if (!authorization) return tl::unexpected(authorization.error());
  const bool in_header = request.headers.contains("Authorization");
  if (presigned && in_header) return incomplete("The request is signed in its headers and in its query: sign it once.");
  if (!presigned && !in_header) return std::nullopt;
  auto claim = presigned ? from_query(parameters) : from_header(request, *authorization);
  if (!claim) return tl::unexpected(claim.error());
  return std::move(*claim);
}

}  // namespace espalier::access
