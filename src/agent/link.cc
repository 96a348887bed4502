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
  std::shared_ptr<const Trust> trust;
  if (!base->pin.empty()) {
    auto own = tls::pinned_certificate(credential_file.parent_path(), "machine");
    if (!own) return tl::unexpected(own.error());
    auto made = Trust::make(base->pin, *own);
    if (!made) return tl::unexpected(made.error());
    trust = std::move(*made);
  }
  return std::unique_ptr<Link>(
      new Link(std::move(user_data), *base, trust, std::move(credential_file), std::move(slurm)));
}

Link::Link(UserData user_data, const BaseUrl& base, const std::shared_ptr<const Trust>& trust,
           std::filesystem::path credential_file, std::string slurm)
    : user_data_(std::move(user_data)),
      credential_file_(std::move(credential_file)),
      slurm_(std::move(slurm)),
      next_client_(base, trust),
      report_client_(base, trust) {
  if (auto kept = read_file(credential_file_)) credential_ = *kept;
}

Result<NextAnswer> Link::next(const NextCall& call) {
  auto answer = this->call(next_client_, "/next", to_json(call), kNextTimeout);
  if (!answer) return tl::unexpected(answer.error());
  return from_json<NextAnswer>(*answer);
}

Result<void> Link::report(const Report& report) {
  auto answer = call(report_client_, "/report", to_json(report), kCallTimeout);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Result<std::vector<ScriptFile>> Link::fetch(const std::string& digest) {
  auto answer = call(next_client_, "/fetch", to_json(FetchCall{digest}), kFetchTimeout);
  if (!answer) return tl::unexpected(answer.error());
  auto files = from_json<FetchAnswer>(*answer);
  if (!files) return tl::unexpected(files.error());
  return std::move(files->files);
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
  if (!credential_.empty()) return credential_;
  auto enrolled = enrol(client);
  // Refused, the old credential is worth another try: a control plane put back to an older state may know it again.
  if (enrolled)
    credential_ = *enrolled;
  else if (enrolled.error().code == ErrorCode::kPermission)
    credential_ = refused_;
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
  if (auto kept = write_file(credential_file_, enrolled->credential, 0600); !kept)
    log::warn("enrolled, but the credential lives in memory only: {}", kept.error().message);
  log::info("enrolled as {} with {}", user_data_.machine_id, user_data_.control_plane);
  return enrolled->credential;
}

void Link::forget(const std::string& refused) {
  const std::lock_guard lock(mutex_);
  if (credential_ != refused) return;  // the other thread has a new one already
  refused_ = refused;
  credential_.clear();
}

}  // namespace espalier::agent
