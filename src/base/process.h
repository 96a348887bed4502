// Runs a program to its end and gives back what it wrote.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace espalier {

struct RunOptions {
  // {}: so that options can be written as {.input = …}.
  std::string input{};                       // its standard input
  Millis timeout{60'000};                    // then it and its process group are killed
  std::map<std::string, std::string> env{};  // added to, or in place of, what we have
  std::filesystem::path cwd{};               // empty: ours
  std::size_t output_limit = 16 << 20;       // bytes of each of out and err; one more ends the run
};

struct RunResult {
  int status = 0;  // exit status; 128 + signal when a signal ended it
  std::string out, err;
};

// argv[0] is looked up in PATH. Any exit status is a value. Returns when the program itself ends, even when something
// that it started lives on and holds its output. Safe from several threads.
// kNotFound, kPermission: it could not be started; kTimeout; kLimit: it wrote too much.
Result<RunResult> run(const std::vector<std::string>& argv, const RunOptions& options = {});

}  // namespace espalier
