// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "tests/texts/random_corpus.hpp"

namespace sortie::texts::test {
namespace {

/// A number of the environment: SORTIE_FUZZ_ROUNDS files are tried, of the sequence SORTIE_FUZZ_SEED.
int number_of(const char* name, int otherwise) {
  const char* const number = std::getenv(name);
  return number != nullptr ? std::atoi(number) : otherwise;
}

void mutate(std::mt19937& random, std::string& bytes) {
  constexpr std::string_view special = "\"\\{}[],:u\n\xff\x80\xe2";
  for (std::size_t changes = 1 + random() % 4; changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 5) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = special[random() % special.size()];
        break;
      case 2:
        bytes.erase(at, 1 + random() % 8);
        break;
      case 3:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 16));
        break;
      default:
        bytes.resize(at);
    }
  }
}

// Whatever the bytes are, they are read or refused, and what was read can be written again.
TEST(CorpusFaults, MutatedFiles) {
  std::mt19937 random(static_cast<unsigned>(number_of("SORTIE_FUZZ_SEED", 5)));
  const int rounds = number_of("SORTIE_FUZZ_ROUNDS", 600);
  const TemporaryFolder folder;
  int read = 0;
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    RandomFile file = random_file(random, folder, 0);
    std::string bytes = packed(file.content, file.compression);
    if (random() % 2 == 0) {
      mutate(random, bytes);
    } else {
      mutate(random, file.content);
      bytes = packed(file.content, file.compression);
    }
    const std::string path = folder.write(file.is_jsonl ? "in.jsonl" : "in", bytes);
    CorpusOptions options = small_blocks(random);
    options.refuse_invalid_utf8 = random() % 4 == 0;
    options.keep_content = random() % 2 == 0;
    if (random() % 16 == 0) options.format = Format::jsonl;
    try {
      CorpusStream stream(with_threads(random() % 8 == 0 ? 2 : 1), std::vector{path}, options);
      stream.pass({});
      ++read;
      std::vector<ByteRange> ranges;
      for (std::uint64_t at = random() % 9; at + 9 < stream.text_bytes(); at += 9 + random() % 30)
        ranges.push_back({at, at + random() % 9});
      const std::string output = folder.path(file.is_jsonl ? "out.jsonl" : "out");
      const CleaningResult result = write_cleaned_corpus(with_threads(1), stream, ranges, output);
      options.format = stream.files()[0].format;
      options.refuse_invalid_utf8 = false;
      const Corpus again = read_corpus(with_threads(1), std::vector{output}, options);
      // What remains of a plain file may be a frame of zstd, whose change was removed.
      if (again.files[0].compression != stream.files()[0].compression) continue;
      EXPECT_EQ(again.bytes.size() + result.bytes_removed, stream.text_bytes());
      EXPECT_EQ(again.documents(), stream.documents());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace sortie::texts::test
