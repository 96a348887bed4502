#include "cli/serve_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace espalier::cli {

namespace {

constexpr std::size_t kAccountDigits = 12;
constexpr std::size_t kLongestLink = 15;  // IFNAMSIZ - 1

bool is_number(std::string_view text, int from, int to) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= from && number <= to;
}
bool is_port(std::string_view text) { return is_number(text, 1, 65535); }
bool is_speed(std::string_view text) { return is_number(text, 1, 1000); }

bool is_account(std::string_view text) {
  return text.size() == kAccountDigits && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// As dev_valid_name() of the kernel; "%" would make it a pattern, and "-" an option of ip.
bool is_link_name(std::string_view text) {
  const auto is_wrong = [](unsigned char c) {
    return std::isspace(c) || std::iscntrl(c) || c == '/' || c == ':' || c == '%';
  };
  return !text.empty() && text.size() <= kLongestLink && text != "." && text != ".." && text[0] != '-' &&
         std::none_of(text.begin(), text.end(), is_wrong);
}

}  // namespace

std::string fault(std::string_view option, std::string_view value) {
  if (option == "agent-port" && !is_port(value)) return fmt::format("'{}' is no port: give one from 1 to 65535", value);
  if (option == "account" && !is_account(value))
    return fmt::format("'{}' is no account id: give {} digits", value, kAccountDigits);
  if (option == "bridge" && !is_link_name(value))
    return fmt::format("'{}' cannot be a link's name: give 1 to {} characters without spaces, '/', ':' and '%'", value,
                       kLongestLink);
  if (option == "tls" && !value.empty() && value != "off" && value != "self-signed" && value != "files")
    return fmt::format("'{}' is none of off, self-signed, files", value);
  if (option == "provider" && value != "local" && value != "sim")
    return fmt::format("'{}' is none of local, sim", value);
  if (option == "sim-speed" && !is_speed(value)) return fmt::format("'{}' is no speed: give one from 1 to 1000", value);
  return "";
}

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
