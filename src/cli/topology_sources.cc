#include "cli/topology_sources.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>

#include "base/file.h"
#include "base/process.h"

namespace espalier::cli {

namespace {

using topology::Located;

constexpr std::array kKinds = {"ec2", "ibnetdiscover", "nvlink", "model", "csv", "yaml"};
constexpr std::size_t kMostText = 512U << 20;  // 65,536 hosts with eight adapters each: some 100 MB
constexpr Millis kCommandTimeout{300'000};

Result<Located> read_kind(const SourceOption& source, std::string_view text, const topology::NameTable& names,
                          const std::vector<std::string>& nodes) {
  if (source.kind == "ec2") return topology::read_ec2(text);
  if (source.kind == "ibnetdiscover") return topology::read_ibnetdiscover(text, names);
  if (source.kind == "nvlink") return topology::read_nvlink(text);
  if (source.kind == "model") return topology::read_model(text, nodes);
  if (source.kind == "yaml") return topology::read_paths_yaml(text);
  return topology::read_csv(text);
}

Result<topology::NameTable> load_names(const std::string& file, const ReadText& read) {
  if (file.empty()) return topology::NameTable{};
  auto names = read(file).and_then([](const std::string& text) { return topology::read_names(text); });
  if (!names) return fail(names.error().code, "{}: {}", file, names.error().message);
  return names;
}

// Its ids are never Slurm's names by themselves, as those of the other kinds are.
void note_nameless(Located& located, const topology::NameTable& names, const std::string& file) {
  if (names.empty()) return;
  for (const auto& [id, position] : located.positions)
    if (!names.contains(id)) located.left_out.add(fmt::format("{} has no name for {}: it keeps its id", file, id));
}

Result<Located> load_one(const SourceOption& source, const SourcesOptions& options, const topology::NameTable& names,
                         const ReadText& read) {
  auto located = read(source.from).and_then([&](const std::string& text) {
    return read_kind(source, text, names, options.nodes);
  });
  if (!located) return fail(located.error().code, "{}={}: {}", source.kind, source.from, located.error().message);
  if (source.kind == "ec2") note_nameless(*located, names, options.names);
  return topology::rename(std::move(*located), names);
}

}  // namespace

Result<SourceOption> parse_source(const std::string& text) {
  const auto equals = text.find('=');
  SourceOption out{text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1)};
  if (std::ranges::find(kKinds, out.kind) == kKinds.end() || out.from.empty())
    return fail(ErrorCode::kInvalid, "'{}' is no source: give KIND=FILE with one of {}", text, fmt::join(kKinds, ", "));
  return out;
}

Result<std::string> read_text(const std::string& from) {
  if (from == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  if (!from.starts_with('|')) return read_file(from);
  auto ran = run({"/bin/sh", "-c", from.substr(1)}, {.timeout = kCommandTimeout, .output_limit = kMostText});
  if (!ran) return tl::unexpected(ran.error());
  if (ran->status != 0)
    return fail(ErrorCode::kUnavailable, "it ended with {}: {}", ran->status, topology::trim(ran->err.substr(0, 500)));
  return std::move(ran->out);
}

Result<Located> load(const SourcesOptions& options, const ReadText& read) {
  const auto names = load_names(options.names, read);
  if (!names) return tl::unexpected(names.error());
  std::vector<topology::Answer> answers;
  for (const auto& source : options.sources) {
    auto located = load_one(source, options, *names, read);
    if (!located) return tl::unexpected(located.error());
    answers.push_back({source.kind + "=" + source.from, std::move(*located)});
  }
  return topology::merge(std::move(answers));
}

Located load_what_answers(const SourcesOptions& options, const ReadText& read) {
  topology::Reasons failures;
  auto names = load_names(options.names, read);
  if (!names) failures.add(names.error().message);
  std::vector<topology::Answer> answers;
  for (const auto& source : options.sources) {
    auto located = load_one(source, options, names.value_or(topology::NameTable{}), read);
    if (located)
      answers.push_back({source.kind + "=" + source.from, std::move(*located)});
    else
      failures.add(located.error().message);
  }
  auto out = topology::merge(std::move(answers));
  out.left_out.add_all(failures, "");
  return out;
}

}  // namespace espalier::cli
