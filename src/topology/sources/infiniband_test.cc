#include "topology/sources/infiniband.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "topology/sources/infiniband_text_test.h"

namespace espalier::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Path = std::vector<std::string>;

Positions positions(const IbText& text) { return read_ibnetdiscover(text.text())->positions; }

TEST(Ibnetdiscover, ReadsBothEndsAndWhatTheyAreCalled) {
  const auto subnet = parse_ibnetdiscover(
      "sysimgguid=0x2c5eab0300b87b40\n"
      "Switch\t65 \"S-2c5eab0300b87b40\"\t\t# \"MF0;A09-LEAF-04:MQM9701/U1\" enhanced port 0 lid 73 lmc 0\n"
      "[1]\t\"H-e09d7303007a4bd8\"[1](e09d7303007a4bd8) \t\t# \"a08-dgx-01 mlx5_5\" lid 647 4xNDR\n"
      "[2]\t\"H-e09d7303007a4bd8\"[2](e09d7303007a4bd9) \t\t# \"a08-dgx-01 mlx5_5\" lid 648 4xNDR\n");
  ASSERT_EQ(subnet.devices.size(), 2U);
  EXPECT_EQ(subnet.devices[0].system, "2c5eab0300b87b40");
  EXPECT_EQ(subnet.devices[1].kind, IbKind::host_adapter);
  EXPECT_EQ(subnet.devices[1].description, "a08-dgx-01 mlx5_5");
  EXPECT_EQ(subnet.devices[1].links.at(0), 2);
}

TEST(Ibnetdiscover, SaysWhichLinesAreNoPorts) {
  const auto subnet = parse_ibnetdiscover("[1]\t\"S-12\"[2]\nSwitch 3 \"S-xyz\" # \"a\"\nRt 1 \"R-1\"\n");
  EXPECT_THAT(subnet.left_out.lines(), ElementsAre(HasSubstr("line 1"), HasSubstr("line 2")));
}

TEST(Ibnetdiscover, KnowsVendorsDefaultsFromHostNames) {
  EXPECT_EQ(host_in("a08-dgx-01 mlx5_5"), "a08-dgx-01");
  EXPECT_EQ(host_in("n7"), "n7");
  EXPECT_EQ(host_in("n7 HCA-2"), "n7");
  for (const char* text :
       {"MT4129 ConnectX7   Mellanox Technologies", "MT25408", "localhost HCA-1", "", "(none)", "'; rm"})
    EXPECT_EQ(host_in(text), "") << text;
  EXPECT_EQ(switch_in("MF0;A09-LEAF-04:MQM9701/U1"), "A09-LEAF-04");
  EXPECT_EQ(switch_in("Quantum Mellanox Technologies"), "");
  EXPECT_TRUE(is_aggregation_node("Mellanox Technologies Aggregation Node"));
}

TEST(Infiniband, RailsOfAUnitAreOneLeaf) {
  const auto found = positions(IbText({.units = 2, .hosts = 3, .rails = 4}));
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found.at("dgx-0-0-1").network_nodes.back(), "leaf-0-0-0");
  EXPECT_EQ(found.at("dgx-0-0-1"), found.at("dgx-0-0-2"));
  EXPECT_EQ(found.at("dgx-0-1-0").network_nodes.back(), "leaf-0-1-0");
}

TEST(Infiniband, PodsHangOnTheirCores) {
  const auto found = positions(IbText({.pods = 2, .units = 2, .hosts = 2, .rails = 2}));
  EXPECT_EQ(found.at("dgx-1-1-0").network_nodes, (Path{"core-0", "spine-1-0-0", "leaf-1-1-0"}));
}

TEST(Infiniband, AServerOnASpineMakesItNoLeaf) {
  IbText text({.units = 3, .hosts = 4, .rails = 1});
  const auto plain = positions(text);
  text.link("spine-0-0-0", text.add_adapter("ufm-1", 0));
  auto found = positions(text);
  EXPECT_EQ(found.at("ufm-1").network_nodes, (Path{"spine-0-0-0"}));
  found.erase("ufm-1");
  EXPECT_EQ(found, plain);
}

TEST(Infiniband, NamelessAdaptersAreCountedAndCanBeNamed) {
  IbText text({.units = 1, .hosts = 2, .rails = 1});
  text.describe("dgx-0-0-1 mlx5_0", "MT4129 ConnectX7   Mellanox Technologies");
  const auto found = read_ibnetdiscover(text.text());
  EXPECT_FALSE(found->positions.contains("dgx-0-0-1"));
  ASSERT_THAT(found->left_out.lines(), ElementsAre(HasSubstr("1 adapters")));
  const std::string guid = "000000000000e002";  // the third device
  EXPECT_THAT(found->left_out.lines()[0], HasSubstr(guid));
  EXPECT_TRUE(read_ibnetdiscover(text.text(), {{guid, "dgx-0-0-1"}})->positions.contains("dgx-0-0-1"));
}

TEST(Infiniband, AHostOnTwoUnitsIsDoubtful) {
  IbText text({.units = 2, .hosts = 4, .rails = 1});
  text.link("leaf-0-0-0", text.add_adapter("split", 0));
  text.link("leaf-0-1-0", text.add_adapter("split", 1));
  const auto found = read_ibnetdiscover(text.text());
  EXPECT_TRUE(found->doubtful.contains("split"));
  EXPECT_TRUE(found->positions.contains("split"));
}

TEST(Infiniband, OtherTextIsRefused) { EXPECT_FALSE(read_ibnetdiscover("{\"Instances\": []}")); }

RailFabric random_fabric() {
  return {.pods = *rc::gen::inRange(1, 4),
          .units = *rc::gen::inRange(2, 4),
          .hosts = *rc::gen::inRange(3, 7),
          .rails = *rc::gen::inRange(3, 5),
          .spines = *rc::gen::inRange(3, 5),
          .cores = *rc::gen::inRange(3, 5)};
}

// The faults of real fabrics, one at a time, change nobody's place.
RC_GTEST_PROP(Infiniband, OneFaultMovesNobody, ()) {
  IbText text(random_fabric());
  const auto truth = positions(text);
  const auto at = *rc::gen::inRange<std::size_t>(0, text.cables());
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      text.cut(at);
      break;
    case 1:
      text.hide(at);
      break;
    case 2:  // a cable into the wrong unit
      text.link("leaf-0-0-0", "spine-0-1-1");
      break;
    default:
      text.link("leaf-0-1-0", text.add_adapter("dgx-0-0-0", 9));
  }
  RC_ASSERT(positions(text) == truth);
}

RC_GTEST_PROP(Infiniband, AnyTextIsRead, (const std::vector<std::string>& lines)) {
  std::string text = "Switch 1 \"S-1\" # \"x\"\n";
  for (const auto& line : lines) text += "[1] \"H-" + line + "\"[1] # \"" + line + "\"\n";
  RC_ASSERT(read_ibnetdiscover(text).has_value());
}

}  // namespace
}  // namespace espalier::topology
