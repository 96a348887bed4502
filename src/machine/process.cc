#include "machine/process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>

#include "base/file.h"

namespace espalier::machine {

namespace {

std::string boot_id() {
  auto id = read_file("/proc/sys/kernel/random/boot_id");
  return id ? id->substr(0, id->find('\n')) : "";
}

}  // namespace

Result<ProcessRecord> record_of(int pid) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", pid));
  // "PID (NAME) STATE …": the name may hold anything, the last ')' ends it.
  const auto name_end = stat ? stat->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return fail(ErrorCode::kNotFound, "there is no process {}", pid);
  std::istringstream fields(stat->substr(name_end + 1));
  std::string state, skipped;
  fields >> state;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  ProcessRecord record{.pid = pid, .boot = boot_id()};
  if (!(fields >> record.start_time) || state == "Z" || state == "X")
    return fail(ErrorCode::kNotFound, "process {} has ended", pid);
  return record;
}

std::optional<UniqueFd> open_process(const ProcessRecord& record) {
  UniqueFd handle(static_cast<int>(syscall(SYS_pidfd_open, record.pid, 0)));
  if (!handle) return {};
  // Looked at after it was opened: from now on the pid cannot pass to another process unseen.
  const auto now = record_of(record.pid);
  if (!now || now->start_time != record.start_time || now->boot != record.boot) return {};
  return handle;
}

Result<void> end_process(const ProcessRecord& record, int signal, Millis timeout) {
  const auto handle = open_process(record);
  if (!handle) return {};
  if (syscall(SYS_pidfd_send_signal, handle->get(), signal, nullptr, 0) != 0 && errno != ESRCH)
    return fail(ErrorCode::kPermission, "cannot end process {}: {}", record.pid, std::strerror(errno));
  pollfd ended{handle->get(), POLLIN, 0};
  int ready = 0;
  while ((ready = poll(&ended, 1, static_cast<int>(timeout.count()))) < 0 && errno == EINTR) {
  }
  if (ready > 0) return {};
  return fail(ErrorCode::kTimeout, "process {} was sent {} but has not ended after {} ms", record.pid,
              strsignal(signal), timeout.count());
}

Result<void> kill_process(const ProcessRecord& record, Millis timeout) { return end_process(record, SIGKILL, timeout); }

Result<ProcessRecord> load_process(const std::filesystem::path& file) {
  return read_file(file)
      .and_then([](const std::string& text) { return parse_json(text); })
      .and_then([](const json::value& value) { return from_json<ProcessRecord>(value); });
}

}  // namespace espalier::machine
