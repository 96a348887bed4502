#include "reconcile/check/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace espalier::reconcile {

namespace {

using Answers = std::map<std::string, std::vector<CheckFinding>>;

// Who called whom, in either direction, and who did not answer.
struct Calls {
  std::map<std::string, std::set<std::string>> partners, broken;

  explicit Calls(const Answers& answers) {
    for (const auto& [node, findings] : answers)
      for (const auto& finding : findings) {
        for (const auto& peer : finding.peers) add(partners, node, peer);
        for (const auto& peer : finding.unreachable) add(broken, node, peer);
      }
  }
  static void add(std::map<std::string, std::set<std::string>>& to, const std::string& a, const std::string& b) {
    to[a].insert(b);
    to[b].insert(a);
  }
  bool mostly_fails(const std::string& node) const {
    const auto found = broken.find(node);
    return found != broken.end() && 2 * found->second.size() > partners.at(node).size();
  }
};

// Of those that the node itself did or said. Reachability is judged by all.
Judgement own(const std::vector<CheckFinding>& findings) {
  if (findings.empty()) return {CheckVerdict::NotChecked, "its agent did not answer in time"};
  Judgement worst{CheckVerdict::Healthy, ""};
  std::string passed;
  for (const auto& finding : findings) {
    const auto verdict = finding.unreachable.empty() ? finding.verdict : CheckVerdict::Healthy;
    const std::string reason = fmt::format("{}: {}", enum_name(finding.kind), finding.reason);
    if (verdict == CheckVerdict::Healthy) passed += fmt::format("; {} passed", enum_name(finding.kind));
    if (verdict > worst.verdict)
      worst = {verdict, reason};
    else if (verdict == worst.verdict)
      worst.reason += (worst.reason.empty() ? "" : "; ") + reason;
  }
  if (worst.verdict == CheckVerdict::NotChecked) worst.reason += passed;
  return worst;
}

void take_worse(Judgement& judgement, CheckVerdict verdict, std::string reason) {
  if (verdict > judgement.verdict) judgement = {verdict, std::move(reason)};
}

std::string partners_of(const std::set<std::string>& nodes) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> named(nodes.begin(), std::next(nodes.begin(), std::min(nodes.size(), kNamed)));
  return fmt::format("{}{}", fmt::join(named, ", "), nodes.size() > kNamed ? ", …" : "");
}

}  // namespace

std::map<std::string, Judgement> judge(const Answers& answers) {
  const Calls calls(answers);
  std::set<std::string> at_fault;
  for (const auto& [node, findings] : answers)
    if (calls.mostly_fails(node)) at_fault.insert(node);
  const bool network = 2 * at_fault.size() > answers.size();
  std::map<std::string, Judgement> out;
  for (const auto& [node, findings] : answers) {
    Judgement& judgement = out[node] = own(findings);
    const auto broken = calls.broken.find(node);
    if (broken == calls.broken.end()) continue;
    const std::string text =
        fmt::format("InstanceConnectivity: no connection with {} of {} nodes: {}", broken->second.size(),
                    calls.partners.at(node).size(), partners_of(broken->second));
    const auto fault_of_others = [&](const std::string& other) { return at_fault.contains(other); };
    if (network)
      take_worse(judgement, CheckVerdict::Drain, text + "; most nodes fail, so it may be the network");
    else if (at_fault.contains(node))
      take_worse(judgement, CheckVerdict::Replace, text);
    else if (!std::ranges::all_of(broken->second, fault_of_others))
      take_worse(judgement, CheckVerdict::Drain, text);
  }
  return out;
}

}  // namespace espalier::reconcile
