// What the fused kernels of a decoder layer share: how they reach the numbers of a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace draftlab::fused {

// The bits of a bf16.
using Half = std::uint16_t;

template <class T>
T* data(const at::Tensor& tensor) {
  return static_cast<T*>(tensor.data_ptr());
}
inline bool is_bf16(const at::Tensor& tensor) { return tensor.scalar_type() == at::kBFloat16; }

// Calls `loop` with a number of the type that the tensor holds: a Half, or a float.
template <class Loop>
void of_type(const at::Tensor& tensor, const Loop& loop) {
  if (is_bf16(tensor))
    loop(Half{});
  else
    loop(float{});
}

}  // namespace draftlab::fused
