// The only file that knows Beast: callbacks, no coroutines. Each connection is a Session on a strand of its own.
#include "http/server.h"

#include <fmt/chrono.h>

#include <atomic>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "base/random.h"

namespace espalier::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

constexpr std::chrono::milliseconds kFarewell{1000};  // for a TLS connection to end in form
constexpr std::chrono::milliseconds kLinger{2000};    // for a refused sender to stop and read why
constexpr std::size_t kLingerBytes = 16 << 20;
constexpr std::chrono::milliseconds kAcceptPause{100};  // when the process has no file descriptors left
constexpr std::size_t kFirstRead = 4096;

Response error_response(int status, std::string_view type, std::string_view message) {
  return {status,
          {{"Content-Type", "application/x-amz-json-1.1"}, {"x-amzn-RequestId", Random::from_system().uuid()}},
          json::serialize(json::object{{"__type", type}, {"Message", message}})};
}

// What to say about a request that could not be read; nothing when the other side is gone.
std::optional<Response> refusal(error_code ec, const Limits& limits) {
  if (ec == wire::error::body_limit)
    return error_response(413, "RequestEntityTooLargeException",
                          fmt::format("The body is longer than {} bytes. Send a smaller request.", limits.body_bytes));
  if (ec == wire::error::header_limit || ec == wire::error::buffer_overflow)
    return error_response(431, "MalformedHttpRequestException",
                          fmt::format("The headers are longer than {} bytes.", limits.header_bytes));
  if (ec == wire::error::end_of_stream || ec == wire::error::partial_message) return std::nullopt;
  if (ec.category() == error_code(wire::error::bad_method).category())
    return error_response(400, "MalformedHttpRequestException", "Not an HTTP/1.1 request: " + ec.message() + ".");
  return std::nullopt;
}

// What makes a request mean two things to two readers, as an answer; nothing when it is sound.
std::optional<Response> ambiguity(const wire::request<wire::string_body>& request) {
  const auto malformed = [](std::string_view why) { return error_response(400, "MalformedHttpRequestException", why); };
  for (const auto field : {wire::field::host, wire::field::content_length, wire::field::transfer_encoding,
                           wire::field::authorization, wire::field::content_type, wire::field::expect})
    if (request.count(field) > 1)
      return malformed(fmt::format("The header {} is there more than once.", std::string(to_string(field))));
  if (request.count(wire::field::content_length) > 0 && request.count(wire::field::transfer_encoding) > 0)
    return malformed("The request has a Content-Length and a Transfer-Encoding: send one of them.");
  if (request.count(wire::field::transfer_encoding) > 0 && !request.chunked())
    return malformed("The only Transfer-Encoding that is taken is chunked.");
  const auto length = request[wire::field::content_length];
  if (length.find_first_not_of("0123456789") != length.npos) return malformed("Content-Length must be one number.");
  if (request.version() == 11 && request.count(wire::field::host) == 0) return malformed("The header Host is missing.");
  return std::nullopt;
}

std::string now_as_http_date() { return fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}", fmt::gmtime(std::time(nullptr))); }

class Session;

// What all connections share. Members are destroyed bottom up: sessions before the io_context of their sockets.
struct Core : std::enable_shared_from_this<Core> {
  Core(Handler h, Limits l, int threads) : handler(std::move(h)), limits(l), io(threads) {}

