#include "agent/connection.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "base/random.h"

namespace espalier::agent {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A TLS server on a port of its own: answers what it reads in capitals, and remembers whom it has seen.
class SecureServer {
 public:
  SecureServer(const tls::Certificate& own, int newest = TLS1_3_VERSION)
      : context_(SSL_CTX_new(TLS_server_method())), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    BIO* chain = BIO_new_mem_buf(own.chain.data(), static_cast<int>(own.chain.size()));
    BIO* key = BIO_new_mem_buf(own.key.data(), static_cast<int>(own.key.size()));
    X509* certificate = PEM_read_bio_X509(chain, nullptr, nullptr, nullptr);
    EVP_PKEY* secret = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context_, certificate);
    SSL_CTX_use_PrivateKey(context_, secret);
    SSL_CTX_set_max_proto_version(context_, newest);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
    X509_free(certificate);
    EVP_PKEY_free(secret);
    BIO_free(chain);
    BIO_free(key);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    bind(listener_.get(), reinterpret_cast<sockaddr*>(&address_), size);
    listen(listener_.get(), 16);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address_), &size);
    thread_ = std::jthread([this] { serve(); });
  }
  ~SecureServer() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    SSL_CTX_free(context_);
  }
  Endpoint endpoint() const { return {"127.0.0.1", ntohs(address_.sin_port)}; }
  const std::string& seen() const { return seen_; }  // after an answer

 private:
  void serve() {
    for (;;) {
      const UniqueFd connection(accept(listener_.get(), nullptr, nullptr));
      if (!connection) return;
      SSL* ssl = SSL_new(context_);
      SSL_set_fd(ssl, connection.get());
      if (SSL_accept(ssl) == 1) answer(ssl);
      SSL_free(ssl);
    }
  }
  void answer(SSL* ssl) {
    if (X509* shown = SSL_get1_peer_certificate(ssl)) {
      seen_ = tls::fingerprint(shown);
      X509_free(shown);
    }
    char piece[4096];
    for (int n = 0; (n = SSL_read(ssl, piece, sizeof piece)) > 0;) {
      for (char* c = piece; c != piece + n; ++c) *c = static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
      if (*piece == 'Q') break;  // closes without a word
      SSL_write(ssl, piece, n);
    }
  }

  SSL_CTX* context_;
  UniqueFd listener_;
  sockaddr_in address_{};
  std::string seen_;
  std::jthread thread_;
};

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() { std::signal(SIGPIPE, SIG_IGN); }  // the server's writes; the agent's have MSG_NOSIGNAL
  ~ConnectionTest() override { std::filesystem::remove_all(folder_); }
  std::shared_ptr<const Trust> trust(const std::string& pin) { return Trust::make(pin, machine_).value(); }
  std::string receive(Connection& connection, std::size_t n) {
    std::string bytes;
    while (bytes.size() < n)
      if (const auto got = connection.receive(bytes, n - bytes.size(), in(20s)); !got || *got == 0) break;
    return bytes;
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("espalier-pins-" + secret_hex(8));
  const tls::Certificate control_plane_ = tls::pinned_certificate(folder_, "agents").value();
  const tls::Certificate machine_ = tls::pinned_certificate(folder_, "machine").value();
  const std::string pin_ = tls::fingerprint(control_plane_.chain).value();
};

TEST_F(ConnectionTest, SpeaksWithTheOneThatItWasToldOf) {
  SecureServer server(control_plane_);
  auto connection = Connection::connect(server.endpoint(), trust(pin_).get(), in(20s));
  ASSERT_TRUE(connection) << connection.error().message;
  for (const std::size_t n : {1u, 100u, 300'000u}) {
    // In pieces that fit both sides' buffers: neither reads while it writes.
    std::string got;
    for (std::size_t sent = 0; sent < n; sent += 4000) {
      const auto piece = std::string(std::min<std::size_t>(4000, n - sent), 'x');
      ASSERT_TRUE(connection->send(piece, in(20s)));
      got += receive(*connection, piece.size());
    }
    EXPECT_EQ(got, std::string(n, 'X'));
  }
  EXPECT_TRUE(connection->is_quiet());
  EXPECT_EQ(server.seen(), tls::fingerprint(machine_.chain).value());
}

TEST_F(ConnectionTest, SpeaksWithNobodyElse) {
  SecureServer other(machine_);  // a certificate, but another
  for (const std::string& pin : {pin_, std::string(), std::string(64, '0')}) {
    const auto refused = Connection::connect(other.endpoint(), trust(pin).get(), in(20s));
    ASSERT_FALSE(refused) << pin;
    EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
    EXPECT_THAT(refused.error().message, HasSubstr("that this machine was told of"));
  }
}

TEST_F(ConnectionTest, SpeaksNoOldProtocol) {
  SecureServer old(control_plane_, TLS1_2_VERSION);
  const auto refused = Connection::connect(old.endpoint(), trust(pin_).get(), in(20s));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
}

TEST_F(ConnectionTest, SeesTheEnd) {
  SecureServer server(control_plane_);
  auto connection = Connection::connect(server.endpoint(), trust(pin_).get(), in(20s)).value();
  ASSERT_TRUE(connection.send("q", in(20s)));
  std::string bytes;
  const auto got = connection.receive(bytes, 10, in(20s));
  EXPECT_EQ(got.value_or(0), 0u);  // an error, or the end
  EXPECT_FALSE(connection.is_quiet());
}

TEST_F(ConnectionTest, GivesUpAtItsDeadline) {
  SecureServer server(control_plane_);
  auto connection = Connection::connect(server.endpoint(), trust(pin_).get(), in(20s)).value();
  std::string bytes;
  EXPECT_EQ(connection.receive(bytes, 10, in(20ms)).error().code, ErrorCode::kTimeout);
}

TEST_F(ConnectionTest, PlainHttpToAPinnedPlaceIsNoConnection) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size);
  listen(listener.get(), 1);
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  std::jthread answer([&] {
    const UniqueFd connection(accept(listener.get(), nullptr, nullptr));
    constexpr std::string_view kText = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    send(connection.get(), kText.data(), kText.size(), MSG_NOSIGNAL);
  });
  EXPECT_FALSE(Connection::connect({"127.0.0.1", ntohs(address.sin_port)}, trust(pin_).get(), in(20s)));
}

}  // namespace
}  // namespace espalier::agent
