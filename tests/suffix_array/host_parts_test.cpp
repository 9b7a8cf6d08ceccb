// SPDX-License-Identifier: Apache-2.0

// The parts that the suffix array on the host is made of, each against its definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/suffix_array/host/bit_set.hpp"
#include "apps/suffix_array/host/build/runs.hpp"
#include "apps/suffix_array/host/build/text_rounds.hpp"
#include "apps/suffix_array/host/samples/samples.hpp"
#include "apps/suffix_array/host/samples/sampling.hpp"
#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "apps/suffix_array/host/text/coded_text.hpp"
#include "core/host_runtime.hpp"
#include "tests/suffix_array/texts.hpp"

namespace sortie::suffix_array::host {
namespace {

using testing::ElementsAre;

class HostParts : public testing::Test {
 protected:
  void SetUp() override { start_host_runtime(0); }
};

PrefixPlan plan_of(const TextView& text) {
  return plan_prefixes(count_letters(text), text.size());
}

/// The code at a position: 0 for ends.
std::uint64_t code_at(const TextView& text, const PrefixPlan& plan, std::uint64_t position) {
  const bool end = position >= text.size() ||
                   std::binary_search(text.separators.begin(), text.separators.end(), position);
  return end ? 0 : plan.code[text.symbols[position]];
}

/// `count` codes as a number in base `base`, 0 after the first end.
std::uint64_t number_at(const TextView& text, const PrefixPlan& plan, std::uint64_t position,
                        int count, std::uint64_t base) {
  std::uint64_t number = 0;
  bool ended = false;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t code = code_at(text, plan, position + static_cast<std::uint64_t>(i));
    ended = ended || code == 0;
    number = number * base + (ended ? 0 : code);
  }
  return number;
}

TEST_F(HostParts, BitSetFindsWhatWasSet) {
  BitSet bits(300);
  bits.set(0);
  bits.set(299);
  bits.set_range(60, 131);
  bits.set_range(200, 200);
  for (std::uint64_t i = 0; i < 300; ++i) {
    const bool expected = i == 0 || i == 299 || (i >= 60 && i < 131);
    EXPECT_EQ(bits.test(i), expected) << i;
  }
  EXPECT_EQ(bits.next_set(1, 300), 60U);
  EXPECT_EQ(bits.next_clear(60, 300), 131U);
  EXPECT_EQ(bits.next_set(131, 299), 299U);
  EXPECT_EQ(bits.next_set(131, 300), 299U);
  EXPECT_EQ(bits.next_clear(70, 100), 100U);
  EXPECT_EQ(bits.next_set(5, 5), 5U);
  EXPECT_EQ(bits.last_clear(0, 300), 298U);
  EXPECT_EQ(bits.last_clear(0, 131), 59U);
  EXPECT_EQ(bits.last_clear(60, 131), 131U);
  EXPECT_EQ(bits.last_clear(59, 64), 59U);
  EXPECT_EQ(bits.last_clear(0, 1), 1U);
  EXPECT_EQ(bits.last_clear(131, 132), 131U);
  EXPECT_EQ(bits.last_clear(7, 7), 7U);
}

TEST_F(HostParts, SymbolStreamReadsTheCodes) {
  std::vector<test::NamedText> texts = test::tricky_texts();
  // Symbols of every width.
  for (const unsigned letters : {1, 3, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256}) {
    texts.push_back(test::single(std::to_string(letters) + " letters",
                                 test::random_letters(1000 + letters, letters, 0, letters)));
  }
  for (const test::NamedText& text : texts) {
    if (text.symbols.empty()) continue;
    SCOPED_TRACE(text.name);
    const TextView view = text.view();
    const PrefixPlan plan = plan_of(view);
    const SymbolStream stream(view, plan);
    ASSERT_LE(stream.symbols() * stream.bits(), 57);
    for (std::uint64_t position = 0; position <= view.size(); ++position) {
      const std::uint64_t word = stream.word(position);
      const std::uint64_t expected =
          number_at(view, plan, position, stream.symbols(), std::uint64_t{1} << stream.bits());
      ASSERT_EQ(stream.until_end(word), expected) << position;
      const bool ended =
          code_at(view, plan, position + static_cast<std::uint64_t>(stream.symbols()) - 1) == 0 ||
          expected % (std::uint64_t{1} << stream.bits()) == 0;
      ASSERT_EQ(stream.contains_end(word), ended) << position;
      ASSERT_EQ(stream.ended(stream.until_end(word)), ended) << position;
    }
  }
}

TEST_F(HostParts, GroupsWhoseTextsDifferAreMarked) {
  if (vector_unit() != VectorUnit::avx512) GTEST_SKIP() << "without AVX-512";
  constexpr int words = 3;
  for (const test::NamedText& text : test::tricky_texts()) {
    if (text.symbols.empty()) continue;
    SCOPED_TRACE(text.name);
    const TextView view = text.view();
    const PrefixPlan plan = plan_of(view);
    const SymbolStream stream(view, plan);
    std::vector<std::uint64_t> elements;
    for (std::uint64_t i = 0; i < view.size(); ++i) {
      const auto to_key = static_cast<std::uint64_t>(plan.bucket_symbols);
      elements.push_back(
          plan.element(number_at(view, plan, i + to_key, plan.key_symbols, plan.base), i));
    }
    std::sort(elements.begin(), elements.end());
    const std::uint64_t size = elements.size();
    std::vector<std::uint64_t> marks(size / 64 + 1);
    std::vector<std::uint64_t> differing(size / 64 + 1, ~std::uint64_t{0});
    mark_equal_keys(elements.data(), size, plan.position_bits, marks.data());
    mark_differing_texts(stream, plan, words, elements.data(), size, marks.data(),
                         differing.data());
    // Word by word: whether there is an end, and the codes up to it.
    const auto texts_agree = [&](std::uint64_t left, std::uint64_t right) {
      for (int word = 0; word < words; ++word) {
        const std::uint64_t depth =
            plan.depth() + static_cast<std::uint64_t>(word * stream.symbols());
        const std::uint64_t bound = std::uint64_t{1} << stream.bits();
        const std::uint64_t a = number_at(view, plan, left + depth, stream.symbols(), bound);
        const std::uint64_t b = number_at(view, plan, right + depth, stream.symbols(), bound);
        // An end leaves a last code of 0.
        if (a != b || a % bound == 0) return false;
      }
      return true;
    };
    for (std::uint64_t i = 0; i < size; ++i) {
      const bool mark = (marks[i / 64] >> (i % 64) & 1) != 0;
      const bool expected =
          mark && !texts_agree(plan.position_of(elements[i - 1]), plan.position_of(elements[i]));
      ASSERT_EQ((differing[i / 64] >> (i % 64) & 1) != 0, expected) << "element " << i;
    }
  }
}

TEST_F(HostParts, KeysAreReplacedByTheNextSymbols) {
  for (const test::NamedText& text : test::tricky_texts()) {
    if (text.symbols.empty()) continue;
    SCOPED_TRACE(text.name);
    const TextView view = text.view();
    const PrefixPlan plan = plan_of(view);
    const SymbolStream stream(view, plan);
    const int symbols = std::min(stream.symbols(), (64 - plan.position_bits) / stream.bits());
    const std::uint64_t bound = std::uint64_t{1} << stream.bits();
    for (const std::uint64_t depth : {0, 1, 13}) {
      std::vector<std::uint64_t> elements;
      for (std::uint64_t i = 0; i + depth <= view.size(); ++i) {
        elements.push_back(plan.element(7 % plan.key_end, i));
      }
      for (const auto unit : {VectorUnit::baseline, vector_unit()}) {
        std::vector<std::uint64_t> found = elements;
        const std::uint64_t differing =
            replace_keys(stream, plan, found.data(), found.size(), depth, symbols, unit);
        std::uint64_t expected_differing = 0;
        for (std::uint64_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i], plan.element(number_at(view, plan, i + depth, symbols, bound), i))
              << "element " << i << ", depth " << depth;
          expected_differing |= found[i] ^ found[0];
        }
        EXPECT_EQ(differing, expected_differing);
      }
    }
  }
}

