#include "main/door.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "cli/credentials.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr double kBurst = 2;  // seconds' worth of requests at once

// Of another key file than the one that closed them, keys would be lost without a word.
Result<access::Vault> open_vault(const cli::ServeOptions& options, store::Store& store) {
  const fs::path file = options.key_file.empty() ? fs::path(options.state) / "access.key" : fs::path(options.key_file);
  auto keys = store.access_keys();
  if (!keys) return tl::unexpected(keys.error());
  std::error_code ec;
  if (!keys->empty() && !fs::exists(file, ec))
    return fail(ErrorCode::kNotFound, "the key file {} is gone, and {} access keys need it: put it back", file.string(),
                keys->size());
  return access::Vault::open(file);
}

std::vector<std::string> own_names(const Endpoint& endpoint) {
  std::vector<std::string> names{"localhost", "127.0.0.1", "::1"};
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0 && *host) names.emplace_back(host);
  if (endpoint.address != "127.0.0.1" && endpoint.address != "::1" && endpoint.address != "0.0.0.0" &&
      endpoint.address != "::")
    names.push_back(endpoint.address);
  return names;
}

Result<tls::Certificate> certificate(const cli::ServeOptions& options, const Endpoint& endpoint) {
  if (!options.uses_tls()) return tls::Certificate{};
  if (options.tls == "self-signed")
    return tls::self_made_certificate(cli::local_certificate_file(options.state).parent_path(), "api",
                                      own_names(endpoint));
  if (options.tls_cert.empty() || options.tls_key.empty())
    return fail(ErrorCode::kInvalid, "TLS with files takes --tls-cert and --tls-key, or say --tls self-signed");
  std::error_code ec;
  fs::remove(cli::local_certificate_file(options.state),
             ec);  // of an earlier self-signed run: clients here would trust it
  return tls::read_certificate(options.tls_cert, options.tls_key);
}

Result<void> check_reach(const cli::ServeOptions& options, const Endpoint& endpoint, bool has_keys) {
  if (endpoint.loopback()) return {};
  if (!has_keys)
    return fail(
        ErrorCode::kInvalid,
        "--listen {}: without access keys only loopback addresses are served; start with --listen 127.0.0.1:{}, "
        "make a key with `espalier access create`, then restart",
        options.listen, endpoint.port);
  if (!options.uses_tls() && options.tls != "off")
    return fail(ErrorCode::kInvalid,
                "--listen {}: others reach this address; say --tls self-signed, give --tls-cert and --tls-key, or, "
                "behind a proxy that does TLS, --tls off",
                options.listen);
  return {};
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string text) {
  const std::string given = text;
  const auto colon = text.rfind(':');
  Endpoint endpoint{text.substr(0, colon), 0};
  const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), endpoint.port);
  if (digits.empty() || ec != std::errc() || end != digits.data() + digits.size())
    return fail(ErrorCode::kInvalid, "--listen {}: give an address and a port, such as 127.0.0.1:8650", given);
  if (endpoint.address == "localhost") endpoint.address = "127.0.0.1";
  if (endpoint.address.starts_with('[') && endpoint.address.ends_with(']'))
    endpoint.address = endpoint.address.substr(1, endpoint.address.size() - 2);
  return endpoint;
}

Result<Door> open_door(const cli::ServeOptions& options, const Endpoint& endpoint, store::Store& store,
                       const Clock& clock) {
  auto vault = open_vault(options, store);
  if (!vault) return tl::unexpected(vault.error());
  const double rate = options.requests_per_second;
  auto keys = access::KeyRing::open(store, std::move(*vault), clock, {rate, rate * kBurst});
  if (!keys) return tl::unexpected(keys.error());
  const bool has_keys = !(*keys)->empty();
  if (auto ok = check_reach(options, endpoint, has_keys); !ok) return tl::unexpected(ok.error());
  auto own = access::local_credentials(cli::local_credential_file(options.state));
  if (!own) return tl::unexpected(own.error());
  (*keys)->add_local(*own);
  auto audit = access::AuditTrail::open(fs::path(options.state) / "audit", clock);
  if (!audit) return tl::unexpected(audit.error());
  auto chain = certificate(options, endpoint);
  if (!chain) return tl::unexpected(chain.error());
  auto gate = std::make_unique<access::Gate>(**keys, clock, endpoint.loopback());
  return Door{std::move(*keys),
              std::move(gate),
              std::move(*audit),
              {std::move(*chain)},
              has_keys ? "signed requests only" : "loopback only, and unsigned: there are no access keys"};
}

}  // namespace espalier
