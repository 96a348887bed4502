// The gate as clients meet it: statuses, codes, and what is recorded.
#include "access/sigv4.h"
#include "api/api_fixture_test.h"

namespace espalier::api {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class Auth : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder); }

  access::OpenKey key(Role role, std::vector<std::string> for_clusters = {}) {
    return ring->create({"tests", role, std::move(for_clusters), {}}).value();
  }
  http::Request request(const access::Credentials& by, const std::string& target, std::string body = "{}") {
    http::Request out{"POST", "/", {{"Host", "127.0.0.1"}, {"X-Amz-Target", target}}, std::move(body), "10.1.2.3"};
    if (!by.key_id.empty()) access::sign(out, by, "us-west-2", "sagemaker", clock.now());
    return out;
  }
  Reply send(const http::Request& sent) {
    Reply got;
    api.handle(sent, [&](const http::Response& response) {
      got = Reply{response.status, parse_json(response.body).value().as_object(), response.headers};
    });
    return got;
  }
  Reply call(const access::Credentials& by, const std::string& target, std::string body = "{}") {
    clock.advance(1s);  // no replay
    return send(request(by, target, std::move(body)));
  }
  std::vector<std::string> trail() {
    std::vector<std::string> out;
    const auto page = audit->read({}).value();
    for (const auto& each : page.records)
      out.push_back(fmt::format("{} {} {} {}", each.key_id, each.operation, each.cluster, each.error));
    return out;
  }

  static Settings settings() {
    Settings out;
    out.account = "123456789012";
    return out;
  }

  ManualClock clock{Time(Millis(1'767'225'600'000))};
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("espalier-auth-" + secret_hex(8));
  std::unique_ptr<store::Store> store = store::memory_store();
  std::unique_ptr<access::KeyRing> ring =
      std::move(access::KeyRing::open(*store, access::Vault(std::string(32, 'k')), clock, {2, 50}).value());
  access::Gate gate{*ring, clock, true};
  std::unique_ptr<access::AuditTrail> audit = std::move(access::AuditTrail::open(folder, clock).value());
  FakeClusters clusters;
  Api api{Services{clusters, nullptr, settings(), &gate, audit.get()}, Random(1)};
  const access::Credentials none{};
};

TEST_F(Auth, OpenUntilTheFirstKey) {
  EXPECT_EQ(call(none, "SageMaker.ListClusters").status, 200);
  EXPECT_EQ(call({"test", "test"}, "SageMaker.ListClusters").status, 200);
  const auto boss = key(Role::Admin);
  EXPECT_EQ(call(none, "SageMaker.ListClusters").type(), "MissingAuthenticationTokenException");
  EXPECT_EQ(call(boss.credentials, "SageMaker.ListClusters").status, 200);
}

TEST_F(Auth, EveryRefusalHasItsCode) {
  const auto boss = key(Role::Admin), reader = key(Role::ReadOnly);
  const auto expect = [&](const Reply& reply, int status, const char* type) {
    EXPECT_EQ(reply.status, status) << type;
    EXPECT_EQ(reply.type(), type);
    EXPECT_EQ(http::header(reply.headers, "x-amzn-requestid").size(), 36u);
    EXPECT_THAT(reply.message(), Not(HasSubstr(boss.credentials.secret)));
  };
  auto broken = request(boss.credentials, "SageMaker.ListClusters");
  broken.headers.erase("Authorization");
  broken.headers.emplace("Authorization", "AWS4-HMAC-SHA256 nothing");
  expect(send(broken), 403, "IncompleteSignature");
  expect(call({"ESPKNOBODY", "x"}, "SageMaker.ListClusters"), 403, "UnrecognizedClientException");
  expect(call({boss.key.id, "wrong"}, "SageMaker.ListClusters"), 403, "InvalidSignatureException");
  expect(call(reader.credentials, "SageMaker.CreateCluster", kDemo), 403, "AccessDeniedException");
  const auto late = request(boss.credentials, "SageMaker.ListClusters");
  clock.advance(5min + 1s);
  const auto expired = send(late);
  expect(expired, 403, "InvalidSignatureException");
  EXPECT_THAT(expired.message(), HasSubstr("Signature expired"));
  ASSERT_TRUE(ring->rotate(boss.key.id, 0s));
  expect(call(boss.credentials, "SageMaker.ListClusters"), 403, "ExpiredTokenException");
  Reply last;
  for (int i = 0; i < 60 && last.type() != "ThrottlingException"; ++i)
    last = send(request(reader.credentials, "SageMaker.ListClusters"));
  expect(last, 400, "ThrottlingException");
}

