// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/kernels/on_host/block_threads.hpp"
#include "tests/support/sanitizers.hpp"

/// CUDA C++ for an ordinary compiler: as much of it as the kernels use. The threads of a block are
/// those of block_threads.hpp, and shared memory is static memory, so that ThreadSanitizer and
/// AddressSanitizer see what a kernel does. Blocks run one after the other; a grid that waits for
/// itself has one block.
///
/// The lanes of a warp are not in step: a test of a kernel that forgets a __syncwarp() fails.

#undef __device__
#undef __global__
#undef __host__
#undef __shared__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __grid_constant__
#define __device__
#define __global__
#define __host__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__

namespace cuda_on_host {

/// What the threads of the running block share.
struct Block {
  static constexpr unsigned int most_threads = 1024;

  std::unique_ptr<Barrier> all;
  std::vector<std::unique_ptr<Barrier>> warps;
  std::map<std::pair<int, int>, std::unique_ptr<Barrier>> teams;  ///< by threads and number
  std::mutex mutex;
  std::uint64_t slots[most_threads];  ///< what a thread tells its warp, or its block
};
inline Block block;

#if SORTIE_TEST_TSAN
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
/// While it lives, ThreadSanitizer does not look at the thread: a shuffle or a vote is no barrier
/// for the memory of the kernel, although it takes barriers here.
struct Unseen {
  Unseen() {
    AnnotateIgnoreSyncBegin("", 0);
    AnnotateIgnoreReadsBegin("", 0);
    AnnotateIgnoreWritesBegin("", 0);
  }
  ~Unseen() {
    AnnotateIgnoreWritesEnd("", 0);
    AnnotateIgnoreReadsEnd("", 0);
    AnnotateIgnoreSyncEnd("", 0);
  }
};
#else
struct Unseen {
  Unseen() {}
  ~Unseen() {}
};
#endif

}  // namespace cuda_on_host

struct alignas(16) uint4 {
  unsigned int x;
  unsigned int y;
  unsigned int z;
  unsigned int w;
};

inline cuda_on_host::Index blockIdx;
inline cuda_on_host::Index blockDim;
inline cuda_on_host::Index gridDim;

namespace cuda_on_host {

/// The barrier of a team of `threads` threads.
inline Barrier& barrier_of_team(int team, int threads) {
  const Unseen unseen;
  const std::lock_guard<std::mutex> lock(block.mutex);
  auto& barrier = block.teams[{threads, team}];
  if (!barrier) barrier = std::make_unique<Barrier>(threads);
  return *barrier;
}

/// result(values of all lanes) on each lane of the warp.
template <class Result>
std::uint64_t exchange_in_warp(std::uint64_t value, const Result& result) {
  const Unseen unseen;
  const unsigned int warp = threadIdx.x / 32;
  block.slots[threadIdx.x] = value;
  block.warps[warp]->arrive_and_wait();
  const std::uint64_t found = result(block.slots + warp * 32);
  block.warps[warp]->arrive_and_wait();
  return found;
}

/// Runs body() as a block of so many threads, the last of a grid.
template <class Body>
void run_block(unsigned int threads, const Body& body, unsigned int number = 0) {
  blockDim.x = threads;
  gridDim.x = number + 1;
  blockIdx.x = number;
  block.all = std::make_unique<Barrier>(threads);
  block.warps.clear();
  block.teams.clear();
  for (unsigned int warp = 0; warp < threads / 32; ++warp)
    block.warps.push_back(std::make_unique<Barrier>(32));
  run_threads(threads, body);
}

}  // namespace cuda_on_host

// Names and meaning are those of CUDA C++.

inline void __syncthreads() {
  cuda_on_host::block.all->arrive_and_wait();
}
inline void __syncwarp() {
  cuda_on_host::block.warps[threadIdx.x / 32]->arrive_and_wait();
}
inline void __threadfence() {}

inline int __syncthreads_count(int condition) {
  {
    const cuda_on_host::Unseen unseen;
    cuda_on_host::block.slots[threadIdx.x] = condition != 0 ? 1 : 0;
  }
  __syncthreads();
  int count = 0;
  {
    const cuda_on_host::Unseen unseen;
    for (unsigned int thread = 0; thread < blockDim.x; ++thread)
      count += static_cast<int>(cuda_on_host::block.slots[thread]);
  }
  __syncthreads();
  return count;
}
inline int __syncthreads_or(int condition) {
  return __syncthreads_count(condition) != 0 ? 1 : 0;
}

