// The text of ibnetdiscover: a head for every device, then a line for each of its ports with a cable.
//
//   sysimgguid=0x2c5eab0300b87b40
//   Switch	65 "S-2c5eab0300b87b40"		# "MF0;A09-LEAF-04:MQM9701/U1" enhanced port 0 lid 73 lmc 0
//   [1]	"H-e09d7303007a4bd8"[1](e09d7303007a4bd8) 		# "a08-dgx-04-c01 mlx5_5" lid 647 4xNDR
#include <algorithm>
#include <cctype>
#include <optional>
#include <unordered_map>

#include "topology/sources/infiniband.h"

namespace espalier::topology {
namespace {

// The text within the first pair of quotes; what follows it stays in `rest`.
std::optional<std::string_view> quoted(std::string_view& rest) {
  const auto begin = rest.find('"');
  if (begin == std::string_view::npos) return std::nullopt;
  const auto end = rest.find('"', begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const auto out = rest.substr(begin + 1, end - begin - 1);
  rest.remove_prefix(end + 1);
  return out;
}

// A description may have quotes in it.
std::string_view description_in(std::string_view comment) {
  const auto begin = comment.find('"'), end = comment.rfind('"');
  return begin == end ? std::string_view() : comment.substr(begin + 1, end - begin - 1);
}

bool is_guid(std::string_view text) {
  return !text.empty() && text.size() <= 16 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

class Parser {
 public:
  void line(std::string_view text, std::size_t number) {
    constexpr std::string_view kSystem = "sysimgguid=0x";
    if (text.starts_with("Switch") || text.starts_with("Ca") || text.starts_with("Rt"))
      head(text, number);
    else if (text.starts_with('['))
      port(text, number);
    else if (text.starts_with(kSystem))
      system_ = std::string(trim(text.substr(kSystem.size())));
    else if (text.empty())
      current_.reset(), system_.clear();
  }
  IbSubnet take() { return std::move(subnet_); }

 private:
  void head(std::string_view text, std::size_t number) {
    auto rest = text;
    const auto id = quoted(rest);
    current_ = id ? device(*id) : std::nullopt;
    if (!current_) return subnet_.left_out.add(fmt::format("line {}: a device without a usable GUID", number));
    describe(*current_, description_in(rest));
    if (is_guid(system_)) subnet_.devices[*current_].system = system_;
  }

  void port(std::string_view text, std::size_t number) {
    auto rest = text;
    const auto id = quoted(rest);
    const auto peer = id ? device(*id) : std::nullopt;
    if (!current_ || !peer) return subnet_.left_out.add(fmt::format("line {}: a port without a device", number));
    if (const auto comment = rest.find('#'); comment != std::string_view::npos)
      describe(*peer, description_in(rest.substr(comment)));
    // Both ends are printed: a cable is seen twice at most, and counts as often as the end that saw more.
    if (*peer != *current_) ++seen_[{*current_, *peer}];
    const auto cables = std::max(seen_[{*current_, *peer}], seen_[{*peer, *current_}]);
    subnet_.devices[*current_].links[*peer] = subnet_.devices[*peer].links[*current_] = cables;
  }

  // "S-2c5eab0300b87b40"; a device that was not met before is new.
  std::optional<std::size_t> device(std::string_view id) {
    if (id.size() < 3 || id[1] != '-' || !is_guid(id.substr(2))) return std::nullopt;
    const auto [at, is_new] = index_.try_emplace(std::string(id), subnet_.devices.size());
    if (!is_new) return at->second;
    if (subnet_.devices.size() >= kMaxDevices) {
      index_.erase(at);
      return std::nullopt;
    }
    const auto kind = id[0] == 'S' ? IbKind::fabric_switch : id[0] == 'H' ? IbKind::host_adapter : IbKind::other;
    subnet_.devices.push_back({std::string(id.substr(2)), kind, "", "", {}});
    return at->second;
  }

  void describe(std::size_t device, std::string_view description) {
    if (subnet_.devices[device].description.empty()) subnet_.devices[device].description = description;
  }

  IbSubnet subnet_;
  std::unordered_map<std::string, std::size_t> index_;
  std::map<std::pair<std::size_t, std::size_t>, int> seen_;
  std::optional<std::size_t> current_;
  std::string system_;
};

// The vendors' defaults: they name the card, not the machine that it is in.
bool is_default(std::string_view text) {
  for (const char* word : {"Mellanox", "ConnectX", "Quantum", "NVIDIA", "Infiniscale", "InfiniScale", "SwitchX",
                           "localhost", "(none)", "Node Description", "HFI"})
    if (text.find(word) != std::string_view::npos) return true;
  return text.size() > 2 && text.starts_with("MT") && std::isdigit(static_cast<unsigned char>(text[2])) != 0;
}

bool is_host_name(std::string_view text) {
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text[0])) != 0 &&
         std::ranges::all_of(text,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

IbSubnet parse_ibnetdiscover(std::string_view text) {
  Parser parser;
  for_each_line(text, [&](std::string_view line, std::size_t number) { parser.line(line, number); });
  return parser.take();
}

std::string host_in(std::string_view description) {
  if (is_default(description)) return "";
  const auto word = trim(description).substr(0, trim(description).find_first_of(" \t'"));
  return is_host_name(word) ? std::string(word) : "";
}

std::string switch_in(std::string_view description) {
  if (is_default(description)) return "";
  if (const auto mark = description.find(';'); mark != std::string_view::npos) description.remove_prefix(mark + 1);
  const auto name = trim(description.substr(0, description.find_first_of(":/")));
  return is_host_name(name) ? std::string(name) : "";
}

bool is_aggregation_node(std::string_view description) {
  return description.find("Aggregation Node") != std::string_view::npos;
}

}  // namespace espalier::topology
