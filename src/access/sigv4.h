// AWS Signature Version 4 of an HTTP request, as the vendor documents it ("Create a signed AWS API request"): one
// function for the client that signs and the server that verifies. Pure, safe from any thread.
//
// The canonical request is rebuilt from the headers that the claim names, never from a list of our own: clients differ
// in what they sign. The path is encoded once more than on the wire, as every service but S3 has it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/server.h"

namespace espalier::access {

inline constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
inline constexpr std::string_view kTerminator = "aws4_request";

struct Credentials {
  std::string key_id;
  std::string secret;
  std::string session_token{};  // "" for a key that has none
};

struct Scope {
  std::string date;  // 20260101
  std::string region;
  std::string service;

  [[nodiscard]] std::string text() const;  // 20260101/us-west-2/sagemaker/aws4_request
};

// What a request says of its own signature.
struct Claim {
  std::string key_id;
  Scope scope;
  std::string time;                         // 20260101T000000Z
  std::vector<std::string> signed_headers;  // lower case, sorted
  std::string signature{};                  // 64 hexadecimal digits
  std::string session_token{};
  std::optional<std::chrono::seconds> expires{};  // presigned: in the query instead of headers
};

std::string canonical_request(const http::Request& request, const Claim& claim);
// What the claim's signature must be.
std::string signature(const http::Request& request, const Claim& claim, std::string_view secret);
// Adds X-Amz-Date, X-Amz-Security-Token and Authorization. All headers that the request has by then are signed; it must
// have Host.
void sign(http::Request& request, const Credentials& credentials, std::string_view region, std::string_view service,
          Time now);

// "20260101T000000Z", and back; nothing when it is no such time.
std::string wire_time(Time time);
std::optional<Time> parse_wire_time(std::string_view text);

}  // namespace espalier::access
