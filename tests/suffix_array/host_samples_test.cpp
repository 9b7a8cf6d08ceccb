// SPDX-License-Identifier: Apache-2.0

// What leads from the ranks of samples to the order of all suffixes in groups, on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "apps/suffix_array/host/bit_set.hpp"
#include "apps/suffix_array/host/samples/sampling.hpp"
#include "apps/suffix_array/host/text/coded_text.hpp"
#include "core/host_runtime.hpp"
#include "core/random.hpp"
#include "tests/suffix_array/texts.hpp"

namespace sortie::suffix_array::host {
namespace {

template <class Pos>
class HostSamples : public testing::Test {
 protected:
  void SetUp() override { start_host_runtime(0); }
};
using Positions = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(HostSamples, Positions);

/// A set of about `share` percent of `size` items.
BitSet random_set(std::uint64_t size, std::uint64_t share, Random& random) {
  BitSet set(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    if (random.below(100) < share) set.set(i);
  }
  return set;
}

TYPED_TEST(HostSamples, SetsAreNumbered) {
  Random random(3);
  for (const std::uint64_t size : {1, 64, 65, 1000, 200000}) {
    for (const std::uint64_t share : {0, 3, 60, 100}) {
      const BitSet set = random_set(size, share, random);
      const NumberedSet<TypeParam> numbers(set);
      std::vector<std::uint64_t> positions;
      for (std::uint64_t i = 0; i < size; ++i) {
        if (set.test(i)) {
          ASSERT_EQ(numbers.number(i), positions.size());
          positions.push_back(i);
        }
        if (!positions.empty()) {
          ASSERT_EQ(numbers.last_number(i) + 1, positions.size());
        }
      }
      ASSERT_EQ(numbers.count(), positions.size());
      std::vector<std::uint64_t> visited(positions.size());
      numbers.for_each(
          [&](std::uint64_t position, TypeParam number) { visited[number] = position; });
      EXPECT_EQ(visited, positions);
    }
  }
}

TEST(JoinedItems, GroupsAreVisitedOnceWhereTheyBegin) {
  Random random(4);
  for (const std::uint64_t size : {1, 2, 63, 64, 65, 128, 129, 5000}) {
    for (const std::uint64_t share : {0, 10, 50, 97, 100}) {
      BitSet joined = random_set(size, share, random);
      // Words beyond the last item do not count.
      const std::uint64_t filled = (size + 63) / 64 * 64;
      BitSet more(size + 300);
      for (std::uint64_t i = 0; i < size + 300; ++i) {
        const bool is_item = i < size && i > 0 && joined.test(i);
        if (is_item || (i >= filled && random.below(2) == 0)) more.set(i);
      }
      std::vector<std::uint64_t> expected;
      for (std::uint64_t begin = 0; begin < size;) {
        std::uint64_t end = begin + 1;
        while (end < size && more.test(end)) ++end;
        if (end - begin > 1) expected.insert(expected.end(), {begin, end});
        begin = end;
      }
      std::vector<std::uint64_t> found;
      for (std::uint64_t first = 0; first < size; first += 128) {
        more.for_each_joined(first, std::min(first + 128, size), size,
                             [&](std::uint64_t begin, std::uint64_t end) {
                               found.insert(found.end(), {begin, end});
                             });
      }
      EXPECT_EQ(found, expected) << size << " items, " << share << " percent";

      BitSet alone(size);
      for (std::uint64_t i = 1; i < size; ++i) {
        if (more.test(i)) alone.set(i);
      }
      std::vector<std::uint64_t> items;
      std::vector<std::uint64_t> expected_items;
      alone.for_each_in_joined(0, size, [&](std::uint64_t item) { items.push_back(item); });
      for (std::size_t i = 0; i < expected.size(); i += 2) {
        for (std::uint64_t item = expected[i]; item < expected[i + 1]; ++item) {
          expected_items.push_back(item);
        }
      }
      EXPECT_EQ(items, expected_items) << size << " items, " << share << " percent";
    }
  }
}

TEST(Divisibility, IsThatOfTheRemainder) {
  Random random(5);
  for (std::uint64_t divisor = 1; divisor < 600; ++divisor) {
    const DivisibilityTest test(divisor);
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t number = random.below(~std::uint64_t{0}) >> random.below(64);
      const std::uint64_t multiple = number / divisor * divisor;
      ASSERT_EQ(test.divides(number), number % divisor == 0) << number << " by " << divisor;
      ASSERT_TRUE(test.divides(multiple)) << multiple << " by " << divisor;
    }
  }
}

TEST(SymbolHashes, AreTheSameWithVectorsAndWithout) {
  for (const int letters : {2, 4, 20, 256}) {
    const test::NamedText text =
        test::single("", test::random_letters(3000, letters, letters > 190 ? 0 : 'A', 5) +
                             std::string(100, 'A'));
    const PrefixPlan plan = plan_prefixes(count_letters(text.view()), text.symbols.size());
    const SymbolStream stream(text.view(), plan);
    for (const std::uint64_t hashed : {2, 5, stream.symbols()}) {
      if (hashed > static_cast<std::uint64_t>(stream.symbols())) continue;
      for (const std::uint64_t n : {0, 1, 7, 8, 9, 1000}) {
        std::vector<std::uint32_t> plain(n);
        std::vector<std::uint32_t> found(n);
        const std::uint64_t first = text.symbols.size() - 70 - n;
        hash_symbols(stream, hashed, first, n, plain.data(), VectorUnit::baseline);
        hash_symbols(stream, hashed, first, n, found.data());
        ASSERT_EQ(found, plain) << letters << " letters, " << hashed << " hashed";
        for (std::uint64_t i = 0; i < n; ++i) {
          const bool repeated = text.symbols[first + i] == text.symbols[first + i + 1];
          ASSERT_EQ(plain[i] == ~0U, repeated);
        }
      }
    }
  }
}

TYPED_TEST(HostSamples, MapKnowsTheSampleOfEveryMember) {
  Random random(6);
  for (const test::NamedText& text :
       {test::single("random", test::random_letters(300000, 4, 'A', 5)),
        test::single("fibonacci", test::fibonacci(150000)),
        test::single("period_2", test::repeated("AB", 90000))}) {
    SCOPED_TRACE(text.name);
    const std::uint64_t size = text.symbols.size();
    const PrefixPlan plan = plan_prefixes(count_letters(text.view()), size);
    const SymbolStream stream(text.view(), plan);
    const std::uint64_t limit = plan.depth() + 3 * static_cast<std::uint64_t>(stream.symbols());
    const Sampling sampling(stream, plan.depth(), limit);
    for (const std::uint64_t share : {1, 70, 100}) {
      BitSet members(size + 1);
      for (std::uint64_t i = 0; i + limit + 1 < size; ++i) {
        if (random.below(100) < share) members.set(i);
      }
      SampleMap<TypeParam> map(sampling, members, size);
      BitSet samples(size + 1);
      map.find();
      map.finish(samples);
      ASSERT_TRUE(map.is_known());
      std::vector<std::uint64_t> sample_of(size);
      sampling.for_each(0, size - limit, [&](std::uint64_t position, std::uint64_t sample) {
        sample_of[position] = sample;
      });
      std::vector<TypeParam> positions;
      BitSet expected(size + 1);
      for (std::uint64_t i = 0; i + limit < size; ++i) {
        if (!members.test(i) && !(i > 0 && members.test(i - 1))) continue;
        ASSERT_EQ(map[i], sample_of[i]) << i;
        expected.set(sample_of[i]);
        positions.push_back(static_cast<TypeParam>(i));
      }
      ASSERT_EQ(samples.words(), expected.words());
      map.replace([](TypeParam sample) { return sample + 1; });
      std::vector<TypeParam> values(positions.size());
      map.look_up(positions.data(), positions.size(), values.data());
      for (std::size_t i = 0; i < positions.size(); ++i) {
        ASSERT_EQ(values[i], sample_of[positions[i]] + 1);
      }
      map.forget();
      EXPECT_FALSE(map.is_known());
    }
  }
}

TYPED_TEST(HostSamples, GroupsAreSortedByRanks) {
  // All suffixes that have room for their samples, in random groups; ranks stand for samples.
  const test::NamedText text = test::single("", test::random_letters(70000, 4, 'A', 9));
  const std::uint64_t size = text.symbols.size();
  const PrefixPlan plan = plan_prefixes(count_letters(text.view()), size);
  const SymbolStream stream(text.view(), plan);
  const std::uint64_t limit = plan.depth() + 3 * static_cast<std::uint64_t>(stream.symbols());
  const Sampling sampling(stream, plan.depth(), limit);
  const std::uint64_t last = size - limit - 1;
  BitSet members(size + 1);
  members.set_range(0, last);
  SampleMap<TypeParam> map(sampling, members, size);
  BitSet samples(size + 1);
  map.find();
  map.finish(samples);
  // Some rank of any sample, all different.
  map.replace([](TypeParam sample) { return static_cast<TypeParam>(sample * 40503U % 131072U); });

  Random random(10);
  std::vector<TypeParam> suffixes(last);
  for (std::uint64_t i = 0; i < last; ++i) suffixes[i] = static_cast<TypeParam>(i);
  for (std::uint64_t i = last; i-- > 1;) std::swap(suffixes[i], suffixes[random.below(i + 1)]);
  std::vector<TypeParam> expected = suffixes;
  ASSERT_TRUE(GroupBatch<TypeParam>::holds_ranks_up_to(131072));
  GroupBatch<TypeParam> batch(map, suffixes.data());
  for (std::uint64_t begin = 0; begin + 2 < last;) {
    const std::uint64_t longest = random.below(8) == 0 ? GroupBatch<TypeParam>::longest_group : 5;
    const std::uint64_t end = std::min(last, begin + 2 + random.below(longest - 1));
    batch.add(begin, end);
    // Members of one group have different samples in a suffix array; here equal ones keep their
    // order.
    std::stable_sort(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                     expected.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](TypeParam a, TypeParam b) { return map[a] < map[b]; });
    begin = end + random.below(3);
  }
  batch.sort();
  EXPECT_EQ(suffixes, expected);
}

}  // namespace
}  // namespace sortie::suffix_array::host