TEST_F(HostParts, PrefixRollVisitsEveryPositionOnce) {
  for (const test::NamedText& text : test::tricky_texts()) {
    if (text.symbols.empty()) continue;
    SCOPED_TRACE(text.name);
    const TextView view = text.view();
    const PrefixPlan plan = plan_of(view);
    const PrefixRoll roll(plan);
    const std::uint64_t size = view.size();
    // In pieces, so that runs and records are cut anywhere.
    for (const std::uint64_t piece : {size, size / 3 + 1, std::uint64_t{7}}) {
      std::vector<int> seen(size);
      for (std::uint64_t begin = 0; begin < size; begin += piece) {
        roll.for_each(
            view, begin, std::min(size, begin + piece),
            [&](std::uint64_t position, std::uint64_t bucket, std::uint64_t key) {
              ++seen[position];
              const std::uint64_t found = bucket * plan.key_end + key;
              ASSERT_EQ(found, number_at(view, plan, position,
                                         plan.bucket_symbols + plan.key_symbols, plan.base))
                  << position;
            },
            [&](std::uint64_t first, std::uint64_t last, std::uint64_t end) {
              for (std::uint64_t i = first; i < last; ++i) ++seen[i];
              ASSERT_GE(end - (last - 1), plan.depth());
              const auto letter = code_at(view, plan, first);
              for (std::uint64_t i = first; i < end; ++i) {
                ASSERT_EQ(code_at(view, plan, i), letter);
              }
              ASSERT_NE(code_at(view, plan, end), letter);
            });
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(size));
    }
  }
}

