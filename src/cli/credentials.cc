#include "cli/credentials.h"

#include <algorithm>

#include "access/key_ring.h"
#include "base/file.h"

namespace espalier::cli {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_ours(const std::optional<access::Credentials>& found) {
  return found && found->key_id.starts_with(access::kKeyPrefix) && !found->secret.empty();
}

std::optional<access::Credentials> from_profile(const Environment& environment) {
  std::string file = environment("AWS_SHARED_CREDENTIALS_FILE");
  if (file.empty()) file = environment("HOME") + "/.aws/credentials";
  const auto text = read_file(file);
  const std::string profile = environment("AWS_PROFILE");
  return text ? read_profile(*text, profile.empty() ? "default" : profile) : std::nullopt;
}

}  // namespace

std::filesystem::path local_credential_file(const std::string& state) {
  return std::filesystem::path(state) / "local-admin.json";
}
std::filesystem::path local_certificate_file(const std::string& state) {
  return std::filesystem::path(state) / "tls" / "api.crt";
}

std::string_view authority_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find('/'));
}

bool is_local(std::string_view url) {
  const auto host = authority_of(url);
  return host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]");
}

std::optional<access::Credentials> read_profile(std::string_view text, std::string_view profile) {
  access::Credentials found;
  bool inside = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('[')) inside = trimmed(line.substr(1, line.find(']') - 1)) == profile;
    const auto equals = line.find('=');
    if (!inside || equals == std::string_view::npos) continue;
    const auto name = trimmed(line.substr(0, equals)), value = trimmed(line.substr(equals + 1));
    if (name == "aws_access_key_id") found.key_id = value;
    if (name == "aws_secret_access_key") found.secret = value;
    if (name == "aws_session_token") found.session_token = value;
  }
  return found.key_id.empty() ? std::nullopt : std::optional(found);
}

std::optional<access::Credentials> find_credentials(const Environment& environment, std::string_view endpoint,
                                                    const std::string& state) {
  std::optional<access::Credentials> found = access::Credentials{
      environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"), environment("AWS_SESSION_TOKEN")};
  if (is_ours(found)) return found;
  if (found = from_profile(environment); is_ours(found)) return found;
  if (!is_local(endpoint)) return std::nullopt;
  auto own = access::read_credentials(local_credential_file(state));
  return own ? std::optional(std::move(*own)) : std::nullopt;
}

}  // namespace espalier::cli
