// Sources as the command line names them, read into positions by Slurm's node names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/sources/merge.h"

namespace espalier::cli {

// "ec2=answers.json", "ibnetdiscover=-" (standard input), "ibnetdiscover=|ibnetdiscover -s" (a command's output).
struct SourceOption {
  std::string kind;
  std::string from;
};
Result<SourceOption> parse_source(const std::string& text);

// The text of a file, of standard input or of a command. A test gives texts of its own.
using ReadText = std::function<Result<std::string>(const std::string& from)>;
Result<std::string> read_text(const std::string& from);

struct SourcesOptions {
  std::vector<SourceOption> sources;
  std::string names;               // file with ids and node names; empty: ids are names
  std::vector<std::string> nodes;  // of Slurm; leaves of a model are filled with them
};
// Fails at the first source that cannot be read.
Result<topology::Located> load(const SourcesOptions& options, const ReadText& read);
// Goes on without it, and says so: the others, and what was known before, may do.
topology::Located load_what_answers(const SourcesOptions& options, const ReadText& read);

}  // namespace espalier::cli
