// SPDX-License-Identifier: Apache-2.0

// Induced sorting on the host: each of its steps against its definition, and texts that lead through all
// ways to order names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/suffix_array/host/induced/induced_sort.hpp"
#include "apps/suffix_array/host/induced/induction.hpp"
#include "apps/suffix_array/host/induced/name_doubling.hpp"
#include "apps/suffix_array/host/induced/substring_names.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/sanitizers.hpp"

namespace sortie::suffix_array {
namespace {

using host::LmsSuffix;
using host::SymbolString;

class HostInduced : public testing::Test {
 protected:
  void SetUp() override {
    if (test::backend() != Backend::host) GTEST_SKIP() << "of the host only";
    start_host_runtime(0);
  }

  static Context context() {
    Context context;
    context.backend = Backend::host;
    return context;
  }

  std::vector<std::byte> scratch_bytes_ = std::vector<std::byte>(1 << 16);
  host::ScratchStack scratch_{{std::span(scratch_bytes_), {}}};
};

/// Random symbols below `alphabet` in runs of up to `longest_run`, and what a key may read behind them.
template <class Symbol>
std::vector<Symbol> random_symbols(std::size_t size, unsigned alphabet, unsigned longest_run,
                                   std::uint64_t seed) {
  Random random(seed);
  std::vector<Symbol> symbols;
  while (symbols.size() < size)
    symbols.insert(symbols.end(), 1 + random.below(longest_run),
                   static_cast<Symbol>(random.below(alphabet)));
  symbols.resize(size);
  symbols.resize(size + host::symbols_after_names);
  return symbols;
}

template <class Symbol>
SymbolString<Symbol> string_of(const std::vector<Symbol>& symbols, std::uint64_t alphabet,
                               bool has_separators) {
  return {std::span(symbols).first(symbols.size() - host::symbols_after_names), alphabet,
          has_separators};
}

/// Whether suffix a is less than suffix b, by the definition of a SymbolString.
template <class Symbol>
bool is_less(const SymbolString<Symbol>& string, std::size_t a, std::size_t b) {
  const std::size_t size = string.size();
  for (std::size_t i = 0;; ++i) {
    if (a + i == size) return !string.is_separator(string.symbols[b + i]);
    if (b + i == size) return string.is_separator(string.symbols[a + i]);
    const Symbol in_a = string.symbols[a + i];
    const Symbol in_b = string.symbols[b + i];
    if (in_a != in_b) return in_a < in_b;
    if (string.is_separator(in_a)) return a < b;
  }
}

template <class Symbol>
std::vector<LmsSuffix> lms_of(const SymbolString<Symbol>& string) {
  const std::vector<std::uint64_t> counts = host::count_lms_suffixes(string);
  std::vector<LmsSuffix> lms(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  host::find_lms_suffixes<Symbol>(string, counts, lms.data());
  return lms;
}

template <class Symbol>
std::vector<std::uint32_t> plain_lms_positions(const SymbolString<Symbol>& string) {
  const auto is_s = [&](std::size_t i) {
    return i + 1 == string.size() ? string.is_separator(string.symbols[i])
                                  : is_less(string, i, i + 1);
  };
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 1; i < string.size(); ++i)
    if (is_s(i) && !is_s(i - 1)) positions.push_back(i);
  return positions;
}

/// Calls test(string) for many strings.
template <class Symbol, class Test>
void for_each_string(const Test& test) {
  std::uint64_t seed = 0;
  for (const std::size_t size : {1, 2, 63, 64, 65, 130, 700}) {
    for (const unsigned alphabet : {1U, 2U, 3U, 20U, 250U}) {
      for (const unsigned run : {1U, 5U, 90U}) {
        for (const bool separators : {false, true}) {
          if (separators && !std::is_same_v<Symbol, std::uint8_t>) continue;
          const auto symbols = random_symbols<Symbol>(size, alphabet, run, ++seed);
          SCOPED_TRACE(testing::Message() << size << " of " << alphabet << ", runs " << run << ", "
                                          << (separators ? "separators" : "no separators"));
          test(string_of(symbols, alphabet, separators));
        }
      }
    }
  }
}

TEST_F(HostInduced, FindsTheLmsSuffixes) {
  const auto check_string = [](const auto& string) {
    std::vector<std::uint32_t> found;
    for (const LmsSuffix& suffix : lms_of(string)) {
      found.push_back(suffix.position);
      EXPECT_EQ(suffix.before, host::symbols_before(string, suffix.position));
    }
    EXPECT_EQ(found, plain_lms_positions(string));
  };
  for_each_string<std::uint8_t>(check_string);
  for_each_string<std::uint32_t>(check_string);
}

TEST_F(HostInduced, FindsThemInSharesOfThreads) {
  for (const unsigned run : {1U, 40000U}) {
    const auto symbols = random_symbols<std::uint8_t>(300000, 3, run, 9);
    const auto string = string_of(symbols, 3, false);
    std::vector<std::uint32_t> expected;
    bool next_is_s = false;
    for (std::uint32_t i = string.size() - 1; i-- > 0;) {
      const auto& at = string.symbols;
      const bool is_s = at[i] < at[i + 1] || (at[i] == at[i + 1] && next_is_s);
      if (next_is_s && !is_s) expected.push_back(i + 1);
      next_is_s = is_s;
    }
    std::reverse(expected.begin(), expected.end());
    std::vector<std::uint32_t> found;
    for (const LmsSuffix& suffix : lms_of(string)) found.push_back(suffix.position);
    EXPECT_EQ(found, expected);
  }
}

TEST_F(HostInduced, KnowsTheSymbolsBeforeAPosition) {
  const std::vector<std::uint8_t> symbols = {1, 2, 3, 4, 5, 6};
  const SymbolString<std::uint8_t> text{symbols};
  EXPECT_EQ(host::symbols_before(text, 0), 0U);
  EXPECT_EQ(host::symbols_before(text, 3), 0x010203U);
  EXPECT_EQ(host::symbols_before(text, 5), 0x02030405U);
}

/// Names have the order of the substrings: a suffix of names is less where its LMS suffix is.
TEST_F(HostInduced, NamesHaveTheOrderOfTheSuffixes) {
  const auto check_string = [this](const auto& string) {
    const std::vector<LmsSuffix> lms = lms_of(string);
    if (lms.empty()) return;
    std::vector<std::uint32_t> names(lms.size());
    const std::uint32_t distinct =
        host::name_substrings<typename std::remove_cvref_t<decltype(string.symbols)>::value_type>(
            context(), string, lms, names, scratch_);
    std::vector<bool> used(distinct);
    for (const std::uint32_t name : names) used.at(name) = true;
    EXPECT_EQ(std::count(used.begin(), used.end(), true), static_cast<std::ptrdiff_t>(distinct));
    std::vector<std::uint32_t> order(lms.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return is_less(string, lms[a].position, lms[b].position);
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      EXPECT_TRUE(std::lexicographical_compare(names.begin() + order[i - 1], names.end(),
                                               names.begin() + order[i], names.end()))
          << order[i - 1] << ", " << order[i];
    }
  };
  for_each_string<std::uint8_t>(check_string);
  for_each_string<std::uint32_t>(check_string);
  // Substrings of seven to nine symbols whose last ones are about the greatest that a key has.
  auto symbols = random_symbols<std::uint8_t>(3000, 5, 6, 1);
  for (std::uint8_t& symbol : symbols) symbol = static_cast<std::uint8_t>(symbol + 245);
  check_string(string_of(symbols, 256, false));
}

/// Small blocks, so that suffixes are induced in the same block, in others, and in buckets that reach from
/// one to the next.
TEST_F(HostInduced, InducesByBlocks) {
  const auto check_names = [this](const std::vector<std::uint32_t>& symbols, unsigned alphabet) {
    const auto string = string_of(symbols, alphabet, false);
    std::vector<std::uint32_t> expected(string.size());
    std::iota(expected.begin(), expected.end(), 0U);
    std::sort(expected.begin(), expected.end(),
              [&](std::uint32_t a, std::uint32_t b) { return is_less(string, a, b); });
    const std::vector<LmsSuffix> lms = lms_of(string);
    std::vector<std::uint32_t> ranks(string.size());
    for (std::uint32_t i = 0; i < expected.size(); ++i) ranks[expected[i]] = i;
    std::vector<std::uint32_t> order(lms.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return ranks[lms[a].position] < ranks[lms[b].position];
    });
    for (const std::uint32_t block : {64U, 256U, 4096U}) {
      std::vector<std::uint32_t> suffixes(string.size());
      host::induce_by_blocks(string, lms, order, suffixes, scratch_, block);
      EXPECT_EQ(suffixes, expected) << block;
    }
  };
  std::uint64_t seed = 0;
  for (const std::size_t size : {1, 2, 64, 700, 3000}) {
    for (const unsigned alphabet : {1U, 2U, 3U, 20U, 250U, 100000U}) {
      for (const unsigned run : {1U, 5U, 90U}) {
        SCOPED_TRACE(testing::Message() << size << " of " << alphabet << ", runs " << run);
        check_names(random_symbols<std::uint32_t>(size, alphabet, run, ++seed), alphabet);
      }
    }
  }
  // Of each period, one name is changed.
  for (const std::size_t period : {2, 3, 7, 100}) {
    const auto unit = random_symbols<std::uint32_t>(period, 9, 1, period);
    std::vector<std::uint32_t> symbols(3000 + host::symbols_after_names);
    for (std::size_t i = 0; i < 3000; ++i) symbols[i] = unit[i % period];
    symbols[1777] = 9;
    check_names(symbols, 10);
  }
}

/// Of up to 9 symbols and of 21: in a key of bytes, and longer. The eighth symbol is the least one of the
/// text, which the greatest symbols of a key stand for if it is large.
TEST_F(HostInduced, GivesEqualSubstringsOneName) {
  for (const std::size_t length : {4, 6, 7, 8, 9, 20}) {
    for (const unsigned least : {0U, 97U, 246U, 247U, 248U, 253U}) {
      std::vector<std::uint8_t> symbols{255};
      for (int i = 0; i < 5; ++i) {
        symbols.push_back(static_cast<std::uint8_t>(least));
        symbols.insert(symbols.end(), length - 1, 254);
      }
      for (const unsigned symbol : {least, 255U})
        symbols.push_back(static_cast<std::uint8_t>(symbol));
      const SymbolString<std::uint8_t> string{symbols};
      const std::vector<LmsSuffix> lms = lms_of(string);
      ASSERT_EQ(lms.size(), 6U);
      std::vector<std::uint32_t> names(lms.size());
      EXPECT_EQ(host::name_substrings<std::uint8_t>(context(), string, lms, names, scratch_), 2U);
      EXPECT_EQ(std::count(names.begin(), names.end(), names[0]), 5) << length << ", " << least;
    }
  }
}

/// The order of the suffixes of a string whose end is less than all symbols.
template <class Symbol>
std::vector<std::uint32_t> plain_order(const std::vector<Symbol>& symbols) {
  std::vector<std::uint32_t> order(symbols.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(symbols.begin() + a, symbols.end(), symbols.begin() + b,
                                        symbols.end());
  });
  return order;
}

