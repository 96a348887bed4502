// The options of `espalier topology plan | check | diff | explain | apply | watch | score`.
#pragma once

#include <functional>

#include "cli/topology_actions.h"

namespace CLI {
class App;
}

namespace espalier::cli {

// Where the options of these commands are read into.
struct TopologyOptions {
  WatchOptions watch;  // of all that plan
  ScoreOptions score;
  std::string file, other, slurm, nodes;
  std::vector<std::string> of;  // what `explain` is about
};

// What commands.cc does for every command: help, common options, what to do when it was given.
struct CommandMaker {
  std::function<CLI::App*(CLI::App& parent, const char* name, const char* help, const std::string& examples)> add;
  std::function<void(CLI::App* app, std::function<Result<int>(Context&)> action)> act_on;
};

void add_topology_commands(CLI::App& topology, TopologyOptions& options, const CommandMaker& make);

}  // namespace espalier::cli
