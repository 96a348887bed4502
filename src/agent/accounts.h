// Users of the machine, read from the text of /etc/passwd: a static program has no name service.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier::agent {

struct Account {
  uid_t uid = 0;  // root, unless said
  gid_t gid = 0;
};

// kNotFound names the user and says what the image lacks.
Result<Account> find_account(std::string_view passwd, std::string_view name);
Result<Account> find_account(std::string_view name);  // in /etc/passwd

}  // namespace espalier::agent