/// Letters of which a few hundred thousand begin with the same one, so that threads share its bucket.
std::string large_text(unsigned letters) {
  const std::string part = test::random_letters(200000, letters, 'A', letters);
  return part + std::string(1000, 'A') + part.substr(77777) +
         test::random_letters(300000, letters, 'A', 5) + test::fibonacci(50000);
}

TEST_F(HostInduced, DoublingSortsSuffixesOfNames) {
  for (const unsigned alphabet : {1U, 2U, 50U, 4000U}) {
    for (const std::size_t size : {1, 2, 1000, 3000}) {
      auto names = random_symbols<std::uint32_t>(size, alphabet, 3, alphabet + size);
      names.resize(size);
      std::vector<std::uint32_t> order(size);
      host::sort_by_doubling(context(), names, alphabet, order, scratch_);
      EXPECT_EQ(order, plain_order(names)) << alphabet << ", " << size;
    }
  }
}

/// Long repeats of a string, so that groups are large and rounds many.
TEST_F(HostInduced, DoublingSortsRepeatedNames) {
  for (const unsigned alphabet : {5U, 70000U}) {
    std::vector<std::uint32_t> names = random_symbols<std::uint32_t>(3000, alphabet, 2, alphabet);
    names.resize(3000);
    const auto part = names;
    while (names.size() < 200000) {
      names.insert(names.end(), part.begin(), part.end());
      names.push_back(static_cast<std::uint32_t>(names.size() % alphabet));
    }
    std::vector<std::uint32_t> order(names.size());
    host::sort_by_doubling(context(), names, alphabet, order, scratch_);
    std::vector<std::uint32_t> ranks(names.size() + 1);  // 0 is that of the end
    for (std::uint32_t i = 0; i < order.size(); ++i) ranks[order[i]] = i + 1;
    EXPECT_EQ(std::ranges::count(ranks, 0U), 1);
    const auto name_and_rest = [&](std::uint32_t at) {
      return std::pair(names[at], ranks[at + 1]);
    };
    EXPECT_TRUE(std::ranges::is_sorted(order, {}, name_and_rest)) << alphabet;
  }
}

