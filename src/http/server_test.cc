#include "http/server.h"

#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "http/client.h"
#include "http/raw_socket_test.h"

namespace espalier::http {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void echo(Request request, Reply reply) {
  reply({200, {{"Content-Type", "text/plain"}}, request.method + " " + request.target + " " + request.body});
}

std::unique_ptr<Server> serve(Handler handler, Limits limits = {}, int threads = 1) {
  auto server = Server::listen("127.0.0.1", 0, std::move(handler), limits, threads);
  if (!server) throw std::runtime_error(server.error().message);
  return std::move(*server);
}

// Keeps requests until the test answers them.
class Held {
 public:
  Handler handler() {
    return [this](Request, Reply reply) {
      const std::lock_guard lock(mutex_);
      replies_.push_back(std::move(reply));
      changed_.notify_all();
    };
  }
  Reply take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !replies_.empty(); });
    Reply reply = std::move(replies_.back());
    replies_.pop_back();
    return reply;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Reply> replies_;
};

TEST(Server, KeepsTheConnectionAlive) {
  const auto server = serve(echo);
  RawSocket socket(server->port());
  for (const auto* body : {"one", "two", "three"}) {
    socket.send(post(body));
    const auto answer = socket.read_answer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, EndsWith(fmt::format("\r\n\r\nPOST /p {}", body)));
  }
}

TEST(Server, ClosesWhenTheClientWantsIt) {
  const auto server = serve(echo);
  RawSocket socket(server->port());
  socket.send(post("x", "Connection: close\r\n"));
  EXPECT_THAT(socket.read_answer(), HasSubstr("Connection: close"));
  EXPECT_TRUE(socket.closed());
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  Held held;
  const auto server = serve(held.handler());
  RawSocket socket(server->port());
  socket.send(post("a") + post("b"));
  held.take()({200, {}, "first"});
  held.take()({200, {}, "second"});
  EXPECT_THAT(socket.read_answer(), EndsWith("first"));
  EXPECT_THAT(socket.read_answer(), EndsWith("second"));
}

