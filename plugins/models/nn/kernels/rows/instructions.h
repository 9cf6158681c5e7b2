// Which vector instructions the kernels use: one build serves every processor.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace draftlab {

enum class Instructions : std::uint8_t { none, avx2, avx512 };
constexpr std::array<std::string_view, 3> words(Instructions) { return {"none", "avx2", "avx512"}; }

// Returns the widest that the processor has, or narrower ones where the environment's variable
// DRAFTLAB_INSTRUCTIONS names them: none, avx2 (with FMA), or avx512 (with BW, DQ and VL, and with
// the products of whole numbers, of bf16 and of matrix tiles that the processor has beside them).
// Throws ConfigError where the variable is something else.
Instructions instructions();

// What not every compiler knows by name: whether the processor converts numbers of 16 bits (F16C),
// and whether it multiplies tiles of bf16 (AMX).
bool converts_halves();
bool multiplies_tiles();

#if defined(__x86_64__)
template <class Loop>
__attribute__((target("avx512f"), flatten)) auto with_avx512(const Loop& loop) {
  return loop();
}
template <class Loop>
__attribute__((target("avx2,fma"), flatten)) auto with_avx2(const Loop& loop) {
  return loop();
}
#endif

// Runs a loop that the compiler turns into vector instructions, compiled for those that are used.
// What the loop calls must be inline.
template <class Loop>
auto on_widest(const Loop& loop) {
#if defined(__x86_64__)
  if (instructions() == Instructions::avx512) return with_avx512(loop);
  if (instructions() == Instructions::avx2) return with_avx2(loop);
#endif
  return loop();
}

}  // namespace draftlab
