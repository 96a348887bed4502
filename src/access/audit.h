// Who did what, from where, and how it ended: a file a day in a folder of its own, one line of JSON a record.
//
// A record is appended by one write(2) to a file opened for appending, mode 0600, and never touched again; who keeps it
// longer or shorter moves or removes whole days. Every change is recorded, before it is done and when it has ended, and
// every refusal; what only reads is not.
// Strangers can cause refusals as they like: beyond kRefusalRate those are counted, and the count is in the next
// record. Safe from any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "access/token_bucket.h"
#include "base/json.h"
#include "base/unique_fd.h"

namespace espalier::access {

inline constexpr Rate kRefusalRate{20, 200};

inline constexpr int kBegun = 0;
// The error of a change that had begun when the control plane ended: it may have been made or not.
inline constexpr const char* kInterrupted = "Interrupted";

struct AuditRecord {
  std::string time;  // 2026-01-01T00:00:00.000Z
  std::string request_id;
  std::string key_id;  // "" → nobody in particular
  std::string name;
  bool verified = false;  // by signature
  std::string peer;
  std::string operation;
  std::string cluster;  // as the request named it
  int status = kBegun;
  std::string error;            // its code; "" when it was carried out
  std::int64_t suppressed = 0;  // refusals before this one that were only counted
};
BOOST_DESCRIBE_STRUCT(AuditRecord, (),
                      (time, request_id, key_id, name, verified, peer, operation, cluster, status, error, suppressed))

struct AuditQuery {
  std::string key_id{};  // "" → any
  bool errors_only = false;
  std::string before{};  // AuditPage::next of the page before; "" → from the newest
  std::size_t limit = 100;
};

struct AuditPage {
  std::vector<AuditRecord> records;  // newest first
  std::string next;                  // "" at the end
};

class AuditTrail {
 public:
  // Makes the folder, mode 0700. What was begun and has no end gets one.
  static Result<std::unique_ptr<AuditTrail>> open(std::filesystem::path folder, const Clock& clock);

  // Fills in the time. `refused`: by the gate. A record that cannot be written is in the log instead.
  void write(AuditRecord record, bool refused);
  // Ends only, not beginnings. Looks through a bounded part of the trail: a page may have fewer than `limit` and a
  // `next`. kInvalid: `before`.
  Result<AuditPage> read(const AuditQuery& query);

 private:
  AuditTrail(std::filesystem::path folder, const Clock& clock) : folder_(std::move(folder)), clock_(clock) {}
  void end_what_was_begun();
  bool append(const std::string& day, const std::string& line);

  const std::filesystem::path folder_;
  const Clock& clock_;
  std::mutex mutex_;
  TokenBucket refusals_{kRefusalRate};
  std::int64_t suppressed_ = 0;
  std::string day_;
  UniqueFd file_;
};

}  // namespace espalier::access
