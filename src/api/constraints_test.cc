// Every constraint of every member of every operation, from shapes.json: a request with the member at, under and over
// each bound, with each value of an enum and none of them, fitting its pattern and not, absent, null and of another
// type. What is wrong must be said with the member's path; operations that are served are asked on the wire.
#include "api/api_fixture_test.h"
#include "api/operations.h"
#include "api/samples_test.h"

namespace espalier::api {
namespace {

using testing::HasSubstr;

// Makes the whole request around a value at some place in it.
using Around = std::function<json::object(json::value)>;

class Constraints : public ApiTest, public testing::WithParamInterface<std::string> {
 protected:
  void accepted(const Around& around, const json::value& value, const std::string& path) {
    ++cases_;
    const auto valid = validate(*input_shape(GetParam()), around(value));
    EXPECT_TRUE(valid) << path << " = " << json::serialize(value).substr(0, 200) << ": " << valid.error().message;
  }
  void refused(const Around& around, const json::value& value, const std::string& path, const std::string& constraint) {
    ++cases_;
    const auto body = around(value);
    const auto what = "at '" + path + "' failed to satisfy constraint: " + constraint;
    if (!find_operation(GetParam())) {
      const auto valid = validate(*input_shape(GetParam()), body);
      ASSERT_FALSE(valid) << json::serialize(body);
      EXPECT_THAT(valid.error().message, HasSubstr(what));
      return;
    }
    const auto reply = call(GetParam(), json::serialize(body));
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.type(), "ValidationException");
    EXPECT_THAT(reply.message(), HasSubstr(what)) << json::serialize(body).substr(0, 1000);
  }

  void check(const std::string& name, const Around& around, const std::string& path) {
    const Shape& it = shape(name);
    if (it.type == "structure") return structure(it, around, path);
    other_types(it, around, path);
    if (it.type == "list") return list(it, around, path);
    if (it.type == "map") return map(it, around, path);
    if (it.type == "string") return string(name, it, around, path);
    if (it.type == "integer" || it.type == "number") number(it, around, path);
    if (it.type == "boolean")
      for (const bool value : {true, false}) accepted(around, value, path);
    if (it.type == "timestamp")
      for (const double value : {-1.0, 0.0, 1767225600.25, 253402300799.0}) accepted(around, value, path);
  }

  int cases_ = 0;

 private:
  static std::string below(const std::string& path, std::string name) {
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
    return path.empty() ? name : path + "." + name;
  }

  void structure(const Shape& it, const Around& around, const std::string& path) {
    const json::object least = samples::good_structure(it);
    accepted(around, least, path);
    if (!path.empty()) refused(around, "text", path, "Member must be a structure");
    for (const auto& [name, member] : it.members) {
      const auto at = below(path, name);
      const Around inside = [&, name = name](json::value value) {
        json::object whole = it.oneOf ? json::object() : least;
        whole[name] = std::move(value);
        return around(std::move(whole));
      };
      if (!samples::is_served(member)) {
        refused(inside, "anything", at, member.eks ? "Member is for clusters with Orchestrator.Eks" : member.refuse);
        continue;
      }
      if (member.required || !member.need.empty())
        refused(inside, nullptr, at, "Member must not be null");
      else if (!it.oneOf)
        accepted(inside, nullptr, at);
      check(member.shape, inside, at);
    }
    if (it.oneOf) {
      refused(around, json::object(), path, "Member must have exactly one of");
      json::object all;
      for (const auto& [name, member] : it.members)
        all[name] = samples::is_served(member) ? samples::good(member.shape) : json::object();
      refused(around, all, path, "Member must have exactly one of");
    }
  }

  void list(const Shape& it, const Around& around, const std::string& path) {
    const auto of = [&](std::int64_t count) { return samples::good_list(it, static_cast<std::size_t>(count)); };
    lengths(it, of, [](std::size_t) { return true; }, around, path);
    refused(around, json::array{nullptr}, path + ".1.member", "Member must not be null");
    check(it.member, [&](json::value value) { return around(json::array{std::move(value)}); }, path + ".1.member");
    if (it.unique.empty()) return;
    const auto item = samples::good(it.member);
    refused(around, json::array{item, item}, below(path + ".2.member", it.unique), "Member must differ");
  }

  void map(const Shape& it, const Around& around, const std::string& path) {
    const std::string key(samples::good(it.key).as_string());
    check(it.value, [&](json::value value) { return around(json::object{{key, std::move(value)}}); }, path + "." + key);
    const Shape& keys = shape(it.key);
    if (!keys.max) return;
    const std::string longer(static_cast<std::size_t>(*keys.max) + 1, 'k');
    refused(around, json::object{{longer, samples::good(it.value)}}, path + "." + longer,
            "Member must have length less");
  }

