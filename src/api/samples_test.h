// Values that fit a shape, and values that do not: what constraints_test.cc builds its requests from.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/shapes.h"

namespace espalier::api::samples {

// A text of a shape with a pattern: `head`, as many of `fill` as the length asks for, `tail`. Without fill there is one
// length only. `wrong` has texts of a legal length that the pattern must refuse.
struct Text {
  std::string head, fill, tail;
  std::vector<std::string> wrong;

  std::size_t shortest() const { return head.size() + tail.size(); }
  bool fits(std::size_t length) const { return length == shortest() || (!fill.empty() && length > shortest()); }
  std::string of(std::size_t length) const {
    std::string out = head;
    while (!fill.empty() && out.size() + tail.size() < length) out += fill;
    return out + tail;
  }
};

inline const Text& text(const std::string& shape) {
  static const std::vector<std::string> names = {"-a", "a-", "a_b", "a b", "a\n", "ä"};
  static const std::map<std::string, Text> all = {
      {"AlarmName", {"a", " ", "", {" ", "\t\t"}}},
      {"BatchAddClusterNodesRequestClientTokenString", {"!", "~", "", {"a b", "a\n", "ü"}}},
      {"ClusterAvailabilityZone", {"us-west-2a", "", "", {"us-west-2", "US-west-2a", "us-west-2aa", "us--2a"}}},
      {"ClusterDnsName",
       {"fs-", "0", "01234567.abcd", {"fs-0123456789abcdef", "ft-01234567.abcd", "fs-0123456.abcdef"}}},
      {"ClusterFsxMountPath", {"/f", "x", "", {"fsx", "/a b", "/a\n"}}},
      {"ClusterInstanceGroupName", {"a", "b", "", names}},
      {"ClusterLifeCycleConfigFileName", {"o", "\n", "", {}}},  // takes any text
      {"ClusterMountName", {"f", "x", "", {"a b", "a.b"}}},
      {"ClusterName", {"a", "b", "", names}},
      {"ClusterNameOrArn",
       {"arn:aws:sagemaker:us-west-2:123456789012:cluster/abc123abc123",
        "",
        "",
        {"-a", "a_b", "arn:aws:sagemaker:us-west-2:123456789012:cluster/demo", std::string(64, 'a')}}},
      {"ClusterNodeId", {"i-0123456789abcdef0", "", "", {"i-0123456", "i-012345678", "i-0123456G", "m-01234567"}}},
      {"ClusterNodeLogicalId", {"a", "-", "z", {"-a", "a-", "a", "a_b"}}},
      {"ClusterPartitionName", {"a", "b", "", names}},
      {"EspalierAccessKeyId", {"ESPK", "A", "", {"ESPK-AAAAAAAAAAAAAAA", "ESPK AAAAAAAAAAAAAAA"}}},
      {"EspalierAccessKeyName", {"a", "b", "", {"-a", " a", "a\n", "a;b", "ä"}}},
      {"EspalierJobId", {"1", "2", "", {"a", "1-2", "1 2", "1;2", "_1"}}},
      {"EventId",
       {"01234567-89ab-4cde-8f01-23456789abcd",
        "",
        "",
        {"01234567-89AB-4cde-8f01-23456789abcd", "0123456789ab4cde8f0123456789abcd"}}},
      {"ImageId", {"ami-", "0", "01234567", {"ami-0123456", "ami-0123456g", "Default"}}},
      {"ImageReleaseVersion", {"1.2.", "3", "4", {"1.2", "1.2.3.4", "v1.2.3", "1.2.x"}}},
      {"KmsKeyId", {"a", ":", "", {"a b", "ä"}}},
      {"NameContains", {"a", "-", "", {"a b", "a_b"}}},
      {"NextToken", {"a", "b", "", {"a\nb"}}},
      {"ResourceArn", {"arn:aws:sagemaker:us-west-2:123456789012:cluster/a", "b", "", {"demo", "arn:aws:s3:::bucket"}}},
      {"RoleArn",
       {"arn:aws:iam::123456789012:role/a",
        "b",
        "",
        {"arn:aws:iam::12345678901:role/a", "arn:aws:iam::123456789012:user/a", "arn:aws:iam::123456789012:role/a b"}}},
      {"S3Uri", {"s3://a", "b", "", {"s3:/a", "http://a", "s3://"}}},
      {"SecurityGroupId", {"sg-", "1", "", {"sg_1", "sg 1"}}},
      {"SubnetId", {"subnet-", "1", "", {"subnet_1", "subnet 1"}}},
      {"TagKey", {"a", "@", "", {"a#", "a\tb", "a;b"}}},
      {"TagValue", {"", "b", "", {"a#", "a\tb", "a;b"}}},
      {"TrainingPlanArn",
       {"arn:aws:sagemaker:us-west-2:123456789012:training-plan/",
        "a",
        "",
        {"arn:aws:sagemaker:us-west-2:123456789012:training-pla/" + std::string(20, 'a')}}},
  };
  const auto found = all.find(shape);
  if (found == all.end()) throw std::out_of_range("give the pattern of the shape " + shape + " a sample");
  return found->second;
}

// At least 1 and what the shape asks for.
inline std::size_t length_of(const Shape& shape) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, shape.min.value_or(1)));
}

inline json::value good(const std::string& name);

inline bool is_served(const Member& member) { return !member.eks && member.refuse.empty(); }

inline json::object good_structure(const Shape& shape) {
  json::object out;
  for (const auto& [name, member] : shape.members)
    if (is_served(member) && (member.required || !member.need.empty() || (shape.oneOf && out.empty())))
      out[name] = good(member.shape);
  return out;
}

// `count` items; where they must differ, in that member.
inline json::array good_list(const Shape& shape, std::size_t count) {
  json::array out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(good(shape.member));
    if (!shape.unique.empty()) out.back().as_object()[shape.unique] = "k" + std::to_string(i);
  }
  return out;
}

inline json::value good_text(const std::string& name, const Shape& shape) {
  if (!shape.values.empty()) return json::string(shape.values.front());
  if (shape.pattern.empty()) return json::string(std::string(length_of(shape), 'a'));
  return json::string(text(name).of(std::max(length_of(shape), text(name).shortest())));
}

inline json::value good(const std::string& name) {
  const Shape& it = shape(name);
  if (it.type == "structure") return good_structure(it);
  if (it.type == "list") return good_list(it, length_of(it));
  if (it.type == "map") return json::object{{std::string_view(good(it.key).as_string()), good(it.value)}};
  if (it.type == "string") return good_text(name, it);
  if (it.type == "boolean") return true;
  if (it.type == "timestamp") return 1767225600.25;
  return it.min.value_or(1);
}

}  // namespace espalier::api::samples
