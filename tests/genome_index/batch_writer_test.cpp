// SPDX-License-Identifier: Apache-2.0

// Files of streams that arrive in batches: through the page cache, and past it.
#include "apps/genome_index/batch_writer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "apps/genome_index/page_stream.hpp"
#include "apps/genome_index/write_way.hpp"
#include "core/files/byte_source.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using namespace genomes;

std::string content_of(const std::string& path) {
  const ByteBuffer bytes = read_all(path);
  return {bytes.data.get(), bytes.size};
}

/// Writes a head, streams of these lengths in batches of random lengths, and a tail.
void expect_streams(const std::vector<std::uint64_t>& lengths, std::uint64_t most,
                    std::uint64_t least_direct) {
  const TemporaryFolder folder;
  const std::string path = folder.path("file");
  std::uint64_t state = most;
  const auto next = [&] {
    state = state * 6364136223846793005 + 1442695040888963407;
    return state >> 33;
  };
  std::string expected = "head";
  for (const std::uint64_t length : lengths)
    for (std::uint64_t i = 0; i < length; ++i) expected += static_cast<char>(next());
  IndexFile file(path, false);
  file.write_text("head");
  std::vector<std::uint64_t> offsets;
  for (const std::uint64_t length : lengths) offsets.push_back(file.reserve(length));
  BatchWriter writer(least_direct);
  for (const std::uint64_t offset : offsets) writer.add(file, offset);
  std::vector<std::uint64_t> done(lengths.size());
  while (done != lengths) {
    std::vector<std::uint64_t> bytes;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      bytes.push_back(std::min(lengths[i] - done[i], next() % (most + 1)));
    const std::vector<char*> to = writer.start(bytes);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      std::copy_n(expected.data() + offsets[i] + done[i], bytes[i], to[i]);
      done[i] += bytes[i];
    }
    writer.write();
  }
  writer.finish();
  file.write_text("tail");
  file.prepare();
  file.commit();
  EXPECT_TRUE(content_of(path) == expected + "tail") << most << ' ' << least_direct;
}

TEST(BatchWriter, FilesHaveTheBytesOfAllStreams) {
  for (const std::uint64_t least_direct : {std::uint64_t{0}, BatchWriter::usual_least_direct}) {
    expect_streams({0, 1, 4092, 5}, 4096, least_direct);
    expect_streams({4092, 4096, 8191, 12288}, 5000, least_direct);
    expect_streams({100000, 0, 30000, 1}, 700, least_direct);
    expect_streams({9000000, 1100000, 4500000}, 3000000, least_direct);
  }
}

TEST(BatchWriter, UsesTheFasterWayAndTriesTheOtherAgain) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 24;
  WriteWay way;
  int direct = 0;
  int cached = 0;
  for (int i = 0; i < 100; ++i) {
    ++(way.is_direct() ? direct : cached);
    // The page cache becomes slow after 50 batches.
    way.add(way.is_direct(), bytes, way.is_direct() ? 2 : i < 50 ? 1 : 10);
  }
  EXPECT_GE(cached, 45);
  EXPECT_GE(direct, 45);
  EXPECT_TRUE(way.is_direct());
}

}  // namespace
}  // namespace sortie::test
