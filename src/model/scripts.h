// Lifecycle scripts as they are fetched once and carried to machines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"

namespace espalier {

inline constexpr std::size_t kMaxScriptBytes = 4 << 20;  // of a bundle: scripts, not data sets
inline constexpr std::size_t kMaxScriptFiles = 1000;

struct ScriptFile {
  std::string path;     // below the bundle's folder, with '/'
  std::string content;  // base64 on the wire, for JSON is text
  bool executable = false;
  auto operator<=>(const ScriptFile&) const = default;
};
BOOST_DESCRIBE_STRUCT(ScriptFile, (), (path, content, executable))

// All that lies below one s3://bucket/prefix, at one time.
struct ScriptBundle {
  std::string uri;
  std::string digest;             // of paths and contents: another one means that the user has changed something
  std::vector<ScriptFile> files;  // by path
};
BOOST_DESCRIBE_STRUCT(ScriptBundle, (), (uri, digest, files))

std::string digest_of(const std::vector<ScriptFile>& files);

}  // namespace espalier
