// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "apps/genome_matches/dot_plot.hpp"
#include "apps/genome_matches/query_reader.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "tests/genome_matches/oracle.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::genome_matches {
namespace {

using sortie::test::content_of;
using sortie::test::context;
using testing::HasSubstr;

std::string letters_of(Random& random, std::uint64_t size) {
  std::string text(size, 'A');
  for (char& letter : text) letter = "ACGT"[random.below(4)];
  return text;
}

/// The reference with about 1 % other letters.
std::string mutated(Random& random, std::string text) {
  for (std::uint64_t at = random.below(200); at < text.size(); at += 1 + random.below(200))
    text[at] = "ACGT"[random.below(4)];
  return text;
}

class WriteMatches : public testing::Test {
 protected:
  /// What write_matches() writes, and the same of each record by MatchIndex.
  struct Results {
    std::string matches;
    std::string statistics;
    MatchFigures figures;
  };
  [[nodiscard]] Results written(const MatchIndex& index, const std::string& queries, int threads,
                                bool verify = true) {
    HostContext several = context();
    several.threads = threads;
    const MatchOutput output{
        .strands = Strands::both,
        .verify = verify,
        .matches = folder.path("matches"),
        .statistics = index.options().statistics ? folder.path("statistics") : "",
        .plot = verify ? folder.path("plot") : ""};
    Results results;
    results.figures = write_matches(several, index, std::vector{queries}, output);
    results.matches = content_of(output.matches);
    if (!output.statistics.empty()) results.statistics = content_of(output.statistics);
    if (verify) {
      EXPECT_THAT(content_of(output.plot), testing::EndsWith("</svg>\n"));
    }
    return results;
  }
  [[nodiscard]] static Results expected(const MatchIndex& index, const std::string& queries) {
    Results results;
    const sequences::Text text = sequences::read_fasta(context(), queries);
    results.figures.queries = text.records.size();
    results.figures.query_letters = text.letters();
    for (const sequences::Record& record : text.records) {
      const std::span<const std::uint8_t> forward =
          std::span(text.symbols).subspan(record.offset, record.length);
      const std::vector<std::uint8_t> reversed = reverse_complement(forward);
      for (const bool is_reverse : {false, true}) {
        const std::span<const std::uint8_t> query = is_reverse ? reversed : forward;
        results.matches += fmt::format("> {}{}\n", record.name, is_reverse ? " Reverse" : "");
        for (const Match& match : index.find(query)) {
          results.matches +=
              fmt::format("{:8}  {:8}  {:8}\n", match.reference + 1, match.query + 1, match.length);
          ++results.figures.matches;
          results.figures.longest = std::max(results.figures.longest, match.length);
        }
        if (!index.options().statistics) continue;
        for (const StatisticsRun& run : index.statistics(query))
          results.statistics += fmt::format("{}\t{}\t{}\t{}\t{}\n", record.name,
                                            is_reverse ? '-' : '+', run.begin, run.end, run.length);
      }
    }
    return results;
  }