namespace cuda_on_host {

/// The lane that has what a shuffle wants, among `width` neighbours.
inline int lane_of_group(int lane, int width) {
  const int own = static_cast<int>(threadIdx.x % 32);
  return own / width * width + (lane & (width - 1));
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T value_of(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace cuda_on_host

template <class T>
T __shfl_sync(unsigned int, T value, int lane, int width = 32) {
  const int from = cuda_on_host::lane_of_group(lane, width);
  return cuda_on_host::value_of<T>(cuda_on_host::exchange_in_warp(
      cuda_on_host::bits_of(value), [from](const std::uint64_t* values) { return values[from]; }));
}
template <class T>
T __shfl_up_sync(unsigned int mask, T value, unsigned int distance, int width = 32) {
  const auto lane = static_cast<unsigned int>(static_cast<int>(threadIdx.x) & (width - 1));
  return __shfl_sync(mask, value, static_cast<int>(lane >= distance ? lane - distance : lane),
                     width);
}
template <class T>
T __shfl_down_sync(unsigned int mask, T value, unsigned int distance) {
  const unsigned int lane = threadIdx.x % 32;
  return __shfl_sync(mask, value, static_cast<int>(lane + distance < 32 ? lane + distance : lane));
}
template <class T>
T __shfl_xor_sync(unsigned int mask, T value, unsigned int bits) {
  return __shfl_sync(mask, value, static_cast<int>(threadIdx.x % 32 ^ bits));
}
inline unsigned int __match_any_sync(unsigned int, int value) {
  const auto mine = static_cast<std::uint32_t>(value);
  return static_cast<unsigned int>(
      cuda_on_host::exchange_in_warp(mine, [mine](const std::uint64_t* values) {
        std::uint64_t equal = 0;
        for (int lane = 0; lane < 32; ++lane)
          equal |= std::uint64_t{values[lane] == mine ? 1U : 0U} << lane;
        return equal;
      }));
}
inline unsigned int __ballot_sync(unsigned int, bool condition) {
  return static_cast<unsigned int>(
      cuda_on_host::exchange_in_warp(condition ? 1 : 0, [](const std::uint64_t* values) {
        std::uint64_t votes = 0;
        for (int lane = 0; lane < 32; ++lane) votes |= values[lane] << lane;
        return votes;
      }));
}
inline int __all_sync(unsigned int mask, bool condition) {
  return __ballot_sync(mask, condition) == 0xffffffffU ? 1 : 0;
}
inline int __any_sync(unsigned int mask, bool condition) {
  return __ballot_sync(mask, condition) != 0 ? 1 : 0;
}

inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}

inline int __popc(unsigned int word) {
  return std::popcount(word);
}
inline int __ffs(int word) {
  return __builtin_ffs(word);
}
inline int __ffsll(long long word) {
  return __builtin_ffsll(word);
}
inline int __clz(int word) {
  return std::countl_zero(static_cast<unsigned int>(word));
}
inline int __clzll(long long word) {
  return std::countl_zero(static_cast<unsigned long long>(word));
}
inline unsigned int __umulhi(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>(std::uint64_t{a} * b >> 32);
}

/// Rounded towards zero, as the highest 24 bits are exact.
inline float __ull2float_rz(unsigned long long number) {
  const int low = 40 - std::min(40, std::countl_zero(number));
  return static_cast<float>(number >> low << low);
}
inline float __uint2float_rz(unsigned int number) {
  return __ull2float_rz(number);
}
inline unsigned int __float2uint_ru(float value) {
  return static_cast<unsigned int>(std::ceil(value));
}
inline unsigned long long __float2ull_ru(float value) {
  return static_cast<unsigned long long>(std::ceil(value));
}
inline unsigned int __float_as_uint(float value) {
  return static_cast<unsigned int>(cuda_on_host::bits_of(value));
}
inline float __uint_as_float(unsigned int bits) {
  return cuda_on_host::value_of<float>(bits);
}
inline long long __double_as_longlong(double value) {
  return static_cast<long long>(cuda_on_host::bits_of(value));
}

template <class T, class U>
T atomicAdd(T* at, U value) {
  return std::atomic_ref<T>(*at).fetch_add(static_cast<T>(value));
}
template <class T, class U>
T atomicOr(T* at, U value) {
  return std::atomic_ref<T>(*at).fetch_or(static_cast<T>(value));
}
template <class T, class U>
T atomicExch(T* at, U value) {
  return std::atomic_ref<T>(*at).exchange(static_cast<T>(value));
}
template <class T>
T atomicCAS(T* at, T expected, T value) {
  std::atomic_ref<T>(*at).compare_exchange_strong(expected, value);
  return expected;
}
template <class T, class U>
T atomicMin(T* at, U value) {
  T old = std::atomic_ref<T>(*at).load();
  while (static_cast<T>(value) < old &&
         !std::atomic_ref<T>(*at).compare_exchange_weak(old, static_cast<T>(value))) {
  }
  return old;
}
template <class T, class U>
T atomicMax(T* at, U value) {
  T old = std::atomic_ref<T>(*at).load();
  while (old < static_cast<T>(value) &&
         !std::atomic_ref<T>(*at).compare_exchange_weak(old, static_cast<T>(value))) {
  }
  return old;
}

template <class T, class U>
constexpr std::common_type_t<T, U> min(T a, U b) {
  using Common = std::common_type_t<T, U>;
  return static_cast<Common>(b) < static_cast<Common>(a) ? static_cast<Common>(b)
                                                         : static_cast<Common>(a);
}
template <class T, class U>
constexpr std::common_type_t<T, U> max(T a, U b) {
  using Common = std::common_type_t<T, U>;
  return static_cast<Common>(a) < static_cast<Common>(b) ? static_cast<Common>(b)
                                                         : static_cast<Common>(a);
}
using std::sqrt;
