// SPDX-License-Identifier: Apache-2.0
#include "cluster/exact_splits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "core/random.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::cluster {
namespace {

using Numbers = std::vector<std::uint64_t>;

/// A case: the sorted sequences of each rank, a function of rank, number of ranks and sequence.
struct Shape {
  std::string name;
  std::function<Numbers(std::uint64_t rank, std::uint64_t ranks, std::uint64_t sequence)> make;
};

Numbers drawn(std::uint64_t count, std::uint64_t seed, std::uint64_t bound) {
  Numbers items(count);
  Random random(seed);
  for (std::uint64_t& item : items) item = random.below(bound);
  std::ranges::sort(items);
  return items;
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"uniform", [](auto r, auto, auto s) { return drawn(1500, r * 7 + s, 1 << 30); }},
      {"all equal", [](auto r, auto, auto) { return Numbers(150 + r % 5, 42); }},
      {"few keys", [](auto r, auto, auto s) { return drawn(250, r * 7 + s, 3); }},
      {"none", [](auto, auto, auto) { return Numbers(); }},
      {"fewer than ranks",
       [](auto r, auto, auto) { return Numbers(r % 3 == 1 ? 1 : 0, 9 - r % 4); }},
      {"all on the last rank",
       [](auto r, auto p, auto s) { return drawn(r + 1 == p ? 1500 : 0, s, 1000); }},
      {"sorted over ranks",
       [](auto r, auto, auto) {
         Numbers items(200);
         for (std::size_t i = 0; i < items.size(); ++i) items[i] = r * 1000 + i;
         return items;
       }},
      {"reversed over ranks",
       [](auto r, auto p, auto) {
         Numbers items(200);
         for (std::size_t i = 0; i < items.size(); ++i) items[i] = (p - r) * 1000 + i;
         return items;
       }},
      {"skewed", [](auto r, auto, auto s) {
         Numbers items = drawn(300, r * 7 + s, 1 << 20);
         for (std::uint64_t& item : items) item = item * item / (1 << 24);
         return items;
       }}};
  return all;
}

/// The splits that the definition gives: all items in order, divided.
Splits expected_splits(const Shape& shape, std::uint64_t ranks, std::uint64_t sequences,
                       const Numbers& sizes, std::uint64_t rank) {
  std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>
      items;  // with rank, sequence
  for (std::uint64_t r = 0; r < ranks; ++r)
    for (std::uint64_t s = 0; s < sequences; ++s)
      for (const std::uint64_t item : shape.make(r, ranks, s)) items.emplace_back(item, r, s);
  std::ranges::sort(items);
  Splits splits(sequences, Numbers(ranks + 1, 0));
  std::uint64_t begin = 0;
  for (std::uint64_t d = 0; d < ranks; ++d) {
    for (std::uint64_t i = begin; i < begin + sizes[d]; ++i)
      if (std::get<1>(items[i]) == rank) ++splits[std::get<2>(items[i])][d + 1];
    begin += sizes[d];
  }
  for (Numbers& begins : splits)
    for (std::uint64_t d = 0; d < ranks; ++d) begins[d + 1] += begins[d];
  return splits;
}

Splits splits_of(Ranks& ranks, const Shape& shape, std::uint64_t sequences, const Numbers& sizes,
                 std::string_view phase = {}) {
  std::vector<Numbers> items;
  std::vector<SortedItems> sorted;
  for (std::uint64_t s = 0; s < sequences; ++s)
    items.push_back(shape.make(static_cast<std::uint64_t>(ranks.rank()),
                               static_cast<std::uint64_t>(ranks.size()), s));
  for (const Numbers& mine : items)
    sorted.push_back(sorted_items(
        mine.size(), [&mine](std::uint64_t i) { return mine[i]; }, std::less<>{}));
  return exact_splits(ranks, sorted, sizes, phase);
}

std::uint64_t items_of(const Shape& shape, std::uint64_t ranks, std::uint64_t sequences) {
  std::uint64_t total = 0;
  for (std::uint64_t r = 0; r < ranks; ++r)
    for (std::uint64_t s = 0; s < sequences; ++s) total += shape.make(r, ranks, s).size();
  return total;
}