TEST_F(HostInduced, SortsLargeTexts) {
  for (const unsigned letters : {2U, 3U, 4U, 26U, 190U}) {
    const test::NamedText text = test::single("", large_text(letters));
    const auto suffixes = host::build_induced<std::uint32_t>(context(), text.view());
    EXPECT_NO_THROW(check<std::uint32_t>(context(), text.view(), suffixes)) << letters;
  }
  const std::string part = large_text(60);
  const test::NamedText records = test::joined(
      "", {part, "", "", part.substr(3), part, test::repeated("AB", 90000), part + "A", ""});
  const auto suffixes = host::build_induced<std::uint32_t>(context(), records.view());
  EXPECT_NO_THROW(check<std::uint32_t>(context(), records.view(), suffixes));
}

TEST_F(HostInduced, SortsShortPeriods) {
  for (const std::string_view period : {"A", "AB", "BA", "ABACABB", "ZZZZZZZZZZA"}) {
    std::string letters = test::repeated(std::string(period), 200000 / period.size());
    for (const char mutation : {'A', 'C'}) {
      letters[letters.size() / 3] = mutation;
      const test::NamedText text = test::single("", letters);
      const auto suffixes = host::build_induced<std::uint64_t>(context(), text.view());
      EXPECT_NO_THROW(check<std::uint64_t>(context(), text.view(), suffixes)) << period << mutation;
    }
  }
}

