#include "http/client.h"

#include <curl/curl.h>

#include <cstdlib>

namespace espalier::http {
namespace {

constexpr std::size_t kAnswerBytes = 64 << 20;
constexpr std::chrono::milliseconds kConnectTimeout{10'000};

std::size_t take_body(char* data, std::size_t, std::size_t n, void* out) {
  auto& body = *static_cast<std::string*>(out);
  if (body.size() + n > kAnswerBytes) return 0;  // libcurl gives up with CURLE_WRITE_ERROR
  body.append(data, n);
  return n;
}

std::size_t take_header(char* data, std::size_t, std::size_t n, void* out) {
  std::string_view line(data, n);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return n;
  const auto value = line.find_first_not_of(' ', colon + 1);
  static_cast<Headers*>(out)->emplace(line.substr(0, colon), value == std::string_view::npos ? "" : line.substr(value));
  return n;
}

// Nobody reaches this host's own control plane through a proxy.
std::string no_proxy() {
  const char* user = std::getenv("no_proxy");
  if (!user) user = std::getenv("NO_PROXY");
  return std::string(user ? user : "") + ",localhost,127.0.0.1,::1";
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, FreeList>;

List header_lines(const Headers& headers) {
  // Without "Expect:" libcurl waits a second for a 100 before it sends a long body.
  List lines(curl_slist_append(nullptr, "Expect:"));
  for (const auto& [name, value] : headers) {
    const auto line = value.empty() ? name + ";" : name + ": " + value;
    lines.reset(curl_slist_append(lines.release(), line.c_str()));
  }
  return lines;
}

}  // namespace

struct Client::Impl {
  std::string ca_bundle;
  CURL* curl = [] {
    static const bool once = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    return once ? curl_easy_init() : nullptr;
  }();
  ~Impl() { curl_easy_cleanup(curl); }
};

Client::Client(std::string ca_bundle) : impl_(std::make_unique<Impl>()) { impl_->ca_bundle = std::move(ca_bundle); }
Client::~Client() = default;

Result<Response> Client::post(const std::string& url, const Headers& headers, const std::string& body,
                              std::chrono::milliseconds timeout) {
  CURL* curl = impl_->curl;
  if (!curl) return fail(ErrorCode::kInternal, "libcurl could not be initialised");
  curl_easy_reset(curl);  // keeps the connections
  const List lines = header_lines(headers);
  const std::string direct = no_proxy();
  char cause[CURL_ERROR_SIZE] = "";
  Response response;
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!impl_->ca_bundle.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, impl_->ca_bundle.c_str());
  curl_easy_setopt(curl, CURLOPT_NOPROXY, direct.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines.get());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::min(timeout, kConnectTimeout).count()));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, cause);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &response.body);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &response.headers);
  if (const CURLcode code = curl_easy_perform(curl); code != CURLE_OK) {
    const std::string why = *cause ? cause : curl_easy_strerror(code);
    if (code == CURLE_OPERATION_TIMEDOUT)
      return fail(ErrorCode::kTimeout, "no answer from {} within {} ms: {}", url, timeout.count(), why);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
      return fail(ErrorCode::kPermission,
                  "{} is not trusted: {}; name the file of its certificate with --ca-bundle or AWS_CA_BUNDLE", url,
                  why);
    return fail(ErrorCode::kUnavailable, "cannot reach {}: {}", url, why);
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  return response;
}

}  // namespace espalier::http
