#include "agent/health.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "agent/setup.h"
#include "base/file.h"

namespace espalier::agent {

namespace {

namespace fs = std::filesystem;

constexpr Millis kDriverTimeout{20'000};
constexpr std::chrono::seconds kSameBoot{10};  // two computations of one boot's time, with the clock set in between
constexpr std::chrono::seconds kClockStep{5};

// `nvidia-smi -L` prints a line "GPU 0: …" for each that the driver can use. A driver that hangs has not said anything.
int usable_gpus(const RunCommand& run, int devices) {
  const auto list = run({"nvidia-smi", "-L"}, kDriverTimeout);
  if (!list) return list.error().code == ErrorCode::kUnavailable ? 0 : devices;
  int lines = list->starts_with("GPU ") ? 1 : 0;
  for (std::size_t at = 0; (at = list->find("\nGPU ", at)) != std::string::npos; ++at) ++lines;
  return std::min(lines, devices);
}

std::int64_t number_after(const std::string& text, std::string_view key) {
  const auto at = text.find(key);
  std::int64_t value = 0;
  if (at != std::string::npos) std::from_chars(text.data() + at + key.size(), text.data() + text.size(), value);
  return value;
}

// The start of the machine's first process: of a namespace, too, which shares the kernel's own boot time.
Time boot_time(const fs::path& proc) {
  const std::int64_t kernel = number_after(read_file(proc / "stat").value_or(""), "btime ");
  const std::string first = read_file(proc / "1/stat").value_or("");
  // Field 22; the second, in parentheses, may hold anything.
  std::size_t at = first.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = first.find(' ', at + 1);
  const std::int64_t ticks = at == std::string::npos ? 0 : number_after(first.substr(at), " ");
  return Time(Millis(kernel * 1000 + ticks * 1000 / sysconf(_SC_CLK_TCK)));
}

void add_disk(HealthView& view, const fs::path& root, const char* path) {
  struct statvfs disk{};
  if (statvfs((root / fs::path(path).relative_path()).c_str(), &disk) != 0) return;
  const auto bytes = [&](auto blocks) { return static_cast<std::int64_t>(blocks * disk.f_frsize); };
  view.disks.push_back({path, bytes(disk.f_bavail), bytes(disk.f_blocks)});
}

int mark_of(const HealthView::Disk& disk) {
  const auto percent = disk.total_bytes > 0 ? disk.free_bytes * 100 / disk.total_bytes : 100;
  return static_cast<int>(std::ranges::count_if(kDiskMarks, [&](int mark) { return percent < mark; }));
}

bool same_disks(const HealthView& a, const HealthView& b) {
  return std::ranges::equal(a.disks, b.disks,
                            [](const auto& x, const auto& y) { return x.path == y.path && mark_of(x) == mark_of(y); });
}

bool same_machine(const HealthView& a, const HealthView& b) {
  return a.machine_id == b.machine_id && a.gpus == b.gpus && a.neuron_devices == b.neuron_devices &&
         std::chrono::abs(a.booted_at - b.booted_at) < kSameBoot;
}

}  // namespace

int count_devices(const fs::path& dev, std::string_view prefix) {
  std::error_code error;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(dev, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos)
      ++count;
  }
  return count;
}

HealthView look_at_health(const std::string& machine_id, const fs::path& root, const RunCommand& run) {
  HealthView view;
  view.machine_id = machine_id;
  view.booted_at = boot_time(root / "proc");
  view.gpus = count_devices(root / "dev", "nvidia");
  if (view.gpus > 0 && find_program("nvidia-smi")) view.gpus = usable_gpus(run, view.gpus);
  view.neuron_devices = count_devices(root / "dev", "neuron");
  for (const char* path : {"/", kStateSaveFolder}) add_disk(view, root, path);
  return view;
}

bool differs(const Health& before, const Health& now) {
  return !same_machine(before.view, now.view) || !same_disks(before.view, now.view) || before.daemons != now.daemons ||
         std::chrono::abs(before.clock_ahead - now.clock_ahead) >= kClockStep;
}

}  // namespace espalier::agent
