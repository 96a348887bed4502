// The only file that knows Beast: callbacks, no coroutines. Each connection is a Session on a strand of its own.
#include "http/server.h"

#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/log.h"

namespace espalier::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

constexpr std::chrono::milliseconds kLinger{2000};  // for a refused sender to stop and read why
constexpr std::size_t kLingerBytes = 16 << 20;
constexpr std::chrono::milliseconds kAcceptPause{100};  // when the process has no file descriptors left
constexpr std::size_t kFirstRead = 4096;

Response error_response(int status, std::string_view type, std::string_view message) {
  return {status,
          {{"Content-Type", "application/x-amz-json-1.1"}},
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

class Session;

// What all connections share. Members are destroyed bottom up: sessions before the io_context of their sockets.
struct Core : std::enable_shared_from_this<Core> {
  Core(Handler h, Limits l, int threads) : handler(std::move(h)), limits(l), io(threads) {}

  bool add(const std::shared_ptr<Session>& session) {
    const std::lock_guard lock(mutex);
    if (stopping || sessions.size() >= static_cast<std::size_t>(limits.connections)) return false;
    return sessions.insert(session).second;
  }
  void remove(const std::shared_ptr<Session>& session) {
    const std::lock_guard lock(mutex);
    sessions.erase(session);
    if (sessions.empty()) all_gone.notify_all();
  }
  void accept();

  const Handler handler;
  const Limits limits;
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};  // long polls alone are no work
  tcp::acceptor acceptor{asio::make_strand(io)};
  asio::steady_timer accept_pause{acceptor.get_executor()};
  std::mutex mutex;
  std::condition_variable all_gone;
  bool stopping = false;
  std::set<std::shared_ptr<Session>> sessions;
};

// One connection: wait → read → handle → write → wait … All but answer() and stop() run on its strand.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Core& core)
      : core_(core), socket_(std::move(socket)), deadline_(socket_.get_executor()) {}

  void start() {
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      error_code ignored;
      self->socket_.set_option(tcp::no_delay(true), ignored);
      const auto peer = self->socket_.remote_endpoint(ignored);
      if (!ignored) self->peer_ = peer.address().to_string();
      self->await_request();
    });
  }
  void answer(Response response) {
    asio::post(socket_.get_executor(), [self = shared_from_this(), r = std::move(response)]() mutable {
      if (self->socket_.is_open()) self->write(std::move(r), !self->last_);
    });
  }
  // Ends it when it is idle, else after the answer under way.
  void stop() {
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      self->last_ = true;
      if (self->idle_) self->close();
    });
  }
  void close() {
    arm(std::nullopt);
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
    core_.remove(shared_from_this());
  }

 private:
  // Sets the one deadline of what is under way; when it passes, the socket's operation ends with timed_out_.
  void arm(std::optional<std::chrono::milliseconds> after) {
    timed_out_ = false;
    const auto turn = ++deadline_turn_;
    if (!after) return static_cast<void>(deadline_.cancel());
    deadline_.expires_after(*after);
    deadline_.async_wait([self = shared_from_this(), turn](error_code ec) {
      if (ec || turn != self->deadline_turn_) return;
      self->timed_out_ = true;
      error_code ignored;
      self->socket_.cancel(ignored);
    });
  }

  void await_request() {
    if (last_) return close();
    parser_.emplace();
    parser_->body_limit(core_.limits.body_bytes);
    parser_->header_limit(static_cast<std::uint32_t>(core_.limits.header_bytes));
    if (buffer_.size() > 0) return read_header();
    buffer_.shrink_to_fit();  // thousands of idle long polls should be small
    idle_ = true;
    arm(core_.limits.idle_timeout);
    socket_.async_read_some(buffer_.prepare(kFirstRead), [self = shared_from_this()](error_code ec, std::size_t n) {
      self->idle_ = false;
      if (ec || !self->socket_.is_open()) return self->close();
      self->buffer_.commit(n);
      self->read_header();
    });
  }

  void read_header() {
    arm(core_.limits.read_timeout);
    wire::async_read_header(socket_, buffer_, *parser_, [self = shared_from_this()](error_code ec, std::size_t) {
      if (ec) return self->refuse(ec);
      if (!beast::iequals(self->parser_->get()[wire::field::expect], "100-continue")) return self->read_body();
      self->send_continue();
    });
  }

  void send_continue() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(socket_, asio::buffer(kContinue), [self = shared_from_this()](error_code ec, std::size_t) {
      ec ? self->close() : self->read_body();
    });
  }

  void read_body() {
    if (parser_->is_done()) return handle();
    wire::async_read(socket_, buffer_, *parser_, [self = shared_from_this()](error_code ec, std::size_t) {
      ec ? self->refuse(ec) : self->handle();
    });
  }

  void refuse(error_code ec) {
    auto why = timed_out_ ? error_response(408, "RequestTimeoutException", "The request did not arrive whole in time.")
                          : refusal(ec, core_.limits);
    if (!why) return close();
    refused_ = true;
    write(std::move(*why), false);
  }

  void handle();

  void write(Response response, bool keep_alive) {
    const bool head = parser_->get().method() == wire::verb::head;
    answer_.emplace(static_cast<wire::status>(response.status), 11);
    for (const auto& [name, value] : response.headers) answer_->insert(name, value);
    answer_->content_length(response.body.size());
    if (!head) answer_->body() = std::move(response.body);
    answer_->keep_alive(keep_alive && keep_alive_);
    arm(core_.limits.idle_timeout);
    wire::async_write(socket_, *answer_, [self = shared_from_this()](error_code ec, std::size_t) {
      const bool again = !ec && self->answer_->keep_alive();
      self->answer_.reset();
      if (again) return self->await_request();
      self->refused_ && !ec ? self->linger() : self->close();
    });
  }

  // Closing with unread input would reset the connection, and the sender might never see why it was refused.
  void linger() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    arm(kLinger);
    discard(kLingerBytes);
  }
  void discard(std::size_t left) {
    buffer_.clear();
    socket_.async_read_some(buffer_.prepare(64 << 10), [self = shared_from_this(), left](error_code ec, std::size_t n) {
      ec || n >= left ? self->close() : self->discard(left - n);
    });
  }

  Core& core_;
  tcp::socket socket_;
  asio::steady_timer deadline_;
  unsigned deadline_turn_ = 0;
  bool timed_out_ = false;
  bool idle_ = false;        // waits for the first byte of a request
  bool last_ = false;        // the server stops
  bool refused_ = false;     // the request was not read to its end
  bool keep_alive_ = false;  // the client wants it
  std::string peer_;
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

void Session::handle() {
  arm(std::nullopt);  // how long an answer may take is the handler's business
  auto& message = parser_->get();
  keep_alive_ = message.keep_alive();
  Request request{std::string(message.method_string()), std::string(message.target()), {}, {}, peer_};
  for (const auto& field : message)
    request.headers.emplace(std::string(field.name_string()), std::string(field.value()));
  request.body = std::move(message.body());
  auto duty = std::make_shared<Duty>(core_.shared_from_this(), shared_from_this());
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
    const auto session = std::make_shared<Session>(std::move(socket), *this);
    if (add(session)) session->start();
    accept();
  });
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

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(const std::string& address, std::uint16_t port, Handler handler,
                                               Limits limits, int threads) {
  error_code ec;
  const auto ip = asio::ip::make_address(address, ec);
  if (ec) return fail(ErrorCode::kInvalid, "cannot listen on '{}': not a numeric address such as 127.0.0.1", address);
  auto core = std::make_shared<Core>(std::move(handler), limits, threads);
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