TEST_F(HostParts, KeyDigitsAscendWithTheKeys) {
  for (const test::NamedText& text : test::tricky_texts()) {
    if (text.symbols.empty()) continue;
    SCOPED_TRACE(text.name);
    const PrefixPlan plan = plan_of(text.view());
    const KeyDigits digits(plan);
    Random random(3);
    std::vector<std::uint64_t> elements = {0, plan.element(plan.key_end - 1, 0)};
    for (int i = 0; i < 20000; ++i) {
      elements.push_back(
          plan.element(random.below(plan.key_end), random.below(text.symbols.size())));
    }
    std::sort(elements.begin(), elements.end());
    std::uint32_t before = 0;
    for (const std::uint64_t element : elements) {
      const std::uint32_t digit = digits.of(element, KeyDigits::most_bits);
      ASSERT_LT(digit, KeyDigits::most_digits);
      ASSERT_GE(digit, before);
      ASSERT_EQ(digits.of(element, 4), digit >> (KeyDigits::most_bits - 4));
      before = digit;
    }
  }
}

TEST_F(HostParts, SamplesAreTheFirstLeastOfTheirWindow) {
  const std::string repeat = test::random_letters(3000, 4, 'A', 5);
  for (const test::NamedText& text :
       {test::single("random", repeat), test::single("fibonacci", test::fibonacci(3000)),
        test::single("period_2", test::repeated("AB", 1500)),
        test::single("runs", std::string(400, 'C') + repeat + std::string(500, 'A'))}) {
    SCOPED_TRACE(text.name);
    const PrefixPlan plan = plan_of(text.view());
    const SymbolStream stream(text.view(), plan);
    const std::uint64_t limit = plan.depth() + 3 * static_cast<std::uint64_t>(stream.symbols());
    const Sampling sampling(stream, plan.depth(), limit);
    ASSERT_LE(sampling.window() + sampling.hashed(), limit);
    const std::uint64_t last = text.symbols.size() - limit;
    std::vector<std::uint64_t> samples(last);
    sampling.for_each(0, last, [&](std::uint64_t position, std::uint64_t sample) {
      samples[position] = sample;
      ASSERT_GE(sample, position);
      ASSERT_LT(sample, position + sampling.window());
    });
    // The choice depends on the symbols ahead alone, wherever the walk begins.
    for (std::uint64_t first = 0; first < last; first += 97) {
      const std::uint64_t end = std::min(last, first + 13);
      sampling.for_each(first, end, [&](std::uint64_t position, std::uint64_t sample) {
        ASSERT_EQ(sample, samples[position]) << position;
      });
    }
    // Those of later suffixes are no earlier, and in a run each is its own.
    for (std::uint64_t i = 1; i < last; ++i) ASSERT_GE(samples[i], samples[i - 1]);
    if (text.name == "runs") {
      EXPECT_EQ(samples[10], 10U);
    }
  }
}

