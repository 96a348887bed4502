// Runs a fuzz target where there is no libFuzzer: over every file of a corpus, and over mutations of them, the same in
// each run. usage: x_fuzz CORPUS_FOLDER
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kMutations = 2000;

void try_one(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::string> out{""};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return out;
}

// A piece of one input in a place of another, or a changed byte.
std::string mutate(const std::vector<std::string>& corpus, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  auto text = corpus[below(corpus.size())];
  for (auto changes = 1 + below(4); changes > 0; --changes) {
    const auto& other = corpus[below(corpus.size())];
    if (below(2) == 0 && !text.empty())
      text[below(text.size())] = static_cast<char>(below(256));
    else
      text.replace(below(text.size()), below(40), other.substr(below(other.size()), below(200)));
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const auto corpus = read_corpus(argc == 2 ? argv[1] : "");
  for (const auto& text : corpus) try_one(text);
  std::mt19937 random(1);
  for (int i = 0; i < kMutations; ++i) try_one(mutate(corpus, random));
  std::printf("%zu inputs, %d mutations\n", corpus.size(), kMutations);
}
