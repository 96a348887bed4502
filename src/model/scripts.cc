#include "model/scripts.h"

#include <fmt/format.h>

#include <cstdint>

namespace espalier {

namespace {

// FNV-1a. It tells changes apart; nobody is kept out by it, for who may write scripts is root on the machines anyway.
void add(std::uint64_t& hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ 0xff) * 0x100000001b3;  // no UTF-8 text holds this byte: "ab","c" is not "a","bc"
}

}  // namespace

std::string digest_of(const std::vector<ScriptFile>& files) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto& file : files) {
    add(hash, file.path);
    add(hash, file.content);
    add(hash, file.executable ? "x" : "");
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace espalier
