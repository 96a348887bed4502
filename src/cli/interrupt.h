// Ctrl-C while watching: says that the work goes on, and ends the program with exit code 130.
#pragma once

#include <csignal>
#include <string>

namespace espalier::cli {

// While it lives, SIGINT prints the text on standard error and ends the program at once. One at a time.
class InterruptNotice {
 public:
  explicit InterruptNotice(std::string text);
  ~InterruptNotice();
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;

 private:
  std::string text_;
  struct sigaction before_{};
};

}  // namespace espalier::cli
