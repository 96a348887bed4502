#include "machine/root.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/unique_fd.h"

namespace espalier::machine {

namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> cannot(std::string_view what, const fs::path& where) {
  return fail(errno == EPERM ? ErrorCode::kPermission : ErrorCode::kUnavailable, "cannot {} {}: {}", what,
              where.string(), std::strerror(errno));
}

Result<void> mount_at(const char* source, const fs::path& target, const char* type, unsigned long flags,
                      const std::string& options = "") {
  if (mount(source, target.c_str(), type, flags, options.empty() ? nullptr : options.c_str()) == 0) return {};
  return cannot(fmt::format("mount {} at", type != nullptr ? type : source), target);
}

// Folders of the machine are made in its overlay: the image itself is never written to.
Result<void> make_mount_point(const fs::path& path) {
  std::error_code ec;
  fs::create_directories(path, ec);
  if (!ec) return {};
  return fail(ErrorCode::kUnavailable, "cannot make {}: {}", path.string(), ec.message());
}

Result<void> write_text(const fs::path& path, std::string_view text, mode_t mode = 0644) {
  const UniqueFd out(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (out && write(out.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return {};
  return cannot("write", path);
}

// As overlayfs reads its options: ',' separates options and ':' lower layers.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == ',' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

Result<void> mount_overlay(const MachineSpec& spec, const fs::path& folder, const fs::path& root) {
  // volatile: a machine's changes need not survive a power cut, so nothing ever waits for the disk.
  const auto options = fmt::format("lowerdir={},upperdir={},workdir={},volatile", escaped(spec.image),
                                   escaped(folder / "upper"), escaped(folder / "work"));
  return mount_at("overlay", root, "overlay", MS_NODEV, options);
}

struct Device {
  const char* name;
  unsigned major, minor;
};
constexpr std::array<Device, 7> kDevices{{{"null", 1, 3},
                                          {"zero", 1, 5},
                                          {"full", 1, 7},
                                          {"random", 1, 8},
                                          {"urandom", 1, 9},
                                          {"tty", 5, 0},
                                          {"console", 1, 3}}};  // what is said to the console goes nowhere

Result<void> make_device(const fs::path& path, unsigned major, unsigned minor) {
  if (mknod(path.c_str(), S_IFCHR, makedev(major, minor)) == 0 && chmod(path.c_str(), 0666) == 0) return {};
  return cannot("make the device", path);
}

Result<void> fill_dev(const fs::path& dev, const MachineSpec& spec) {
  auto ok = mount_at("tmpfs", dev, "tmpfs", MS_NOSUID, "mode=755");
  for (const Device& device : kDevices)
    if (ok) ok = make_device(dev / device.name, device.major, device.minor);
  // Slurm hands out GPUs by their device files; that they lead nowhere is for the job to find out.
  for (int i = 0; ok && i < spec.gpus; ++i) ok = make_device(dev / fmt::format("nvidia{}", i), 1, 3);
  for (int i = 0; ok && i < spec.neuron_devices; ++i) ok = make_device(dev / fmt::format("neuron{}", i), 1, 3);
  if (!ok) return ok;
  for (const char* folder : {"pts", "shm"}) mkdir((dev / folder).c_str(), 0755);
  constexpr std::array<std::array<const char*, 2>, 5> kLinks{
      {{"pts/ptmx", "ptmx"}, {"/proc/self/fd", "fd"}, {"fd/0", "stdin"}, {"fd/1", "stdout"}, {"fd/2", "stderr"}}};
  for (const auto& [target, name] : kLinks)
    if (symlink(target, (dev / name).c_str()) != 0) return cannot("make the link", dev / name);
  return mount_at("devpts", dev / "pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,gid=5")
      .and_then([&] { return mount_at("tmpfs", dev / "shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"); });
}

Result<void> mount_kernel(const fs::path& root) {
  constexpr unsigned long kInert = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  return mount_at("proc", root / "proc", "proc", kInert)
      .and_then([&] { return mount_at("sysfs", root / "sys", "sysfs", kInert | MS_RDONLY); })
      .and_then([&] { return mount_at("tmpfs", root / "run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"); })
      .and_then([&] { return mount_at("tmpfs", root / "tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"); });
}

Result<void> mount_volumes(const MachineSpec& spec, const fs::path& root) {
  for (const Volume& volume : spec.volumes) {
    const fs::path target = root / fs::path(volume.target).relative_path();
    auto ok = make_mount_point(target).and_then(
        [&] { return mount_at(volume.source.c_str(), target, nullptr, MS_BIND | MS_REC); });
    if (!ok) return ok;
  }
  return {};
}

Result<void> bring_agent(const fs::path& folder, const fs::path& agent, const fs::path& root) {
  const fs::path inside = root / fs::path(kAgentInside).relative_path();
  const fs::path user_data = root / fs::path(kUserDataInside).relative_path();
  return make_mount_point(inside.parent_path())
      .and_then([&] { return write_text(inside, "", 0755); })
      .and_then([&] { return mount_at(agent.c_str(), inside, nullptr, MS_BIND); })
      .and_then([&]() -> Result<void> {
        std::error_code ec;
        fs::copy_file(folder / kUserDataFile, user_data, ec);
        if (!ec) return {};
        return fail(ErrorCode::kUnavailable, "cannot bring {} in: {}", kUserDataFile, ec.message());
      });
}

Result<void> write_names(const MachineSpec& spec, const fs::path& root) {
  if (sethostname(spec.host_name.data(), spec.host_name.size()) != 0) return cannot("set the name", spec.host_name);
  const auto hosts = fmt::format("127.0.0.1 localhost\n{} {}\n", spec.address, spec.host_name);
  return write_text(root / "etc/hostname", spec.host_name + "\n").and_then([&] {
    return write_text(root / "etc/hosts", hosts);
  });
}

Result<void> change_root(const fs::path& root) {
  // Both the old and the new root at ".": the old one lies on top and goes with the unmount.
  if (chdir(root.c_str()) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 ||
      chdir("/") != 0)
    return cannot("change the root to", root);
  return {};
}

}  // namespace

Result<void> enter_root(const MachineSpec& spec, const fs::path& folder, const fs::path& agent) {
  const fs::path root = folder / "root";
  umask(022);
  return mount_at("none", "/", nullptr, MS_REC | MS_PRIVATE)
      .and_then([&] { return mount_overlay(spec, folder, root); })
      .and_then([&] { return mount_kernel(root); })
      .and_then([&] { return fill_dev(root / "dev", spec); })
      .and_then([&] { return mount_volumes(spec, root); })
      .and_then([&] { return bring_agent(folder, agent, root); })
      .and_then([&] { return write_names(spec, root); })
      .and_then([&] { return change_root(root); });
}

}  // namespace espalier::machine
