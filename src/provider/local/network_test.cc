#include "provider/local/network.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "base/file.h"
#include "machine/netlink.h"

namespace espalier::local {
namespace {

TEST(Subnet, ReadsAndRefuses) {
  const auto subnet = parse_subnet("10.77.0.0/16");
  ASSERT_TRUE(subnet);
  EXPECT_EQ(address_text(subnet->gateway()), "10.77.0.1");
  EXPECT_TRUE(subnet->contains(*parse_address("10.77.255.255")));
  EXPECT_FALSE(subnet->contains(*parse_address("10.78.0.0")));
  EXPECT_FALSE(subnet->contains(*parse_address("10.76.255.255")));
  for (const char* text : {"", "10.77.0.0", "10.77.0.0/", "10.77.0.0/30", "10.77.0.0/7", "10.77.0/16", "10.77.0.0/16x"})
    EXPECT_FALSE(parse_subnet(text)) << text;
  const auto crooked = parse_subnet("10.77.3.0/16");
  ASSERT_FALSE(crooked);
  EXPECT_NE(crooked.error().message.find("10.77.0.0/16"), std::string::npos);
}

TEST(Neighbours, BoundsAreRaisedAndNeverLowered) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "neighbours";
  std::filesystem::create_directories(folder);
  const auto bound = [&](const char* name) { return *read_file(folder / name); };
  EXPECT_FALSE(allow_many_neighbours(folder)) << "there are none";
  for (const auto& [name, value] :
       {std::pair{"gc_thresh1", "128\n"}, {"gc_thresh2", "512\n"}, {"gc_thresh3", "9000000\n"}})
    ASSERT_TRUE(write_file(folder / name, value));
  EXPECT_TRUE(allow_many_neighbours(folder));
  EXPECT_TRUE(bound("gc_thresh1").starts_with("65536"));
  EXPECT_TRUE(bound("gc_thresh2").starts_with("262144"));
  EXPECT_EQ(bound("gc_thresh3"), "9000000\n");
  std::filesystem::remove_all(folder);
}

TEST(AddressRotation, GivesBackAddressesLast) {
  AddressRotation rotation(*parse_subnet("10.0.0.0/29"));  // .1 is the gateway, .2 to .6 are the machines'
  std::set<std::uint32_t> used;
  const auto take = [&] { return address_text(*rotation.next(used)); };
  EXPECT_EQ(take(), "10.0.0.2");
  EXPECT_EQ(take(), "10.0.0.3");  // though .2 was given back
  used = {*parse_address("10.0.0.4")};
  EXPECT_EQ(take(), "10.0.0.5");
  EXPECT_EQ(take(), "10.0.0.6");
  EXPECT_EQ(take(), "10.0.0.2");
  for (const char* last : {"10.0.0.2", "10.0.0.3", "10.0.0.5", "10.0.0.6"}) used.insert(*parse_address(last));
  const auto full = rotation.next(used);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kLimit);
}

// In a network namespace of its own, so nothing of it is seen on the host.
class BridgeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "SKIPPED: a network namespace needs root";
  }
  const Subnet subnet_ = *parse_subnet("10.77.0.0/16");
};

TEST_F(BridgeTest, IsMadeOnceAndRemovedByItsOwnerAlone) {
  auto net = machine::Netlink::open();
  ASSERT_TRUE(net);
  for (int i = 0; i < 2; ++i) {
    const auto made = ensure_bridge("espalier0", subnet_, "espalier /a");
    ASSERT_TRUE(made) << made.error().message;
  }
  EXPECT_EQ(net->find("espalier0")->alias, "espalier /a");
  ASSERT_TRUE(remove_bridge("espalier0", "espalier /b"));
  EXPECT_TRUE(net->find("espalier0"));
  ASSERT_TRUE(remove_bridge("espalier0", "espalier /a"));
  EXPECT_FALSE(net->find("espalier0"));
}

TEST_F(BridgeTest, ASecondOwnerIsToldWhatToDo) {
  ASSERT_TRUE(ensure_bridge("espalier0", subnet_, "espalier /a"));
  const auto name = ensure_bridge("espalier0", subnet_, "espalier /b");
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code, ErrorCode::kConflict);
  EXPECT_NE(name.error().message.find("espalier /a"), std::string::npos) << name.error().message;
  const auto addresses = ensure_bridge("espalier1", *parse_subnet("10.77.8.0/24"), "espalier /b");
  ASSERT_FALSE(addresses);
  EXPECT_NE(addresses.error().message.find("by the link espalier0"), std::string::npos) << addresses.error().message;
  EXPECT_FALSE(machine::Netlink::open()->find("espalier1"));
}

}  // namespace
}  // namespace espalier::local
