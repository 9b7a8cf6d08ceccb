// SPDX-License-Identifier: Apache-2.0

// What only the host's way to build a suffix array can get wrong: memory, and texts that lead
// through each of its stages.
#include <gtest/gtest.h>

#include "apps/suffix_array/host/build/range_build.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/sanitizers.hpp"

namespace sortie::suffix_array {
namespace {

Context host_context() {
  Context context;
  context.backend = Backend::host;
  return context;
}

/// By prefix doubling, also where induced sorting would be chosen.
template <Position Pos>
std::vector<Pos> doubled(const Context& context, const TextView& text) {
  return build_by<Pos>(parse_algorithm("prefix-doubling"), context, text);
}

/// By ranges.
template <Position Pos>
std::vector<Pos> in_ranges(const Context& context, const TextView& text, bool descending) {
  start_host_runtime(context.threads);
  std::vector<Pos> all(text.size());
  std::uint64_t end = descending ? text.size() : 0;
  host::build_in_ranges<Pos>(
      context, text, descending, [&](std::uint64_t first, std::span<const Pos> entries) {
        EXPECT_EQ(descending ? first + entries.size() : first, end);
        end = descending ? first : first + entries.size();
        std::copy(entries.begin(), entries.end(), all.begin() + static_cast<std::ptrdiff_t>(first));
      });
  EXPECT_EQ(end, descending ? 0 : text.size());
  return all;
}

std::string mutated(std::string text, std::uint64_t mutations, std::uint64_t seed) {
  Random random(seed);
  for (std::uint64_t i = 0; i < mutations; ++i) {
    text[random.below(text.size())] = static_cast<char>('A' + random.below(4));
  }
  return text;
}

std::vector<test::NamedText> staged_texts() {
  const std::string dna = test::random_letters(50000, 4, 'A', 21);
  const std::string run_c(400, 'C');
  const std::string run_d(400, 'D');
  std::vector<std::string> genomes = {dna};
  for (std::uint64_t seed = 1; seed < 5; ++seed) genomes.push_back(mutated(dna, 30, seed));
  std::string runs;
  Random random(8);
  for (int i = 0; i < 300; ++i) {
    runs += std::string(20 + random.below(300), "ACD"[random.below(3)]);
    runs += dna.substr(random.below(400) / 100 * 1000, random.below(3) * 150);
  }
  return {
      test::joined("near_identical_records", genomes),
      test::single("near_identical_joined",
                   genomes[0] + genomes[1] + genomes[2] + genomes[3] + genomes[4]),
      // Groups whose samples step into a long run, out of it, and from one run into another.
      test::single("repeats_around_runs",
                   dna + run_c + run_d + dna + run_c + run_d + "A" + dna + run_c + run_c + dna),
      test::joined("repeats_end_in_runs", {dna + run_c, dna + run_c, dna + run_c + "A", run_c + dna,
                                           run_d + run_c, run_c}),
      test::single("runs_of_three_letters", runs),
      test::single("period_2", test::repeated("AB", 100000)),
      test::single("period_2_and_break", test::repeated("AB", 30000) + "A" +
                                             test::repeated("AB", 30000) + "BB" +
                                             test::repeated("BA", 30000)),
      test::single("period_7_broken",
                   test::repeated("ABACABB", 9000) + "C" + test::repeated("ABACABB", 8000) + "CC" +
                       test::repeated("BABACAB", 9000) + "A" + test::repeated("ABACABB", 8000)),
      test::joined("periods_in_records",
                   {test::repeated("ABC", 9000), test::repeated("ABC", 8000) + "A",
                    test::repeated("BCA", 9000), test::repeated("ABCABD", 5000),
                    test::repeated("ABC", 9000)}),
      test::single("period_37", test::repeated(dna.substr(0, 37), 5000)),
      test::single("fibonacci", test::fibonacci(250000)),
      test::single("two_letters_runs", test::repeated(std::string(200, 'A') + "B", 900)),
      test::single("bytes_twice", test::repeated(test::random_letters(60000, 256, 0, 2), 3)),
  };
}

class StagedTexts : public testing::TestWithParam<test::NamedText> {};

TEST_P(StagedTexts, AreSortedWithAnyMemory) {
  if (test::backend() != Backend::host) GTEST_SKIP() << "of the host only";
  const test::NamedText& text = GetParam();
  const auto suffixes = doubled<std::uint32_t>(host_context(), text.view());
  EXPECT_NO_THROW(check<std::uint32_t>(host_context(), text.view(), suffixes));
  const auto wide = doubled<std::uint64_t>(host_context(), text.view());
  EXPECT_TRUE(std::equal(suffixes.begin(), suffixes.end(), wide.begin(), wide.end()));

  // Too little for all elements at once; the texts of short periods, whose elements are in few
  // buckets, may be refused.
  Context context = host_context();
  for (const std::uint64_t bytes_a_symbol : {9, 10, 11, 12}) {
    context.memory_budget = bytes_a_symbol * text.symbols.size();
    try {
      EXPECT_EQ(doubled<std::uint32_t>(context, text.view()), suffixes) << bytes_a_symbol;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    }
  }
}

TEST_P(StagedTexts, AreSortedInRanges) {
  if (test::backend() != Backend::host) GTEST_SKIP() << "of the host only";
  const test::NamedText& text = GetParam();
  const auto expected = doubled<std::uint32_t>(host_context(), text.view());
  const auto wide = in_ranges<std::uint64_t>(host_context(), text.view(), true);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), wide.begin(), wide.end()));
  Context context = host_context();
  for (const std::uint64_t bytes_a_symbol : {4, 5, 7, 40}) {
    context.memory_budget = bytes_a_symbol * text.symbols.size();
    try {
      EXPECT_EQ(in_ranges<std::uint32_t>(context, text.view(), bytes_a_symbol % 2 == 0), expected)
          << bytes_a_symbol;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
      EXPECT_NE(bytes_a_symbol, 40);
    }
  }
}