  bool add(const std::shared_ptr<Session>& session, const std::string& peer) {
    const std::lock_guard lock(mutex);
    if (stopping || sessions.size() >= static_cast<std::size_t>(limits.connections)) return false;
    if (const auto of_peer = peers.find(peer);
        of_peer != peers.end() && of_peer->second.connections >= limits.connections_per_address)
      return false;
    ++peers[peer].connections;
    return sessions.insert(session).second;
  }
  void remove(const std::shared_ptr<Session>& session, const std::string& peer) {
    const std::lock_guard lock(mutex);
    if (sessions.erase(session) == 0) return;
    --peers[peer].connections;
    drop_if_gone(peer);
    if (sessions.empty()) all_gone.notify_all();
  }
  // Whether what is held of all bodies, and of those from this address, leaves room for so many bytes more. What has
  // come is counted, not what is announced: to announce costs nothing. Given back with give_back().
  bool hold(const std::string& peer, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    if (body_bytes + bytes > limits.all_bodies_bytes) return false;
    std::size_t& of_peer = peers[peer].body_bytes;
    if (of_peer + bytes > limits.all_bodies_bytes / limits.share_of_address) return drop_if_gone(peer), false;
    body_bytes += bytes;
    of_peer += bytes;
    return true;
  }
  void give_back(const std::string& peer, std::size_t bytes) {
    if (bytes == 0) return;
    const std::lock_guard lock(mutex);
    body_bytes -= bytes;
    peers[peer].body_bytes -= bytes;
    drop_if_gone(peer);
  }
  void drop_if_gone(const std::string& peer) {
    const auto found = peers.find(peer);
    if (found->second.connections == 0 && found->second.body_bytes == 0) peers.erase(found);
  }
  void accept();
  void begin(tcp::socket socket);

  const Handler handler;
  const Limits limits;
  // Before io, whose pending operations hold sessions to the last.
  struct Peer {
    int connections = 0;
    std::size_t body_bytes = 0;
  };
  std::mutex mutex;
  std::size_t body_bytes = 0;
  std::map<std::string, Peer> peers;  // by address
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};  // long polls alone are no work
  tcp::acceptor acceptor{asio::make_strand(io)};
  asio::steady_timer accept_pause{acceptor.get_executor()};
  std::optional<asio::ssl::context> tls;
  std::condition_variable all_gone;
  bool stopping = false;
  std::set<std::shared_ptr<Session>> sessions;
};

// "" when none was shown.
std::string shown_certificate(asio::ssl::stream<tcp::socket>& stream) {
  const std::unique_ptr<X509, void (*)(X509*)> shown(SSL_get1_peer_certificate(stream.native_handle()), X509_free);
  return shown ? tls::fingerprint(shown.get()) : "";
}

// One connection, as the rest of this file sees it.
class Session {
 public:
  virtual ~Session() = default;
  virtual void start() = 0;
  virtual void answer(Response response) = 0;
  // Ends it when it is idle, else after the answer under way.
  virtual void stop() = 0;
  virtual void close() = 0;
};

using PlainStream = tcp::socket;
using TlsStream = asio::ssl::stream<tcp::socket>;

// Wait → read → handle → write → wait … All but answer() and stop() run on its strand.
template <typename Stream>
class StreamSession final : public Session, public std::enable_shared_from_this<StreamSession<Stream>> {
 public:
  StreamSession(Stream stream, std::string peer, Core& core)
      : core_(core), stream_(std::move(stream)), deadline_(stream_.get_executor()), peer_(std::move(peer)) {}
  ~StreamSession() override { core_.give_back(peer_, held_); }

