#include "agent/notify_socket.h"

#include <gtest/gtest.h>

namespace espalier::agent {
namespace {

TEST(Notification, ReadsReadyAndMainPid) {
  EXPECT_EQ(parse_notification("READY=1"), (Notification{true, std::nullopt}));
  EXPECT_EQ(parse_notification("STATUS=x\nMAINPID=42\nREADY=1\n"), (Notification{true, 42}));
  for (const char* text : {"", "READY=0", "MAINPID=", "MAINPID=4x", "MAINPID=1", "MAINPID=-5", "XREADY=1"})
    EXPECT_EQ(parse_notification(text), Notification{}) << text;
}

}  // namespace
}  // namespace espalier::agent
