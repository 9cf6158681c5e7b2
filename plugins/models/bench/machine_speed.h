// How fast this machine is at best, for benchmarks to compare with.
#pragma once

namespace draftlab {

double read_speed(int threads);  // bytes a second: a large array that no cache holds, read once

}  // namespace draftlab

// Exported by the torch module: operations a second of a large product in f32 or bf16, libtorch's
// and our own.
extern "C" void draftlab_product_speed(bool bf16, int threads, double* library, double* own);
