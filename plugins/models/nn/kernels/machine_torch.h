// The part of a machine that torch may use: its device and its threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "core/model/model.h"

namespace draftlab {

// Returns where a model computes by tensor operations, on a GPU or for tests on the CPU; nothing
// where our own kernels compute (Device::cpu). Throws ConfigError where this libtorch sees no such
// device.
std::optional<at::Device> tensor_device(const Machine& machine);
// The options of tensors that hold weights, keys and values there: f32 or bf16.
at::TensorOptions tensor_options(at::Device device, Precision precision);
// Sets the threads of torch, of its BLAS and of our own kernels; 0 takes as many as this process
// may use.
void use_threads(int threads);
// Does the same, and every forward uses them all, whatever is faster (thread_choice_torch.h).
void use_all_threads(int threads);

}  // namespace draftlab
