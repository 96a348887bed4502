#include "api/shapes.h"

#include <re2/re2.h>

#include <cstdlib>

#include "base/log.h"
#include "model/instance_type.h"

namespace espalier {
namespace embedded {
extern const std::string_view shapes_json;
extern const std::string_view espalier_json;
}  // namespace embedded

namespace api {

struct Model {
  std::map<std::string, OperationModel> operations;
  std::map<std::string, Shape> shapes;
};
BOOST_DESCRIBE_STRUCT(Model, (), (operations, shapes))

namespace {

[[noreturn]] void broken(const std::string& why) {
  log::error("api: shapes.json or espalier.json is broken: {}", why);
  std::abort();
}

void set_instance_types(Shape& shape) {
  for (const auto& [name, type] : instance_types()) shape.values.push_back(name);
  shape.hint = instance_type_hint;
}

Model read_model(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed) broken(parsed.error().message);
  auto read = from_json<Model>(*parsed);
  if (!read) broken(read.error().message);
  return std::move(*read);
}

const Model& model() {
  static const Model instance = [] {
    Model all = read_model(embedded::shapes_json);
    Model own = read_model(embedded::espalier_json);
    all.operations.merge(own.operations);
    all.shapes.merge(own.shapes);
    for (auto& [name, shape] : all.shapes) {
      if (shape.pattern.empty()) continue;
      shape.regex =
          std::make_shared<const re2::RE2>(shape.match.empty() ? shape.pattern : shape.match, re2::RE2::Quiet);
      if (!shape.regex->ok()) broken(name + ": " + shape.regex->error());
    }
    set_instance_types(all.shapes["ClusterInstanceType"]);
    return all;
  }();
  return instance;
}

const Shape* shape_of(std::string_view target, std::string OperationModel::* which) {
  const auto* operation = operation_model(target);
  return operation && !(operation->*which).empty() ? &shape(operation->*which) : nullptr;
}

}  // namespace

const Shape& shape(const std::string& name) {
  const auto found = model().shapes.find(name);
  if (found == model().shapes.end()) broken("no shape " + name);
  return found->second;
}

const OperationModel* operation_model(std::string_view target) {
  const auto found = model().operations.find(std::string(target));
  return found == model().operations.end() ? nullptr : &found->second;
}

const Shape* input_shape(std::string_view target) { return shape_of(target, &OperationModel::input); }
const Shape* output_shape(std::string_view target) { return shape_of(target, &OperationModel::output); }

std::vector<std::string> all_targets() {
  std::vector<std::string> out;
  for (const auto& [target, shapes] : model().operations) out.push_back(target);
  return out;
}

}  // namespace api
}  // namespace espalier
