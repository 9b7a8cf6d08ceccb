// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/suffix_array/binary_search.hpp"

/// The members of large groups as one array, for a radix sort by group and key: what kernels
/// compute for each of them, which also runs on the host, for tests.
namespace sortie::suffix_array::cuda {

/// The large groups of a list. Their members are numbered one group after the other:
///
///   groups, in no order     0             1               2
///   members of the list     900 .. 969    100 .. 179      300 .. 365
///   begins                  900           100             300
///   numbers                 0 .. 69       70 .. 149       150 .. 215
///   places                  0             70              150
struct LargeMembers {
  const std::uint32_t* begins;
  const std::uint32_t* places;
  std::uint32_t groups;

  __host__ __device__ std::uint32_t group_of(std::uint32_t number) const {
    const auto begins_after = [this, number](std::uint32_t group) {
      return places[group] > number;
    };
    return first_true(1U, groups, begins_after) - 1;
  }
  /// The member of the list.
  __host__ __device__ std::uint32_t member(std::uint32_t group, std::uint32_t number) const {
    return begins[group] + (number - places[group]);
  }
};

/// Group and key of a member in one word, sorted with its item. At most 63 bits of the keys are
/// used.
template <class Key>
struct LargeByWord {
  LargeMembers large;
  int key_bits;
  std::uint64_t* words;
  std::uint32_t* items;

  __host__ __device__ void load(std::uint32_t number, const Key* keys,
                                const std::uint32_t* list_items) const {
    const std::uint32_t group = large.group_of(number);
    const std::uint32_t member = large.member(group, number);
    words[number] = std::uint64_t{group} << key_bits | keys[member];
    items[number] = list_items[member];
  }
  __host__ __device__ void store(std::uint32_t number, Key* keys, std::uint32_t* list_items) const {
    const std::uint64_t word = words[number];
    const std::uint32_t member = large.member(static_cast<std::uint32_t>(word >> key_bits), number);
    keys[member] = static_cast<Key>(word & ((std::uint64_t{1} << key_bits) - 1));
    list_items[member] = items[number];
  }
};

/// The same for keys too wide to share a word with the number of the group: the key in one word, group
/// and item in another.
struct LargeByTwoWords {
  LargeMembers large;
  std::uint64_t* words;
  std::uint64_t* tags;

  __host__ __device__ void load(std::uint32_t number, const std::uint64_t* keys,
                                const std::uint32_t* list_items) const {
    const std::uint32_t group = large.group_of(number);
    const std::uint32_t member = large.member(group, number);
    words[number] = keys[member];
    tags[number] = std::uint64_t{group} << 32 | list_items[member];
  }
  __host__ __device__ void store(std::uint32_t number, std::uint64_t* keys,
                                 std::uint32_t* list_items) const {
    const std::uint64_t tag = tags[number];
    const std::uint32_t member = large.member(static_cast<std::uint32_t>(tag >> 32), number);
    keys[member] = words[number];
    list_items[member] = static_cast<std::uint32_t>(tag);
  }
};

}  // namespace sortie::suffix_array::cuda
