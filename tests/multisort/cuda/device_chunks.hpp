// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "sortie/devices.hpp"

/// Arrays in chunks of GPU memory, for tests of what sorts them.

namespace sortie::test {

/// How an array is cut into chunks.
struct Cut {
  std::string name;
  std::vector<std::uint64_t> sizes;
};

/// `n` items in 1 to 5 chunks: equal, unequal, some empty.
[[nodiscard]] inline std::vector<Cut> cuts_of(std::uint64_t n) {
  std::vector<Cut> cuts{{"one chunk", {n}},
                        {"two halves", {n / 2, n - n / 2}},
                        {"small and large", {n / 7, n - n / 7}},
                        {"all in the second", {0, n}},
                        {"three", {n / 3, n / 4, n - n / 3 - n / 4}},
                        {"four with an empty one", {n / 4, 0, n / 3, n - n / 4 - n / 3}},
                        {"five", {n / 9, n / 3, n / 27, n / 4, 0}}};
  const std::vector<std::uint64_t>& five = cuts.back().sizes;
  cuts.back().sizes.back() = n - std::accumulate(five.begin(), five.end(), std::uint64_t{0});
  return cuts;
}

/// Items of a chunk on a GPU, with poison before and behind them.
template <class T>
class GuardedChunk {
 public:
  GuardedChunk(const std::vector<T>& items, int device) : size_(items.size()), device_(device) {
    std::vector<T> all(size_ + 2 * guard);
    std::memset(static_cast<void*>(all.data()), 0xee, all.size() * sizeof(T));
    std::copy(items.begin(), items.end(), all.begin() + guard);
    check_cuda(cudaSetDevice(device_));
    void* memory = nullptr;
    check_cuda(cudaMalloc(&memory, all.size() * sizeof(T)));
    memory_ = static_cast<T*>(memory);
    check_cuda(cudaMemcpy(memory_, all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice));
    // The copy returns when the host's memory has been read; sorts run on streams that do not wait.
    check_cuda(cudaDeviceSynchronize());
  }
  ~GuardedChunk() {
    if (memory_ != nullptr) static_cast<void>(cudaFree(memory_));
  }
  GuardedChunk(const GuardedChunk&) = delete;
  GuardedChunk& operator=(const GuardedChunk&) = delete;
  GuardedChunk(GuardedChunk&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        size_(other.size_),
        device_(other.device_) {}

  [[nodiscard]] T* data() { return memory_ + guard; }
  [[nodiscard]] int device() const { return device_; }

  /// Appends the items to `out`; says whether the guards are whole.
  [[nodiscard]] bool append_to(std::vector<T>& out) const {
    std::vector<T> all(size_ + 2 * guard);
    check_cuda(cudaMemcpy(all.data(), memory_, all.size() * sizeof(T), cudaMemcpyDeviceToHost));
    out.insert(out.end(), all.begin() + guard, all.end() - guard);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(all.data());
    const auto is_poison = [](unsigned char byte) { return byte == 0xee; };
    return std::all_of(bytes, bytes + guard * sizeof(T), is_poison) &&
           std::all_of(bytes + (guard + size_) * sizeof(T), bytes + (2 * guard + size_) * sizeof(T),
                       is_poison);
  }

 private:
  static constexpr std::ptrdiff_t guard = 64;
  T* memory_ = nullptr;
  std::uint64_t size_;
  int device_;
};

/// An array cut into chunks on the GPUs in turn.
template <class T>
class GuardedArray {
 public:
  GuardedArray(const std::vector<T>& items, const Cut& cut) {
    const int gpus = cuda_device_count();
    auto begin = items.begin();
    for (const std::uint64_t size : cut.sizes) {
      const auto end = begin + static_cast<std::ptrdiff_t>(size);
      chunks_.emplace_back(std::vector<T>(begin, end), static_cast<int>(chunks_.size()) % gpus);
      begin = end;
    }
  }

  [[nodiscard]] GuardedChunk<T>& chunk(std::size_t i) { return chunks_[i]; }

  /// The items of all chunks. Fails the test where something was written beside them.
  [[nodiscard]] std::vector<T> items() const {
    std::vector<T> all;
    for (const auto& chunk : chunks_)
      EXPECT_TRUE(chunk.append_to(all)) << "something was written outside of a chunk";
    return all;
  }

 private:
  std::vector<GuardedChunk<T>> chunks_;
};

}  // namespace sortie::test
