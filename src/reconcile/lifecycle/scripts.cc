#include "reconcile/lifecycle/scripts.h"

#include "reconcile/events.h"
#include "reconcile/group/group.h"
#include "reconcile/lifecycle/config.h"

namespace espalier::reconcile {

namespace {

// What a script is run from was read at most so long before the machine's setup: an upload reaches the next machine.
constexpr Millis kFresh{10'000};
// How often those of a group that is slowed down are read: a mended script is found by itself.
constexpr Millis kWatched{30'000};

std::optional<Script> script_on(const Work& work, const Slot& slot) {
  return work.settings().scripts ? script_of(work.state.groups.at(slot.group)) : std::nullopt;
}

// A time: not before that, for it failed.
std::optional<Time> fetch(Work& work, const std::string& uri) {
  Observed::Scripts& scripts = work.observed.scripts[uri];
  if (scripts.fetching) return std::nullopt;
  if (scripts.retry && *scripts.retry > work.now()) return scripts.retry;
  scripts.fetching = true;
  work.effect(FetchScripts{uri});
  return std::nullopt;
}

void note_changed(Work& work, const std::string& uri) {
  for (auto& [name, group] : work.state.groups)
    if (const auto script = script_of(group); script && script->uri == uri) note_mended(work, group);
}

// "s3://bucket/prefix/" → "/tmp/bucket/prefix".
std::string folder_of(std::string uri) {
  while (uri.ends_with('/')) uri.pop_back();
  return "/tmp/" + uri.substr(std::min<std::size_t>(5, uri.size()));
}

std::string event_text(const Slot& slot, std::string_view status) {
  return fmt::format("Instance lifecycle script execution for EC2 Instance {} has {}", slot.machine->id.value, status);
}

}  // namespace

bool add_lifecycle(Work& work, const Slot& slot, agent::Setup& setup) {
  const auto script = script_on(work, slot);
  if (!script) return true;
  const auto found = work.observed.scripts.find(script->uri);
  const bool fresh =
      found != work.observed.scripts.end() && !found->second.digest.empty() && found->second.at + kFresh >= work.now();
  if (!fresh) {
    if (const auto later = fetch(work, script->uri)) work.look_at(slot, *later);
    return false;
  }
  agent::Lifecycle lifecycle;
  lifecycle.hook = script->hook;
  lifecycle.digest = found->second.digest;
  lifecycle.folder = folder_of(script->uri);
  lifecycle.script = script->name;
  lifecycle.time_limit = work.settings().script_time_limit;
  lifecycle.config = {{"resource_config.json", resource_config(work.state, slot), false},
                      {"provisioning_parameters.json", provisioning_parameters(work.state), false}};
  setup.lifecycle = std::move(lifecycle);
  return true;
}

void on_scripts_fetched(Work& work, const ScriptsFetched& fetched) {
  Observed::Scripts& scripts = work.observed.scripts[fetched.uri];
  scripts.fetching = false;
  work.look_at(SlotState::Configuring);
  if (fetched.digest) {
    if (!scripts.digest.empty() && scripts.digest != *fetched.digest) note_changed(work, fetched.uri);
    scripts = Observed::Scripts();
    scripts.digest = *fetched.digest;
    scripts.at = work.now();
    return;
  }
  const std::string& why = fetched.digest.error().message;
  const bool news = scripts.error != why;
  scripts.error = why;
  scripts.retry = work.now() + delay_after(work.settings().script, *work.context.random, ++scripts.failures);
  for (auto& [name, group] : work.state.groups) {
    const auto script = script_of(group);
    if (!script || script->uri != fetched.uri) continue;
    note_trouble(work, group, FailureClass::Bootstrap, why);
    if (news)
      scaling_event(work, group, EventLevel::Error,
                    fmt::format("Lifecycle scripts of InstanceGroup {} in Cluster {} could not be fetched", name,
                                work.state.cluster.name),
                    why);
  }
}

bool retry_script(Work& work, Slot& slot, const std::string& error) {
  if (!script_on(work, slot) || !error.starts_with("lifecycle script ")) return false;
  Observed::ScriptTries& tries = work.observed.script_tries[slot.machine->id];
  if (++tries.failures >= work.settings().script_tries) return false;
  tries.next = work.now() + delay_after(work.settings().script, *work.context.random, tries.failures);
  work.look_at(slot, tries.next);
  work.touch(slot).failure = FailureClass::Bootstrap;
  slot.failure_message = error;
  note_trouble(work, work.group_of(slot), FailureClass::Bootstrap, error);
  if (tries.failures == 1)
    instance_event(work, slot, EventLevel::Error,
                   event_text(slot, fmt::format("Failed. To view lifecycle script logs, see {} on the instance",
                                                agent::kLifecycleLog)),
                   error);
  return true;
}

bool setup_is_due(Work& work, const Slot& slot) {
  const auto tries = work.observed.script_tries.find(slot.machine->id);
  if (tries == work.observed.script_tries.end() || tries->second.next <= work.now()) return true;
  work.look_at(slot, tries->second.next);
  return false;
}

void note_script_done(Work& work, const Slot& slot) {
  if (!script_on(work, slot)) return;
  work.observed.script_tries.erase(slot.machine->id);
  instance_event(work, slot, EventLevel::Info, event_text(slot, "Succeeded"));
}

void watch_scripts(Work& work, const Group& group) {
  if (!work.settings().scripts || !group.canary_at || *group.canary_at <= work.now()) return;
  const auto script = script_of(group);
  if (!script) return;
  const Observed::Scripts& known = work.observed.scripts[script->uri];
  const Time due = known.at + kWatched;
  if (work.now() < due) return work.wake_at(due);
  if (const auto later = fetch(work, script->uri)) work.wake_at(*later);
}

Millis script_time(const Settings& settings, const Group& group) {
  if (!settings.scripts || !script_of(group)) return Millis(0);
  return settings.script_tries * (settings.script_time_limit + settings.script.most);
}

}  // namespace espalier::reconcile