TEST_F(HostParts, RoundsOfSamplesTellPeriodsApart) {
  // Sample i stands before i + 1; all but the last are alike, so that only the distance to it
  // tells.
  for (const std::uint32_t count : {1U, 2U, 3U, 1000U, 40000U}) {
    std::vector<std::uint32_t> ranks(count, 0);
    std::vector<std::uint32_t> steps(count);
    std::iota(steps.begin(), steps.end(), 1U);
    steps.back() = 0;
    ranks.back() = count - 1;
    const std::uint64_t rounds = double_steps<std::uint32_t>(ranks, steps);
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(ranks[i], i);
    EXPECT_LE(rounds, 1U);
  }
}

/// Ranks and steps of samples whose letters are all that is known of them, each a step before the
/// next.
std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> samples_of(
    const std::string& letters) {
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> steps;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    ranks.push_back(static_cast<std::uint32_t>(
        std::count_if(letters.begin(), letters.end(), [&](char c) { return c < letters[i]; })));
    steps.push_back(static_cast<std::uint32_t>(i + 1));
  }
  steps.back() = 0;
  return {ranks, steps};
}

std::vector<std::uint32_t> ranks_after_rounds(const std::string& letters, std::uint64_t& rounds) {
  auto [ranks, steps] = samples_of(letters);
  rounds = double_steps<std::uint32_t>(ranks, steps);
  return ranks;
}

TEST_F(HostParts, RoundsOfSamplesSortRunsOfEqualRanks) {
  Random random(12);
  std::vector<std::string> texts = {"BBBBAAAB!", "AAABAAABAAAB!", "BBBABBBABBBCBBBCBBC~", "!"};
  for (int text = 0; text < 60; ++text) {
    // Runs of a few lengths, so that many are alike, between letters that are smaller or greater.
    std::string letters;
    const std::uint64_t runs = 1 + random.below(400);
    for (std::uint64_t run = 0; run < runs; ++run) {
      letters += std::string(1 + random.below(2 + static_cast<std::uint64_t>(text)),
                             static_cast<char>('A' + random.below(3)));
    }
    letters += text % 2 == 0 ? '!' : '~';
    texts.push_back(letters);
  }
  for (const std::string& letters : texts) {
    std::uint64_t rounds = 0;
    const std::vector<std::uint32_t> ranks = ranks_after_rounds(letters, rounds);
    std::vector<std::uint32_t> by_rank(letters.size(), ~0U);
    for (std::uint32_t i = 0; i < ranks.size(); ++i) {
      ASSERT_LT(ranks[i], ranks.size());
      by_rank[ranks[i]] = i;
    }
    for (std::size_t i = 0; i + 1 < by_rank.size(); ++i) {
      ASSERT_LT(letters.compare(by_rank[i], std::string::npos, letters, by_rank[i + 1]), 0)
          << letters << ", rank " << i;
    }
  }
}

/// Samples as one of several processes holds them.
struct HeldSamples {
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> steps;
  std::optional<UndecidedSamples<std::uint32_t>> undecided;
};

TEST_F(HostParts, RoundsOfSamplesAreDividedAmongProcesses) {
  Random random(13);
  std::vector<std::string> texts = {"!", "BBBBBBBB!", std::string(3000, 'A') + "!"};
  for (int text = 0; text < 20; ++text) {
    const std::string word = test::random_letters(1 + random.below(60), 3, 'A', random.below(1000));
    texts.push_back(test::random_letters(random.below(500), 3, 'A', random.below(1000)) +
                    test::repeated(word, random.below(30)) + "!");
  }
  for (const std::string& letters : texts) {
    std::uint64_t rounds = 0;
    const std::vector<std::uint32_t> expected = ranks_after_rounds(letters, rounds);
    for (const std::uint64_t count : {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{8}}) {
      std::vector<HeldSamples> processes(count);
      std::uint64_t all = 0;
      for (std::uint64_t number = 0; number < count; ++number) {
        HeldSamples& mine = processes[number];
        std::tie(mine.ranks, mine.steps) = samples_of(letters);
        const SampleRanks own =
            part_of_samples(std::span<const std::uint32_t>(mine.ranks), number, count);
        all += own.count;
        mine.undecided.emplace(mine.ranks, mine.steps, own);
      }
      EXPECT_EQ(all, letters.size());
      const auto on_all = [&](const auto& round) {
        for (HeldSamples& mine : processes) round(*mine.undecided);
        for (const HeldSamples& from : processes) {
          std::vector<SampleChange<std::uint32_t>> changes(from.undecided->changes());
          from.undecided->list_changes(0, changes);
          for (HeldSamples& to : processes) to.undecided->apply(changes);
        }
      };
      const auto are_left = [&] {
        return std::ranges::any_of(
            processes, [](const HeldSamples& mine) { return !mine.undecided->empty(); });
      };
      if (are_left()) on_all([](auto& undecided) { undecided.sort_by_runs(); });
      while (are_left()) on_all([](auto& undecided) { undecided.sort_by_steps(); });
      for (const HeldSamples& mine : processes) EXPECT_EQ(mine.ranks, expected) << letters;
    }
  }
}

