// The shapes of all operations: shapes.json has the facts of the service's published model in a form of our own,
// espalier.json in the same form what is ours, with `doc`, from which docs/wire-own.md is made.
//
//   operations  target → names of the input and output shape, the errors that the service documents for it
//   shapes      name → type and constraints. `match` is the pattern for RE2 where `pattern` has look-ahead; `oneOf` a
//               structure with exactly one member. ClusterInstanceType gets its values from the table of model/.
//
// Three marks of ours say what Espalier makes of the service's members: `eks` those of clusters with Orchestrator.Eks,
// `refuse` what is not served, and why; `need` what must be there although the service knows a default, and what to
// pass.
#pragma once

#include <cstdint>
#include <functional>
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
  std::string refuse, need;
  std::string doc;
};
BOOST_DESCRIBE_STRUCT(Member, (), (shape, required, eks, refuse, need, doc))

struct Shape {
  std::string type;                      // structure, list, map, string, integer, number, boolean, timestamp
  std::optional<std::int64_t> min, max;  // of the value, the length or the number of items
  std::string pattern, match;
  std::vector<std::string> values;
  std::function<std::string(std::string_view)> hint;  // instead of a long list of values, for one that is none of them
  bool oneOf = false;
  std::string member, key, value;  // shapes of a list's items, a map's keys and values
  std::string unique;              // the member of a list's items that must differ; ours, the model has no such mark
  std::map<std::string, Member> members;
  std::shared_ptr<const re2::RE2> regex;  // of match or pattern; null: any text
};
BOOST_DESCRIBE_STRUCT(Shape, (), (type, min, max, pattern, match, values, oneOf, member, key, value, unique, members))

struct OperationModel {
  std::string input, output;        // names of shapes; "" where nothing is known
  std::vector<std::string> errors;  // beside those that every operation may answer
  bool eks = false;                 // for clusters with Orchestrator.Eks
  std::string doc;
};
BOOST_DESCRIBE_STRUCT(OperationModel, (), (input, output, errors, eks, doc))

// Aborts when there is none: the data file is part of the program, and a test walks it.
const Shape& shape(const std::string& name);
// nullptr: there is no such operation.
const OperationModel* operation_model(std::string_view target);
// nullptr: there is no such operation, or its shape is not known.
const Shape* input_shape(std::string_view target);
const Shape* output_shape(std::string_view target);
// All targets, served or not.
std::vector<std::string> all_targets();

}  // namespace espalier::api
