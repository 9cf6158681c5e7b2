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

}  // namespace draftlab::fused
