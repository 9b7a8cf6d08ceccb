#include "sortie/core/cuda/posted_result.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::detail {
namespace {

/// Boxes that nobody has. Never destroyed: the driver may be gone when statics are.
struct IdleBoxes {
  std::mutex mutex;
  std::vector<PostBox> boxes;
};

IdleBoxes& idle_boxes() {
  static auto& boxes = *new IdleBoxes;
  return boxes;
}

}  // namespace

PostBox take_post_box() {
  PostBox box;
  check_cuda(cudaGetDevice(&box.device));
  IdleBoxes& idle = idle_boxes();
  const std::lock_guard lock(idle.mutex);
  // The last one that was used is in the cache.
  const auto found =
      std::ranges::find(idle.boxes.rbegin(), idle.boxes.rend(), box.device, &PostBox::device);
  if (found != idle.boxes.rend()) {
    box = *found;
    idle.boxes.erase(std::next(found).base());
    return box;
  }
  check_cuda(cudaEventCreateWithFlags(&box.written, cudaEventDisableTiming));
  try {
    box.memory = allocate_pinned(PostBox::bytes);
  } catch (...) {
    static_cast<void>(cudaEventDestroy(box.written));
    throw;
  }
  return box;
}

void give_back(const PostBox& box) noexcept {
  IdleBoxes& idle = idle_boxes();
  const std::lock_guard lock(idle.mutex);
  try {
    idle.boxes.push_back(box);
  } catch (...) {
    static_cast<void>(cudaFreeHost(box.memory));
    static_cast<void>(cudaEventDestroy(box.written));
  }
}

}  // namespace sortie::detail
