#include "cli/serve_options.h"

#include <fmt/format.h>

#include <cctype>

namespace espalier::cli {

std::string environment_name(std::string_view option) {
  std::string name = "ESPALIER_";
  for (const char c : option) name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::vector<std::string> to_arguments(const ServeOptions& options) {
  std::vector<std::string> out;
  for_each_option(options, [&out](const char* name, const auto& value, const char*) {
    const std::string text = fmt::format("{}", value);
    if (!text.empty()) out.push_back(fmt::format("--{}={}", name, text));
  });
  return out;
}

}  // namespace espalier::cli
