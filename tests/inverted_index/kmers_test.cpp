// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "sortie/error.hpp"
#include "tests/inverted_index/random_documents.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

std::string reverse_complement(std::string letters) {
  std::reverse(letters.begin(), letters.end());
  for (char& letter : letters) letter = "TGCA"[std::string("ACGT").find(letter)];
  return letters;
}

/// The k-mers of a sequence as letters, and their positions. k-mers with N are left out.
std::map<std::string, std::vector<std::uint64_t>> plain_kmers(std::string sequence, std::size_t k,
                                                              bool canonical) {
  std::map<std::string, std::vector<std::uint64_t>> kmers;
  for (char& letter : sequence) letter = letter == 'U' ? 'T' : letter;
  for (std::size_t at = 0; at + k <= sequence.size(); ++at) {
    const std::string kmer = sequence.substr(at, k);
    if (kmer.find_first_not_of("ACGT") != std::string::npos) continue;
    kmers[canonical ? std::min(kmer, reverse_complement(kmer)) : kmer].push_back(at);
  }
  return kmers;
}

/// A k-mer as a term.
std::string term_of(const std::string& kmer) {
  std::string bits((8 - 2 * kmer.size() % 8) % 8, '0');
  for (const char letter : kmer)
    bits += std::string("00011011").substr(2 * std::string("ACGT").find(letter), 2);
  std::string term;
  for (std::size_t i = 0; i < bits.size(); i += 8)
    term += static_cast<char>(std::stoi(bits.substr(i, 8), nullptr, 2));
  return term;
}

std::vector<std::string> random_records(std::size_t count, std::size_t longest, Random& random) {
  std::vector<std::string> records;
  for (std::size_t i = 0; i < count; ++i) {
    std::string record;
    for (std::uint64_t letters = random.below(longest + 1); letters > 0; --letters)
      record += random.below(60) == 0 ? 'N' : "ACGTACGU"[random.below(8)];
    if (i > 0 && random.below(3) == 0) record += records[random.below(i)];
    records.push_back(record);
  }
  return records;
}

TEST(Kmers, IndexAndSharesAreThoseOfAPlainCount) {
  const TemporaryFolder folder;
  Random random(1);
  for (const int k : {1, 4, 5, 21, 31}) {
    const auto size = static_cast<std::size_t>(k);
    for (const bool canonical : {false, true}) {
      const std::vector<std::string> records = random_records(20, 200, random);
      std::string fasta;
      for (std::size_t i = 0; i < records.size(); ++i)
        fasta += (i == 3 ? ">\n" : ">r" + std::to_string(i) + " more\n") + records[i] + "\n";
      const std::vector<std::string> paths = {folder.write("in.fa", fasta)};
      std::map<std::string, Postings> expected;
      std::vector<std::uint64_t> lengths(records.size());
      for (std::uint32_t d = 0; d < records.size(); ++d) {
        for (const auto& [kmer, positions] : plain_kmers(records[d], size, canonical)) {
          expected[term_of(kmer)][d] = positions;
          lengths[d] += positions.size();
        }
      }
      std::string first;
      for (const bool positions : {true, false}) {
        for (const std::uint64_t block_bytes : {40, 0, 1000}) {
          indexing::IndexOptions options;
          options.indexer = backend() == Backend::cuda ? indexing::Indexer::gpu_overlapped
                            : block_bytes == 1000      ? indexing::Indexer::cpu
                                                       : indexing::Indexer::cpu_overlapped;
          options.positions = positions;
          options.kmer_length = k;
          options.canonical = canonical;
          options.block_bytes = block_bytes;
          const std::string path = folder.path("index");
          const auto source = [&] { return indexing::sequence_documents(context(), paths, k); };
          indexing::build_index(context(), source(), path, options);
          indexing::check_index(context(), source(), path, options);
          const IndexContent content = content_of_index(path);
          ASSERT_EQ(content.lengths, lengths);
          ASSERT_EQ(content.names[0], "r0");
          ASSERT_EQ(content.names[3], "#4");
          ASSERT_TRUE(content.terms == (positions ? expected : without_positions(expected)));
          if (block_bytes == 40) first = content_of(path);
          ASSERT_TRUE(content_of(path) == first);
        }
      }
      const indexing::InvertedIndex index(folder.path("index"));
      EXPECT_EQ(index.kmer_length(), k);
      for (int i = 0; i < 20; ++i) {
        std::string query = records[random.below(records.size())];
        query = query.substr(0, random.below(query.size() + 1)) +
                records[random.below(records.size())].substr(0, 30);
        const double share = 0.05 * static_cast<double>(1 + random.below(20));
        const auto of_query = plain_kmers(query, size, canonical);
        std::vector<indexing::Hit> hits;
        for (std::uint32_t d = 0; d < records.size(); ++d) {
          double held = 0;
          for (const auto& [kmer, positions] : of_query) {
            const auto found = expected.find(term_of(kmer));
            held += found != expected.end() && found->second.contains(d) ? 1 : 0;
          }
          const auto all = static_cast<double>(of_query.size());
          if (held > 0 && held >= share * all) hits.push_back({d, held / all});
        }
        std::stable_sort(hits.begin(), hits.end(),
                         [](const auto& a, const auto& b) { return a.score > b.score; });
        EXPECT_TRUE(search_kmers(index, query, share) == hits);
      }
      EXPECT_THROW(static_cast<void>(search_kmers(index, "ACGT", 0)), Error);
      EXPECT_THROW(static_cast<void>(search_bm25(index, "a")), Error);
    }
  }
}

}  // namespace
}  // namespace sortie::test
