// The seam between the commands and the network. Tests put a transport with memory here.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "http/client.h"

namespace espalier::cli {

class Transport {
 public:
  virtual ~Transport() = default;
  // As http::Client::post.
  virtual Result<http::Response> post(const std::string& url, const http::Headers& headers, const std::string& body,
                                      Millis timeout) = 0;
};

class HttpTransport final : public Transport {
 public:
  // A file of certificates to trust; empty: the system's.
  explicit HttpTransport(std::string ca_bundle = "") : client_(std::move(ca_bundle)) {}
  Result<http::Response> post(const std::string& url, const http::Headers& headers, const std::string& body,
                              Millis timeout) override {
    return client_.post(url, headers, body, timeout);
  }

 private:
  http::Client client_;
};

}  // namespace espalier::cli
