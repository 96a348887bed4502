#include "agent/connection.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

namespace espalier::agent {

namespace {

constexpr std::size_t kPiece = 16 << 10;

// The one check: the certificate that was shown is the one that was told of.
int is_pinned(X509_STORE_CTX* shown, void* pin) {
  const X509* certificate = X509_STORE_CTX_get0_cert(shown);
  const bool same = certificate && tls::fingerprint(certificate) == *static_cast<const std::string*>(pin);
  if (!same) X509_STORE_CTX_set_error(shown, X509_V_ERR_CERT_REJECTED);
  return same ? 1 : 0;
}

bool use(SSL_CTX* context, const tls::Certificate& own) {
  const auto bio = [](const std::string& text) {
    return std::unique_ptr<BIO, int (*)(BIO*)>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  };
  const auto chain = bio(own.chain), secret = bio(own.key);
  const std::unique_ptr<X509, void (*)(X509*)> certificate(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr),
                                                           X509_free);
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(
      PEM_read_bio_PrivateKey(secret.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
  return certificate && key && SSL_CTX_use_certificate(context, certificate.get()) == 1 &&
         SSL_CTX_use_PrivateKey(context, key.get()) == 1;
}

std::string reason() {
  const char* text = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return text ? text : "the connection was cut off";
}

}  // namespace

void Trust::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void Connection::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

Result<std::shared_ptr<const Trust>> Trust::make(const std::string& pin, const tls::Certificate& own) {
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);  // the machine's own settings are not for us
  const std::shared_ptr<Trust> trust(new Trust);
  trust->pin_ = pin;
  trust->context_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* context = trust->context();
  if (!context || !use(context, own))
    return fail(ErrorCode::kInvalid, "this machine's certificate is of no use: {}", reason());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, is_pinned, &trust->pin_);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  return trust;
}

Result<Connection> Connection::connect(const Endpoint& endpoint, const Trust* trust, Deadline deadline) {
  auto socket = Socket::connect(endpoint, deadline);
  if (!socket) return tl::unexpected(socket.error());
  Connection made;
  made.socket_ = std::move(*socket);
  if (!trust) return made;
  made.ssl_.reset(SSL_new(trust->context()));
  SSL_set_bio(made.ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(made.ssl_.get());
  if (auto done = made.handshake(deadline); !done)
    return fail(done.error().code, "no trusted connection to {}:{}: {}", endpoint.host, endpoint.port,
                done.error().message);
  return made;
}

Result<void> Connection::handshake(Deadline deadline) {
  for (;;) {
    const int n = SSL_do_handshake(ssl_.get());
    if (SSL_get_verify_result(ssl_.get()) == X509_V_ERR_CERT_REJECTED) {
      ERR_clear_error();
      return fail(ErrorCode::kPermission, "its certificate is not the control plane's that this machine was told of");
    }
    auto more = go_on(n, deadline);
    if (!more) return tl::unexpected(more.error());
    if (n == 1) return {};
    if (!*more) return fail(ErrorCode::kUnavailable, "connection closed within the TLS handshake");
  }
}

Result<bool> Connection::go_on(int n, Deadline deadline) {
  const int state = SSL_get_error(ssl_.get(), n);
  if (auto sent = flush(deadline); !sent) return tl::unexpected(sent.error());
  if (n > 0) return true;
  if (state == SSL_ERROR_WANT_READ) return feed(deadline);
  if (state == SSL_ERROR_ZERO_RETURN) return false;
  return fail(ErrorCode::kUnavailable, "TLS: {}", reason());
}

Result<void> Connection::flush(Deadline deadline) {
  char* data = nullptr;
  BIO* out = SSL_get_wbio(ssl_.get());
  const long n = BIO_get_mem_data(out, &data);
  if (n <= 0) return {};
  auto sent = socket_.send({data, static_cast<std::size_t>(n)}, deadline);
  (void)BIO_reset(out);
  return sent;
}

Result<bool> Connection::feed(Deadline deadline) {
  std::string bytes;
  auto got = socket_.receive(bytes, kPiece, deadline);
  if (!got) return tl::unexpected(got.error());
  if (*got > 0) BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
  return *got > 0;
}

Result<void> Connection::send(std::string_view bytes, Deadline deadline) {
  if (!ssl_) return socket_.send(bytes, deadline);
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, kPiece);
    const int n = SSL_write(ssl_.get(), piece.data(), static_cast<int>(piece.size()));
    auto more = go_on(n, deadline);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return fail(ErrorCode::kUnavailable, "connection closed while sending");
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::size_t> Connection::receive(std::string& bytes, std::size_t limit, Deadline deadline) {
  if (!ssl_) return socket_.receive(bytes, limit, deadline);
  char piece[kPiece];
  for (;;) {
    const int n = SSL_read(ssl_.get(), piece, static_cast<int>(std::min(limit, sizeof piece)));
    auto more = go_on(n, deadline);
    if (!more) return tl::unexpected(more.error());
    if (n > 0) bytes.append(piece, static_cast<std::size_t>(n));
    if (n > 0 || !*more) return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
}

bool Connection::is_quiet() const {
  if (!socket_.is_quiet()) return false;
  return !ssl_ || (SSL_pending(ssl_.get()) == 0 && BIO_pending(SSL_get_rbio(ssl_.get())) == 0);
}

void Connection::close() {
  ssl_.reset();
  socket_.close();
}

}  // namespace espalier::agent
