#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sortie/apps/bench/sort_bench.hpp"
#include "sortie/segsort/key_types.hpp"

/// Input of the sort's benchmark on the host, and what is looked at of its result.
namespace sortie::bench {

/// Keys of a case, as bytes: integers take all values of their type, floating-point keys are in
/// [0, 1], so that there is no NaN, which peers could not sort, and no -0, which they would take
/// for equal to +0. \throws Error (usage) a parameter out of its range
[[nodiscard]] std::vector<std::byte> host_sort_keys(const SortCase& sort_case, KeyType key,
                                                    std::uint64_t items, std::uint64_t seed);

/// An array in host memory: keys, and values that travel with them.
struct ArrayView {
  std::span<const std::byte> keys;
  std::span<const std::byte> values;  ///< numbers of the items in the input; empty without values
  KeyType key = KeyType::u32;
  int value_bytes = 0;  ///< 0, 4 or 8
};

/// Sum of a mix of each key and value: does not depend on their order. O(n)
[[nodiscard]] std::uint64_t checksum(const ArrayView& array);

/// What is wrong with a sorted array; empty when nothing is. O(n)
/// \param expected  checksum() of the input
/// \param stable    values of equal keys have to ascend, too
[[nodiscard]] std::string fault_of(const ArrayView& array, std::uint64_t expected, bool stable);

}  // namespace sortie::bench
