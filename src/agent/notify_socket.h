// The receiving end of sd_notify(3): how a daemon tells that it is ready and under which pid it goes on.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "agent/accounts.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace espalier::agent {

struct Notification {
  bool ready = false;             // READY=1
  std::optional<pid_t> main_pid;  // MAINPID=: the daemon goes on as this process
  bool operator==(const Notification&) const = default;
};
Notification parse_notification(std::string_view datagram);

class NotifySocket {
 public:
  // Made anew at `path`, for `sender` alone (and root) to write to.
  static Result<NotifySocket> open(const std::filesystem::path& path, const Account& sender);

  [[nodiscard]] int fd() const { return fd_.get(); }
  // The next one that has arrived, at once.
  std::optional<Notification> receive();

 private:
  explicit NotifySocket(int fd) : fd_(fd) {}
  UniqueFd fd_;
};

}  // namespace espalier::agent
