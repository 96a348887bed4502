// A user of the API, in JSON texts: asks for clusters, changes and deletes them at any time, reads what there is, and
// in the end insists on what it wants.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "network.h"

namespace espalier::sim {

struct WishedGroup {
  std::string node_type;  // Controller, Login, Compute
  std::string instance_type;
  int count = 0;
};

struct WishedCluster {
  bool wanted = false;
  std::map<std::string, WishedGroup> groups;
};

class User {
 public:
  User(Nature& nature, Network& network) : nature_(nature), network_(network) {}

  // ---- at random ----
  // One of the things that users do, to one of its clusters.
  void do_something();
  void wish_for(const std::string& name, WishedCluster wish) { wishes_[name] = std::move(wish); }

  // ---- in the end ----
  // Compares what there is with what it wants, and asks for the difference; again and again until it is so.
  void insist(const std::string& name);
  // The last look showed what it wants as its targets.
  [[nodiscard]] bool has_its_will(const std::string& name) const;

  // ---- by hand ----
  using Answered = std::function<void(int status, const json::object& body)>;  // 0: no answer came
  void ask(const std::string& operation, const json::object& body, Answered answered);
  void create(const std::string& name);
  void update(const std::string& name);
  void remove(const std::string& name);
  // Hears of every event of a cluster, and that each comes once and in order.
  void watch(const std::string& name);

  std::map<std::string, WishedCluster>& wishes() { return wishes_; }
  [[nodiscard]] const std::map<std::string, WishedCluster>& wishes() const { return wishes_; }
  [[nodiscard]] std::int64_t answers() const { return answers_; }
  bool watches = true;  // what it creates

 private:
  WishedCluster any_cluster();
  void scale_something(WishedCluster& wish);
  void look_at_something(const std::string& name);
  void compare(const std::string& name, int status, const json::object& body);
  json::object group_spec(const std::string& name, const WishedGroup& group, bool is_new) const;
  void watch_after(const std::string& arn, std::int64_t sequence);

  Nature& nature_;
  Network& network_;
  std::map<std::string, WishedCluster> wishes_;
  std::map<std::string, bool> has_its_will_;
  std::int64_t answers_ = 0;
};

}  // namespace espalier::sim
