#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace espalier {
namespace {

using testing::HasSubstr;

enum class Colour { red, green };
BOOST_DESCRIBE_ENUM(Colour, red, green)

struct Leaf {
  std::string name;
  std::optional<int> size;
};
BOOST_DESCRIBE_STRUCT(Leaf, (), (name, size))

struct Base {
  int inherited = 1;
};
BOOST_DESCRIBE_STRUCT(Base, (), (inherited))

struct Tree : Base {
  bool alive = false;
  std::int64_t rings = 0;
  std::uint8_t small = 0;
  double height = 0;
  std::string text;
  Colour colour = Colour::red;
  Id<struct TreeTag> id;
  Time planted{};
  Millis age{0};
  std::optional<Leaf> leaf;
  std::vector<Leaf> leaves;
  std::map<std::string, Leaf> by_name;
  json::object extra;
  json::array list;
  json::value any;
};
BOOST_DESCRIBE_STRUCT(Tree, (Base),
                      (alive, rings, small, height, text, colour, id, planted, age, leaf, leaves, by_name, extra, list,
                       any))

Tree sample() {
  Tree out;
  out.inherited = 7;
  out.alive = true;
  out.rings = std::numeric_limits<std::int64_t>::min();
  out.small = 255;
  out.height = 1.5;
  out.text = "ä\"\n";
  out.colour = Colour::green;
  out.id = Id<struct TreeTag>("t-1");
  out.planted = Time(Millis(1'700'000'000'123));
  out.age = Millis(-5);
  out.leaf = Leaf{"l", 3};
  out.leaves = {{"a", std::nullopt}, {"b", 0}};
  out.by_name = {{"x", {"x", 1}}};
  out.extra = {{"k", nullptr}};
  out.list = {1, "two"};
  out.any = true;
  return out;
}

Result<Tree> read(std::string_view text) { return from_json<Tree>(parse_json(text).value()); }
std::string error_of(std::string_view text) {
  const auto tree = read(text);
  return tree ? "it was read" : tree.error().message;
}

TEST(JsonTest, EveryKindOfMemberComesBack) {
  const std::string text = json::serialize(to_json(sample()));
  const auto back = read(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(json::serialize(to_json(*back)), text);
  EXPECT_EQ(back->inherited, 7);
  EXPECT_EQ(back->leaves[1].size, 0);
  EXPECT_EQ(back->planted, sample().planted);
}

TEST(JsonTest, WritesTheAgreedForms) {
  const json::value tree = to_json(sample());
  EXPECT_EQ(tree.at("colour"), "green");
  EXPECT_EQ(tree.at("planted"), 1'700'000'000'123);
  EXPECT_EQ(tree.at("age"), -5);
  EXPECT_EQ(tree.at("id"), "t-1");
  EXPECT_EQ(tree.at("by_name").at("x").at("size"), 1);
  EXPECT_EQ(to_json(std::vector<int>{}), json::value(json::array{}));
  EXPECT_EQ(to_json(std::optional<int>{}), json::value(nullptr));
}

TEST(JsonTest, OptionalsWithoutValueAreLeftOut) {
  EXPECT_EQ(json::serialize(to_json(Leaf{"l", std::nullopt})), R"({"name":"l"})");
}

TEST(JsonTest, UnknownAbsentAndNullMembersAreTolerated) {
  const auto tree = read(R"({"never_heard_of": [1], "rings": null, "leaf": null, "leaves": null})");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->inherited, 1);
  EXPECT_EQ(tree->rings, 0);
  EXPECT_FALSE(tree->leaf);
}

TEST(JsonTest, AMemberOfTheWrongTypeIsNamedByItsPath) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([])", "value: expected an object, found array"},
      {R"({"alive": 1})", "alive: expected true or false, found int64"},
      {R"({"rings": "1"})", "rings: expected a whole number in range, found string"},
      {R"({"rings": 1.5})", "rings: expected a whole number in range, found double"},
      {R"({"rings": 9223372036854775808})", "rings: expected a whole number in range, found uint64"},
      {R"({"small": 256})", "small: expected a whole number in range, found int64"},
      {R"({"small": -1})", "small: expected a whole number in range, found int64"},
      {R"({"height": "tall"})", "height: expected a number, found string"},
      {R"({"text": {}})", "text: expected a string, found object"},
      {R"({"colour": 1})", "colour: expected a string, found int64"},
      {R"({"colour": "blue"})", "colour: unknown value 'blue'"},
      {R"({"id": 4})", "id: expected a string, found int64"},
      {R"({"planted": "now"})", "planted: expected a whole number in range, found string"},
      {R"({"age": true})", "age: expected a whole number in range, found bool"},
      {R"({"leaf": {"size": "x"}})", "leaf.size: expected a whole number in range, found string"},
      {R"({"leaves": {}})", "leaves: expected a list, found object"},
      {R"({"leaves": [{}, {"name": 2}]})", "leaves[1].name: expected a string, found int64"},
      {R"({"by_name": []})", "by_name: expected an object, found array"},
      {R"({"by_name": {"x": {"size": []}}})", "by_name.x.size: expected a whole number in range, found array"},
      {R"({"extra": []})", "extra: expected an object, found array"},
      {R"({"list": {}})", "list: expected a list, found object"},
      {R"({"inherited": "x"})", "inherited: expected a whole number in range, found string"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(error_of(text), message) << text;
}

TEST(JsonTest, WholeNumbersMayBeWrittenAsDoubles) {
  EXPECT_EQ(read(R"({"rings": 3.0})")->rings, 3);
  EXPECT_EQ(read(R"({"height": 3})")->height, 3.0);
}

TEST(JsonTest, EnumNamesAndValues) {
  EXPECT_EQ(enum_name(Colour::green), "green");
  EXPECT_EQ(enum_value<Colour>("red"), Colour::red);
  EXPECT_EQ(enum_value<Colour>("Red"), std::nullopt);
  EXPECT_EQ(enum_name(static_cast<Colour>(99)), "?");
}

TEST(JsonTest, ParsingSaysWhereItStopped) {
  for (const char* text : {"", "{", "{\"a\" 1}", "[1,]", "nul", "\"\\x\"", "\"\xff\""}) {
    const auto parsed = parse_json(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(parsed.error().message, HasSubstr("not JSON"));
  }
  EXPECT_THAT(parse_json(R"({"a" 1})").error().message, HasSubstr("near byte"));
}

TEST(JsonTest, ParsingRefusesWhatFollowsTheValueButForSpace) {
  EXPECT_FALSE(parse_json("1 2"));
  EXPECT_FALSE(parse_json("{} x"));
  EXPECT_EQ(parse_json(" {} \r\n\t").value(), json::value(json::object{}));
}

TEST(JsonTest, WhatWasReadCanBeWrittenAndReadAgain) {
  for (const char* text : {"1e400", "[-1e9999]", R"({"a": {"b": 17976931348623157e300}})"})
    EXPECT_FALSE(parse_json(text)) << text;
  EXPECT_TRUE(parse_json(json::serialize(parse_json("[1e300, 1e-400]").value())));
}

TEST(JsonTest, ParsingIsBoundedInDepth) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_FALSE(parse_json(nested(65)));
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
}

TEST(JsonTest, PrettyIsTwoSpacesDeepAndCompactWhenEmpty) {
  const auto value = parse_json(R"({"a": [1, {"b": null}], "e": {}, "l": [], "s\"": "x"})").value();
  EXPECT_EQ(pretty_json(value),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"e\": {},\n"
            "  \"l\": [],\n  \"s\\\"\": \"x\"\n}");
  EXPECT_EQ(pretty_json(json::value(3)), "3");
}

RC_GTEST_PROP(JsonTest, PrettyTextParsesToTheSameValue, (std::map<std::string, std::vector<int>> numbers)) {
  json::object value;  // keys as hex: any bytes are not JSON
  for (const auto& [key, list] : numbers) value["k" + std::to_string(std::hash<std::string>()(key))] = to_json(list);
  RC_ASSERT(parse_json(pretty_json(value)).value() == json::value(value));
}

}  // namespace
}  // namespace espalier