TEST(Server, TakesChunkedBodies) {
  const auto server = serve(echo);
  RawSocket socket(server->port());
  socket.send("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  socket.send("4\r\ndefg\r\n0\r\n\r\n");
  EXPECT_THAT(socket.read_answer(), EndsWith("POST /c abcdefg"));
}

TEST(Server, InvitesABodyThatIsAnnounced) {
  const auto server = serve(echo);
  RawSocket socket(server->port());
  socket.send("POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(socket.read_answer(), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("hi");
  EXPECT_THAT(socket.read_answer(), EndsWith("POST /e hi"));
}

TEST(Server, RefusesLongBodiesBeforeTheyAreSent) {
  const auto server = serve(echo, {.body_bytes = 10});
  RawSocket socket(server->port());
  socket.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
  const auto answer = socket.read_answer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(answer, HasSubstr(R"("__type":"RequestEntityTooLargeException")"));
  EXPECT_THAT(answer, HasSubstr("10 bytes"));
  EXPECT_TRUE(socket.closed());
}

TEST(Server, TellsWhoHasSentALongBodyAllTheSame) {
  const auto server = serve(echo, {.body_bytes = 1000});
  RawSocket plain(server->port());
  plain.send(post(std::string(3 << 20, 'x')));
  EXPECT_THAT(plain.read_answer(), StartsWith("HTTP/1.1 413"));
  RawSocket chunked(server->port());
  chunked.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" + std::string(0x800, 'x'));
  EXPECT_THAT(chunked.read_answer(), StartsWith("HTTP/1.1 413"));
}

TEST(Server, BodyOfExactlyTheLimitPasses) {
  const auto server = serve(echo, {.body_bytes = 10});
  RawSocket socket(server->port());
  socket.send(post("0123456789"));
  EXPECT_THAT(socket.read_answer(), StartsWith("HTTP/1.1 200"));
}

TEST(Server, RefusesLongHeaders) {
  const auto server = serve(echo, {.header_bytes = 512});
  RawSocket socket(server->port());
  socket.send(post("x", "X-Long: " + std::string(1000, 'y') + "\r\n"));
  const auto answer = socket.read_answer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(answer, testing::ContainsRegex("x-amzn-RequestId: [0-9a-f]{8}-"));
}

TEST(Server, RefusesWhatIsNotHttp) {
  const auto server = serve(echo);
  RawSocket socket(server->port());
  socket.send("\x16\x03\x01 hello\r\n\r\n");  // as a TLS client begins
  const auto answer = socket.read_answer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(answer, HasSubstr("MalformedHttpRequestException"));
}

// What two readers of a chain (a proxy, this server) could read in two ways must not pass.
TEST(Server, RefusesSmuggling) {
  const auto server = serve(echo);
  for (const std::string headers :
       {"Host: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Host: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n",
        "Host: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n", "Host: x\r\nContent-Length: 3, 3\r\n",
        "Host: x\r\nContent-Length: +3\r\n", "Host: x\r\nContent-Length: 0x3\r\n",
        "Host: x\r\nContent-Length: 99999999999999999999999\r\n", "Host: x\r\nContent-Length : 3\r\n",
        "Host: x\r\nTransfer-Encoding: gzip\r\n", "Host: x\r\nTransfer-Encoding: chunked, gzip\r\n",
        "Host: x\r\nTransfer-Encoding: xchunked\r\n",
        "Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Host: x\r\nTransfer-Encoding\r\n: chunked\r\n", "Host: x\r\nHost: y\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\n", "Host: x\r\nAuthorization: a\r\nAuthorization: b\r\nContent-Length: 3\r\n",
        "Host: x\r\nX-A: a\nX-B: b\r\nContent-Length: 3\r\n", "Host: x\r\nX-A: \001\r\nContent-Length: 3\r\n"}) {
    RawSocket socket(server->port());
    socket.send("POST / HTTP/1.1\r\n" + headers + "\r\nabc");
    EXPECT_THAT(socket.read_answer(), StartsWith("HTTP/1.1 4")) << headers;
    EXPECT_TRUE(socket.closed()) << headers;
  }
}

TEST(Server, RefusesBrokenChunks) {
  const auto server = serve(echo);
  for (const std::string chunks :
       {"zz\r\n", "-1\r\nabc\r\n0\r\n\r\n", "ffffffffffffffffff\r\n", "3\r\nabcd\r\n0\r\n\r\n"}) {
    RawSocket socket(server->port());
    socket.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks);
    EXPECT_THAT(socket.read_answer(), StartsWith("HTTP/1.1 4")) << chunks;
    EXPECT_TRUE(socket.closed()) << chunks;
  }
}

TEST(Server, AnswersHaveADate) {
  const auto server = serve(echo);
  RawSocket socket(server->port());
  socket.send(post("x"));
  EXPECT_THAT(socket.read_answer(),
              testing::ContainsRegex("\r\nDate: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} 2[0-9]{3} .* GMT\r\n"));
}

// However many send long bodies: what is held of them at once is bounded.
TEST(Server, BodiesOfAllTogetherAreBounded) {
  Held held;
  const auto server = serve(held.handler(), {.body_bytes = 1000, .all_bodies_bytes = 1500, .share_of_address = 1});
  RawSocket first(server->port()), second(server->port()), chunked(server->port());
  first.send(post(std::string(1000, 'x')));
  const auto reply = held.take();  // it is being handled, and still counts
  second.send(post(std::string(501, 'x')));
  EXPECT_THAT(second.read_answer(), StartsWith("HTTP/1.1 503"));
  chunked.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1f5\r\n" + std::string(501, 'x') +
               "\r\n");
  EXPECT_THAT(chunked.read_answer(), StartsWith("HTTP/1.1 503"));
  reply({200, {}, ""});
  EXPECT_THAT(first.read_answer(), StartsWith("HTTP/1.1 200"));
  for (int i = 0; i < 3; ++i) {
    first.send(post(std::string(1000, 'x')));
    held.take()({200, {}, ""});
    EXPECT_THAT(first.read_answer(), StartsWith("HTTP/1.1 200"));
  }
}

// Who only announces long bodies, from however many connections, keeps nobody out.
TEST(Server, AnnouncedBodiesCostNothing) {
  const auto server = serve(echo, {.body_bytes = 1000, .all_bodies_bytes = 1500, .share_of_address = 1});
  std::vector<std::unique_ptr<RawSocket>> announce;
  for (int i = 0; i < 10; ++i) {
    announce.push_back(std::make_unique<RawSocket>(server->port()));
    announce.back()->send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_THAT(announce.back()->read_answer(), StartsWith("HTTP/1.1 100"));
  }
  RawSocket other(server->port());
  other.send(post(std::string(1000, 'x')));
  EXPECT_THAT(other.read_answer(), StartsWith("HTTP/1.1 200"));
}

