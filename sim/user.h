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
  int minimum = 0;                   // MinInstanceCount
  std::vector<std::string> types{};  // of a flexible group, instead of the one
};

struct WishedCluster {
  bool wanted = false;
  std::map<std::string, WishedGroup> groups;
  bool continuous = true;  // or all or nothing
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
  // `dropped`: groups that are to go.
  void update(const std::string& name, const std::vector<std::string>& dropped = {});
  void remove(const std::string& name);
  // Hears of every event of a cluster, and that each comes once and in order.
  void watch(const std::string& name);

  std::map<std::string, WishedCluster>& wishes() { return wishes_; }
  [[nodiscard]] const std::map<std::string, WishedCluster>& wishes() const { return wishes_; }
  [[nodiscard]] std::int64_t answers() const { return answers_; }
  bool watches = true;  // what it creates

 private:
  WishedCluster any_cluster();
  WishedGroup any_group();
  // Returns the groups that are no longer wished for.
  std::vector<std::string> scale_something(WishedCluster& wish);
  // Looks which nodes there are, and then asks for something to be done to some of them.
  void act_on_nodes(const std::string& name);
  void act_on(const std::string& name, const json::array& nodes);
  void add_nodes(const std::string& name);
  void update_software(const std::string& name);
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