TEST_F(HostParts, RoundsOfSamplesLeaveThoseAloneThatHaveRanks) {
  // Steps of these mean nothing.
  std::vector<std::uint32_t> ranks = {0, 1, 2, 3, 4};
  std::vector<std::uint32_t> steps(5, 0);
  EXPECT_EQ(double_steps<std::uint32_t>(ranks, steps), 0U);
  EXPECT_THAT(ranks, ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(HostParts, SymbolsAreUnpackedFromAnyPosition) {
  for (const unsigned letters : {1U, 4U, 7U, 20U, 100U, 200U, 256U}) {
    const test::NamedText text = test::single("", test::random_letters(700, letters, 0, letters));
    const PrefixPlan plan = plan_of(text.view());
    const SymbolStream stream(text.view(), plan);
    for (const VectorUnit unit : {VectorUnit::baseline, vector_unit()}) {
      for (std::uint64_t begin = 0; begin < 700; begin += 37) {
        const std::uint64_t count = std::min<std::uint64_t>(90, 700 - begin);
        std::vector<std::uint8_t> unpacked(count + 8);
        stream.unpack(begin, count, unpacked.data(), unit);
        for (std::uint64_t i = 0; i < count; ++i)
          ASSERT_EQ(unpacked[i] + 1U, stream.code(begin + i)) << letters << " " << begin + i;
      }
    }
  }
}

TEST_F(HostParts, RunsOfOneLetterComeInOrder) {
  const std::string run(100, 'C');
  const test::NamedText text = test::single("", run + "A" + run + run + "G" + run);
  const PrefixPlan plan = plan_of(text.view());
  ASSERT_LT(plan.depth(), 100U);
  // Rests: A before G; the end of the text before both.
  const std::vector<LongRun<std::uint32_t>> runs = {{0, 100}, {101, 301}, {302, 402}};
  const std::uint64_t members = 400 - 3 * (plan.depth() - 1);
  const std::vector<RunSlots> slots = {{2, 0, members}};
  const SymbolStream stream(text.view(), plan);
  const RunOrder<std::uint32_t> order(stream, text.symbols.size(), plan, runs, slots);
  std::vector<std::uint32_t> suffixes(members);
  order.place(std::vector<std::uint32_t>{2, 9, 0}, suffixes);

  std::vector<std::uint32_t> expected(members);
  std::uint64_t next = 0;
  for (const auto& run_of : runs) {
    for (std::uint64_t i = run_of.begin; i + plan.depth() <= run_of.end; ++i) {
      expected[next++] = static_cast<std::uint32_t>(i);
    }
  }
  const auto& symbols = text.symbols;
  std::sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(symbols.begin() + a, symbols.end(), symbols.begin() + b,
                                        symbols.end());
  });
  EXPECT_EQ(suffixes, expected);
  // Parts of the slots.
  for (std::uint64_t begin = 0; begin < members; begin += 17) {
    std::vector<std::uint32_t> part(std::min<std::uint64_t>(17, members - begin));
    order.place(std::vector<std::uint32_t>{2, 9, 0}, part, begin);
    const auto first = expected.begin() + static_cast<std::ptrdiff_t>(begin);
    EXPECT_TRUE(std::ranges::equal(part, std::span(first, part.size())));
  }
  for (std::uint64_t i = 0; i < runs.size(); ++i) {
    const auto slot = std::find(suffixes.begin(), suffixes.end(), runs[i].begin);
    const auto first = static_cast<std::uint64_t>(slot - suffixes.begin());
    EXPECT_LE(order.first_slot(i), first);
    EXPECT_LE(first - order.first_slot(i), 1U);
  }
}

}  // namespace
}  // namespace sortie::suffix_array::host
