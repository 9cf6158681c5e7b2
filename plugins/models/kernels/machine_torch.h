// The part of a machine that torch may use: its device and its threads.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/parts/model.h"

namespace draftlab {

// ConfigError where this libtorch sees no such device.
at::Device device_of(const Machine& machine);
// Threads of torch, of its BLAS and of our own kernels; 0: as many as this process may use.
void use_threads(int threads);

}  // namespace draftlab
