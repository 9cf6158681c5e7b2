// How fast this machine is at best, for benchmarks to compare with.
#pragma once

namespace draftlab {

double read_speed(int threads);  // bytes a second: a large array that no cache holds, read once

}  // namespace draftlab

// Exported by the torch module: operations a second of a large product in f32 or bf16, the library's or our own, whichever is faster.
extern "C" double draftlab_product_speed(bool bf16, int threads);
