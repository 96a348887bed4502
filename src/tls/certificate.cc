#include "tls/certificate.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <functional>
#include <memory>

#include "base/file.h"

namespace espalier::tls {

namespace {

constexpr long kValidSeconds = 3L * 365 * 24 * 3600;
constexpr int kRenewDays = 90;

template <auto F>
struct Free {
  template <typename T>
  void operator()(T* it) const {
    F(it);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, Free<X509_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;

tl::unexpected<Error> openssl_error(std::string_view what) {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return fail(ErrorCode::kInternal, "cannot {}: {}", what, reason ? reason : "OpenSSL gives no reason");
}

std::string text_of(const Bio& bio) {
  char* data = nullptr;
  const long n = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(n)};
}

X509Ptr parse(const std::string& chain) {
  const Bio bio(BIO_new_mem_buf(chain.data(), static_cast<int>(chain.size())));
  X509Ptr certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return certificate;
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) {
    in6_addr address{};
    const bool numeric =
        inet_pton(AF_INET, name.c_str(), &address) == 1 || inet_pton(AF_INET6, name.c_str(), &address) == 1;
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", numeric ? "IP" : "DNS", name);
  }
  return out;
}

bool add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// It signs itself and may sign nothing else.
X509Ptr make(EVP_PKEY* key, const std::string& name, const std::vector<std::string>& names) {
  X509Ptr it(X509_new());
  std::int64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  X509_set_version(it.get(), X509_VERSION_3);
  ASN1_INTEGER_set_int64(X509_get_serialNumber(it.get()), serial & INT64_MAX);
  X509_gmtime_adj(X509_getm_notBefore(it.get()), -3600);  // clocks differ
  X509_gmtime_adj(X509_getm_notAfter(it.get()), kValidSeconds);
  X509_set_pubkey(it.get(), key);
  X509_NAME* subject = X509_get_subject_name(it.get());
  const std::string title = "espalier " + name;
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(title.c_str()), -1,
                             -1, 0);
  X509_set_issuer_name(it.get(), subject);
  const bool ok = add_extension(it.get(), NID_subject_alt_name, alternative_names(names)) &&
                  add_extension(it.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                  add_extension(it.get(), NID_key_usage, "critical,digitalSignature") &&
                  add_extension(it.get(), NID_ext_key_usage, "serverAuth,clientAuth") &&
                  X509_sign(it.get(), key, EVP_sha256()) > 0;
  return ok ? std::move(it) : nullptr;
}

bool lasts(const Certificate& certificate, const std::vector<std::string>& names) {
  const auto parsed = parse(certificate.chain);
  int days = 0, seconds = 0;
  for (const auto& name : names)
    if (!parsed || (X509_check_host(parsed.get(), name.c_str(), name.size(), 0, nullptr) != 1 &&
                    X509_check_ip_asc(parsed.get(), name.c_str(), 0) != 1))
      return false;
  return parsed && ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(parsed.get())) == 1 && days > kRenewDays;
}

Result<Certificate> make_pair(const std::string& name, const std::vector<std::string>& names) {
  const Key key(EVP_EC_gen("P-256"));
  const auto certificate = key ? make(key.get(), name, names) : nullptr;
  const Bio chain(BIO_new(BIO_s_mem())), secret(BIO_new(BIO_s_mem()));
  const bool ok = certificate && PEM_write_bio_X509(chain.get(), certificate.get()) == 1 &&
                  PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  if (!ok) return openssl_error("make a certificate");
  return Certificate{text_of(chain), text_of(secret)};
}

}  // namespace

Result<Certificate> read_certificate(const std::filesystem::path& chain, const std::filesystem::path& key) {
  auto certificate = read_file(chain);
  if (!certificate) return tl::unexpected(certificate.error());
  auto secret = read_file(key);
  if (!secret) return tl::unexpected(secret.error());
  if (!parse(*certificate)) return fail(ErrorCode::kInvalid, "{} holds no certificate in PEM form", chain.string());
  return Certificate{std::move(*certificate), std::move(*secret)};
}

static Result<Certificate> kept_or_made(const std::filesystem::path& folder, const std::string& name,
                                        const std::vector<std::string>& names,
                                        const std::function<bool(const Certificate&)>& good) {
  const auto chain_file = folder / (name + ".crt"), key_file = folder / (name + ".key");
  auto there = read_certificate(chain_file, key_file);
  if (there && good(*there)) return there;
  if (!there && there.error().code != ErrorCode::kNotFound) return there;
  std::error_code ec;
  if (!std::filesystem::is_directory(folder, ec))
    if (auto made_folder = make_folder(folder); !made_folder) return tl::unexpected(made_folder.error());
  auto made = make_pair(name, names);
  if (!made) return made;
  if (auto written = write_file(key_file, made->key, 0600); !written) return tl::unexpected(written.error());
  if (auto written = write_file(chain_file, made->chain); !written) return tl::unexpected(written.error());
  return made;
}

Result<Certificate> self_made_certificate(const std::filesystem::path& folder, const std::string& name,
                                          const std::vector<std::string>& names) {
  return kept_or_made(folder, name, names, [&names](const Certificate& it) { return lasts(it, names); });
}

Result<Certificate> pinned_certificate(const std::filesystem::path& folder, const std::string& name) {
  return kept_or_made(folder, name, {name}, [](const Certificate&) { return true; });
}

Result<Certificate> new_certificate(const std::string& name) { return make_pair(name, {name}); }

std::string fingerprint(const x509_st* certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  std::string out;
  if (X509_digest(certificate, EVP_sha256(), digest, &n) != 1) return out;
  for (unsigned i = 0; i < n; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

Result<std::string> fingerprint(const std::string& chain) {
  const auto certificate = parse(chain);
  if (!certificate) return fail(ErrorCode::kInvalid, "this is no certificate in PEM form");
  return fingerprint(certificate.get());
}

}  // namespace espalier::tls
