#include "machine/spec.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/unique_fd.h"

namespace espalier::machine {

Result<MachineSpec> load_spec(const std::filesystem::path& folder) {
  return read_file(folder / kSpecFile)
      .and_then([](const std::string& text) { return parse_json(text); })
      .and_then([](const json::value& value) { return from_json<MachineSpec>(value); })
      .map_error([&](const Error& e) {
        return Error{e.code, fmt::format("cannot read the machine in {}: {}", folder.string(), e.message)};
      });
}

Result<void> save_record(const std::filesystem::path& file, const json::value& value, unsigned mode) {
  const std::string text = pretty_json(value) + "\n";
  const std::string beside = file.string() + ".new";
  {
    UniqueFd out(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (!out || write(out.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return fail(ErrorCode::kUnavailable, "cannot write {}: {}", beside, std::strerror(errno));
  }
  if (rename(beside.c_str(), file.c_str()) != 0)
    return fail(ErrorCode::kUnavailable, "cannot write {}: {}", file.string(), std::strerror(errno));
  return {};
}

}  // namespace espalier::machine