TEST_F(Auth, StrangersLearnNothingOfOperations) {
  key(Role::Admin);
  for (const auto* target : {"SageMaker.CreateDoughnut", "SageMaker.CreateCluster", ""})
    EXPECT_EQ(call(none, target, "no JSON").type(), "MissingAuthenticationTokenException") << target;
}

TEST_F(Auth, KeysForNamedClusters) {
  const auto boss = key(Role::Admin), mine = key(Role::Admin, {"demo"}), other = key(Role::Admin, {"other"});
  EXPECT_EQ(call(other.credentials, "SageMaker.CreateCluster", kDemo).type(), "AccessDeniedException");
  const auto arn = str(call(mine.credentials, "SageMaker.CreateCluster", kDemo).body.at("ClusterArn"));
  for (const std::string& name : {std::string("demo"), arn}) {
    const auto body = fmt::format(R"({{"ClusterName": "{}"}})", name);
    EXPECT_EQ(call(mine.credentials, "SageMaker.DescribeCluster", body).status, 200) << name;
    EXPECT_EQ(call(other.credentials, "SageMaker.DescribeCluster", body).type(), "AccessDeniedException") << name;
    EXPECT_EQ(call(other.credentials, "SageMaker.DeleteCluster", body).type(), "AccessDeniedException") << name;
  }
  const auto tags = fmt::format(R"({{"ResourceArn": "{}"}})", arn);
  EXPECT_EQ(call(mine.credentials, "SageMaker.ListTags", tags).status, 200);
  EXPECT_EQ(call(other.credentials, "SageMaker.ListTags", tags).type(), "AccessDeniedException");
  // A member that the operation has not does not tell which cluster is meant.
  const auto disguised = fmt::format(R"({{"ClusterName": "other", "ResourceArn": "{}"}})", arn);
  EXPECT_EQ(call(other.credentials, "SageMaker.ListTags", disguised).type(), "AccessDeniedException");
  EXPECT_EQ(call(mine.credentials, "SageMaker.ListClusters", R"({"ClusterName": 5})").status, 200);
  const auto listed = [&](const access::OpenKey& by) {
    return call(by.credentials, "SageMaker.ListClusters").body.at("ClusterSummaries").as_array().size();
  };
  EXPECT_EQ(listed(boss), 1u);
  EXPECT_EQ(listed(mine), 1u);
  EXPECT_EQ(listed(other), 0u);
}

// An ARN of another account or region names no cluster here, whatever its id.
TEST_F(Auth, ForeignArns) {
  const auto boss = key(Role::Admin), mine = key(Role::Admin, {"demo"});
  const auto arn = str(call(boss.credentials, "SageMaker.CreateCluster", kDemo).body.at("ClusterArn"));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"123456789012", "210987654321"}, {"us-west-2", "eu-north-1"}, {"000000000001", "zzzzzzzzzzzz"}}) {
    auto foreign = arn;
    foreign.replace(foreign.find(from), from.size(), to);
    const auto body = fmt::format(R"({{"ClusterName": "{}"}})", foreign);
    EXPECT_EQ(call(boss.credentials, "SageMaker.DescribeCluster", body).type(), "ResourceNotFound") << foreign;
    EXPECT_EQ(call(boss.credentials, "SageMaker.DeleteCluster", body).type(), "ResourceNotFound") << foreign;
    EXPECT_EQ(call(mine.credentials, "SageMaker.DeleteCluster", body).type(), "AccessDeniedException") << foreign;
  }
}

TEST_F(Auth, AReplayOfAChangeIsRefused) {
  const auto boss = key(Role::Admin);
  const auto read = request(boss.credentials, "SageMaker.ListClusters");
  const auto change = request(boss.credentials, "SageMaker.CreateCluster", kDemo);
  EXPECT_EQ(send(change).status, 200);
  EXPECT_EQ(send(change).type(), "ResourceInUse");  // at once: a client that repeats itself
  clock.advance(1s);
  const auto again = send(change);
  EXPECT_EQ(again.type(), "InvalidSignatureException");
  EXPECT_THAT(again.message(), HasSubstr("carried out before"));
  EXPECT_EQ(send(read).status, 200);
  EXPECT_EQ(send(read).status, 200);  // two reads in one second have one signature
}

