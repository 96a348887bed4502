#include "model/instance_type.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace espalier {

namespace embedded {
extern const std::string_view instance_types_json;
}

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// "ml.p5.48xlarge" → "ml.p5."
std::string_view family(std::string_view type) { return type.substr(0, type.find('.', type.find('.') + 1) + 1); }

}  // namespace

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

std::string instance_type_hint(std::string_view wrong) {
  if (const auto full = fmt::format("ml.{}", wrong); find_instance_type(full))
    return fmt::format("did you mean '{}'?", full);
  if (const auto text = lower(wrong);
      text.find("nvl72") != std::string::npos || text.find("gb200") != std::string::npos)
    return "the instances of an UltraServer have the type 'ml.p6e-gb200.36xlarge', 18 to each NVL72";
  std::vector<std::string> sizes;
  for (const auto& [name, type] : instance_types())
    if (family(name) == family(wrong)) sizes.push_back(name);
  return sizes.empty() ? "see ClusterInstanceType in the API reference for the names"
                       : fmt::format("there are {}", fmt::join(sizes, ", "));
}

std::string gres_type(const InstanceType& type) {
  std::string out;
  for (const char c : type.gpu.value_or(""))
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace espalier