TEST(Server, BodiesOfOneAddressAreBounded) {
  Held held;
  const auto server = serve(held.handler(), {.body_bytes = 1000, .all_bodies_bytes = 4000});
  RawSocket first(server->port()), second(server->port()), elsewhere(server->port(), "127.0.0.2");
  first.send(post(std::string(900, 'x')));
  const auto reply = held.take();
  second.send(post(std::string(200, 'x')));
  EXPECT_THAT(second.read_answer(), StartsWith("HTTP/1.1 503"));
  elsewhere.send(post(std::string(900, 'x')));
  held.take()({200, {}, ""});
  EXPECT_THAT(elsewhere.read_answer(), StartsWith("HTTP/1.1 200"));
  reply({200, {}, ""});
  EXPECT_THAT(first.read_answer(), StartsWith("HTTP/1.1 200"));
}

TEST(Server, ConnectionsOfOneAddressAreBounded) {
  const auto server = serve(echo, {.connections_per_address = 2});
  RawSocket first(server->port()), second(server->port());
  for (auto* socket : {&first, &second}) {
    socket->send(post("x"));
    EXPECT_THAT(socket->read_answer(), StartsWith("HTTP/1.1 200"));
  }
  RawSocket third(server->port());
  EXPECT_TRUE(third.closed());
}

TEST(Server, SlowSendersAreToldAndClosed) {
  const auto server = serve(echo, {.read_timeout = 50ms});
  RawSocket socket(server->port());
  socket.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabc");
  const auto answer = socket.read_answer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 408"));
  EXPECT_THAT(answer, HasSubstr("RequestTimeoutException"));
  EXPECT_TRUE(socket.closed());
}

TEST(Server, IdleConnectionsAreClosedWithoutAWord) {
  const auto server = serve(echo, {.idle_timeout = 50ms});
  RawSocket socket(server->port());
  EXPECT_TRUE(socket.closed());
}

TEST(Server, AbandonedRequestsHarmNobody) {
  const auto server = serve(echo);
  {
    RawSocket(server->port()).send("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc");
  }
  RawSocket socket(server->port());
  socket.send(post("x"));
  EXPECT_THAT(socket.read_answer(), StartsWith("HTTP/1.1 200"));
}

