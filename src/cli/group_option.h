// `--group name=worker,type=ml.p5.48xlarge,count=8,partition=gpu`: one instance group as people write it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/names.h"

namespace espalier::cli {

inline constexpr const char* kDefaultRole = "arn:aws:iam::123456789012:role/espalier";

struct GroupOption {
  std::string name;
  std::string type;
  NodeType kind = NodeType::Compute;
  int count = 1;
  std::string partition;  // Compute only; the group's name when not given
  std::optional<int> min;
  std::optional<int> threads;
  std::string role = kDefaultRole;
};

// Keys: name, type (both required), count, partition, kind=compute|controller|login, min, threads, role.
// kInvalid names the part that is wrong and what is known.
Result<GroupOption> parse_group(std::string_view text);
// "GROUP=N".
struct Resize {
  std::string group;
  int count = 0;
};
Result<Resize> parse_resize(std::string_view text);
// A whole number of machines, 0 to 6758 (the API's bound). `what` is for the message.
Result<int> parse_count(std::string_view what, std::string_view text);

}  // namespace espalier::cli
