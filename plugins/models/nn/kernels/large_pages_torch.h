// Room for weights in large pages. A forward reads all weights once, in their order: in pages of
// 4 KiB a processor fetches nothing beyond the page that it reads, and looks up one address after
// another.
#pragma once

#include <ATen/core/Tensor.h>

namespace draftlab {

// Returns a tensor that is not initialised and begins at a multiple of 64 bytes. Its neighbours in
// memory are those that were made before and after it, so that small ones share large pages.
at::Tensor room_for_weights(at::IntArrayRef sizes, at::ScalarType type);

}  // namespace draftlab
