// Keys, roles, limits and replays, through the one door.
#include "access/gate.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/random.h"

namespace espalier::access {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class GateTest : public testing::Test {
 protected:
  GateTest() { start(true); }
  void start(bool loopback, Rate rate = {}) {
    gate_.reset();
    ring_ = std::move(KeyRing::open(*store_, Vault(std::string(32, 'k')), clock_, rate).value());
    ring_->add_local(local_);
    gate_ = std::make_unique<Gate>(*ring_, clock_, loopback);
  }
  http::Request request(const std::optional<Credentials>& by, const std::string& host = "127.0.0.1:8650",
                        const std::string& body = "{}") {
    http::Request out{"POST", "/", {{"Host", host}, {"X-Amz-Target", "SageMaker.ListClusters"}}, body, ""};
    if (by) sign(out, *by, "eu-north-1", "sagemaker", clock_.now());
    return out;
  }
  OpenKey make(Role role, std::vector<std::string> clusters = {}, std::optional<Millis> lifetime = {}) {
    return ring_->create({"tests", role, std::move(clusters), lifetime}).value();
  }
  std::string permit(const AccessKey& key, std::string_view target, std::optional<std::string_view> cluster = {}) {
    Identity who;
    who.key = key;
    who.verified = true;
    const auto ok = gate_->permit(who, {target, cluster.value_or(""), cluster.has_value()});
    return ok ? "" : ok.error().message;
  }

