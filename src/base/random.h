// Randomness comes in through a Random: from a seed in tests and simulation, from the system in `serve`.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace espalier {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // Seeded by the operating system. Not for secrets: those come from secret_bytes().
  static Random from_system();

  std::uint64_t next() { return engine_(); }
  // Uniform in [0, bound). bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(engine_);
  }
  // Uniform in [0, 1).
  double unit() { return std::uniform_real_distribution<double>(0.0, 1.0)(engine_); }
  std::string uuid();                   // lower case, version 4
  std::string hex(int digits);          // [0-9a-f]{digits}
  std::string letters_and_digits(int);  // [0-9a-z]{n}

 private:
  std::mt19937_64 engine_;
};

// n bytes from the kernel's generator, for keys and tokens.
std::string secret_bytes(int n);
// The same as lower-case hex, 2n characters.
std::string secret_hex(int n);

}  // namespace espalier
