// The BLAS by which models multiply matrices, and whether it is slow.
#pragma once

#include <string>

namespace draftlab {

// What Debian's alternatives resolve to, which is the BLAS that libtorch loads.
struct Blas {
  using Product = void (*)(const char*, const char*, const int*, const int*, const int*,
                           const float*, const float*, const int*, const float*, const int*,
                           const float*, float*, const int*);
  Product product = nullptr;  // null where there is no BLAS
  std::string path, config;
};

Blas find_blas();

// Returns the GFLOP/s of a product of 32x1024x4096, or 0 where there is no BLAS.
double product_speed(const Blas& blas);

// Says whether this is the reference BLAS, which is always slow. OpenBLAS and its like are slow
// only while something else uses the cores.
bool is_reference(const Blas& blas);

// Returns what is wrong with a BLAS however idle the machine is: there is none, or it is the
// reference; "" for others.
std::string always_slow(const Blas& blas);

// Returns what is wrong with products of this speed, or "" where they are fast.
std::string complaint(const Blas& blas, double speed);

}  // namespace draftlab
