#include "model/instance_type.h"

#include <cctype>
#include <cstdlib>

namespace espalier {

namespace embedded {
extern const std::string_view instance_types_json;
}

const std::map<std::string, InstanceType>& instance_types() {
  static const auto table = [] {
    auto parsed = parse_json(embedded::instance_types_json);
    auto read = parsed ? from_json<std::map<std::string, InstanceType>>(*parsed) : tl::unexpected(parsed.error());
    if (!read) std::abort();  // the table is part of the program: a test reads it
    return *read;
  }();
  return table;
}

const InstanceType* find_instance_type(std::string_view name) {
  const auto found = instance_types().find(std::string(name));
  return found == instance_types().end() ? nullptr : &found->second;
}

std::string gres_type(const InstanceType& type) {
  std::string out;
  for (const char c : type.gpu.value_or(""))
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace espalier
