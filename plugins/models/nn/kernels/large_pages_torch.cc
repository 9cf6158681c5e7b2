#include "plugins/models/nn/kernels/large_pages_torch.h"

#include <ATen/ops/from_blob.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

namespace draftlab {
namespace {

constexpr std::size_t kPage = std::size_t{2} << 20, kChunk = std::size_t{32} << 20;

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// Memory that begins with a large page. The system gives pages when they are first written, so what
// nothing was put into costs nothing.
class Chunk {
 public:
  explicit Chunk(std::size_t bytes) : size_(rounded(bytes, kPage)) {
    all_ =
        ::mmap(nullptr, size_ + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all_ == MAP_FAILED) throw std::bad_alloc();
    begin_ = reinterpret_cast<char*>(rounded(reinterpret_cast<std::uintptr_t>(all_), kPage));
    // A system without large pages refuses, and small ones do, too.
    ::madvise(begin_, size_, MADV_HUGEPAGE);
  }
  ~Chunk() { ::munmap(all_, size_ + kPage); }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  // Returns the next bytes, or null where too few are left.
  char* take(std::size_t bytes) {
    if (bytes > size_ - used_) return nullptr;
    used_ += bytes;
    return begin_ + used_ - bytes;
  }

 private:
  void* all_;
  char* begin_;
  std::size_t size_, used_ = 0;
};

}  // namespace

at::Tensor room_for_weights(at::IntArrayRef sizes, at::ScalarType type) {
  static std::mutex alone;
  // The chunk that is being filled. It lives as long as a tensor in it does.
  static std::weak_ptr<Chunk> last;
  std::size_t bytes = at::elementSize(type);
  for (const std::int64_t size : sizes) bytes *= static_cast<std::size_t>(size);
  bytes = rounded(bytes, 64);
  const std::lock_guard lock(alone);
  std::shared_ptr<Chunk> chunk = last.lock();
  char* room = chunk ? chunk->take(bytes) : nullptr;
  if (!room) {
    last = chunk = std::make_shared<Chunk>(std::max(bytes, kChunk));
    room = chunk->take(bytes);
  }
  return at::from_blob(
      room, sizes, [chunk](void*) {}, at::TensorOptions(type));
}

}  // namespace draftlab
