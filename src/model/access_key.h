// Who may call the API.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace espalier {

// Each may do what those before it may. What is what: access/permission.h.
enum class Role { ReadOnly, Operator, Admin };
BOOST_DESCRIBE_ENUM(Role, ReadOnly, Operator, Admin)

struct AccessKey {
  std::string id{};    // public: it stands in every request
  std::string name{};  // whose it is, for people
  Role role = Role::ReadOnly;
  std::vector<std::string> clusters{};  // names; empty: all
  Time created_at{};
  std::optional<Time> expires_at{};
  bool temporary = false;  // has a session token
  std::string sealed{};    // its secret, closed with a key that is not in the store (access/vault.h)
  bool operator==(const AccessKey&) const = default;
};
BOOST_DESCRIBE_STRUCT(AccessKey, (), (id, name, role, clusters, created_at, expires_at, temporary, sealed))

}  // namespace espalier