  ManualClock clock_{*parse_wire_time("20260101T000000Z")};
  std::unique_ptr<store::Store> store_ = store::memory_store();
  const Credentials local_{"ESPLHOST", "the host's"};
  std::unique_ptr<KeyRing> ring_;
  std::unique_ptr<Gate> gate_;
};

TEST_F(GateTest, OpenWithoutKeysOnLoopback) {
  EXPECT_FALSE(gate_->admit(request(std::nullopt))->verified);
  EXPECT_FALSE(gate_->admit(request(Credentials{"test", "test"}))->verified);  // what clients make up
  const auto local = gate_->admit(request(local_));
  EXPECT_TRUE(local->verified);
  EXPECT_EQ(local->region, "eu-north-1");
  EXPECT_EQ(gate_->admit(request(Credentials{local_.key_id, "guess"})).error().kind, RefusalKind::kMismatch);
}

TEST_F(GateTest, OpenOnlyUnderThisHostsOwnName) {
  for (const auto* host : {"localhost", "127.0.0.1", "127.8.8.8:1", "[::1]:8650", ""})
    EXPECT_TRUE(gate_->admit(request(std::nullopt, host))) << host;
  for (const auto* host : {"evil.example", "evil.example:8650", "10.0.0.1", "localhost.evil.example", "[::2]"})
    EXPECT_EQ(gate_->admit(request(std::nullopt, host)).error().kind, RefusalKind::kDenied) << host;
}

TEST_F(GateTest, ClosedWithTheFirstKey) {
  const auto key = make(Role::ReadOnly);
  EXPECT_EQ(gate_->admit(request(std::nullopt)).error().kind, RefusalKind::kUnsigned);
  EXPECT_EQ(gate_->admit(request(Credentials{"test", "test"})).error().kind, RefusalKind::kUnknownKey);
  EXPECT_EQ(gate_->admit(request(key.credentials))->key.role, Role::ReadOnly);
  EXPECT_TRUE(gate_->admit(request(local_)));
}

TEST_F(GateTest, NeverOpenWhereOthersReachIt) {
  start(false);
  EXPECT_EQ(gate_->admit(request(std::nullopt)).error().kind, RefusalKind::kUnsigned);
  EXPECT_TRUE(gate_->admit(request(local_)));
}

TEST_F(GateTest, KeysOfKeysTakeASignatureEvenWhenOpen) {
  const auto who = gate_->admit(request(std::nullopt)).value();
  for (const auto* target : {"Espalier.CreateAccessKey", "Espalier.RotateAccessKey", "Espalier.RevokeAccessKey"})
    EXPECT_EQ(gate_->permit(who, {target, "", false}).error().kind, RefusalKind::kDenied) << target;
  EXPECT_TRUE(gate_->permit(who, {"SageMaker.CreateCluster", "a", true}));
  EXPECT_TRUE(gate_->permit(gate_->admit(request(local_)).value(), {"Espalier.CreateAccessKey", "", false}));
}

TEST_F(GateTest, KeysOutliveARestartAndTheStoreDoesNotShowThem) {
  const auto key = make(Role::Operator, {"a"});
  EXPECT_THAT(json::serialize(to_json(store_->access_keys().value())), Not(HasSubstr(key.credentials.secret)));
  start(true);
  EXPECT_TRUE(gate_->admit(request(key.credentials)));
  EXPECT_THAT(ring_->list(), ElementsAre(key.key));
}

TEST_F(GateTest, ARowThatWasAlteredByHandDoesNotOpen) {
  auto raised = make(Role::ReadOnly).key;
  raised.role = Role::Admin;
  ASSERT_TRUE(store_->put_access_key(raised));
  const auto opened = KeyRing::open(*store_, Vault(std::string(32, 'k')), clock_, {});
  EXPECT_THAT(opened.error().message, AllOf(HasSubstr(raised.id), HasSubstr("altered")));
}

TEST_F(GateTest, RevokedAtOnce) {
  const auto key = make(Role::Admin);
  make(Role::Admin);
  ASSERT_TRUE(ring_->revoke(key.key.id));
  EXPECT_EQ(gate_->admit(request(key.credentials)).error().kind, RefusalKind::kUnknownKey);
  EXPECT_EQ(ring_->revoke(key.key.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ring_->revoke(local_.key_id).error().code, ErrorCode::kNotFound);
}

TEST_F(GateTest, RotatedWithGrace) {
  const auto old = make(Role::Operator, {"a", "b"});
  const auto fresh = ring_->rotate(old.key.id, 1h).value();
  EXPECT_EQ(fresh.key.clusters, old.key.clusters);
  EXPECT_EQ(fresh.key.role, Role::Operator);
  EXPECT_TRUE(gate_->admit(request(old.credentials)));
  clock_.advance(1h);
  EXPECT_EQ(gate_->admit(request(old.credentials)).error().kind, RefusalKind::kExpiredKey);
  EXPECT_TRUE(gate_->admit(request(fresh.credentials)));
}

TEST_F(GateTest, TemporaryKeysNeedTheirTokenAndEnd) {
  const auto key = make(Role::Admin, {}, 1h);
  EXPECT_TRUE(gate_->admit(request(key.credentials)));
  auto other = key.credentials;
  other.session_token = "another";
  EXPECT_EQ(gate_->admit(request(other)).error().kind, RefusalKind::kUnknownKey);
  other.session_token = "";
  EXPECT_EQ(gate_->admit(request(other)).error().kind, RefusalKind::kUnknownKey);
  clock_.advance(1h);
  EXPECT_EQ(gate_->admit(request(key.credentials)).error().kind, RefusalKind::kExpiredKey);
  EXPECT_EQ(ring_->rotate(key.key.id, 1h).error().code, ErrorCode::kInvalid);
}

TEST_F(GateTest, ExpiredKeysMakeRoom) {
  for (std::size_t i = 0; i < kMostKeys; ++i) make(Role::ReadOnly, {}, 1h);
  EXPECT_EQ(ring_->create({"one more"}).error().code, ErrorCode::kLimit);
  clock_.advance(8 * 24h);
  EXPECT_TRUE(ring_->create({"one more"}));
  EXPECT_EQ(ring_->list().size(), 1u);
}

TEST_F(GateTest, AKeyThatAsksTooOftenWaits) {
  start(true, {2, 3});
  const auto busy = make(Role::ReadOnly), other = make(Role::ReadOnly);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(gate_->admit(request(busy.credentials)));
  EXPECT_EQ(gate_->admit(request(busy.credentials)).error().kind, RefusalKind::kThrottled);
  EXPECT_TRUE(gate_->admit(request(other.credentials)));
  // Guesses at its secret do not use it up.
  for (int i = 0; i < 9; ++i) gate_->admit(request(Credentials{other.key.id, "guess"}));
  EXPECT_TRUE(gate_->admit(request(other.credentials)));
  clock_.advance(500ms);
  EXPECT_TRUE(gate_->admit(request(busy.credentials)));
}

TEST_F(GateTest, WhatChangesSomethingIsCarriedOutOnce) {
  const auto key = make(Role::Admin);
  const auto sent = request(key.credentials);
  const auto who = gate_->admit(sent).value();
  EXPECT_TRUE(gate_->use_once(who));
  EXPECT_TRUE(gate_->use_once(gate_->admit(sent).value()));  // a client that repeats itself at once
  clock_.advance(1s);
  EXPECT_EQ(gate_->use_once(gate_->admit(sent).value()).error().kind, RefusalKind::kMismatch);
  EXPECT_TRUE(gate_->use_once(gate_->admit(request(key.credentials, "127.0.0.1", "{ }")).value()));
  gate_->not_carried_out(who);
  EXPECT_TRUE(gate_->use_once(gate_->admit(sent).value()));
  // A signature of the future stays known until its own end.
  clock_.advance(5min - 1s);
  EXPECT_FALSE(gate_->use_once(gate_->admit(sent).value()));
  clock_.advance(1s);
  EXPECT_FALSE(gate_->admit(sent));
}

// What was carried out before a restart is not known after it.
TEST_F(GateTest, AChangeThatWasSignedBeforeTheStartIsNotCarriedOut) {
  const auto key = make(Role::Admin);
  const auto sent = request(key.credentials);
  EXPECT_TRUE(gate_->use_once(gate_->admit(sent).value()));
  clock_.advance(1500ms);
  start(true);
  const auto again = gate_->admit(sent);
  ASSERT_TRUE(again) << "it may read";
  EXPECT_EQ(gate_->use_once(*again).error().kind, RefusalKind::kMismatch);
  EXPECT_TRUE(gate_->use_once(gate_->admit(request(key.credentials)).value())) << "of the second of the start";
}

TEST(Replays, AreBounded) {
  Replays replays(2);
  const Time now{};
  EXPECT_EQ(replays.use("a", now + 1s, now), Replays::Verdict::kFirst);
  EXPECT_EQ(replays.use("b", now + 1s, now), Replays::Verdict::kFirst);
  EXPECT_EQ(replays.use("c", now + 1s, now), Replays::Verdict::kFull);
  EXPECT_EQ(replays.use("c", now + 9s, now + 2s), Replays::Verdict::kFirst);
}

TEST_F(GateTest, RolesAreSteps) {
  const auto reader = make(Role::ReadOnly).key, worker = make(Role::Operator).key, boss = make(Role::Admin).key;
  struct Row {
    const char* target;
    Role least;
    bool on_cluster;
  };
  for (const auto& [target, least, on_cluster] :
       std::vector<Row>{{"SageMaker.DescribeCluster", Role::ReadOnly, true},
                        {"SageMaker.ListClusters", Role::ReadOnly, false},
                        {"SageMaker.ListTags", Role::ReadOnly, true},
                        {"Espalier.WatchEvents", Role::ReadOnly, true},
                        {"SageMaker.UpdateCluster", Role::Operator, true},
                        {"SageMaker.BatchDeleteClusterNodes", Role::Operator, true},
                        {"SageMaker.AddTags", Role::Operator, true},
                        {"SageMaker.StartClusterHealthCheck", Role::Operator, true},
                        {"Espalier.SetTopology", Role::Operator, true},
                        {"SageMaker.CreateCluster", Role::Admin, true},
                        {"SageMaker.DeleteCluster", Role::Admin, true},
                        {"Espalier.UpdateCapacity", Role::Admin, false},
                        {"Espalier.CreateAccessKey", Role::Admin, false},
                        {"Espalier.ListAccessKeys", Role::Admin, false},
                        {"Espalier.ListAuditRecords", Role::Admin, false},
                        {"Espalier.SomethingNew", Role::Admin, false},
                        {"", Role::Admin, false}}) {
    for (const auto* key : {&reader, &worker, &boss}) {
      const auto said = permit(*key, target, on_cluster ? std::optional("a") : std::nullopt);
      EXPECT_EQ(said.empty(), key->role >= least) << target << ' ' << enum_name(key->role) << ' ' << said;
    }
  }
}

TEST_F(GateTest, KeysForSomeClusters) {
  const auto boss = make(Role::Admin, {"mine", "ours"}).key;
  EXPECT_EQ(permit(boss, "SageMaker.DeleteCluster", "mine"), "");
  EXPECT_EQ(permit(boss, "SageMaker.CreateCluster", "ours"), "");
  EXPECT_THAT(permit(boss, "SageMaker.DeleteCluster", "theirs"), HasSubstr("for mine, ours only"));
  EXPECT_THAT(permit(boss, "SageMaker.DescribeCluster", ""), HasSubstr("only"));  // one that is not there
  EXPECT_EQ(permit(boss, "SageMaker.ListClusters"), "");
  for (const auto* target :
       {"Espalier.CreateAccessKey", "Espalier.UpdateCapacity", "Espalier.ListAuditRecords", "SageMaker.UpdateCluster"})
    EXPECT_THAT(permit(boss, target), HasSubstr("concerns all")) << target;
  EXPECT_TRUE(may_see(boss, "mine"));
  EXPECT_FALSE(may_see(boss, "theirs"));
}

TEST(LocalCredentials, AreMadeOnceAndPrivate) {
  const auto file = std::filesystem::temp_directory_path() / ("espalier-local-" + secret_hex(8));
  const auto made = local_credentials(file).value();
  EXPECT_TRUE(made.key_id.starts_with(kKeyPrefix));
  EXPECT_EQ(local_credentials(file)->secret, made.secret);
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  EXPECT_EQ(local_credentials(file).error().code, ErrorCode::kPermission);
  std::filesystem::remove(file);
  EXPECT_EQ(read_credentials(file).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace espalier::access
