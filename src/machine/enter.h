// Into a running machine, as `espalier ssh` does: no daemon in the machine is needed for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace espalier::machine {

// Runs `argv` as `user` in the machine's namespaces, with the caller's standard streams, on a terminal of the machine's
// own where the caller has one, and ends it when the caller ends (session.h); in the user's
// home and with a login environment: the words are joined by spaces and given to the user's login shell, as ssh does.
// Without words: an interactive login shell. Returns the exit status, 128 + signal when a signal ended it.
// kNotFound: no such machine or user; kUnavailable: the machine does not run.
Result<int> enter(const std::filesystem::path& folder, const std::vector<std::string>& argv, const std::string& user);

// A line of /etc/passwd.
struct User {
  std::string name;
  unsigned uid = 0;
  unsigned gid = 0;
  std::string home;
  std::string shell;
};
// From the text of /etc/passwd. The C library's own look-up would load the host's modules for the machine's files.
Result<User> find_user(const std::string& passwd, const std::string& name);
// Ids of the groups that list the user, from the text of /etc/group.
std::vector<unsigned> groups_of(const std::string& group_file, const std::string& name);

}  // namespace espalier::machine
