// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "core/random.hpp"
#include "sortie/error.hpp"
#include "sortie/kmer_count.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::kmers {
namespace {

using test::content_of;
using testing::HasSubstr;

using Table = std::map<std::string, std::uint64_t>;

Table random_table(Random& random, std::size_t k, std::uint64_t size) {
  Table table;
  while (size-- > 0) {
    std::string kmer;
    // Few distinct ones, so that the tables share many.
    while (kmer.size() < k) kmer += kmer.size() + 5 < k ? 'T' : "ACGT"[random.below(4)];
    table[kmer] = 1 + random.below(9);
  }
  return table;
}

std::string lines_of(const Table& table, char gap = '\t') {
  std::string text;
  for (const auto& [kmer, count] : table) text += fmt::format("{}{}{}\n", kmer, gap, count);
  return text;
}

std::string fasta_of(const Table& table) {
  std::string text;
  for (const auto& [kmer, count] : table) text += fmt::format(">{}\n{}\n", count, kmer);
  return text;
}

Table plain(TableOperation operation, const Table& a, const Table& b) {
  Table result;
  std::set<std::string> kmers;
  for (const Table& table : {a, b}) {
    for (const auto& [kmer, count] : table) kmers.insert(kmer);
  }
  for (const std::string& kmer : kmers) {
    const std::uint64_t left = a.contains(kmer) ? a.at(kmer) : 0;
    const std::uint64_t right = b.contains(kmer) ? b.at(kmer) : 0;
    const std::uint64_t count = operation == TableOperation::intersect ? std::min(left, right)
                                : operation == TableOperation::unite   ? left + right
                                : left > right                         ? left - right
                                                                       : 0;
    if (count != 0) result[kmer] = count;
  }
  return result;
}

class CombineTables : public testing::Test {
 protected:
  KmerFigures combine(TableOperation operation, const std::string& a, const std::string& b,
                      CountRange counts = {}) {
    return combine_tables(test::context(), operation, a, b, counts, TableFormat::text, table_);
  }
  test::TemporaryFolder folder_;
  std::string table_ = folder_.path("table");
};

TEST_F(CombineTables, EqualsAPlainOperation) {
  Random random(1);
  for (const std::size_t k : {1, 5, 32, 33, 64}) {
    for (const std::uint64_t size : {0, 300, 100'000}) {
      const Table a = random_table(random, k, size);
      const Table b = random_table(random, k, 200);
      const std::string left = folder_.write("a", lines_of(a));
      const std::string right = folder_.write("b", test::gzip(fasta_of(b)));
      for (const auto operation :
           {TableOperation::intersect, TableOperation::subtract, TableOperation::unite}) {
        const KmerFigures figures = combine(operation, left, right);
        const Table expected = plain(operation, a, b);
        ASSERT_EQ(content_of(table_), lines_of(expected));
        EXPECT_EQ(figures.written, expected.size());
      }
    }
  }
}

TEST_F(CombineTables, ThresholdsAreThoseOfTheResult) {
  const std::string a = folder_.write("a", "AC 3\r\nAG 1\r\nTT 9");
  const std::string b = folder_.write("b", "AC\t2\nCC\t1\n");
  (void)combine(TableOperation::unite, a, b, {2, 5});
  EXPECT_EQ(content_of(table_), "AC\t5\n");
}

TEST_F(CombineTables, BadTablesAreRefused) {
  const std::string good = folder_.write("good", "ACG\t1\nACT\t2\n");
  const auto expect_refused = [&](const std::string& text, const std::string& message) {
    const std::string bad = folder_.write("bad", text);
    for (const bool is_first : {true, false}) {
      test::expect_error(
          [&] {
            (void)combine(TableOperation::unite, is_first ? bad : good, is_first ? good : bad);
          },
          ErrorKind::input, HasSubstr(message));
      EXPECT_FALSE(std::filesystem::exists(table_));
    }
  };
  expect_refused("ACGT\t1\n", "letters, expected");
  expect_refused("ACG\t1\nAC\t1\n", "bad:2: found 2 letters, expected 3, as before");
  expect_refused("ACT\t1\nACG\t1\n", "bad:2: found a k-mer that is not above the one before");
  expect_refused("ACT\t1\nACT\t1\n", "bad:2: found a k-mer that is not above the one before");
  expect_refused("ANT\t1\n", "expected letters A, C, G and T");
  expect_refused("acg\t1\n", "expected letters A, C, G and T");
  expect_refused("ACG\n", "expected a k-mer, a tab or a space, and a count");
  expect_refused("ACG\t0\n", "expected a count of at least 1");
  expect_refused("ACG\t1x\n", "expected a count of at least 1");
  expect_refused("ACG\t99999999999999999999\n", "expected a count of at least 1");
  expect_refused(">5\n", "bad:1: found the end of the file");
  expect_refused("\t5\n", "found 0 letters");
  expect_refused(std::string(65, 'A') + "\t5\n", "found 65 letters");
  expect_refused(std::string(2 << 20, 'A'), "a line of more than");
}

}  // namespace
}  // namespace sortie::kmers
