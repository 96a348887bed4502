#include "agent/link.h"

#include "base/file.h"
#include "base/log.h"
#include "base/version.h"

namespace espalier::agent {

namespace {

constexpr Millis kCallTimeout{10'000};
constexpr Millis kFetchTimeout{60'000};
constexpr Millis kNextTimeout = kLongPoll + Millis(10'000);

Result<json::value> body_of(const HttpAnswer& answer, const char* path) {
  if (answer.status == 401 || answer.status == 403)
    return fail(ErrorCode::kPermission, "POST {}: the control plane refuses this machine ({})", path, answer.status);
  if (answer.status == 404) return fail(ErrorCode::kNotFound, "POST {}: {}", path, answer.body.substr(0, 200));
  if (answer.status / 100 != 2)
    return fail(ErrorCode::kUnavailable, "POST {}: status {}: {}", path, answer.status, answer.body.substr(0, 200));
  return parse_json(answer.body.empty() ? "{}" : answer.body);
}

}  // namespace

Result<std::unique_ptr<Link>> Link::make(UserData user_data, std::filesystem::path credential_file, std::string slurm) {
  auto base = parse_base_url(user_data.control_plane);
  if (!base) return tl::unexpected(base.error());
  std::unique_ptr<Link> link(new Link(std::move(user_data), *base, std::move(credential_file), std::move(slurm)));
  Identity identity;
  if (const auto kept = read_file(link->credential_file_).and_then(parse_json))
    identity = from_json<Identity>(*kept).value_or(Identity());
  if (!base->pin.empty() && identity.certificate.empty()) {
    auto made = link->new_identity();
    if (!made) return tl::unexpected(made.error());
    // Before it enrols: when the answer is lost the token is good with this certificate only.
    if (auto kept = link->keep(*made); !kept) return tl::unexpected(kept.error());
    identity = std::move(*made);
  }
  if (auto taken = link->take(std::move(identity)); !taken) return tl::unexpected(taken.error());
  return link;
}

Link::Link(UserData user_data, const BaseUrl& base, std::filesystem::path credential_file, std::string slurm)
    : user_data_(std::move(user_data)),
      pin_(base.pin),
      credential_file_(std::move(credential_file)),
      slurm_(std::move(slurm)),
      next_client_(base),
      report_client_(base) {}

Result<Identity> Link::new_identity() const {
  if (pin_.empty()) return Identity();
  auto made = tls::new_certificate("machine");
  if (!made) return tl::unexpected(made.error());
  return Identity{"", std::move(made->chain), std::move(made->key)};
}

Result<void> Link::keep(const Identity& identity) const {
  return write_file(credential_file_, json::serialize(to_json(identity)), 0600);
}

Result<void> Link::take(Identity identity) {
  std::shared_ptr<const Trust> trust;
  if (!pin_.empty()) {
    auto made = Trust::make(pin_, {identity.certificate, identity.key});
    if (!made) return tl::unexpected(made.error());
    trust = std::move(*made);
  }
  const std::lock_guard lock(mutex_);
  identity_ = std::move(identity);
  trust_ = std::move(trust);
  return {};
}

Result<NextAnswer> Link::next(const NextCall& call) {
  return this->call(next_client_, "/next", to_json(call), kNextTimeout).and_then(from_json<NextAnswer>);
}

Result<void> Link::report(const Report& report) {
  auto answer = call(report_client_, "/report", to_json(report), kCallTimeout);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Result<std::vector<ScriptFile>> Link::fetch(const std::string& digest) {
  return call(next_client_, "/fetch", to_json(FetchCall{digest}), kFetchTimeout)
      .and_then(from_json<FetchAnswer>)
      .map([](FetchAnswer answer) { return std::move(answer.files); });
}

Result<std::vector<HostEntry>> Link::hosts() {
  return call(next_client_, "/hosts", json::object(), kFetchTimeout)
      .and_then(from_json<HostsAnswer>)
      .map([](HostsAnswer answer) { return std::move(answer.hosts); });
}

Result<void> Link::renew() {
  auto identity = new_identity();
  if (!identity) return tl::unexpected(identity.error());
  RenewCall request;
  if (!pin_.empty()) request.certificate = tls::fingerprint(identity->certificate).value_or("");
  auto answer = call(next_client_, "/renew", to_json(request), kCallTimeout);
  if (!answer) return tl::unexpected(answer.error());
  auto enrolled = from_json<Enrolled>(*answer);
  if (!enrolled) return tl::unexpected(enrolled.error());
  identity->credential = std::move(enrolled->credential);
  if (identity->credential.empty()) return fail(ErrorCode::kUnavailable, "POST /renew: an answer without credential");
  // On disk before its first use: after that the old one is worth nothing.
  if (auto kept = keep(*identity); !kept) return kept;
  log::info("this machine's credential is another one from now on");
  return take(std::move(*identity));
}

Result<json::value> Link::call(HttpClient& client, const char* path, const json::value& body, Millis timeout) {
  auto bearer = credential(client);
  if (!bearer) return tl::unexpected(bearer.error());
  auto answer = client.post(path, *bearer, json::serialize(body), timeout);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status == 401) forget(*bearer);
  return body_of(*answer, path);
}

Result<std::string> Link::credential(HttpClient& client) {
  const std::lock_guard lock(mutex_);
  client.use(trust_);
  if (!identity_.credential.empty()) return identity_.credential;
  auto enrolled = enrol(client);
  // Refused, the old credential is worth another try: a control plane put back to an older state may know it again.
  if (!enrolled && enrolled.error().code == ErrorCode::kPermission) identity_.credential = refused_;
  return enrolled;
}

Result<std::string> Link::enrol(HttpClient& client) {
  const Enrol request{user_data_.machine_id, user_data_.token, kVersion, slurm_};
  auto answer = client.post("/enrol", "", json::serialize(to_json(request)), kCallTimeout);
  if (!answer) return tl::unexpected(answer.error());
  auto body = body_of(*answer, "/enrol");
  if (!body) return tl::unexpected(body.error());
  auto enrolled = from_json<Enrolled>(*body);
  if (!enrolled) return tl::unexpected(enrolled.error());
  if (enrolled->credential.empty()) return fail(ErrorCode::kUnavailable, "POST /enrol: an answer without credential");
  identity_.credential = enrolled->credential;
  if (auto kept = keep(identity_); !kept)
    log::warn("enrolled, but the credential lives in memory only: {}", kept.error().message);
  log::info("enrolled as {} with {}", user_data_.machine_id, user_data_.control_plane);
  return enrolled->credential;
}

void Link::forget(const std::string& refused) {
  const std::lock_guard lock(mutex_);
  if (identity_.credential != refused) return;  // there is a new one already
  refused_ = refused;
  identity_.credential.clear();
}

}  // namespace espalier::agent
