#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "cuda_on_host.hpp"

/// apps/spgemm/cuda/fused/hardware.cuh, on the host.
namespace sortie::spgemm::cuda {

inline void let_next_kernel_start() {}
inline void end_after_kernels_before() {}

namespace detail {

/// A barrier of two warps, at which one only arrives.
class PairBarrier {
 public:
  void arrive() {
    const std::lock_guard lock(mutex_);
    count();
  }
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const int phase = phase_;
    if (!count()) changed_.wait(lock, [&] { return phase_ != phase; });
  }

 private:
  bool count() {
    if (++arrived_ < 64) return false;
    arrived_ = 0;
    ++phase_;
    changed_.notify_all();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int phase_ = 0;
};
inline PairBarrier pair_barriers[16];

}  // namespace detail

template <int Warps>
void wait_for_other_warp(int barrier) {
  detail::pair_barriers[barrier].arrive_and_wait();
}
template <int Warps>
void release_other_warp(int barrier) {
  detail::pair_barriers[barrier].arrive();
}

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
