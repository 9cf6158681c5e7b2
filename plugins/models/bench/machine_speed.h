// Measures how fast this machine is at best, for benchmarks to compare with.
#pragma once

namespace draftlab {

// Returns bytes a second: a large array that no cache holds is read once.
double read_speed(int threads);

// Returns the f32 operations that one thread does in a second: a loop of multiply-adds, of which
// each counts as two, in registers.
double multiply_add_speed();

}  // namespace draftlab

// The torch module exports this function. It measures the operations a second of a large product in
// f32 or bf16, for libtorch's product and for ours.
extern "C" void draftlab_product_speed(bool bf16, int threads, double* library, double* own);