  sortie::test::TemporaryFolder folder;
};

/// Short records, and one that is divided; as many threads as there are not, too.
TEST_F(WriteMatches, EqualsMatchIndexForEveryRecord) {
  Random random(1);
  const std::string reference = letters_of(random, 300'000);
  std::string text = fmt::format(">large\n{}\n", mutated(random, reference));
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t begin = random.below(reference.size());
    text +=
        fmt::format(">q{}\n{}\n", i, mutated(random, reference.substr(begin, random.below(300))));
  }
  const std::string queries = folder.write("queries.fa", text);
  for (const Kind kind : {Kind::maximal, Kind::unique_in_reference, Kind::unique}) {
    const MatchIndex index(context(), test::text_of({reference}),
                           {.kind = kind, .statistics = kind == Kind::unique});
    const Results one = expected(index, queries);
    for (const int threads : {1, 3}) {
      const Results results = written(index, queries, threads);
      EXPECT_TRUE(results.matches == one.matches) << name(kind);
      EXPECT_TRUE(results.statistics == one.statistics) << name(kind);
      EXPECT_EQ(results.figures.queries, one.figures.queries);
      EXPECT_EQ(results.figures.query_letters, one.figures.query_letters);
      EXPECT_EQ(results.figures.matches, one.figures.matches);
      EXPECT_EQ(results.figures.longest, one.figures.longest);
    }
  }
}

/// A GPU has a part of a record, and matches may be longer than that; repeats, and other letters.
TEST_F(WriteMatches, LongMatchesOfPartsOfARecord) {
  Random random(7);
  std::string reference = letters_of(random, 300'000);
  reference += reference.substr(50'000, 120'000) + letters_of(random, 1000);
  std::string query = mutated(random, reference.substr(0, 100'000)) + reference.substr(0, 320'000) +
                      mutated(random, reference);
  for (int i = 0; i < 2000; ++i)
    query[420'000 + random.below(query.size() - 420'000)] = "NRY"[random.below(3)];
  const std::string queries = folder.write("queries.fa", ">a\n" + query + "\n");
  for (const Kind kind : {Kind::unique_in_reference, Kind::unique}) {
    for (const bool only_acgt : {false, true}) {
      const MatchIndex index(context(), test::text_of({reference}),
                             {.kind = kind, .only_acgt = only_acgt});
      HostContext several = context();
      several.threads = 3;
      const auto lines_of = [&](const MatchIndex& of) {
        (void)write_matches(several, of, std::vector{queries},
                            {.strands = Strands::both, .matches = folder.path("matches")});
        return content_of(folder.path("matches"));
      };
      Context on_host = context();
      on_host.backend = Backend::host;
      const MatchIndex plain(on_host, test::text_of({reference}),
                             {.kind = kind, .only_acgt = only_acgt});
      EXPECT_TRUE(lines_of(index) == lines_of(plain)) << name(kind) << ' ' << only_acgt;
    }
  }
}

/// As many letters as have parts, and matches that are short: a GPU under a memory checker takes
/// minutes for long ones.
TEST_F(WriteMatches, ShortMatchesOfPartsOfARecord) {
  Random random(8);
  const std::string reference = letters_of(random, 70'000) + std::string(500, 'N');
  const std::string query =
      mutated(random, reference) + letters_of(random, 140'000) + mutated(random, reference);
  const std::string queries = folder.write("queries.fa", ">a\n" + query + "\n");
  const MatchIndex index(context(), test::text_of({reference}), {.only_acgt = true});
  Context on_host = context();
  on_host.backend = Backend::host;
  const MatchIndex plain(on_host, test::text_of({reference}), {.only_acgt = true});
  const std::string lines = written(index, queries, 3, false).matches;
  EXPECT_GT(std::ranges::count(lines, '\n'), 100);
  EXPECT_TRUE(lines == written(plain, queries, 3, false).matches);
}

/// More results of one task than may wait for those before them.
TEST_F(WriteMatches, ManyMatchesOfATask) {
  const std::string run(150'000, 'A');
  const std::string queries =
      folder.write("queries.fa", ">a\n" + run + "\n>b\nACGT\n>c\n" + run + "C\n>d\nAAAAAACAAA\n");
  const MatchIndex index(context(), test::text_of({run}), {.kind = Kind::maximal});
  const std::string one = written(index, queries, 1, false).matches;
  EXPECT_EQ(std::ranges::count(one, '\n'), 8 + 2 * (2 * 150'000 - 1 - 2 * 19));
  EXPECT_TRUE(one == expected(index, queries).matches);
  EXPECT_TRUE(one == written(index, queries, 4, false).matches);
}

TEST_F(WriteMatches, FaultsLeaveNoFile) {
  Random random(2);
  const std::string reference = letters_of(random, 1000);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format(">{}\n{}\n", i, reference);
  const std::string queries = folder.write("queries.fa", text + ">x\nAC\x01GT\n");
  for (const Kind kind : {Kind::maximal, Kind::unique}) {
    const MatchIndex index(context(), test::text_of({reference}), {.kind = kind});
    sortie::test::expect_error([&] { (void)written(index, queries, 2); }, ErrorKind::input,
                               HasSubstr("queries.fa:2002: found control byte 0x01"));
    EXPECT_EQ(folder.entries(), 1u);
  }
}

TEST_F(WriteMatches, LimitsTheMemoryOfQueries) {
  Random random(3);
  const std::string queries =
      folder.write("queries.fa", ">a\n" + letters_of(random, 3'000'000) + "\n");
  const MatchIndex index(context(), test::text_of({letters_of(random, 100)}), {});
  HostContext small = context();
  small.memory_budget = 2'000'000;
  sortie::test::expect_error([&] { (void)write_matches(small, index, std::vector{queries}, {}); },
                             ErrorKind::out_of_memory,
                             HasSubstr("queries.fa: out of memory: the text needs"));
}

TEST(QueryReader, ReadsTheRecordsOfSeveralFiles) {
  Random random(4);
  sortie::test::TemporaryFolder folder;
  std::string fasta;
  std::string fastq;
  for (int i = 0; i < 4000; ++i) {
    const std::string letters = letters_of(random, random.below(300));
    fasta += fmt::format(">{} x\n\n{}\n", i, letters);
    fastq += fmt::format("@{}\n{}\n+\n{}\n", i, letters, std::string(letters.size(), '@'));
  }
  const std::vector<std::string> paths{
      folder.write("a.fa", fasta + ">\n" + std::string(400'000, 'c')), folder.write("b.fq", fastq)};
  for (const std::uint64_t wanted : {1, 100'000, 10'000'000}) {
    QueryReader reader(paths, std::numeric_limits<std::uint64_t>::max());
    std::vector<std::string> found;
    for (sequences::Text text = reader.next(wanted); !text.records.empty();
         text = reader.next(wanted))
      for (const sequences::Record& record : text.records)
        found.push_back(
            record.name + ' ' +
            std::string(
                text.symbols.begin() + static_cast<std::ptrdiff_t>(record.offset),
                text.symbols.begin() + static_cast<std::ptrdiff_t>(record.offset + record.length)));
    std::vector<std::string> all;
    for (const std::string& path : paths) {
      const sequences::Text text = sequences::read_fasta(context(), path);
      for (const sequences::Record& record : text.records)
        all.push_back(record.name + ' ' +
                      std::string(text.symbols.begin() + static_cast<std::ptrdiff_t>(record.offset),
                                  text.symbols.begin() +
                                      static_cast<std::ptrdiff_t>(record.offset + record.length)));
    }
    EXPECT_TRUE(found == all) << wanted;
  }
}

TEST(DotPlot, HasACellForEachPairOfPositionsOfASmallMatch) {
  const sequences::Text reference = test::text_of({"ACGTAC"});
  DotPlot plot(reference);
  plot.add_query("a<b", 4);
  plot.add({1, 0, 3, false});
  plot.add({0, 3, 2, true});
  const std::string svg = plot.to_svg();
  EXPECT_THAT(svg, HasSubstr("d='M1 0h1v1h-1zM2 1h1v1h-1zM3 2h1v1h-1z'"));
  EXPECT_THAT(svg, HasSubstr("d='M1 2h1v1h-1zM0 3h1v1h-1z'"));
  EXPECT_THAT(svg, HasSubstr(">a&lt;b</text>"));
}

TEST(DotPlot, JoinsRowsAsQueriesComeIn) {
  const sequences::Text reference = test::text_of({std::string(5000, 'A')});
  DotPlot plot(reference);
  for (int i = 0; i < 3; ++i) {
    plot.add_query("q", 2000);
    plot.add({0, static_cast<std::uint64_t>(2000 * i), 1, false});
  }
  EXPECT_THAT(plot.to_svg(), HasSubstr("d='M0 0h1v1h-1zM0 500h1v1h-1zM0 1000h1v1h-1z'"));
}

}  // namespace
}  // namespace sortie::genome_matches
