// The HTTP client of the command line (libcurl): one blocking call at a time, connections kept alive.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/server.h"

namespace espalier::http {

class Client {
 public:
  // `ca_bundle`: a file of the certificates that are trusted for https; empty: the system's.
  explicit Client(std::string ca_bundle = "");
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // kUnavailable: no connection (the message names the URL); kTimeout. Any HTTP status is a value.
  Result<Response> post(const std::string& url, const Headers& headers, const std::string& body,
                        std::chrono::milliseconds timeout);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier::http
