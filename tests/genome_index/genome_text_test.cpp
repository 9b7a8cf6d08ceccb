// SPDX-License-Identifier: Apache-2.0

// Records of a FASTA that several threads search.
#include "apps/genome_index/genome_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "core/host_runtime.hpp"
#include "sortie/context.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using namespace genomes;

// Threads search 8 MiB each. Records begin around the borders of these; a '>' within a line begins none.
TEST(GenomeText, RecordsBeginAnywhere) {
  start_host_runtime(0);
  constexpr std::int64_t searched = std::int64_t{8} << 20;
  std::string text;
  std::vector<std::string> headers;
  const auto add_record_at = [&](std::int64_t begin) {
    while (static_cast<std::int64_t>(text.size()) + 61 < begin)
      text += std::string(28, 'A') + '>' + std::string(31, 'C') + '\n';
    if (const auto left = begin - static_cast<std::int64_t>(text.size()); left > 0)
      text += std::string(static_cast<std::size_t>(left) - 1, '>').replace(0, 1, "G") + '\n';
    headers.push_back("r" + std::to_string(headers.size()) + " > comment");
    text += '>' + headers.back() + '\n';
  };
  text = ">first\n";
  headers.emplace_back("first");
  for (const std::int64_t begin : {searched - 20, searched, 2 * searched + 1, 3 * searched - 1})
    add_record_at(begin);
  text += "ACGT\n>empty\n>last";
  headers.insert(headers.end(), {"empty", "last"});

  const TemporaryFolder folder;
  const std::string path = folder.path("genome.fa");
  std::ofstream(path) << text;
  const GenomeText genome({}, path);
  ASSERT_EQ(genome.records().size(), headers.size());
  std::string joined;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const GenomeRecord& record = genome.records()[i];
    EXPECT_EQ(record.header, headers[i]);
    joined += '>' + std::string(record.header) + (i + 1 == headers.size() ? "" : "\n") +
              std::string(record.body);
  }
  EXPECT_TRUE(joined == text);
  std::string bodies;
  for (const GenomePiece& piece : genome.pieces()) bodies += piece.bytes;
  std::string expected;
  for (const GenomeRecord& record : genome.records()) expected += record.body;
  EXPECT_TRUE(bodies == expected);
}

}  // namespace
}  // namespace sortie::test
