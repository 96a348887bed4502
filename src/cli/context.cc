#include "cli/context.h"

#include <ostream>

namespace espalier::cli {

void print(Context& context, const Table& table) {
  for (const auto& line : table.lines(context.terminal)) context.out << line << '\n';
}

void print(Context& context, std::string_view line) { context.out << line << std::endl; }

void print_json(Context& context, const json::value& value) { context.out << pretty_json(value) << std::endl; }

}  // namespace espalier::cli
