// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstddef>
#include <cstring>

#include "apps/inverted_index/index_layout.hpp"
#include "core/files/checksum.hpp"
#include "sortie/error.hpp"
#include "tests/inverted_index/random_documents.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using indexing::IndexHeader;

std::span<const std::byte> bytes_of(const std::string& text, std::size_t begin, std::size_t size) {
  return std::as_bytes(std::span(text)).subspan(begin, size);
}

/// Sets all checksums of a file that was changed.
void seal(std::string& file) {
  IndexHeader header;
  if (file.size() < sizeof(header)) return;
  std::memcpy(&header, file.data(), sizeof(header));
  const std::uint64_t begin = header.checksums_begin;
  if (begin >= sizeof(header) && begin <= file.size()) {
    for (std::uint64_t at = sizeof(header), block = 0; at < begin;
         at += indexing::checked_bytes, ++block) {
      const std::uint64_t sum =
          block_checksum(bytes_of(file, at, std::min(indexing::checked_bytes, begin - at)));
      if (begin + 8 * block + 8 > file.size()) break;
      std::memcpy(file.data() + begin + 8 * block, &sum, sizeof(sum));
    }
    header.checksums_checksum = block_checksum(bytes_of(file, begin, file.size() - begin));
  }
  std::memcpy(file.data(), &header, sizeof(header));
  header.header_checksum =
      block_checksum(bytes_of(file, 0, offsetof(IndexHeader, header_checksum)));
  std::memcpy(file.data(), &header, sizeof(header));
}

/// Reads all of the index and searches in it. Returns whether there was an error.
bool fails(const std::string& path) {
  try {
    static_cast<void>(content_of_index(path));
    const indexing::InvertedIndex index(path);
    static_cast<void>(search_bm25(index, "a b c i exactly8"));
    static_cast<void>(search_boolean(index, "(a OR b) AND NOT \"c i\""));
    return false;
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::input || error.kind() == ErrorKind::usage)
        << error.what();
    return true;
  }
}

class IndexFaults : public testing::Test {
 protected:
  IndexFaults() {
    const auto documents = random_documents(300, 30, 60, 4);
    indexing::IndexOptions options;
    options.positions = true;
    indexing::build_index({}, documents.source(), folder.path("index"), options);
    whole = content_of(folder.path("index"));
  }

  TemporaryFolder folder;
  std::string whole;
};

TEST_F(IndexFaults, ChangedBytesAreFound) {
  ASSERT_FALSE(fails(folder.path("index")));
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    std::string changed = whole;
    changed[random.below(changed.size())] ^= static_cast<char>(1 + random.below(255));
    EXPECT_TRUE(fails(folder.write("changed", changed))) << i;
  }
}

TEST_F(IndexFaults, TruncatedFilesAreFound) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t size =
        i < 20 ? static_cast<std::uint64_t>(i) * 20 : random.below(whole.size());
    EXPECT_TRUE(fails(folder.write("cut", whole.substr(0, size)))) << size;
    std::string sealed = whole.substr(0, size);
    seal(sealed);
    EXPECT_TRUE(fails(folder.write("cut", sealed))) << size;
  }
  EXPECT_TRUE(fails(folder.write("longer", whole + "x")));
  EXPECT_TRUE(fails(folder.write("other", std::string(1000, 'x'))));
  EXPECT_THAT([&] { indexing::InvertedIndex(folder.path("none")); }, testing::Throws<Error>());
}

// Not even files whose checksums are right are trusted: an error or another result, but no crash.
TEST_F(IndexFaults, SealedChangesDoNoHarm) {
  Random random(3);
  int errors = 0;
  constexpr int rounds = 800;
  for (int i = 0; i < rounds; ++i) {
    std::string changed = whole;
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
      // The header and what follows the postings more often.
      const std::uint64_t begin = random.below(4) == 0 ? 0 : random.below(changed.size());
      const std::uint64_t at =
          begin + random.below(std::min<std::uint64_t>(256, changed.size() - begin));
      changed[at] = static_cast<char>(random.below(3) == 0 ? 0xff : random.below(256));
    }
    seal(changed);
    errors += fails(folder.write("changed", changed)) ? 1 : 0;
  }
  EXPECT_GT(errors, rounds / 10);
}

}  // namespace
}  // namespace sortie::test