TEST(HostBuild, TrickyTextsInRanges) {
  if (test::backend() != Backend::host) GTEST_SKIP() << "of the host only";
  for (const test::NamedText& text : test::tricky_texts()) {
    if (text.symbols.empty()) continue;
    EXPECT_EQ(in_ranges<std::uint32_t>(host_context(), text.view(), false),
              doubled<std::uint32_t>(host_context(), text.view()))
        << text.name;
  }
}

INSTANTIATE_TEST_SUITE_P(HostBuild, StagedTexts, testing::ValuesIn(staged_texts()),
                         [](const auto& info) { return info.param.name; });

struct MemoryCase {
  std::string name;
  test::NamedText (*text)();
  std::uint64_t budget;  ///< bytes a symbol; 0: none
  double most;           ///< bytes a symbol at the peak
};

class HostBuildMemory : public testing::TestWithParam<MemoryCase> {};

TEST_P(HostBuildMemory, StaysWithinWhatIsStated) {
  if (test::backend() != Backend::host) GTEST_SKIP() << "of the host only";
#if SORTIE_TEST_SANITIZED
  GTEST_SKIP() << "sanitizers keep memory that was given back";
#endif
  const MemoryCase& memory = GetParam();
  const test::NamedText text = memory.text();
  Context context = host_context();
  // Threads, Kokkos and the allocator take what they take before.
  (void)doubled<std::uint32_t>(context, test::single("", "GATTACA").view());
  if (!test::reset_peak_memory()) GTEST_SKIP() << "peak memory cannot be reset here";
  const std::uint64_t before = peak_host_memory();
  context.memory_budget = memory.budget * text.symbols.size();
  const auto suffixes = doubled<std::uint32_t>(context, text.view());
  const auto taken = static_cast<double>(peak_host_memory() - before);
  // Large pages round every array up, and a thread has scratch and counters of its own.
  const double rounding = 12.0 * (1 << 20);
  RecordProperty("bytes_a_symbol",
                 std::to_string(taken / static_cast<double>(text.symbols.size())));
  EXPECT_LE(taken, memory.most * static_cast<double>(text.symbols.size()) + rounding)
      << taken / static_cast<double>(text.symbols.size()) << " bytes a symbol";
  EXPECT_NO_THROW(check<std::uint32_t>(host_context(), text.view(), suffixes));
}

TEST(HostBuild, PeriodsTakeFewRounds) {
  if (test::backend() != Backend::host) GTEST_SKIP() << "of the host only";
  // Rounds of samples that doubling alone would take: the logarithm of the number of periods.
  for (const std::string_view period : {"AB", "ABC", "ABACABB", "AACCGGTTACGTACG"}) {
    const test::NamedText text = test::single("", test::repeated(std::string(period), 50000));
    RunReport report;
    Context context = host_context();
    context.report = &report;
    const auto suffixes = doubled<std::uint32_t>(context, text.view());
    EXPECT_NO_THROW(check<std::uint32_t>(host_context(), text.view(), suffixes));
    for (const auto& [key, value] : report.figures()) {
      if (key == "rounds") {
        // Three are of the text.
        EXPECT_LE(std::get<std::uint64_t>(value), 3U + 2U) << period;
      }
    }
  }
}

constexpr std::uint64_t memory_text = std::uint64_t{1} << 23;
const std::vector<MemoryCase> memory_cases = {
    {"dna", [] { return test::single("", test::random_letters(memory_text, 4, 'A', 1)); }, 0, 13},
    {"dna_with_less", [] { return test::single("", test::random_letters(memory_text, 4, 'A', 1)); },
     10, 10},
    {"bytes", [] { return test::single("", test::random_letters(memory_text, 256, 0, 1)); }, 0, 14},
    {"bytes_with_less",
     [] { return test::single("", test::random_letters(memory_text, 256, 0, 1)); }, 11, 11},
    {"genome_twice",
     [] {
       return test::single("", test::repeated(test::random_letters(memory_text / 2, 4, 'A', 1), 2));
     },
     0, 13},
    {"fibonacci", [] { return test::single("", test::fibonacci(memory_text)); }, 0, 16},
    {"period_2", [] { return test::single("", test::repeated("AB", memory_text / 2)); }, 0, 16},
    {"one_letter", [] { return test::single("", std::string(memory_text, 'A')); }, 0, 13},
};
INSTANTIATE_TEST_SUITE_P(HostBuild, HostBuildMemory, testing::ValuesIn(memory_cases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace sortie::suffix_array
