// The part of a machine that torch may use: its device and its threads.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/model.h"

namespace draftlab {

// Throws ConfigError where this libtorch sees no such device.
at::Device device_of(const Machine& machine);
// Sets the threads of torch, of its BLAS and of our own kernels; 0 takes as many as this process
// may use.
void use_threads(int threads);

}  // namespace draftlab