/// LMS substrings of some thousand letters that differ late, and names that are all equal.
TEST_F(HostInduced, SortsLongSubstrings) {
  std::string letters;
  for (const std::size_t length : {5000, 3000, 5000, 63, 64, 65, 4999, 3000, 128, 5001})
    letters += std::string(length, 'b') + (length % 2 == 0 ? "a" : "c");
  for (const std::string& tail : {std::string(), test::repeated("cb", 40000), letters}) {
    const test::NamedText text = test::single("", letters + tail);
    const auto suffixes = host::build_induced<std::uint32_t>(context(), text.view());
    EXPECT_NO_THROW(check<std::uint32_t>(context(), text.view(), suffixes));
  }
}

TEST_F(HostInduced, IsChosenForTextsThatRepeatThemselves) {
  const auto is_chosen = [](const Context& context, const std::string& letters) {
    return host::chooses_induction<std::uint32_t>(context, test::single("", letters).view());
  };
  const std::string dna = test::random_letters(200000, 4, 'A', 1);
  const std::string proteins = test::random_letters(200000, 20, 'A', 2);
  const std::string prose = proteins + proteins.substr(10000, 100000);
  EXPECT_FALSE(is_chosen(context(), dna));
  EXPECT_FALSE(is_chosen(context(), proteins));
  EXPECT_TRUE(is_chosen(context(), prose));
  EXPECT_TRUE(is_chosen(context(), test::repeated(dna.substr(0, 1000), 200)));
  EXPECT_TRUE(is_chosen(context(), test::repeated("AB", 100000)));
  EXPECT_FALSE(is_chosen(context(), std::string(200000, 'A')));
  EXPECT_FALSE(is_chosen(context(), prose.substr(0, 1000)));
  Context little = context();
  little.memory_budget = 10 * prose.size();
  EXPECT_FALSE(is_chosen(little, prose));
  EXPECT_NO_THROW((void)build<std::uint32_t>(little, test::single("", prose).view()));
}

