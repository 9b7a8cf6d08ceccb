// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "sortie/key_types.hpp"
#include "sortie/sortie.h"

/// Keys and segments for the sorts of the C interface.
namespace sortie::test {

using CKeys = testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                             std::int32_t, float, std::uint64_t, std::int64_t, double>;

template <class Key>
inline constexpr sortie_type c_type = static_cast<sortie_type>(key_type_of<Key>());

/// Keys with many duplicates, of both signs where there are any.
template <class Key>
std::vector<Key> some_keys(std::size_t size, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<Key> keys(size);
  for (auto& key : keys) key = static_cast<Key>(static_cast<std::int64_t>(random() % 200) - 100);
  return keys;
}

struct Offsets {
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> ends;
};

/// Segments of many lengths; with gaps, or one after the other as in CSR.
inline Offsets some_segments(std::uint32_t size, bool gaps) {
  Offsets offsets;
  std::mt19937 random(5);
  std::uint32_t begin = gaps ? 3 : 0;
  while (begin < size) {
    const std::uint32_t end = std::min<std::uint32_t>(size, begin + random() % 90);
    offsets.begins.push_back(begin);
    offsets.ends.push_back(end);
    begin = end + (gaps ? random() % 5 : 0);
  }
  return offsets;
}

}  // namespace sortie::test