TEST(Server, HeadHasNoBody) {
  const auto server = serve(echo);
  RawSocket socket(server->port());
  socket.send("HEAD /h HTTP/1.1\r\nHost: x\r\n\r\n" + post("x"));
  const auto head = socket.read_answer(false);
  EXPECT_THAT(head, HasSubstr("Content-Length: 8"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  EXPECT_THAT(socket.read_answer(), EndsWith("POST /p x"));
}

TEST(Server, HandlerSeesHeadersAndPeer) {
  Request seen;
  const auto server = serve([&](Request request, Reply reply) {
    seen = std::move(request);
    reply({});
  });
  RawSocket socket(server->port());
  socket.send(post("", "X-Amz-Target: T\r\nX-Two: 1\r\nX-Two: 2\r\n"));
  socket.read_answer();
  EXPECT_EQ(header(seen.headers, "x-amz-target"), "T");
  EXPECT_EQ(header(seen.headers, "absent"), "");
  EXPECT_EQ(seen.headers.count("x-two"), 2u);
  EXPECT_EQ(seen.peer, "127.0.0.1");
}

TEST(Server, RepliesLaterFromAnotherThread) {
  Held held;
  const auto server = serve(held.handler());
  RawSocket socket(server->port());
  socket.send(post("x"));
  std::jthread later([&] { held.take()({202, {}, "late"}); });
  EXPECT_THAT(socket.read_answer(), StartsWith("HTTP/1.1 202"));
}

TEST(Server, SecondReplyIsIgnored) {
  const auto server = serve([](Request, Reply reply) {
    reply({200, {}, "one"});
    reply({200, {}, "two"});
  });
  RawSocket socket(server->port());
  for (int i = 0; i < 2; ++i) {
    socket.send(post("x"));
    EXPECT_THAT(socket.read_answer(), EndsWith("one"));
  }
}

TEST(Server, DroppedAndThrownRepliesAnswer500) {
  const auto server = serve([](Request request, Reply) {
    if (request.body == "throw") throw std::runtime_error("on purpose");
  });
  RawSocket socket(server->port());
  for (const auto* body : {"drop", "throw"}) {
    socket.send(post(body));
    EXPECT_THAT(socket.read_answer(), HasSubstr("InternalFailure"));
  }
}

TEST(Server, ManyInParallel) {
  const auto server = serve(echo, {}, 2);
  std::vector<std::future<int>> good;
  for (int i = 0; i < 16; ++i)
    good.push_back(std::async(std::launch::async, [&, i] {
      RawSocket socket(server->port());
      int right = 0;
      for (int n = 0; n < 50; ++n) {
        socket.send(post(fmt::format("{}-{}", i, n)));
        right += socket.read_answer().ends_with(fmt::format("POST /p {}-{}", i, n));
      }
      return right;
    }));
  for (auto& each : good) EXPECT_EQ(each.get(), 50);
}

TEST(Server, ConnectionsBeyondTheLimitAreClosed) {
  const auto server = serve(echo, {.connections = 1});
  RawSocket first(server->port());
  first.send(post("x"));
  EXPECT_THAT(first.read_answer(), StartsWith("HTTP/1.1 200"));
  RawSocket second(server->port());
  EXPECT_TRUE(second.closed());
  first.send(post("y"));
  EXPECT_THAT(first.read_answer(), EndsWith("y"));
}

TEST(Server, TakenPortIsNamed) {
  const auto first = serve(echo);
  const auto second = Server::listen("127.0.0.1", first->port(), echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kExists);
  EXPECT_THAT(second.error().message, HasSubstr(fmt::format("127.0.0.1 port {}", first->port())));
}

TEST(Server, AddressMustBeNumeric) {
  const auto server = Server::listen("nowhere.invalid", 0, echo);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::kInvalid);
}

TEST(ServerStop, WaitsForTheAnswerUnderWay) {
  Held held;
  const auto server = serve(held.handler());
  RawSocket idle(server->port());
  RawSocket busy(server->port());
  busy.send(post("x"));
  const Reply reply = held.take();
  std::jthread stopper([&] { server->stop(20s); });
  EXPECT_TRUE(idle.closed());  // the stop has begun
  reply({200, {}, "bye"});
  const auto answer = busy.read_answer();
  EXPECT_THAT(answer, EndsWith("bye"));
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
  stopper.join();
  EXPECT_FALSE(RawSocket(server->port()).connected());
}

TEST(ServerStop, EndsLongPollsAfterTheGrace) {
  Held held;
  auto server = serve(held.handler());
  RawSocket socket(server->port());
  socket.send(post("x"));
  Reply reply = held.take();
  server->stop(10ms);
  EXPECT_TRUE(socket.closed());
  server.reset();
  reply({200, {}, "to nobody"});  // must not touch what is gone
}

TEST(ServerStop, PortIsFreeAtOnce) {
  auto first = serve(echo);
  const auto port = first->port();
  RawSocket socket(port);
  socket.send(post("x"));
  socket.read_answer();
  first.reset();
  EXPECT_TRUE(Server::listen("127.0.0.1", port, echo));
}

TEST(Client, PostsAndKeepsTheConnection) {
  const auto server = serve(echo, {.connections = 1});
  const auto url = fmt::format("http://127.0.0.1:{}/c", server->port());
  Client client;
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.post(url, {{"X-A", "b"}, {"X-Empty", ""}}, std::string(100'000, 'z'), 20s);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body.size(), 100'000u + 8);
    EXPECT_EQ(header(answer->headers, "content-type"), "text/plain");
  }
}

TEST(Client, SaysWhereNobodyListens) {
  std::string url;
  {
    const auto gone = serve(echo);
    url = fmt::format("http://127.0.0.1:{}/", gone->port());
  }
  const auto answer = Client().post(url, {}, "", 20s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr(url));
}

TEST(Client, GivesUpInTime) {
  Held held;
  const auto server = serve(held.handler());
  const auto answer = Client().post(fmt::format("http://127.0.0.1:{}/", server->port()), {}, "", 50ms);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace espalier::http
