// The shapes of all operations, from shapes.json: facts of the service's published model in a form of our own.
//
//   operations  target → names of the input and output shape
//   shapes      name → type and constraints. `match` is the pattern for RE2 where `pattern` has look-ahead; `eks` marks
//               members of clusters with Orchestrator.Eks; `oneOf` a union. ClusterInstanceType has no values here: the
//               table of instance types is model/'s, and reconcile::check() says more than "not one of 207".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace re2 {
class RE2;
}

namespace espalier::api {

struct Member {
  std::string shape;
  bool required = false;
  bool eks = false;
};
BOOST_DESCRIBE_STRUCT(Member, (), (shape, required, eks))

struct Shape {
  std::string type;                      // structure, list, map, string, integer, number, boolean, timestamp
  std::optional<std::int64_t> min, max;  // of the value, the length or the number of items
  std::string pattern, match;
  std::vector<std::string> values;
  bool oneOf = false;
  std::string member, key, value;  // shapes of a list's items, a map's keys and values
  std::map<std::string, Member> members;
  std::shared_ptr<const re2::RE2> regex;  // of match or pattern; null: any text
};
BOOST_DESCRIBE_STRUCT(Shape, (), (type, min, max, pattern, match, values, oneOf, member, key, value, members))

// Aborts when there is none: the data file is part of the program, and a test walks it.
const Shape& shape(const std::string& name);
// nullptr: there is no such operation.
const Shape* input_shape(std::string_view target);
const Shape* output_shape(std::string_view target);
// All targets, served or not.
std::vector<std::string> all_targets();

}  // namespace espalier::api
