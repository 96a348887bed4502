#include "agent/accounts.h"

#include <charconv>
#include <vector>

#include "base/file.h"

namespace espalier::agent {

namespace {

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto colon = line.find(':');
    fields.push_back(line.substr(0, colon));
    if (colon == std::string_view::npos) return fields;
    line.remove_prefix(colon + 1);
  }
}

bool read_id(std::string_view text, unsigned& id) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<Account> find_account(std::string_view passwd, std::string_view name) {
  while (!passwd.empty()) {
    const auto end = std::min(passwd.find('\n'), passwd.size());
    const auto fields = fields_of(passwd.substr(0, end));
    passwd.remove_prefix(std::min(end + 1, passwd.size()));
    Account account;
    if (fields.size() >= 4 && fields[0] == name && read_id(fields[2], account.uid) && read_id(fields[3], account.gid))
      return account;
  }
  return fail(ErrorCode::kNotFound, "there is no user '{}' in /etc/passwd: the image lacks it", name);
}

Result<Account> find_account(std::string_view name) {
  auto passwd = read_file("/etc/passwd");
  if (!passwd) return tl::unexpected(passwd.error());
  return find_account(*passwd, name);
}

}  // namespace espalier::agent
