#include "agent/http_client.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace espalier::agent {

namespace {

// The whole text as a number, or nothing.
template <typename N>
std::optional<N> number(std::string_view text) {
  N value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

Result<BaseUrl> parse_base_url(std::string_view url) {
  constexpr std::string_view kPin = "#sha256=";
  const bool secure = url.starts_with("https://");
  const std::string_view whole = url;
  if (!secure && !url.starts_with("http://"))
    return fail(ErrorCode::kInvalid, "'{}' must begin with https:// or http://", url);
  const auto mark = std::min(url.find('#'), url.size());
  const std::string_view pin = url.substr(mark);
  url = url.substr(0, mark);
  if (secure ? !pin.starts_with(kPin) || pin.size() != kPin.size() + 64 : !pin.empty())
    return fail(ErrorCode::kInvalid, "'{}' must end with {} and the certificate's fingerprint, if it is https", whole,
                kPin);
  std::string_view rest = url.substr(url.find("//") + 2);
  const auto slash = std::min(rest.find('/'), rest.size());
  std::string_view place = rest.substr(0, slash);
  std::string_view path = rest.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);

  BaseUrl base{{std::string(place), std::uint16_t(secure ? 443 : 80)},
               std::string(path),
               secure ? std::string(pin.substr(kPin.size())) : ""};
  if (const auto colon = place.find(':'); colon != std::string_view::npos) {
    const auto port = number<std::uint16_t>(place.substr(colon + 1));
    if (!port || *port == 0) return fail(ErrorCode::kInvalid, "'{}' has no valid port", url);
    base.endpoint = {std::string(place.substr(0, colon)), *port};
  }
  in_addr address{};
  if (inet_pton(AF_INET, base.endpoint.host.c_str(), &address) != 1)
    return fail(ErrorCode::kInvalid, "'{}' must name its host by a dotted IPv4 address", url);
  return base;
}

Result<HttpHead> parse_head(std::string_view head) {
  HttpHead out;
  bool has_length = false;
  for (bool first = true; !head.empty(); first = false) {
    const auto end = std::min(head.find('\n'), head.size());
    const std::string_view line = trimmed(head.substr(0, end));
    head.remove_prefix(std::min(end + 1, head.size()));
    if (first) {
      const auto status =
          line.size() >= 12 && line.starts_with("HTTP/1.") ? number<int>(line.substr(9, 3)) : std::nullopt;
      if (!status) return fail(ErrorCode::kUnavailable, "not an HTTP answer: '{}'", line.substr(0, 60));
      out.status = *status;
      out.keep_alive = line[7] == '1';
      continue;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (equal_but_for_case(name, "Content-Length")) {
      const auto length = number<std::size_t>(value);
      if (!length || *length > kMaxBodyBytes) return fail(ErrorCode::kUnavailable, "bad Content-Length '{}'", value);
      out.content_length = *length;
      has_length = true;
    } else if (equal_but_for_case(name, "Connection")) {
      out.keep_alive =
          !equal_but_for_case(value, "close") && (out.keep_alive || equal_but_for_case(value, "keep-alive"));
    } else if (equal_but_for_case(name, "Transfer-Encoding")) {
      return fail(ErrorCode::kUnavailable, "answer with Transfer-Encoding '{}' instead of a Content-Length", value);
    }
  }
  if (!has_length && out.status != 204) return fail(ErrorCode::kUnavailable, "answer without Content-Length");
  return out;
}

Result<HttpAnswer> HttpClient::post(std::string_view path, std::string_view bearer, std::string_view json,
                                    std::chrono::milliseconds timeout) {
  const Endpoint& to = base_.endpoint;
  const std::string request = fmt::format(
      "POST {}{} HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}{}{}\r\n{}",
      base_.path, path, to.host, to.port, json.size(), bearer.empty() ? "" : "Authorization: Bearer ", bearer,
      bearer.empty() ? "" : "\r\n", json);
  const Deadline deadline = in(timeout);
  // A server may close a connection that it has kept for long: find that out before sending.
  if (!connection_.is_quiet()) {
    connection_.close();
    auto made = Connection::connect(to, trust_.get(), std::min(deadline, in(kConnectTimeout)));
    if (!made) return tl::unexpected(made.error());
    connection_ = std::move(*made);
  }
  auto answer = exchange(request, deadline);
  if (!answer) {
    connection_.close();
    return fail(answer.error().code, "POST {} to {}:{}: {}", path, to.host, to.port, answer.error().message);
  }
  return answer;
}

Result<HttpAnswer> HttpClient::exchange(std::string_view request, Deadline deadline) {
  if (auto sent = connection_.send(request, deadline); !sent) return tl::unexpected(sent.error());

  std::string bytes;
  std::size_t head_end = std::string::npos;
  while ((head_end = bytes.find("\r\n\r\n")) == std::string::npos) {
    if (bytes.size() >= kMaxHeadBytes) return fail(ErrorCode::kUnavailable, "head of the answer is too long");
    auto got = connection_.receive(bytes, kMaxHeadBytes - bytes.size(), deadline);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return fail(ErrorCode::kUnavailable, "connection closed before an answer");
  }
  auto head = parse_head(std::string_view(bytes).substr(0, head_end));
  if (!head) return tl::unexpected(head.error());

  bytes.erase(0, head_end + 4);
  if (bytes.size() > head->content_length)
    return fail(ErrorCode::kUnavailable, "answer longer than its Content-Length");
  while (bytes.size() < head->content_length) {
    auto got = connection_.receive(bytes, head->content_length - bytes.size(), deadline);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return fail(ErrorCode::kUnavailable, "connection closed within an answer");
  }
  if (!head->keep_alive) connection_.close();
  return HttpAnswer{head->status, std::move(bytes)};
}

}  // namespace espalier::agent