/// Words in random order, of which sentences are repeated.
std::string large_prose() {
  const std::string letters = test::random_letters(40000, 26, 'a', 7);
  Random random(11);
  std::string text;
  while (text.size() < 3000000) {
    if (text.size() > 100000 && random.below(12) == 0) {
      text += text.substr(random.below(text.size() - 1000), random.below(300));
    } else {
      text += letters.substr(random.below(4000) * 9, 2 + random.below(7));
    }
    text += ' ';
  }
  return text;
}

TEST_F(HostInduced, StaysWithinTheMemoryThatIsStated) {
#if SORTIE_TEST_SANITIZED
  GTEST_SKIP() << "sanitizers keep memory that was given back";
#endif
  std::vector<test::NamedText> texts = {test::single("prose", large_prose()),
                                        test::single("period", test::repeated("AB", 1500000))};
  const std::string prose = large_prose();
  texts.push_back(test::joined("records", {prose.substr(0, 1000000), prose.substr(1000000)}));
  for (const test::NamedText& text : texts) {
    (void)host::build_induced<std::uint32_t>(context(), test::single("", "GATTACA").view());
    if (!test::reset_peak_memory()) GTEST_SKIP() << "peak memory cannot be reset here";
    const std::uint64_t before = peak_host_memory();
    const auto suffixes = host::build_induced<std::uint32_t>(context(), text.view());
    const auto taken = static_cast<double>(peak_host_memory() - before);
    const double rounding = 16.0 * (1 << 20);  // large pages
    const double stated = text.separators.empty() ? 13 : 14;
    EXPECT_LE(taken, stated * static_cast<double>(text.symbols.size()) + rounding)
        << text.name << ": " << taken / static_cast<double>(text.symbols.size())
        << " bytes a symbol";
    EXPECT_NO_THROW(check<std::uint32_t>(context(), text.view(), suffixes));
  }
}

TEST_F(HostInduced, RefusesTextsWithoutAByteForSeparators) {
  test::NamedText text = test::single("", test::random_letters(200000, 256, 0, 3));
  text.separators = {5, 70000};
  EXPECT_FALSE(host::can_induce(text.view()));
  EXPECT_FALSE(host::chooses_induction<std::uint32_t>(context(), text.view()));
  EXPECT_THROW((void)host::build_induced<std::uint32_t>(context(), text.view()), Error);
  EXPECT_NO_THROW((void)build<std::uint32_t>(context(), text.view()));
}

}  // namespace
}  // namespace sortie::suffix_array
