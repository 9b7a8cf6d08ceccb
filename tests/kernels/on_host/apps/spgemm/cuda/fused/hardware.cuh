// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "tests/kernels/on_host/cuda_on_host.hpp"

/// Replaces apps/spgemm/cuda/fused/hardware.cuh on the host.
namespace sortie::spgemm::cuda {

inline void trigger_dependent_launch() {}
inline void wait_for_prior_kernels() {}

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
void store_streaming(T* place, T value) {
  *place = value;
}
template <class T>
T load_streaming(const T* place) {
  return *place;
}

inline unsigned char* dynamic_shared_memory() {
  alignas(128) static unsigned char bytes[240 * 1024];
  return bytes;
}

}  // namespace sortie::spgemm::cuda
