#include "cli/actions.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

constexpr std::size_t kMostPerPage = 1000;

std::string who(const wire::AuditRecord& record) {
  std::string text = record.AccessKeyId;
  if (!record.Name.empty()) text += (text.empty() ? "" : " ") + record.Name;
  if (text.empty()) return "unsigned";
  return record.Verified || record.AccessKeyId.empty() ? text : text + " (claimed)";
}

Cell outcome(const wire::AuditRecord& record) {
  if (record.ErrorCode.empty()) return "done";
  return {record.ErrorCode, Colour::kRed};
}

void print_table(Context& context, const std::vector<wire::AuditRecord>& records) {
  Table table({"TIME", "WHO", "FROM", "OPERATION", "CLUSTER", "RESULT", "REQUEST"});
  std::int64_t suppressed = 0;
  for (const auto& record : records) {
    table.add({record.Time, who(record), record.SourceAddress, record.Operation, record.Cluster, outcome(record),
               record.RequestId});
    suppressed += record.SuppressedRefusals;
  }
  if (records.empty()) return print(context, "Nothing was changed or refused so far.");
  print(context, table);
  if (suppressed > 0) print(context, fmt::format("{} more refusals were only counted.", suppressed));
}

}  // namespace

Result<void> show_audit(Context& context, const AuditOptions& options) {
  json::object request{{"MaxResults", std::min(options.limit, kMostPerPage)}};
  if (!options.key.empty()) request["AccessKeyId"] = options.key;
  if (options.errors) request["ErrorsOnly"] = true;
  std::vector<wire::AuditRecord> records;
  while (records.size() < options.limit) {
    const auto answer = context.service.call("Espalier.ListAuditRecords", request);
    const auto page = read_answer<wire::AuditPage>(answer);
    if (!page) return tl::unexpected(page.error());
    for (const auto& record : page->Records) {
      if (records.size() >= options.limit) break;
      if (context.json) context.out << json::serialize(to_json(record)) << '\n';
      records.push_back(record);
    }
    if (page->NextToken.empty()) break;
    request["NextToken"] = page->NextToken;
  }
  if (!context.json) print_table(context, records);
  return {};
}

}  // namespace espalier::cli
