// Certificates of our own: of the listeners, and of the machines' agents. All PEM. The front door of this room.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

struct x509_st;  // X509 of OpenSSL

namespace espalier::tls {

// TLS 1.2 with forward secrecy and authenticated ciphers, or 1.3; nothing older. In OpenSSL's words.
inline constexpr const char* kTls12Ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!SHA1";

struct Certificate {
  std::string chain;  // the certificate first
  std::string key;
};

Result<Certificate> read_certificate(const std::filesystem::path& chain, const std::filesystem::path& key);
// <folder>/<name>.crt and .key, the key with mode 0600. Made when they are not there, soon at their end, or not good
// for all of `names` (DNS names and addresses).
Result<Certificate> self_made_certificate(const std::filesystem::path& folder, const std::string& name,
                                          const std::vector<std::string>& names);
// Of a machine, known by its fingerprint: in no file.
Result<Certificate> new_certificate(const std::string& name);
// Like self_made_certificate, for one that is known by its fingerprint alone: made once, and kept for ever.
Result<Certificate> pinned_certificate(const std::filesystem::path& folder, const std::string& name);
// SHA-256 of the first certificate's DER form, 64 hexadecimal digits in lower case: what a client can pin.
Result<std::string> fingerprint(const std::string& chain);
std::string fingerprint(const x509_st* certificate);

}  // namespace espalier::tls
