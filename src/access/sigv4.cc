#include "access/sigv4.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>

#include "access/digest.h"
#include "access/query.h"

namespace espalier::access {

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Trimmed, and runs of spaces made one.
std::string normal_value(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string canonical_query(std::string_view query) {
  Parameters encoded;
  for (const auto& [name, value] : parse_query(query))
    if (name != "X-Amz-Signature") encoded.emplace_back(percent_encode(name), percent_encode(value));
  std::ranges::sort(encoded);
  std::string out;
  for (const auto& [name, value] : encoded) ((((out += out.empty() ? "" : "&") += name) += '=') += value);
  return out;
}

// A header that was sent more than once: its values in their order, with commas.
std::string canonical_headers(const http::Headers& headers, const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) {
    out += name + ':';
    const auto [first, last] = headers.equal_range(name);
    for (auto each = first; each != last; ++each) (out += each == first ? "" : ",") += normal_value(each->second);
    out += '\n';
  }
  return out;
}

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ";")); }

std::string signing_key(const Scope& scope, std::string_view secret) {
  const std::string date = hmac_sha256(fmt::format("AWS4{}", secret), scope.date);
  return hmac_sha256(hmac_sha256(hmac_sha256(date, scope.region), scope.service), kTerminator);
}

}  // namespace

std::string Scope::text() const { return fmt::format("{}/{}/{}/{}", date, region, service, kTerminator); }

std::string canonical_request(const http::Request& request, const Claim& claim) {
  const auto [path, query] = split_target(request.target);
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, percent_encode(normal_path(path), "/"),
                     canonical_query(query), canonical_headers(request.headers, claim.signed_headers),
                     joined(claim.signed_headers), sha256_hex(request.body));
}

std::string signature(const http::Request& request, const Claim& claim, std::string_view secret) {
  const std::string to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, claim.time, claim.scope.text(),
                                          sha256_hex(canonical_request(request, claim)));
  return to_hex(hmac_sha256(signing_key(claim.scope, secret), to_sign));
}

void sign(http::Request& request, const Credentials& credentials, std::string_view region, std::string_view service,
          Time now) {
  Claim claim{credentials.key_id, {"", std::string(region), std::string(service)}, wire_time(now), {}};
  claim.scope.date = claim.time.substr(0, 8);
  request.headers.emplace("X-Amz-Date", claim.time);
  if (!credentials.session_token.empty()) request.headers.emplace("X-Amz-Security-Token", credentials.session_token);
  for (const auto& [name, value] : request.headers) claim.signed_headers.push_back(lower(name));
  std::ranges::sort(claim.signed_headers);
  const auto again = std::ranges::unique(claim.signed_headers);
  claim.signed_headers.erase(again.begin(), again.end());
  request.headers.emplace(
      "Authorization",
      fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm, claim.key_id, claim.scope.text(),
                  joined(claim.signed_headers), signature(request, claim, credentials.secret)));
}

std::string wire_time(Time time) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::optional<Time> parse_wire_time(std::string_view text) {
  static constexpr std::string_view kForm = "00000000T000000Z";
  if (text.size() != kForm.size()) return std::nullopt;
  int numbers[16] = {};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return std::nullopt;
    numbers[i] = text[i] - '0';
  }
  const auto two = [&](int at) { return numbers[at] * 10 + numbers[at + 1]; };
  using namespace std::chrono;
  const year_month_day date{year(two(0) * 100 + two(2)), month(static_cast<unsigned>(two(4))),
                            day(static_cast<unsigned>(two(6)))};
  if (!date.ok() || two(9) > 23 || two(11) > 59 || two(13) > 60) return std::nullopt;
  return Time(sys_days(date)) + hours(two(9)) + minutes(two(11)) + seconds(two(13));
}

}  // namespace espalier::access
