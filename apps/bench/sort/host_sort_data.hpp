// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/sort/sort_bench.hpp"
#include "core/files/checksum.hpp"
#include "sortie/key_types.hpp"

/// Input and result check of the sort benchmark on the host.
namespace sortie::bench {

/// Keys of a case, as bytes. Integers take all values of their type. Floating-point keys are in
/// [0, 1]: peers cannot sort NaN, and they treat -0 as equal to +0.
/// \throws Error (usage) a parameter out of range
[[nodiscard]] std::vector<std::byte> host_sort_keys(const SortCase& sort_case, KeyType key,
                                                    std::uint64_t items, std::uint64_t seed);

/// An array in host memory: keys and their values.
struct ArrayView {
  std::span<const std::byte> keys;
  std::span<const std::byte> values;  ///< indices of the items in the input; empty without values
  KeyType key = KeyType::u32;
  int value_bytes = 0;  ///< 0, 4 or 8
};

/// Sum of a hash of each pair; does not depend on the order. O(n)
[[nodiscard]] std::uint64_t checksum(const ArrayView& array);

/// The error in a sorted array; empty if there is none. O(n)
/// \param expected  checksum() of the input
/// \param stable    values of equal keys must ascend as well
[[nodiscard]] std::string fault_of(const ArrayView& array, std::uint64_t expected, bool stable);

}  // namespace sortie::bench