  void start() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      error_code ignored;
      self->socket().set_option(tcp::no_delay(true), ignored);
      self->handshake();
    });
  }
  void answer(Response response) override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this(), r = std::move(response)]() mutable {
      if (self->socket().is_open()) self->write(std::move(r), !self->last_);
    });
  }
  void stop() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      self->last_ = true;
      if (self->idle_) self->close();
    });
  }
  void close() override {
    arm(std::nullopt);
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_both, ignored);
    socket().close(ignored);
    core_.remove(this->shared_from_this(), peer_);
  }

 private:
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

  tcp::socket& socket() { return beast::get_lowest_layer(stream_); }

  void handshake() {
    if constexpr (kTls) {
      arm(core_.limits.read_timeout);
      stream_.async_handshake(TlsStream::server, [self = this->shared_from_this()](error_code ec) {
        if (ec || !self->socket().is_open()) return self->close();
        self->certificate_ = shown_certificate(self->stream_);
        self->await_request();
      });
    } else {
      await_request();
    }
  }

  // Ends a sound connection: the other side of a TLS one must see that nothing was cut off.
  void farewell() {
    if constexpr (kTls) {
      arm(kFarewell);
      stream_.async_shutdown([self = this->shared_from_this()](error_code) { self->close(); });
    } else {
      close();
    }
  }

  // Sets the one deadline of what is under way; when it passes, the socket's operation ends with timed_out_.
  void arm(std::optional<std::chrono::milliseconds> after) {
    timed_out_ = false;
    const auto turn = ++deadline_turn_;
    if (!after) return static_cast<void>(deadline_.cancel());
    deadline_.expires_after(*after);
    deadline_.async_wait([self = this->shared_from_this(), turn](error_code ec) {
      if (ec || turn != self->deadline_turn_) return;
      self->timed_out_ = true;
      error_code ignored;
      self->socket().cancel(ignored);
    });
  }

  void await_request() {
    core_.give_back(peer_, std::exchange(held_, 0));
    if (last_) return farewell();
    parser_.emplace();
    parser_->body_limit(core_.limits.body_bytes);
    parser_->header_limit(static_cast<std::uint32_t>(core_.limits.header_bytes));
    if (buffer_.size() > 0) return read_header();
    buffer_.shrink_to_fit();  // thousands of idle long polls should be small
    idle_ = true;
    arm(core_.limits.idle_timeout);
    stream_.async_read_some(buffer_.prepare(kFirstRead),
                            [self = this->shared_from_this()](error_code ec, std::size_t n) {
                              self->idle_ = false;
                              if (!self->socket().is_open()) return self->close();
                              if (ec) return self->timed_out_ ? self->farewell() : self->close();
                              self->buffer_.commit(n);
                              self->read_header();
                            });
  }

  void read_header() {
    arm(core_.limits.read_timeout);
    wire::async_read_header(stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code ec, std::size_t) {
      if (ec) return self->refuse(ec);
      if (auto why = ambiguity(self->parser_->get())) return self->refuse(std::move(*why));
      if (!beast::iequals(self->parser_->get()[wire::field::expect], "100-continue")) return self->read_body();
      self->send_continue();
    });
  }

  void send_continue() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue), [self = this->shared_from_this()](error_code ec, std::size_t) {
      ec ? self->close() : self->read_body();
    });
  }

  void read_body() {
    const std::size_t come = parser_->get().body().size();
    if (!core_.hold(peer_, come - held_))
      return refuse(error_response(503, "ServiceUnavailable", "Too many requests are under way. Try again."));
    held_ = come;
    if (parser_->is_done()) return handle();
    parser_->eager(false);  // every piece comes back here to be counted, also of a chunked body
    wire::async_read_some(stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code ec, std::size_t) {
      ec ? self->refuse(ec) : self->read_body();
    });
  }

  void refuse(error_code ec) {
    auto why = timed_out_ ? error_response(408, "RequestTimeoutException", "The request did not arrive whole in time.")
                          : refusal(ec, core_.limits);
    if (!why) return close();
    refuse(std::move(*why));
  }
  void refuse(Response why) {
    refused_ = true;
    write(std::move(why), false);
  }

  void handle();

  void write(Response response, bool keep_alive) {
    const bool head = parser_->get().method() == wire::verb::head;
    answer_.emplace(static_cast<wire::status>(response.status), 11);
    answer_->set(wire::field::date, now_as_http_date());
    for (const auto& [name, value] : response.headers) answer_->insert(name, value);
    answer_->content_length(response.body.size());
    if (!head) answer_->body() = std::move(response.body);
    answer_->keep_alive(keep_alive && keep_alive_);
    arm(core_.limits.idle_timeout);
    wire::async_write(stream_, *answer_, [self = this->shared_from_this()](error_code ec, std::size_t) {
      const bool again = !ec && self->answer_->keep_alive();
      self->answer_.reset();
      if (again) return self->await_request();
      self->refused_ && !ec ? self->linger() : ec ? self->close() : self->farewell();
    });
  }

  // Closing with unread input would reset the connection, and the sender might never see why it was refused.
  void linger() {
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    arm(kLinger);
    discard(kLingerBytes);
  }
  void discard(std::size_t left) {
    buffer_.clear();
    socket().async_read_some(buffer_.prepare(64 << 10),
                             [self = this->shared_from_this(), left](error_code ec, std::size_t n) {
                               ec || n >= left ? self->close() : self->discard(left - n);
                             });
  }

  Core& core_;
  Stream stream_;
  asio::steady_timer deadline_;
  unsigned deadline_turn_ = 0;
  bool timed_out_ = false;
  bool idle_ = false;        // waits for the first byte of a request
  bool last_ = false;        // the server stops
  bool refused_ = false;     // the request was not read to its end
  bool keep_alive_ = false;  // the client wants it
  const std::string peer_;
  std::string certificate_;  // fingerprint of the other side's
  std::size_t held_ = 0;     // of the bytes for all bodies
  beast::flat_buffer buffer_;
  std::optional<wire::request_parser<wire::string_body>> parser_;
  std::optional<wire::response<wire::string_body>> answer_;
};

