#include "cli/interrupt.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace espalier::cli {

namespace {

constexpr int kInterrupted = 128 + SIGINT;

// Set before the handler is, unset after it: the handler may read it whenever it runs.
std::string_view notice;

void on_interrupt(int) {
  if (write(STDERR_FILENO, notice.data(), notice.size()) < 0) _exit(kInterrupted);
  _exit(kInterrupted);
}

}  // namespace

InterruptNotice::InterruptNotice(std::string text) : text_(std::move(text)) {
  notice = text_;
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, &before_);
}

InterruptNotice::~InterruptNotice() { sigaction(SIGINT, &before_, nullptr); }

}  // namespace espalier::cli
