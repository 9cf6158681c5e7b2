#include "plugins/models/nn/kernels/rows/instructions.h"

#include <algorithm>
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

}  // namespace

Instructions instructions() {
  static const Instructions chosen = std::min(of_processor(), most_allowed());
  return chosen;
}

}  // namespace draftlab
