// What every command is given: the control plane, where to write, and the clock.
#pragma once

#include <functional>
#include <iosfwd>

#include "base/clock.h"
#include "base/json.h"
#include "cli/service.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace espalier::cli {

struct Context {
  Service& service;
  const Clock& clock;
  std::ostream& out;
  std::ostream& err;
  Terminal terminal;
  bool json = false;                  // answers for programs instead of tables
  std::function<void(Millis)> pause;  // waits; a test advances its clock instead
};

void print(Context& context, const Table& table);
void print(Context& context, std::string_view line);
void print_json(Context& context, const json::value& value);

// The answer itself with --json, else as `as_text` prints it, read as T.
template <typename T, typename AsText>
Result<void> show_answer(Context& context, const Result<json::object>& answer, AsText as_text) {
  const auto read = read_answer<T>(answer);
  if (!read) return tl::unexpected(read.error());
  if (context.json)
    print_json(context, *answer);
  else
    as_text(*read);
  return {};
}

}  // namespace espalier::cli