// The duty to answer one request. Holds the Core, so that an answer after the server's end finds an io_context.
class Duty {
 public:
  Duty(std::shared_ptr<Core> core, std::shared_ptr<Session> session)
      : core_(std::move(core)), session_(std::move(session)) {}
  Duty(const Duty&) = delete;
  Duty& operator=(const Duty&) = delete;
  ~Duty() {
    if (!done_) session_->answer(error_response(500, "InternalFailure", "The request was dropped without an answer."));
  }
  void answer(Response response) {
    if (done_.exchange(true)) return log::error("http: a request was answered twice; the second answer is ignored");
    session_->answer(std::move(response));
  }

 private:
  std::shared_ptr<Core> core_;
  std::shared_ptr<Session> session_;
  std::atomic<bool> done_ = false;
};

template <typename Stream>
void StreamSession<Stream>::handle() {
  arm(std::nullopt);  // how long an answer may take is the handler's business
  auto& message = parser_->get();
  keep_alive_ = message.keep_alive();
  Request request{std::string(message.method_string()), std::string(message.target()), {}, {}, peer_, certificate_};
  for (const auto& field : message)
    request.headers.emplace(std::string(field.name_string()), std::string(field.value()));
  request.body = std::move(message.body());
  auto duty = std::make_shared<Duty>(core_.shared_from_this(), this->shared_from_this());
  try {
    core_.handler(std::move(request), [duty](Response response) { duty->answer(std::move(response)); });
  } catch (const std::exception& e) {
    log::error("http: the handler threw: {}", e.what());  // the duty answers when its last holder lets go
  }
}

void Core::accept() {
  acceptor.async_accept(asio::make_strand(io), [this](error_code ec, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (ec) {
      log::warn("http: cannot accept a connection: {}", ec.message());
      accept_pause.expires_after(kAcceptPause);
      return accept_pause.async_wait([this](error_code) {
        if (acceptor.is_open()) accept();
      });
    }
    begin(std::move(socket));
    accept();
  });
}

void Core::begin(tcp::socket socket) {
  error_code gone;
  const auto peer = socket.remote_endpoint(gone);
  if (gone) return;
  std::shared_ptr<Session> session;
  const std::string address = peer.address().to_string();
  if (tls)
    session = std::make_shared<StreamSession<TlsStream>>(TlsStream(std::move(socket), *tls), address, *this);
  else
    session = std::make_shared<StreamSession<PlainStream>>(std::move(socket), address, *this);
  if (add(session, address)) session->start();
}

