#include "access/audit.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/random.h"

namespace espalier::access {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class AuditTest : public testing::Test {
 protected:
  AuditTest() { trail_ = std::move(AuditTrail::open(folder_, clock_).value()); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& id, const std::string& key = "ESPK1", const std::string& error = "",
             bool refused = false) {
    AuditRecord record;
    record.request_id = id;
    record.key_id = key;
    record.error = error;
    record.status = error.empty() ? 200 : 400;
    trail_->write(record, refused);
  }
  void begin(const std::string& id) {
    AuditRecord record;
    record.request_id = id;
    trail_->write(record, false);
  }
  std::vector<std::string> all(AuditQuery query) {
    std::vector<std::string> ids;
    for (int pages = 0; pages < 10'000; ++pages) {
      const auto page = trail_->read(query).value();
      EXPECT_LE(page.records.size(), query.limit);
      for (const auto& record : page.records) ids.push_back(record.request_id);
      if (page.next.empty()) break;
      EXPECT_NE(page.next, query.before);
      query.before = page.next;
    }
    return ids;
  }

  ManualClock clock_{Time(std::chrono::sys_days(std::chrono::January / 1 / 2026))};
  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("espalier-audit-" + secret_hex(8));
  std::unique_ptr<AuditTrail> trail_;
};

TEST_F(AuditTest, NewestFirstOverDaysAndPages) {
  std::vector<std::string> expected;
  for (int i = 0; i < 250; ++i) {
    write(fmt::format("r{}", i));
    expected.insert(expected.begin(), fmt::format("r{}", i));
    if (i % 100 == 99) clock_.advance(24h);
  }
  for (const std::size_t limit : {1, 7, 100, 1000}) EXPECT_EQ(all({.limit = limit}), expected) << limit;
}

TEST_F(AuditTest, FilesAreForTheirOwnerOnly) {
  write("r");
  const auto file = folder_ / "2026-01-01.jsonl";
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(std::filesystem::status(folder_).permissions(), std::filesystem::perms(0700));
  EXPECT_THAT(read_file(file).value(), HasSubstr("\"time\":\"2026-01-01T00:00:00.000Z\""));
}

TEST_F(AuditTest, ARestartGoesOn) {
  write("one");
  trail_ = std::move(AuditTrail::open(folder_, clock_).value());
  write("two");
  EXPECT_EQ(all({}), (std::vector<std::string>{"two", "one"}));
}

TEST_F(AuditTest, WhatACrashInterruptedIsSaidOnce) {
  begin("one");
  write("one");
  begin("two");
  clock_.advance(24h);
  begin("three");
  EXPECT_EQ(all({}), (std::vector<std::string>{"one"})) << "they may end yet";
  for (int i = 0; i < 2; ++i) trail_ = std::move(AuditTrail::open(folder_, clock_).value());
  EXPECT_EQ(all({}), (std::vector<std::string>{"two", "three", "one"}));
  EXPECT_EQ(trail_->read({})->records[0].error, kInterrupted);
}

TEST_F(AuditTest, HalfALineOfAFullDiskHarmsNoOther) {
  ASSERT_TRUE(write_file(folder_ / "2026-01-01.jsonl", "{\"time\":\"20", 0600));
  write("one");
  EXPECT_EQ(all({}), (std::vector<std::string>{"one"}));
}

TEST_F(AuditTest, Filters) {
  write("a", "ESPK1");
  write("b", "ESPK2");
  write("c", "ESPK1", "AccessDeniedException");
  EXPECT_EQ(all({.key_id = "ESPK1"}), (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(all({.errors_only = true}), (std::vector<std::string>{"c"}));
}

TEST_F(AuditTest, AFloodOfRefusalsIsCounted) {
  for (int i = 0; i < 1000; ++i) write("x", "", "UnrecognizedClientException", true);
  write("real");
  const auto records = trail_->read({.limit = 1000})->records;
  EXPECT_EQ(records.size(), 201u);
  EXPECT_EQ(records.front().request_id, "real");
  EXPECT_EQ(records.front().suppressed, 800);
}

TEST_F(AuditTest, LongTextsAndLinesOfOthersDoNoHarm) {
  AuditRecord record;
  record.operation = std::string(100'000, 'x') + "\n{}";
  record.status = 200;
  trail_->write(record, false);
  EXPECT_LT(read_file(folder_ / "2026-01-01.jsonl")->size(), 1000u);
  ASSERT_TRUE(write_file(folder_ / "2025-12-31.jsonl", "no JSON\n" + std::string(1 << 20, 'y') + "\n{}\n", 0600));
  EXPECT_EQ(all({}).size(), 1u);
}

TEST_F(AuditTest, APlaceMustBeOne) {
  for (const auto* place :
       {"x", "2026-01-01", "2026-01-01:", "2026-01-01:x", "../../etc/p:1", "2026-01-01:99999999999999999999"})
    EXPECT_EQ(trail_->read({.before = place}).error().code, ErrorCode::kInvalid) << place;
}

}  // namespace
}  // namespace espalier::access
