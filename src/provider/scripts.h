// Where lifecycle scripts come from: all that lies below an s3://bucket/prefix.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "model/scripts.h"

namespace espalier {

class ScriptSource {
 public:
  virtual ~ScriptSource() = default;
  // Reads it as it is now. Blocks. kInvalid: no such address can be; kNotFound: there is nothing, or it is empty;
  // kLimit: more than kMaxScriptBytes or kMaxScriptFiles; kPermission: it leads elsewhere; kUnavailable: try again.
  virtual Result<ScriptBundle> fetch(const std::string& uri) = 0;
};

// s3://bucket/prefix is ROOT/bucket/prefix. Nothing outside of ROOT is ever read, whatever names and links say.
class ScriptFolder final : public ScriptSource {
 public:
  explicit ScriptFolder(std::filesystem::path root) : root_(std::move(root)) {}
  Result<ScriptBundle> fetch(const std::string& uri) override;

 private:
  const std::filesystem::path root_;
};

// "s3://bucket/some/prefix/" → "bucket/some/prefix". kInvalid says what is wrong with it.
Result<std::string> path_of_s3_uri(const std::string& uri);

}  // namespace espalier