TEST(ExactSplits, AreThoseOfTheOrderByItemRankSequenceAndPosition) {
  test::on_ranks([](Ranks& ranks) {
    const auto p = static_cast<std::uint64_t>(ranks.size());
    for (const Shape& shape : shapes()) {
      for (const std::uint64_t sequences : {1, 2}) {
        const std::uint64_t total = items_of(shape, p, sequences);
        Numbers sizes = EqualShares{total, p}.sizes();
        if (sequences == 2 && p > 1) {
          // Rank 0 gets none, and each of the others half of what is left.
          sizes.assign(p, 0);
          std::uint64_t left = total;
          for (std::uint64_t d = 1; d < p; ++d) left -= sizes[d] = d + 1 == p ? left : left / 2;
        }
        EXPECT_EQ(
            splits_of(ranks, shape, sequences, sizes),
            expected_splits(shape, p, sequences, sizes, static_cast<std::uint64_t>(ranks.rank())))
            << shape.name << ", " << sequences << " sequences";
      }
    }
  });
}

TEST(ExactSplits, RanksMayHoldDifferentNumbersOfSequences) {
  test::on_few_ranks([](Ranks& ranks) {
    const auto p = static_cast<std::uint64_t>(ranks.size());
    const auto r = static_cast<std::uint64_t>(ranks.rank());
    // Rank r holds r sequences of 10 equal items: all places follow from the order by rank.
    const SortedItems ten = sorted_items(
        10, [](std::uint64_t) { return 'x'; }, std::less<>{});
    const std::vector<SortedItems> sequences(r, ten);
    const std::uint64_t total = 10 * p * (p - 1) / 2;
    const Numbers sizes = EqualShares{total, p}.sizes();
    const Splits splits = exact_splits(ranks, sequences, sizes);
    ASSERT_EQ(splits.size(), r);
    const Numbers begins = begins_of(sizes);
    for (std::uint64_t s = 0; s < r; ++s) {
      const std::uint64_t first = 10 * (r * (r - 1) / 2 + s);
      for (std::uint64_t d = 0; d <= p; ++d)
        EXPECT_EQ(splits[s][d], std::clamp(begins[d], first, first + 10) - first);
    }
  });
}

TEST(ExactSplits, TakeFewRounds) {
  test::on_few_ranks([](Ranks& ranks) {
    const auto p = static_cast<std::uint64_t>(ranks.size());
    for (const Shape& shape : shapes()) {
      const Numbers sizes = EqualShares{items_of(shape, p, 1), p}.sizes();
      const std::uint64_t before = ranks.traffic().collectives;
      static_cast<void>(splits_of(ranks, shape, 1, sizes));
      // 4 calls to begin with, and 3 in each of 4 rounds at most
      EXPECT_LE(ranks.traffic().collectives - before, 4u + 3 * 4) << shape.name;
    }
  });
}

TEST(ExactSplits, OfOtherSizesThanThereAreItemsAreRefused) {
  test::on_few_ranks([](Ranks& ranks) {
    Numbers sizes(static_cast<std::size_t>(ranks.size()), 1);
    try {
      static_cast<void>(splits_of(ranks, shapes()[3], 1, sizes));
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
    EXPECT_TRUE(ranks.has_agreed_error());
  });
}

TEST(ExactSplits, AFaultOfReadingIsThrownByAll) {
  test::on_few_ranks([](Ranks& ranks) {
    const auto p = static_cast<std::uint64_t>(ranks.size());
    const Numbers sizes = EqualShares{items_of(shapes()[0], p, 1), p}.sizes();
    for (const int failing : {0, ranks.size() / 2, ranks.size() - 1}) {
      const test::Fault fault(ranks, failing, "read runs");
      std::string message;
      try {
        static_cast<void>(splits_of(ranks, shapes()[0], 1, sizes, "read runs"));
      } catch (const Error& error) {
        message = error.what();
      }
      EXPECT_EQ(message, "rank " + std::to_string(failing) + ": injected");
    }
  });
}

}  // namespace
}  // namespace sortie::cluster
