// SPDX-License-Identifier: Apache-2.0
#include "core/files/checksum.hpp"

#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sortie::test {
namespace {

/// The definition, block by block.
std::uint64_t expected_checksum(const std::string& bytes) {
  std::string hashes;
  for (std::size_t begin = 0; begin < bytes.size(); begin += checksum_block_bytes) {
    const std::size_t size = std::min(checksum_block_bytes, bytes.size() - begin);
    const std::uint64_t hash = XXH3_64bits(bytes.data() + begin, size);
    for (int byte = 0; byte < 8; ++byte) hashes += static_cast<char>(hash >> (8 * byte) & 0xff);
  }
  return XXH3_64bits(hashes.data(), hashes.size());
}

std::string some_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

TEST(Checksum, OfNothing) {
  // The XXH3 of an empty input, as its author gives it.
  EXPECT_EQ(checksum_of(1, std::string()), "2d06800538d394c2");
}

TEST(Checksum, IsTheHashOfTheHashesOfBlocks) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{1000}, checksum_block_bytes - 1, checksum_block_bytes,
        checksum_block_bytes + 1, 9 * checksum_block_bytes + 5}) {
    SCOPED_TRACE(size);
    const std::string bytes = some_bytes(size);
    for (const int workers : {1, 2, 3, 8})
      EXPECT_EQ(checksum_of(workers, bytes), checksum_text(expected_checksum(bytes)));
  }
}

TEST(Checksum, EachArrayBeginsABlock) {
  const std::vector<std::uint32_t> numbers{1, 2, 3};
  const std::string letters = "abc";
  const std::vector<std::uint64_t> hashes{XXH3_64bits(numbers.data(), 12),
                                          XXH3_64bits(letters.data(), 3)};
  EXPECT_EQ(checksum_of(2, numbers, letters), checksum_text(checksum_of_blocks(hashes)));
}

TEST(Checksum, EveryBlockCounts) {
  const std::string bytes = some_bytes(3 * checksum_block_bytes);
  const std::string checksum = checksum_of(2, bytes);
  for (const std::size_t place : {std::size_t{0}, checksum_block_bytes, bytes.size() - 1}) {
    std::string changed = bytes;
    changed[place] ^= 1;
    EXPECT_NE(checksum_of(2, changed), checksum) << place;
  }
}

TEST(Checksum, OfVersion1IsFnv1a) {
  // Test vectors of the authors of FNV.
  EXPECT_EQ(extend_fnv1a(fnv1a_seed, "", 0), 0xcbf29ce484222325ULL);
  EXPECT_EQ(extend_fnv1a(fnv1a_seed, "a", 1), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(extend_fnv1a(extend_fnv1a(fnv1a_seed, "foo", 3), "bar", 3), 0x85944171f73967e8ULL);
}

TEST(Checksum, TextHas16Digits) {
  EXPECT_EQ(checksum_text(0), "0000000000000000");
  EXPECT_EQ(checksum_text(0x0123456789abcdefULL), "0123456789abcdef");
}

}  // namespace
}  // namespace sortie::test
