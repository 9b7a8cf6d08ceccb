// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "papers/papers.hpp"
#include "sortie/sort_chunks.hpp"
#include "tests/multisort/cuda/device_chunks.hpp"
#include "tests/multisort/distributions.hpp"
#include "tests/reference/sort.hpp"

/// One array for the sort of chunks on GPUs, compared with the reference.

namespace sortie::test {

/// Key and value type of a test; `void` for keys alone.
template <class K, class V>
struct Types {
  using Key = K;
  using Value = V;
};

/// Values 0, 1, 2, ... that tell which item they came with.
template <class Value>
[[nodiscard]] std::vector<Value> numbers(std::size_t n) {
  std::vector<Value> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<Value>(i);
  return values;
}

[[nodiscard]] inline std::string describe(std::uint64_t n, const Cut& cut,
                                          const SortOptions& options) {
  return std::to_string(n) + " items, " + cut.name + ", " + std::string(name(options.algorithm)) +
         (options.order == Order::ascending ? ", ascending" : ", descending") + ", transport " +
         std::string(name(options.transport));
}

/// Whether values may stand in any order among equal keys.
[[nodiscard]] inline bool is_stable(SortAlgorithm algorithm) {
  return algorithm != papers::bitonic;
}

/// Sorts keys on GPUs in chunks and compares bit by bit.
template <class Key>
void check_keys(const std::vector<Key>& keys, const Cut& cut, const SortOptions& options) {
  SCOPED_TRACE(describe(keys.size(), cut, options));
  GuardedArray<Key> array(keys, cut);
  std::vector<ArrayChunk<Key>> chunks;
  for (std::size_t i = 0; i < cut.sizes.size(); ++i)
    chunks.push_back({array.chunk(i).data(), nullptr, cut.sizes[i], array.chunk(i).device()});
  Context context;
  context.backend = Backend::cuda;
  sort_chunks(context, std::span<const ArrayChunk<Key>>(chunks), options);
  std::vector<Key> expected = keys;
  multisort::reference::sort(std::span<Key>(expected), options.order);
  ASSERT_TRUE(images_of(array.items()) == images_of(expected)) << "keys differ";
}

/// The same with values. Those of equal keys are in order where the algorithm is stable; else each
/// must be one that came with its key, and none twice.
template <class Key, class Value>
void check_pairs(const std::vector<Key>& keys, const Cut& cut, const SortOptions& options) {
  SCOPED_TRACE(describe(keys.size(), cut, options) + ", with values");
  GuardedArray<Key> key_array(keys, cut);
  GuardedArray<Value> value_array(numbers<Value>(keys.size()), cut);
  std::vector<ArrayChunk<Key, Value>> chunks;
  for (std::size_t i = 0; i < cut.sizes.size(); ++i)
    chunks.push_back({key_array.chunk(i).data(), value_array.chunk(i).data(), cut.sizes[i],
                      key_array.chunk(i).device()});
  Context context;
  context.backend = Backend::cuda;
  sort_chunks_of_pairs(context, std::span<const ArrayChunk<Key, Value>>(chunks), options);
  std::vector<Key> expected = keys;
  std::vector<Value> expected_values = numbers<Value>(keys.size());
  multisort::reference::sort(std::span<Key>(expected), std::span<Value>(expected_values),
                             options.order);
  const auto images = images_of(key_array.items());
  ASSERT_TRUE(images == images_of(expected)) << "keys differ";
  std::vector<Value> values = value_array.items();
  if (!is_stable(options.algorithm)) {
    for (std::size_t begin = 0; begin < values.size();) {
      std::size_t end = begin + 1;
      while (end < values.size() && images[end] == images[begin]) ++end;
      std::sort(values.begin() + static_cast<std::ptrdiff_t>(begin),
                values.begin() + static_cast<std::ptrdiff_t>(end));
      begin = end;
    }
  }
  ASSERT_TRUE(values == expected_values) << "values differ";
}

template <class T>
void check(const std::vector<typename T::Key>& keys, const Cut& cut, const SortOptions& options) {
  if constexpr (std::is_void_v<typename T::Value>) {
    check_keys(keys, cut, options);
  } else {
    check_pairs<typename T::Key, typename T::Value>(keys, cut, options);
  }
}

using AllTypes =
    testing::Types<Types<std::uint8_t, void>, Types<std::uint8_t, std::uint32_t>,
                   Types<std::uint8_t, double>, Types<std::int8_t, void>,
                   Types<std::uint16_t, void>, Types<std::uint16_t, std::uint32_t>,
                   Types<std::int16_t, std::uint64_t>, Types<std::uint32_t, void>,
                   Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, double>,
                   Types<std::int32_t, void>, Types<float, void>, Types<float, std::uint32_t>,
                   Types<std::uint64_t, void>, Types<std::uint64_t, std::uint32_t>,
                   Types<std::int64_t, std::uint64_t>, Types<double, void>, Types<double, double>>;

}  // namespace sortie::test
