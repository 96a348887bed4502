#include "agent/http_client.h"

#include <gtest/gtest.h>

#include "agent/test_server.h"

namespace espalier::agent {
namespace {

using namespace std::chrono_literals;

TEST(BaseUrl, ReadsHostPortAndPath) {
  const auto url = parse_base_url("http://10.77.0.1:8651/agents/");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->endpoint.host, "10.77.0.1");
  EXPECT_EQ(url->endpoint.port, 8651);
  EXPECT_EQ(url->path, "/agents");
  EXPECT_EQ(parse_base_url("http://10.77.0.1")->endpoint.port, 80);
  const std::string pin(64, 'a');
  const auto secure = parse_base_url("https://10.77.0.1/agents#sha256=" + pin);
  EXPECT_EQ(secure->endpoint.port, 443);
  EXPECT_EQ(secure->path, "/agents");
  EXPECT_EQ(secure->pin, pin);
  EXPECT_EQ(parse_base_url("http://10.77.0.1")->pin, "");
}

TEST(BaseUrl, RefusesWhatItCannotUse) {
  for (const char* url :
       {"", "ftp://10.77.0.1", "https://10.77.0.1", "https://10.77.0.1#sha256=aa", "http://10.77.0.1#x", "http://",
        "http://host:80", "http://10.77.0.1:0", "http://10.77.0.1:65536", "http://10.77.0.1:8x", "http://10.77.0.1:"})
    EXPECT_FALSE(parse_base_url(url)) << url;
}

TEST(HttpHead, ReadsStatusLengthAndConnection) {
  const auto head = parse_head("HTTP/1.1 200 OK\r\ncontent-length:  12 \r\nConnection: Close");
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->content_length, 12U);
  EXPECT_FALSE(head->keep_alive);
  EXPECT_FALSE(parse_head("HTTP/1.0 200 OK\r\nContent-Length: 0")->keep_alive);
  EXPECT_TRUE(parse_head("HTTP/1.1 204 No Content")->keep_alive);
}

TEST(HttpHead, RefusesWhatItCannotRead) {
  for (const char* head : {"", "HTTP/2 200", "HTTP/1.1 2x0 OK\r\nContent-Length: 1", "HTTP/1.1 200 OK",
                           "HTTP/1.1 200 OK\r\nContent-Length: -1", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"})
    EXPECT_FALSE(parse_head(head)) << head;
}

HttpClient client_of(const TestServer& server) { return HttpClient(*parse_base_url(server.url())); }

TEST(HttpClient, KeepsItsConnection) {
  std::string seen;
  TestServer server([&](const std::string& request) {
    seen = request;
    return TestServer::json(200, "{}");
  });
  HttpClient client = client_of(server);
  ASSERT_TRUE(client.post("/next", "secret", "{\"a\":1}", 5s));
  const auto answer = client.post("/next", "", "[]", 5s);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "{}");
  EXPECT_EQ(server.connections(), 1);
  EXPECT_TRUE(seen.starts_with("POST /next HTTP/1.1\r\n")) << seen;
  EXPECT_TRUE(seen.ends_with("\r\n\r\n[]")) << seen;
  EXPECT_EQ(seen.find("Authorization"), std::string::npos);
}

TEST(HttpClient, SendsTheCredential) {
  std::string seen;
  TestServer server([&](const std::string& request) {
    seen = request;
    return TestServer::json(401, "no");
  });
  HttpClient client = client_of(server);
  EXPECT_EQ(client.post("/report", "secret", "{}", 5s)->status, 401);
  EXPECT_NE(seen.find("\r\nAuthorization: Bearer secret\r\n"), std::string::npos) << seen;
}

TEST(HttpClient, ConnectsAnewWhenTheServerCloses) {
  TestServer server([](const std::string&) { return TestServer::json(200, "{}", "Connection: close\r\n"); });
  HttpClient client = client_of(server);
  EXPECT_TRUE(client.post("/next", "", "{}", 5s));
  EXPECT_TRUE(client.post("/next", "", "{}", 5s));
  EXPECT_EQ(server.connections(), 2);
}

TEST(HttpClient, SaysWhoFailed) {
  TestServer server([n = 0](const std::string&) mutable { return ++n == 1 ? "" : TestServer::json(200, "{}"); });
  HttpClient client = client_of(server);
  const auto failed = client.post("/next", "", "{}", 5s);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(failed.error().message.find("/next to 127.0.0.1:"), std::string::npos) << failed.error().message;
  EXPECT_TRUE(client.post("/next", "", "{}", 5s));
}

TEST(HttpClient, TakesALongBodyWhole) {
  const std::string body(3 << 20, 'x');
  TestServer server([&](const std::string&) { return TestServer::json(200, body); });
  EXPECT_EQ(client_of(server).post("/next", "", "{}", 20s)->body, body);
}

TEST(HttpClient, GivesUpAtItsDeadline) {
  TestServer server([](const std::string&) { return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"; });
  const auto failed = client_of(server).post("/next", "", "{}", 20ms);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace espalier::agent
