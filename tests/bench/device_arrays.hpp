// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "apps/bench/segsort/segment_cases.hpp"
#include "core/cuda/check.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::test {

/// The first `count` items of device memory.
template <class T>
std::vector<T> on_host(const void* device, std::size_t count) {
  std::vector<T> host(count);
  check_cuda(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

/// Keys and index values as the benchmark has them, sorted by the host.
template <class Key, class Value>
struct SortedOnHost {
  std::vector<Key> keys;
  std::vector<Value> values;

  SortedOnHost(KeyType type, const bench::SegmentCase& segments, std::uint64_t seed)
      : keys(segments.items()), values(segments.items()) {
    std::vector<Key> input(segments.items());
    std::memcpy(input.data(), bench::random_keys(type, segments.items(), seed).data(),
                input.size() * sizeof(Key));
    std::iota(values.begin(), values.end(), Value{0});
    for (std::uint64_t i = 0; i < segments.segments(); ++i) {
      std::stable_sort(values.begin() + static_cast<std::ptrdiff_t>(segments.offsets[i]),
                       values.begin() + static_cast<std::ptrdiff_t>(segments.offsets[i + 1]),
                       [&](Value a, Value b) { return input[a] < input[b]; });
    }
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = input[values[i]];
  }
};

}  // namespace sortie::test