TEST_F(Auth, KeysByTheApi) {
  const auto boss = key(Role::Admin);
  const auto made = call(boss.credentials, "Espalier.CreateAccessKey",
                         R"({"Name": "ci", "Role": "Operator", "Clusters": ["demo"], "LifetimeSeconds": 3600})");
  ASSERT_EQ(made.status, 200) << made.message();
  const access::Credentials ci{str(made.body.at("AccessKey").at("AccessKeyId")), str(made.body.at("SecretAccessKey")),
                               str(made.body.at("SessionToken"))};
  EXPECT_EQ(call(ci, "SageMaker.ListClusters").status, 200);
  EXPECT_EQ(call(ci, "Espalier.ListAccessKeys").type(), "AccessDeniedException");
  const auto list = call(boss.credentials, "Espalier.ListAccessKeys");
  EXPECT_EQ(list.body.at("AccessKeys").as_array().size(), 2u);
  EXPECT_THAT(json::serialize(list.body), AllOf(Not(HasSubstr(ci.secret)), Not(HasSubstr("ealed"))));
  const auto name = fmt::format(R"({{"AccessKeyId": "{}"}})", ci.key_id);
  EXPECT_EQ(call(boss.credentials, "Espalier.RotateAccessKey", name).type(), "ValidationException");  // temporary
  EXPECT_EQ(call(boss.credentials, "Espalier.RevokeAccessKey", name).status, 200);
  EXPECT_EQ(call(ci, "SageMaker.ListClusters").type(), "UnrecognizedClientException");
  EXPECT_EQ(call(boss.credentials, "Espalier.RevokeAccessKey", name).type(), "ResourceNotFound");
  EXPECT_EQ(call(boss.credentials, "Espalier.CreateAccessKey", R"({"Name": "x", "Role": "God"})").type(),
            "ValidationException");
}

TEST_F(Auth, TheTrailHasChangesAndRefusals) {
  const auto boss = key(Role::Admin), reader = key(Role::ReadOnly);
  const auto& boss_id = boss.key.id;
  call(boss.credentials, "SageMaker.ListClusters");
  call(boss.credentials, "SageMaker.CreateCluster", kDemo);
  call(boss.credentials, "SageMaker.CreateCluster", "{}");
  call(reader.credentials, "SageMaker.DeleteCluster", R"({"ClusterName": "demo"})");
  call(none, "SageMaker.ListClusters");
  call({boss_id, "guess"}, "SageMaker.ListClusters");
  EXPECT_THAT(trail(), ElementsAre(boss_id + " SageMaker.ListClusters  InvalidSignatureException",
                                   " SageMaker.ListClusters  MissingAuthenticationTokenException",
                                   reader.key.id + " SageMaker.DeleteCluster demo AccessDeniedException",
                                   boss_id + " SageMaker.CreateCluster  ValidationException",
                                   boss_id + " SageMaker.CreateCluster demo "));
  EXPECT_FALSE(audit->read({}).value().records.front().verified);
  const auto page = call(boss.credentials, "Espalier.ListAuditRecords", R"({"MaxResults": 2})");
  ASSERT_EQ(page.body.at("Records").as_array().size(), 2u);
  EXPECT_EQ(page.body.at("Records").at(0).at("SourceAddress"), "10.1.2.3");
  const auto next = call(boss.credentials, "Espalier.ListAuditRecords",
                         fmt::format(R"({{"MaxResults": 2, "NextToken": "{}"}})", str(page.body.at("NextToken"))));
  ASSERT_EQ(next.status, 200) << next.message();
  EXPECT_EQ(next.body.at("Records").at(0).at("ErrorCode"), "AccessDeniedException");
  EXPECT_EQ(call(boss.credentials, "Espalier.ListAuditRecords", R"({"NextToken": "x"})").type(), "ValidationException");
}

TEST_F(Auth, ANameThatIsNoTextHidesNobodyFromTheTrail) {
  const auto boss = key(Role::Admin);
  EXPECT_EQ(call(none, "SageMaker.\xFF\xFE\"\n").type(), "MissingAuthenticationTokenException");
  EXPECT_EQ(trail().front(), " SageMaker.??\"?  MissingAuthenticationTokenException");
  EXPECT_EQ(call(boss.credentials, "SageMaker.\xFF").type(), "UnknownOperationException");
}

}  // namespace
}  // namespace espalier::api
