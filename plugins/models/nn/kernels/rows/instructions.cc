#include "plugins/models/nn/kernels/rows/instructions.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "core/base/error.h"

namespace draftlab {
namespace {

Instructions of_processor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq"))
    return Instructions::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Instructions::avx2;
#endif
  return Instructions::none;
}

Instructions most_allowed() {
  constexpr auto kWords = words(Instructions{});
  const char* const named = std::getenv("DRAFTLAB_INSTRUCTIONS");
  if (!named || !*named) return Instructions::avx512;
  const auto found = std::find(kWords.begin(), kWords.end(), named);
  if (found == kWords.end())
    throw ConfigError(
        "the environment's variable DRAFTLAB_INSTRUCTIONS is '{}'; it must be none, avx2 or avx512",
        named);
  return static_cast<Instructions>(found - kWords.begin());
}

enum Register : std::uint8_t { eax, ebx, ecx, edx };

// Returns a bit of what the processor says of itself.
bool processor_bit([[maybe_unused]] std::uint32_t leaf, [[maybe_unused]] Register which,
                   [[maybe_unused]] int bit) {
#if defined(__x86_64__)
  std::array<std::uint32_t, 4> said{};
  return __get_cpuid_count(leaf, 0, &said[eax], &said[ebx], &said[ecx], &said[edx]) &&
         (said[which] >> bit & 1) != 0;
#else
  return false;
#endif
}

}  // namespace

bool converts_halves() { return processor_bit(1, ecx, 29); }

bool multiplies_tiles() { return processor_bit(7, edx, 22) && processor_bit(7, edx, 24); }

Instructions instructions() {
  static const Instructions chosen = std::min(of_processor(), most_allowed());
  return chosen;
}

}  // namespace draftlab