class BeastServer final : public Server {
 public:
  BeastServer(std::shared_ptr<Core> core, int threads) : core_(std::move(core)) {
    port_ = core_->acceptor.local_endpoint().port();
    core_->accept();
    for (int i = 0; i < threads; ++i) threads_.emplace_back([c = core_.get()] { c->io.run(); });
  }
  ~BeastServer() override { stop(std::chrono::milliseconds(0)); }

  std::uint16_t port() const override { return port_; }

  void stop(std::chrono::milliseconds grace) override {
    asio::post(core_->acceptor.get_executor(), [c = core_.get()] { c->acceptor.close(); });
    for (const auto& session : begin_stop()) session->stop();
    {
      std::unique_lock lock(core_->mutex);
      core_->all_gone.wait_for(lock, grace, [this] { return core_->sessions.empty(); });
    }
    core_->io.stop();
    threads_.clear();  // joins
    core_->acceptor.close();
    for (const auto& session : begin_stop()) session->close();  // nothing runs any more: no strand needed
  }

 private:
  std::set<std::shared_ptr<Session>> begin_stop() {
    const std::lock_guard lock(core_->mutex);
    core_->stopping = true;
    return core_->sessions;
  }

  std::shared_ptr<Core> core_;
  std::uint16_t port_ = 0;
  std::vector<std::jthread> threads_;
};

// SO_REUSEADDR only passes over connections that linger from a former run; a second listener is still refused.
error_code open(tcp::acceptor& acceptor, const tcp::endpoint& at) {
  error_code ec;
  acceptor.open(at.protocol(), ec);
  if (!ec) acceptor.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec) acceptor.bind(at, ec);
  if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
  return ec;
}

Result<asio::ssl::context> tls_context(const Tls& settings) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  SSL_CTX* raw = context.native_handle();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);  // thousands of idle long polls should be small
  SSL_CTX_set_session_id_context(raw, reinterpret_cast<const unsigned char*>("espalier"), 8);
  SSL_CTX_set_cipher_list(raw, tls::kTls12Ciphers);
  error_code ec;
  context.use_certificate_chain(asio::buffer(settings.certificate.chain), ec);
  if (!ec) context.use_private_key(asio::buffer(settings.certificate.key), asio::ssl::context::pem, ec);
  if (ec) return fail(ErrorCode::kInvalid, "the certificate and its key are of no use: {}", ec.message());
  if (settings.ask_peer) {
    context.set_verify_mode(asio::ssl::verify_peer);
    context.set_verify_callback([](bool, asio::ssl::verify_context&) { return true; });  // whoever: see Tls::ask_peer
  }
  return context;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(const std::string& address, std::uint16_t port, Handler handler,
                                               Limits limits, int threads, const Tls& tls_settings) {
  error_code ec;
  const auto ip = asio::ip::make_address(address, ec);
  if (ec) return fail(ErrorCode::kInvalid, "cannot listen on '{}': not a numeric address such as 127.0.0.1", address);
  auto core = std::make_shared<Core>(std::move(handler), limits, threads);
  if (!tls_settings.certificate.chain.empty()) {
    auto context = tls_context(tls_settings);
    if (!context) return tl::unexpected(context.error());
    core->tls.emplace(std::move(*context));
  }
  if ((ec = open(core->acceptor, {ip, port}))) {
    if (ec == asio::error::address_in_use)
      return fail(ErrorCode::kExists,
                  "cannot listen on {} port {}: it is taken by another program; choose another port", address, port);
    const auto code = ec == asio::error::access_denied ? ErrorCode::kPermission : ErrorCode::kUnavailable;
    return fail(code, "cannot listen on {} port {}: {}", address, port, ec.message());
  }
  return std::make_unique<BeastServer>(std::move(core), threads);
}

}  // namespace espalier::http
