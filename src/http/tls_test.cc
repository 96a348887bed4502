// Our certificates, and the server behind them.
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include "base/file.h"
#include "base/random.h"
#include "http/client.h"
#include "http/raw_socket_test.h"
#include "http/server.h"
#include "tls/certificate.h"

namespace espalier::http {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class TlsTest : public testing::Test {
 protected:
  ~TlsTest() override { std::filesystem::remove_all(folder_); }

  tls::Certificate certificate(const std::string& name = "api",
                               std::vector<std::string> names = {"127.0.0.1", "localhost"}) {
    return tls::self_made_certificate(folder_, name, names).value();
  }
  std::unique_ptr<Server> serve(bool ask_peer = false, Limits limits = {}) {
    Tls tls;
    tls.certificate = certificate();
    tls.ask_peer = ask_peer;
    const auto handler = [](const Request& request, const Reply& reply) {
      reply({200, {}, request.body + "|" + request.peer_certificate});
    };
    return std::move(Server::listen("127.0.0.1", 0, handler, limits, 1, tls).value());
  }
  static std::string url(const Server& server, const char* host = "127.0.0.1") {
    return fmt::format("https://{}:{}/", host, server.port());
  }
  std::string ca() { return (folder_ / "api.crt").string(); }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("espalier-tls-" + secret_hex(8));
};

// A handshake with the versions and ciphers that the test allows; what was agreed, or "".
std::string agree(std::uint16_t port, int oldest, int newest, const char* ciphers = "ALL:@SECLEVEL=0") {
  const RawSocket socket(port);
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_min_proto_version(context, oldest);
  SSL_CTX_set_max_proto_version(context, newest);
  SSL_CTX_set_cipher_list(context, ciphers);
  SSL* ssl = SSL_new(context);
  SSL_set_fd(ssl, socket.fd());
  const std::string agreed =
      SSL_connect(ssl) == 1 ? fmt::format("{} {}", SSL_get_version(ssl), SSL_get_cipher(ssl)) : "";
  SSL_free(ssl);
  SSL_CTX_free(context);
  return agreed;
}

TEST_F(TlsTest, CertificatesAreMadeOnce) {
  const auto made = certificate();
  EXPECT_EQ(certificate().chain, made.chain);
  EXPECT_NE(certificate("api", {"127.0.0.1", "other.example"}).chain, made.chain);  // it must have all names
  const auto pinned = tls::pinned_certificate(folder_, "pinned").value();
  EXPECT_EQ(tls::pinned_certificate(folder_, "pinned")->chain, pinned.chain);
  EXPECT_EQ(std::filesystem::status(folder_ / "api.key").permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(tls::fingerprint(made.chain)->size(), 64u);
  EXPECT_NE(*tls::fingerprint(made.chain), *tls::fingerprint(certificate("agents").chain));
  EXPECT_EQ(tls::fingerprint("nonsense").error().code, ErrorCode::kInvalid);
}

TEST_F(TlsTest, FilesThatAreNoCertificateAreNamed) {
  certificate();
  ASSERT_TRUE(write_file(folder_ / "api.crt", "nonsense"));
  EXPECT_THAT(tls::self_made_certificate(folder_, "api", {}).error().message, HasSubstr("api.crt"));
  EXPECT_EQ(tls::read_certificate(folder_ / "none", folder_ / "none").error().code, ErrorCode::kNotFound);
}

TEST_F(TlsTest, AKeyOfAnotherCertificateIsRefused) {
  Tls tls;
  tls.certificate = {certificate("a").chain, certificate("b").key};
  EXPECT_EQ(Server::listen("127.0.0.1", 0, nullptr, {}, 1, tls).error().code, ErrorCode::kInvalid);
}

TEST_F(TlsTest, ServesWhoTrustsTheCertificate) {
  const auto server = serve();
  Client client(ca());
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.post(url(*server), {}, "body", 10s);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "body|");
  }
  EXPECT_EQ(client.post(url(*server, "localhost"), {}, std::string(1 << 20, 'x'), 10s)->body.size(), (1u << 20) + 1);
}

TEST_F(TlsTest, OthersAreTold) {
  const auto server = serve();
  const auto stranger = Client().post(url(*server), {}, "", 10s);
  EXPECT_EQ(stranger.error().code, ErrorCode::kPermission);
  EXPECT_THAT(stranger.error().message, HasSubstr("--ca-bundle"));
}

TEST_F(TlsTest, CertificatesAreForTheirNamesOnly) {
  certificate("api", {"elsewhere.example"});
  Tls tls;
  tls.certificate = tls::read_certificate(folder_ / "api.crt", folder_ / "api.key").value();
  const auto server = std::move(Server::listen("127.0.0.1", 0, nullptr, {}, 1, tls).value());
  EXPECT_EQ(Client(ca()).post(url(*server), {}, "", 10s).error().code, ErrorCode::kPermission);
}

TEST_F(TlsTest, OldProtocolsAndWeakCiphersAreRefused) {
  const auto server = serve();
  EXPECT_THAT(agree(server->port(), TLS1_3_VERSION, TLS1_3_VERSION), HasSubstr("TLSv1.3"));
  EXPECT_THAT(agree(server->port(), TLS1_2_VERSION, TLS1_2_VERSION), HasSubstr("TLSv1.2 ECDHE"));
  EXPECT_EQ(agree(server->port(), TLS1_VERSION, TLS1_1_VERSION), "");
  for (const auto* weak : {"AES128-SHA:@SECLEVEL=0", "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0", "NULL:@SECLEVEL=0",
                           "ECDHE-ECDSA-AES256-SHA384:@SECLEVEL=0", "aNULL:@SECLEVEL=0"})
    EXPECT_EQ(agree(server->port(), TLS1_2_VERSION, TLS1_2_VERSION, weak), "") << weak;
}

TEST_F(TlsTest, PlainHttpIsNotAnswered) {
  const auto server = serve();
  RawSocket socket(server->port());
  socket.send(post("x"));
  EXPECT_EQ(socket.read_answer().find("HTTP/"), std::string::npos);
}

TEST_F(TlsTest, AHandshakeThatDoesNotComeEnds) {
  Limits limits;
  limits.read_timeout = 50ms;
  const auto server = serve(false, limits);
  RawSocket socket(server->port());
  EXPECT_TRUE(socket.closed());
}

}  // namespace
}  // namespace espalier::http
