// What an attacker writes into a request's strings: none of it may reach a file that Slurm reads, a shell or a database
// as anything but itself.
#include "api/api_fixture_test.h"
#include "reconcile/slurm/wanted.h"

namespace espalier::api {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kPayloads = {"EVIL\nNodeName=x",
                                            "EVIL\r\nPartitionName=x",
                                            "EVIL NodeName=x",
                                            "x=EVIL",
                                            "EVIL,b",
                                            "EVIL[0-99999999]",
                                            "EVIL\"; id; \"",
                                            "$(EVIL)",
                                            "`EVIL`",
                                            "EVIL;id",
                                            "EVIL|id",
                                            "../../EVIL",
                                            "/etc/EVIL",
                                            "EVIL/../..",
                                            "'; DROP TABLE clusters; -- EVIL",
                                            "EVIL%s%n",
                                            "EVIL#",
                                            std::string("EVIL\0x", 6),
                                            "EVIL\\",
                                            "\xFF\xFE"
                                            "EVIL",
                                            "EVIL\u202E",
                                            "{\"EVIL\": 1}",
                                            "-EVIL",
                                            "EVIL-"};

// Calls f(pointer) for every text in the value: "/InstanceGroups/0/InstanceGroupName".
void for_each_text(const json::value& value, const std::string& path,
                   const std::function<void(const std::string&)>& f) {
  if (value.is_string()) return f(path);
  if (value.is_object())
    for (const auto& [name, item] : value.get_object()) for_each_text(item, path + "/" + std::string(name), f);
  if (value.is_array())
    for (std::size_t i = 0; i < value.get_array().size(); ++i)
      for_each_text(value.get_array()[i], fmt::format("{}/{}", path, i), f);
}

class Attacks : public ApiTest {
 protected:
  // Everything that would be written for Slurm.
  std::string slurm_files() {
    std::string all;
    for (const auto& [id, state] : clusters.states)
      for (const auto& [name, text] : reconcile::slurm_wanted(state, {}).target.files) all += name + "\n" + text;
    return all;
  }
};

TEST_F(Attacks, NothingReachesSlurmsFiles) {
  auto request = parse_json(kDemo).value();
  request.as_object()["Tags"] = json::array{json::object{{"Key", "team"}, {"Value", "a"}}};
  std::vector<std::string> texts;
  for_each_text(request, "", [&](const std::string& pointer) { texts.push_back(pointer); });
  ASSERT_GE(texts.size(), 15u);
  int taken = 0, tried = 0;
  for (const auto& pointer : texts) {
    for (const auto& payload : kPayloads) {
      auto attack = request;
      attack.at_pointer(pointer) = payload;
      clusters.states.clear();
      const auto reply = call("CreateCluster", json::serialize(attack));
      ASSERT_THAT((std::vector{200, 400}), testing::Contains(reply.status)) << pointer << " = " << payload;
      ++tried;
      taken += reply.status == 200 ? 1 : 0;
      EXPECT_THAT(slurm_files(), Not(HasSubstr("EVIL"))) << pointer << " = " << payload;
    }
  }
  EXPECT_GT(taken, 0) << "texts that are only kept, such as a script's place, may be anything";
  EXPECT_LT(taken, tried / 4);
}

// Names as the API knows them: the only texts of a user that Slurm's files have.
TEST_F(Attacks, NamesAreRefused) {
  for (const auto* pointer :
       {"/ClusterName", "/InstanceGroups/1/InstanceGroupName", "/InstanceGroups/1/SlurmConfig/PartitionNames/0"})
    for (const auto& payload : kPayloads) {
      auto attack = parse_json(kDemo).value();
      attack.at_pointer(pointer) = payload;
      EXPECT_EQ(call("CreateCluster", json::serialize(attack)).status, 400) << pointer << " = " << payload;
    }
}

TEST_F(Attacks, HugeNumbers) {
  for (const auto* number : {"99999999999999999999999999", "-1", "1e300", "-1e300", "9223372036854775807",
                             "-9223372036854775808", "2147483648", "0.5", "1e-300"}) {
    EXPECT_EQ(call("CreateCluster", demo_with("/InstanceGroups/1/InstanceCount", number)).status, 400) << number;
    EXPECT_EQ(call("ListClusters", fmt::format(R"({{"MaxResults": {}}})", number)).status, 400) << number;
  }
  for (const auto* time : {"1e300", "-1e300", "9223372036854775807"})
    EXPECT_THAT((std::vector{200, 400}),
                testing::Contains(call("ListClusters", fmt::format(R"({{"CreationTimeAfter": {}}})", time)).status))
        << time;
}

TEST_F(Attacks, ManyAndLongMembers) {
  std::string many = "{";
  for (int i = 0; i < 100'000; ++i) many += fmt::format("\"M{}\": {},", i, i);
  EXPECT_EQ(call("ListClusters", many + "\"Z\": 0}").status, 200);  // unknown members are ignored
  EXPECT_EQ(call("DescribeCluster", R"({"ClusterName": ")" + std::string(1 << 20, 'a') + "\"}").status, 400);
  EXPECT_EQ(call("ListClusters", R"({"NextToken": ")" + std::string(9000, 'a') + "\"}").status, 400);
}

}  // namespace
}  // namespace espalier::api
