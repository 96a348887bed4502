// A small HTTP/1.1 client: POST of JSON to one place over one kept connection. Blocking; one thread at a time.
//
// Answers must have a Content-Length; they are bounded. After any failure the connection is closed and the next call
// makes a new one. A call that failed may have been carried out: send only what may arrive twice.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "agent/connection.h"
#include "base/result.h"

namespace espalier::agent {

inline constexpr std::chrono::seconds kConnectTimeout{5};
inline constexpr std::size_t kMaxHeadBytes = 16 << 10;
inline constexpr std::size_t kMaxBodyBytes = 64 << 20;

struct BaseUrl {
  Endpoint endpoint;
  std::string path;  // without a slash at its end; "" for none
  std::string pin;   // https: fingerprint of the other side's certificate, the only one that is trusted
};
// "https://10.77.0.1:8651#sha256=<64 hexadecimal digits>", or http without the pin: numeric IPv4, port 443 or 80 unless
// given. kInvalid says what is wrong.
Result<BaseUrl> parse_base_url(std::string_view url);

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// The head of an answer: status line and headers, without the empty line that ends it.
struct HttpHead {
  int status = 0;
  std::size_t content_length = 0;
  bool keep_alive = true;
};
Result<HttpHead> parse_head(std::string_view head);

class HttpClient {
 public:
  // `trust` null: plain HTTP.
  explicit HttpClient(BaseUrl base, std::shared_ptr<const Trust> trust = nullptr)
      : base_(std::move(base)), trust_(std::move(trust)) {}

  // From the next call on.
  void use(std::shared_ptr<const Trust> trust) {
    if (trust == trust_) return;
    connection_.close();
    trust_ = std::move(trust);
  }
  // kUnavailable and kTimeout name the other side. Any status is a value. `bearer` "" → no Authorization.
  Result<HttpAnswer> post(std::string_view path, std::string_view bearer, std::string_view json,
                          std::chrono::milliseconds timeout);

 private:
  Result<HttpAnswer> exchange(std::string_view request, Deadline deadline);

  BaseUrl base_;
  std::shared_ptr<const Trust> trust_;
  Connection connection_;
};

}  // namespace espalier::agent
