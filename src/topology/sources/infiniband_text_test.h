// For tests: a rail-optimised fat tree, drawn as ibnetdiscover does.
//
// `pods` pods of `units` units of `hosts` hosts; each unit has a leaf for each of the `rails`, with one adapter of
// every host; each rail of a pod has `spines` spines, and with more than one pod every spine hangs on all of its
// `cores`.
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace espalier::topology {

struct RailFabric {
  int pods = 1;
  int units = 2;
  int hosts = 4;
  int rails = 2;
  int spines = 2;
  int cores = 2;
};

class IbText {
 public:
  explicit IbText(const RailFabric& fabric) {
    for (int pod = 0; pod < fabric.pods; ++pod) {
      for (int rail = 0; rail < fabric.rails; ++rail) {
        for (int unit = 0; unit < fabric.units; ++unit) {
          const auto leaf = add_switch(fmt::format("leaf-{}-{}-{}", pod, unit, rail));
          for (int host = 0; host < fabric.hosts; ++host) link(leaf, add_adapter(name(pod, unit, host), rail));
          for (int spine = 0; spine < fabric.spines; ++spine) link(leaf, spine_of(pod, rail, spine));
        }
        for (int spine = 0; fabric.pods > 1 && spine < fabric.spines; ++spine)
          for (int core = 0; core < fabric.cores; ++core)
            link(spine_of(pod, rail, spine), add_switch(fmt::format("core-{}", core)));
      }
    }
  }

  static std::string name(int pod, int unit, int host) { return fmt::format("dgx-{}-{}-{}", pod, unit, host); }

  std::string add_switch(const std::string& name) { return add(name, "S", name); }
  std::string add_adapter(const std::string& host, int rail) {
    return add(fmt::format("{} mlx5_{}", host, rail), "H", fmt::format("{} mlx5_{}", host, rail));
  }
  void link(const std::string& a, const std::string& b) { cables_.emplace_back(a, b); }
  // Takes the cable away, with the lines of both ends.
  void cut(std::size_t cable) { cables_.erase(cables_.begin() + static_cast<std::ptrdiff_t>(cable % cables_.size())); }
  // Only the line of one end is missing.
  void hide(std::size_t cable) { hidden_.insert(cable % cables_.size()); }
  void describe(const std::string& device, const std::string& description) { devices_[device].second = description; }
  [[nodiscard]] std::size_t cables() const { return cables_.size(); }

  [[nodiscard]] std::string text() const {
    std::map<std::string, std::string> ports;
    for (std::size_t i = 0; i < cables_.size(); ++i) {
      const auto& [a, b] = cables_[i];
      if (!hidden_.contains(i)) ports[a] += port(b);
      ports[b] += port(a);
    }
    std::string out = "#\n# Topology file: generated\n#\n";
    for (const auto& [key, device] : devices_)
      out += fmt::format("\nvendid=0x2c9\nsysimgguid=0x{}\n{}\t64 \"{}\"\t\t# \"{}\" lid 1 lmc 0\n{}",
                         device.first.substr(2), device.first[0] == 'S' ? "Switch" : "Ca", device.first, device.second,
                         ports[key]);
    return out;
  }

 private:
  static std::string spine_name(int pod, int rail, int spine) {
    return fmt::format("spine-{}-{}-{}", pod, rail, spine);
  }
  std::string spine_of(int pod, int rail, int spine) { return add_switch(spine_name(pod, rail, spine)); }
  std::string add(const std::string& key, const char* kind, const std::string& description) {
    devices_.try_emplace(key, fmt::format("{}-{:016x}", kind, 0xe000 + devices_.size()), description);
    return key;
  }
  [[nodiscard]] std::string port(const std::string& peer) const {
    const auto& [guid, description] = devices_.at(peer);
    return fmt::format("[1]\t\"{}\"[1](1)\t\t# \"{}\" lid 2 4xNDR\n", guid, description);
  }

  std::map<std::string, std::pair<std::string, std::string>> devices_;  // key → GUID with its kind, description
  std::vector<std::pair<std::string, std::string>> cables_;
  std::set<std::size_t> hidden_;
};

}  // namespace espalier::topology