  void string(const std::string& name, const Shape& it, const Around& around, const std::string& path) {
    for (const auto& value : it.values) accepted(around, json::string(value), path);
    if (!it.values.empty()) return refused(around, "none of these", path, "Member must ");
    if (it.pattern.empty())
      return lengths(
          it, [](std::int64_t n) { return json::string(std::string(static_cast<std::size_t>(n), 'a')); },
          [](std::size_t) { return true; }, around, path);
    const auto& sample = samples::text(name);
    const auto of = [&](std::int64_t n) { return json::string(sample.of(static_cast<std::size_t>(n))); };
    accepted(around, samples::good(name), path);
    lengths(it, of, [&](std::size_t n) { return sample.fits(n); }, around, path);
    for (const auto& wrong : sample.wrong)
      refused(around, json::string(wrong), path, "Member must satisfy regular expression pattern: " + it.pattern);
  }

  // At, under and over both bounds. A text that its pattern keeps from a bound is only tried beyond it.
  template <typename Of>
  void lengths(const Shape& it, const Of& of, const std::function<bool(std::size_t)>& possible, const Around& around,
               const std::string& path) {
    if (it.min && possible(static_cast<std::size_t>(*it.min))) accepted(around, of(*it.min), path);
    if (it.min.value_or(0) > 0)
      refused(around, shortened(it, of(*it.min), *it.min - 1), path,
              fmt::format("Member must have length greater than or equal to {}", *it.min));
    if (!it.max) return;
    if (possible(static_cast<std::size_t>(*it.max))) accepted(around, of(*it.max), path);
    refused(around, lengthened(it, of(*it.max), *it.max + 1), path,
            fmt::format("Member must have length less than or equal to {}", *it.max));
  }
  static json::value shortened(const Shape&, json::value value, std::int64_t length) {
    if (value.is_array())
      value.get_array().resize(static_cast<std::size_t>(length));
    else
      value.as_string().resize(static_cast<std::size_t>(length));
    return value;
  }
  static json::value lengthened(const Shape& it, json::value value, std::int64_t length) {
    if (value.is_array()) return samples::good_list(it, static_cast<std::size_t>(length));
    value.as_string().resize(static_cast<std::size_t>(length), 'z');
    return value;
  }

  void number(const Shape& it, const Around& around, const std::string& path) {
    if (it.min) {
      accepted(around, *it.min, path);
      refused(around, *it.min - 1, path, fmt::format("Member must have value greater than or equal to {}", *it.min));
    }
    if (it.max) {
      accepted(around, *it.max, path);
      refused(around, *it.max + 1, path, fmt::format("Member must have value less than or equal to {}", *it.max));
    }
    if (it.type == "integer")
      refused(around, static_cast<double>(it.min.value_or(1)) + 0.5, path, "Member must be an integer");
  }

  void other_types(const Shape& it, const Around& around, const std::string& path) {
    const std::map<std::string, const char*> said = {
        {"string", "a string"},       {"integer", "an integer"}, {"number", "a number"}, {"boolean", "true or false"},
        {"timestamp", "a timestamp"}, {"list", "a list"},        {"map", "a map"}};
    const std::string expected = std::string("Member must be ") + said.at(it.type);
    const bool number = it.type == "integer" || it.type == "number" || it.type == "timestamp";
    if (it.type != "string") refused(around, "1", path, expected);
    if (!number) refused(around, 1, path, expected);
    if (it.type != "boolean") refused(around, true, path, expected);
    if (it.type != "list") refused(around, json::array{}, path, expected);
    if (it.type != "map") refused(around, json::object{}, path, expected);
  }
};

TEST_P(Constraints, Hold) {
  const auto* model = operation_model(GetParam());
  check(model->input, [](const json::value& value) { return value.as_object(); }, "");
  RecordProperty("cases", cases_);
  EXPECT_GT(cases_, shape(model->input).members.empty() ? 0 : 3);
}

std::vector<std::string> operations_with_input() {
  std::vector<std::string> out;
  for (const auto& target : all_targets())
    if (input_shape(target) && !operation_model(target)->eks) out.push_back(target);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Every, Constraints, testing::ValuesIn(operations_with_input()),
                         [](const auto& item) { return item.param.substr(item.param.find('.') + 1); });

}  // namespace
}  // namespace espalier::api
