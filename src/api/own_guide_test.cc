// docs/wire-own.md is made from espalier.json.
#include <gtest/gtest.h>

#include <set>

#include "api/shapes.h"
#include "base/file.h"
#include "model/access_key.h"
#include "model/names.h"

namespace espalier::api {
namespace {

std::string bounds(const Shape& shape) {
  if (shape.min && shape.max) return fmt::format(" {}–{}", *shape.min, *shape.max);
  if (shape.min) return fmt::format(" from {}", *shape.min);
  return shape.max ? fmt::format(" up to {}", *shape.max) : "";
}

std::string type_text(const std::string& name) {
  const Shape& it = shape(name);
  if (it.type == "structure") return name;
  if (it.type == "list") return "list of " + type_text(it.member) + bounds(it);
  if (it.type == "map") return "map of " + type_text(it.value);
  if (it.type == "timestamp") return "epoch seconds";
  if (it.hint) return "an instance type";
  if (it.values.empty()) return it.type + bounds(it);
  std::vector<std::string> values = it.values;
  for (auto& value : values)
    if (value.empty()) value = "\"\"";
  return fmt::format("{}", fmt::join(values, ", "));
}

void write_structure(const std::string& name, const char* title, std::string& out) {
  const Shape& it = shape(name);
  if (it.members.empty()) return;
  out += fmt::format("\n{}:\n\n| Member | Type | |\n|---|---|---|\n", title);
  for (const auto& [member, of] : it.members) {
    const auto note =
        fmt::format("{}{}{}", of.required ? "always" : "", of.required && !of.doc.empty() ? "; " : "", of.doc);
    out += fmt::format("| `{}` | {} | {} |\n", member, type_text(of.shape), note);
  }
}

void collect_structures(const std::string& name, std::set<std::string>& found) {
  const Shape& it = shape(name);
  for (const auto& next : {it.member, it.value})
    if (!next.empty()) collect_structures(next, found);
  for (const auto& [member, of] : it.members) {
    if (shape(of.shape).type == "structure") found.insert(of.shape);
    collect_structures(of.shape, found);
  }
  if (it.type == "list" || it.type == "map")
    for (const auto& next : {it.member, it.value})
      if (!next.empty() && shape(next).type == "structure") found.insert(next);
}

std::string guide() {
  std::string out;
  std::set<std::string> structures;
  for (const auto& target : all_targets()) {
    if (!target.starts_with("Espalier.")) continue;
    const auto& operation = *operation_model(target);
    out += fmt::format("\n## {}\n\n{}\n", target, operation.doc);
    if (!operation.errors.empty()) out += fmt::format("\nErrors: {}.\n", fmt::join(operation.errors, ", "));
    write_structure(operation.input, "Request", out);
    write_structure(operation.output, "Answer", out);
    for (const auto& name : {operation.input, operation.output}) collect_structures(name, structures);
  }
  out += "\n## Structures\n";
  for (const auto& name : structures) write_structure(name, name.c_str(), out);
  return out;
}

TEST(OwnGuide, IsMadeFromTheShapes) {
  const auto read = read_file(ESPALIER_OWN_GUIDE);
  ASSERT_TRUE(read) << read.error().message;
  const auto from = read->find("\n## Espalier.");
  ASSERT_NE(from, std::string::npos);
  EXPECT_TRUE(read->substr(from) == guide()) << "put this into " ESPALIER_OWN_GUIDE ":\n" << guide();
}

template <typename Enum>
std::vector<std::string> names_of() {
  std::vector<std::string> out;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>(
      [&](auto each) { out.emplace_back(each.name); });
  return out;
}

TEST(OwnGuide, EnumsAreThoseOfTheModel) {
  EXPECT_EQ(shape("EspalierNodeState").values, names_of<SlotState>());
  EXPECT_EQ(shape("EspalierConditionType").values, names_of<ConditionType>());
  EXPECT_EQ(shape("EspalierRole").values, names_of<Role>());
}

TEST(OwnGuide, EveryOperationIsDescribedWhole) {
  for (const auto& target : all_targets()) {
    if (!target.starts_with("Espalier.")) continue;
    EXPECT_TRUE(input_shape(target)) << target;
    EXPECT_TRUE(output_shape(target)) << target;
    EXPECT_FALSE(operation_model(target)->doc.empty()) << target;
  }
}

}  // namespace
}  // namespace espalier::api
