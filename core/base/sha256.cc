#include "core/base/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace draftlab {
namespace {

constexpr std::size_t kBlock = 64, kRounds = 64;

using State = std::array<std::uint32_t, 8>;

// The constants are the first 32 bits of the fractions of roots of the first primes: of cube roots
// for the rounds, of square roots for the state that a digest begins with.
struct Constants {
  std::array<std::uint32_t, kRounds> rounds;
  State begin;

  Constants() {
    std::size_t found = 0;
    for (int number = 2; found < kRounds; ++number) {
      bool prime = true;
      for (int divisor = 2; divisor * divisor <= number; ++divisor)
        prime = prime && number % divisor != 0;
      if (!prime) continue;
      rounds[found] = fraction(std::cbrt(static_cast<long double>(number)));
      if (found < begin.size())
        begin[found] = fraction(std::sqrt(static_cast<long double>(number)));
      ++found;
    }
  }
  static std::uint32_t fraction(long double root) {
    return static_cast<std::uint32_t>(std::ldexp(root - std::floor(root), 32));
  }
};

// Takes one block of 64 bytes into the state.
void take(State& state, const unsigned char* block, const Constants& constants) {
  std::array<std::uint32_t, kRounds> words;
  for (std::size_t i = 0; i < 16; ++i) {
    words[i] = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) words[i] = words[i] << 8 | block[4 * i + byte];
  }
  for (std::size_t i = 16; i < kRounds; ++i) {
    const std::uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < kRounds; ++i) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + constants.rounds[i] + words[i],
                        second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                                 ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const State more = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += more[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  static const Constants constants;
  State state = constants.begin;
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::size_t whole = bytes.size() / kBlock * kBlock;
  for (std::size_t at = 0; at < whole; at += kBlock) take(state, data + at, constants);
  // The rest, a bit that is set, zeros, and the number of bits.
  std::string rest(bytes.substr(whole));
  rest += '\x80';
  while (rest.size() % kBlock != kBlock - 8) rest += '\0';
  for (int shift = 56; shift >= 0; shift -= 8)
    rest += static_cast<char>(static_cast<std::uint64_t>(bytes.size()) * 8 >> shift);
  for (std::size_t at = 0; at < rest.size(); at += kBlock)
    take(state, reinterpret_cast<const unsigned char*>(rest.data()) + at, constants);
  std::string text;
  for (const std::uint32_t word : state) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", word);
    text += digits;
  }
  return text;
}

}  // namespace draftlab
