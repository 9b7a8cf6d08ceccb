#pragma once

#include <atomic>
#include <cstdint>

#include "cuda_on_host.hpp"

/// apps/spgemm/cuda/fused/hardware.cuh, on the host.
namespace sortie::spgemm::cuda {

inline void let_next_kernel_start() {}
inline void end_after_kernels_before() {}

class WarpSignal {
 public:
  void prepare() { lanes_ = 0; }
  void raise() {
    ++lanes_;
    lanes_.notify_all();
  }
  void wait(std::uint32_t before) {
    std::uint32_t lanes = lanes_;
    for (; lanes < 32 * (before + 1); lanes = lanes_) lanes_.wait(lanes);
  }

 private:
  std::atomic<std::uint32_t> lanes_;
};

using SharedAddress = const void*;
template <class T>
SharedAddress shared_address(const T* place) {
  return place;
}
template <class T>
void load_shared(SharedAddress address, T& value) {
  value = *static_cast<const T*>(address);
}
template <class T>
void store_shared(SharedAddress address, T value) {
  *static_cast<T*>(const_cast<void*>(address)) = value;
}

inline std::uint32_t read_shared_word(const std::uint32_t& word) {
  return std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t&>(word)).load();
}

template <class T>
void write_once(T* place, T value) {
  *place = value;
}
template <class T>
T read_once(const T* place) {
  return *place;
}

inline unsigned char* dynamic_shared_memory() {
  alignas(128) static unsigned char bytes[240 * 1024];
  return bytes;
}

}  // namespace sortie::spgemm::cuda
