// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/cuda/check.hpp"
#include "sortie/sort_chunks.hpp"
#include "tests/multisort/distributions.hpp"
#include "tests/reference/sort.hpp"

namespace sortie::test {

/// Device memory of a test, on one device.
class TestMemory {
 public:
  TestMemory(int device, std::size_t bytes) {
    check_cuda(cudaSetDevice(device));
    check_cuda(cudaMalloc(&data_, bytes == 0 ? 1 : bytes));
  }
  ~TestMemory() { static_cast<void>(cudaFree(data_)); }
  TestMemory(const TestMemory&) = delete;
  TestMemory& operator=(const TestMemory&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// An array in chunks on GPUs, and the sort of it.
///
/// Chunks are on the machine's GPUs in turn. Beside each lie guards, which a sort must not touch.
class DeviceChunks {
 public:
  static constexpr std::uint64_t guard_bytes = 256;

  DeviceChunks(const void* keys, int key_bytes, const void* values, int value_bytes,
               const std::vector<std::uint64_t>& sizes)
      : key_bytes_(key_bytes), value_bytes_(value_bytes), sizes_(sizes) {
    int gpus = 0;
    check_cuda(cudaGetDeviceCount(&gpus));
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const int device = static_cast<int>(i) % gpus;
      multisort::DeviceChunk chunk{nullptr, nullptr, sizes[i], device};
      chunk.keys = upload(keys_, keys, begin, sizes[i], key_bytes, device);
      if (value_bytes != 0)
        chunk.values = upload(values_, values, begin, sizes[i], value_bytes, device);
      chunks_.push_back(chunk);
      begin += sizes[i];
      check_cuda(cudaDeviceSynchronize());  // copies from pageable memory may return early
    }
  }

  [[nodiscard]] const std::vector<multisort::DeviceChunk>& chunks() const { return chunks_; }

  /// Copies everything back. \return false where a guard is not what it was
  [[nodiscard]] bool download(void* keys, void* values) const {
    std::uint64_t begin = 0;
    bool whole = true;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      whole = fetch(*keys_[i], keys, begin, sizes_[i], key_bytes_) && whole;
      if (value_bytes_ != 0)
        whole = fetch(*values_[i], values, begin, sizes_[i], value_bytes_) && whole;
      begin += sizes_[i];
    }
    return whole;
  }

 private:
  using Memories = std::vector<std::unique_ptr<TestMemory>>;

  static void* upload(Memories& memories, const void* from, std::uint64_t begin, std::uint64_t size,
                      int bytes, int device) {
    const auto width = static_cast<std::uint64_t>(bytes);
    memories.push_back(std::make_unique<TestMemory>(device, size * width + 2 * guard_bytes));
    auto* const data = static_cast<std::byte*>(memories.back()->data());
    check_cuda(cudaMemset(data, 0xa5, size * width + 2 * guard_bytes));
    check_cuda(cudaMemcpy(data + guard_bytes, static_cast<const std::byte*>(from) + begin * width,
                          size * width, cudaMemcpyHostToDevice));
    return data + guard_bytes;
  }

  static bool fetch(const TestMemory& memory, void* to, std::uint64_t begin, std::uint64_t size,
                    int bytes) {
    const auto width = static_cast<std::uint64_t>(bytes);
    std::vector<std::byte> all(size * width + 2 * guard_bytes);
    check_cuda(cudaMemcpy(all.data(), memory.data(), all.size(), cudaMemcpyDeviceToHost));
    std::copy(all.begin() + guard_bytes, all.end() - guard_bytes,
              static_cast<std::byte*>(to) + begin * width);
    const auto is_guard = [](std::byte byte) { return byte == std::byte{0xa5}; };
    return std::all_of(all.begin(), all.begin() + guard_bytes, is_guard) &&
           std::all_of(all.end() - guard_bytes, all.end(), is_guard);
  }

  int key_bytes_;
  int value_bytes_;
  std::vector<std::uint64_t> sizes_;
  Memories keys_;
  Memories values_;
  std::vector<multisort::DeviceChunk> chunks_;
};

/// Key and value type of a test; `void` for keys alone.
template <class K, class V>
struct DeviceTypes {
  using Key = K;
  using Value = V;
};

/// Sorts chunks on GPUs and the whole by the reference, and compares bit by bit. Values are the
/// numbers of the items, so that a stable sort has one result only.
/// \return what is wrong; empty when nothing is
template <class T>
[[nodiscard]] std::string sort_chunks_and_compare(const std::vector<typename T::Key>& keys_in,
                                                  const std::vector<std::uint64_t>& sizes,
                                                  const SortOptions& options,
                                                  RunReport* report = nullptr) {
  using Key = typename T::Key;
  using Value =
      std::conditional_t<std::is_void_v<typename T::Value>, std::uint32_t, typename T::Value>;
  constexpr int value_bytes =
      std::is_void_v<typename T::Value> ? 0 : static_cast<int>(sizeof(Value));
  std::vector<Key> keys = keys_in;
  std::vector<Key> expected = keys_in;
  std::vector<Value> values;
  for (std::size_t i = 0; i < keys.size(); ++i) values.push_back(static_cast<Value>(i));
  std::vector<Value> expected_values = values;
  if constexpr (value_bytes == 0) {
    multisort::reference::sort(std::span<Key>(expected), options.order);
  } else {
    multisort::reference::sort(std::span<Key>(expected), std::span<Value>(expected_values),
                               options.order);
  }
  const DeviceChunks device(keys.data(), sizeof(Key), values.data(), value_bytes, sizes);
  Context context;
  context.backend = Backend::cuda;
  context.report = report;
  multisort::sort_chunks(context, {device.chunks(), key_type_of<Key>(), value_bytes, options});
  if (!device.download(keys.data(), values.data())) return "memory beside a chunk was written";
  const auto images = images_of(keys);
  const auto expected_images = images_of(expected);
  for (std::size_t i = 0; i < images.size(); ++i)
    if (images[i] != expected_images[i]) return "key " + std::to_string(i) + " is wrong";
  if (value_bytes != 0)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != expected_values[i]) return "value " + std::to_string(i) + " is wrong";
  return "";
}

}  // namespace sortie::test
