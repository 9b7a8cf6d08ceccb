// SPDX-License-Identifier: Apache-2.0

// Kernels of text deduplication on the host: anchors of all windows, comparisons and marks, in the
// steps of the search on a device.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "apps/text_deduplication/cuda/find_anchors.cuh"
#include "apps/text_deduplication/cuda/groups.cuh"
#include "core/random.hpp"
#include "primitives/cuda/launch.cuh"
#include "tests/text_deduplication/oracle.hpp"

namespace sortie::texts::cuda {
namespace {

struct Items {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> values;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(keys.size()); }
  [[nodiscard]] ItemsView view() const { return {keys.data(), values.data(), size()}; }

  void sort() {
    std::vector<std::uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return hash_of_key(keys[i]); });
    Items sorted;
    for (const std::uint32_t i : order) {
      sorted.keys.push_back(keys[i]);
      sorted.values.push_back(values[i]);
    }
    *this = sorted;
  }
};

/// What a source of items makes of `count` items.
template <class Source>
Items made_of(const Source& source, std::uint32_t count) {
  Items made;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t place = made.size();
    made.keys.resize(place + source(i));
    made.values.resize(made.keys.size());
    source.write(i, place, made.keys.data(), made.values.data());
  }
  return made;
}

/// The search on a device, with kernels on the host.
class Search {
 public:
  Search(const test::Documents& documents, const DeduplicationOptions& options)
      : options_(options),
        shape_(WindowShape::of(options.min_length)),
        size_(documents.text.size()),
        text_((size_ + 2 * text_padding) / 16 + 1),
        removed_(size_ / 32 + 1),
        kept_(size_ / 32 + 1) {
    std::ranges::copy(documents.text, bytes());
    borders_ = {documents.begins.begin(), documents.begins.end()};
    other_begin_ = options.has_other_corpus() ? documents.begins[options.other_corpus] : size_;
    if (options.across_documents) borders_ = {0, other_begin_, size_};
    for (std::uint64_t begin = 0; begin < size_ + tile_windows; begin += tile_windows) {
      const auto next = std::ranges::upper_bound(borders_, begin) - borders_.begin();
      first_borders_.push_back(std::min<std::uint64_t>(next, borders_.size() - 1));
    }
  }

  void run(std::uint64_t passes, std::uint32_t most_rounds) {
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      Items items = anchors({pass, passes});
      anchors_ += items.size();
      items.sort();
      items = made_of(MatchableItems{items.view()}, items.size());
      items = compare(items, shape_.offsets, most_rounds);
      items = made_of(MatchableItems{items.view()}, items.size());
      SingleWindows<TextSource> windows{{bytes()}, shape_.window, 1, items.view(), {0, passes}};
      for (std::uint32_t i = 1; i < shape_.window; ++i) windows.power *= windows.factor;
      for (; windows.range.index != passes; ++windows.range.index) {
        Items single = made_of(windows, items.size());
        single.sort();
        EXPECT_EQ(compare(single, 1, 10'000).size(), 0U);
      }
    }
  }

  [[nodiscard]] bool is_removed(std::uint64_t i) const { return bit(removed_, i); }
  [[nodiscard]] bool is_kept(std::uint64_t i) const { return bit(kept_, i); }
  [[nodiscard]] std::uint64_t anchors() const { return anchors_; }
  /// The copies of each window that is a first occurrence; else 0.
  [[nodiscard]] const std::vector<std::uint64_t>& copies() const { return copies_; }

 private:
  static bool bit(const std::vector<std::uint32_t>& words, std::uint64_t i) {
    return (words[i / 32] >> i % 32 & 1U) != 0;
  }
  [[nodiscard]] std::uint8_t* bytes() {
    return reinterpret_cast<std::uint8_t*>(text_.data()) + text_padding;
  }

  Items anchors(const HashRange& range) {
    Items items;
    const AnchorTiles tiles{bytes(), size_, borders_.data(), first_borders_.data(), shape_, range};
    for (unsigned tile = 0; tile < blocks_for(size_, tile_windows); ++tile) {
      std::vector<std::uint32_t> counts(tile + 1);
      cuda_on_host::run_block(
          tile_threads, [&] { count_anchors_kernel(tiles, counts.data()); }, tile);
      const std::uint32_t begin = items.size();
      items.keys.resize(begin + counts[tile]);
      items.values.resize(begin + counts[tile]);
      counts[tile] = begin;
      cuda_on_host::run_block(
          tile_threads,
          [&] {
            write_anchors_kernel(tiles, counts.data(), items.keys.data(), items.values.data());
          },
          tile);
    }
    return items;
  }

  Items compare(Items items, std::uint32_t offsets, std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds && items.size() != 0; ++round) {
      const std::uint32_t size = items.size();
      std::vector<std::uint32_t> leaders(size);
      for (std::uint32_t i = 0; i < size; ++i)
        leaders[i] = items.view().is_head(i) ? i : leaders[i - 1];
      const Groups groups{items.view(), leaders.data()};
      std::vector<Offsets> matches(size);
      const CompareWithLeader<TextSource> compare{{bytes()}, shape_.window, groups, matches.data()};
      for (std::uint32_t i = 0; i < size; ++i) compare(i);
      mark(groups, matches, offsets);
      items = made_of(RemainingItems{groups, matches.data()}, size);
    }
    return items;
  }

  void mark(const Groups& groups, const std::vector<Offsets>& matches, std::uint32_t offsets) {
    std::uint32_t count = 0;
    std::vector<std::uint64_t> begins(size_ + 1);
    std::vector<std::uint64_t> windows(size_ + 1);
    const MarkTargets targets{removed_.data(),
                              options_.protect_first ? kept_.data() : nullptr,
                              options_.keep == Keep::first,
                              options_.has_other_corpus(),
                              other_begin_,
                              begins.data(),
                              windows.data(),
                              static_cast<std::uint32_t>(begins.size()),
                              &count};
    for (unsigned i = 0; i < blocks_for(groups.items.size, marking_warps * 32); ++i) {
      cuda_on_host::run_block(
          marking_warps * 32,
          [&] {
            mark_groups_kernel(TextSource{bytes()}, groups, matches.data(), offsets, targets);
          },
          i);
    }
    ASSERT_LE(count, begins.size());
    copies_.resize(size_);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t number = windows[i] & field_mask;
      for (std::uint64_t j = begins[i]; j < begins[i] + number; ++j) {
        ASSERT_EQ(copies_[j], 0U);
        copies_[j] = windows[i] >> MarkTargets::window_bits;
      }
    }
  }

  DeduplicationOptions options_;
  WindowShape shape_;
  std::uint64_t size_;
  std::vector<uint4> text_;
  std::vector<std::uint64_t> borders_;
  std::vector<std::uint64_t> first_borders_;
  std::uint64_t other_begin_ = 0;
  std::vector<std::uint32_t> removed_;
  std::vector<std::uint32_t> kept_;
  std::uint64_t anchors_ = 0;
  std::vector<std::uint64_t> copies_;
};

/// The search of a corpus finds what the definition says. Returns the number of anchors.
std::uint64_t expect_definition(const test::Documents& documents,
                                const DeduplicationOptions& options, std::uint64_t passes,
                                std::uint32_t most_rounds) {
  const std::uint64_t size = documents.text.size();
  Search search(documents, options);
  search.run(passes, most_rounds);
  test::Expected expected = test::expected_of(documents, options);
  std::vector<std::uint64_t> copies = search.copies();
  copies.resize(size);
  EXPECT_EQ(copies, expected.copies);
  // Ranges without what the host does later, from the windows that are marked.
  DeduplicationOptions plain = options;
  plain.whole_characters = false;
  plain.min_island = 0;
  expected = test::expected_of(documents, plain);
  std::vector<bool> removed(size);
  for (const bool keeps : {false, true}) {
    for (std::uint64_t i = 0; i < size; ++i) {
      if (!(keeps ? search.is_kept(i) : search.is_removed(i))) continue;
      for (std::uint64_t j = i; j < i + options.min_length; ++j) removed[j] = !keeps;
    }
  }
  std::vector<bool> wanted(size);
  for (const ByteRange& range : expected.ranges)
    std::fill(wanted.begin() + static_cast<std::ptrdiff_t>(range.begin),
              wanted.begin() + static_cast<std::ptrdiff_t>(range.end), true);
  EXPECT_EQ(removed, wanted);
  return search.anchors();
}

TEST(DeduplicationKernels, EqualTheDefinitionOnRandomCorpora) {
  constexpr std::uint64_t lengths[] = {1, 2, 3, 5, 8, 12, 20, 31, 47, 64, 100};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed, 2);
    const test::Documents documents = test::random_documents(random, 3000);
    DeduplicationOptions options{.min_length = lengths[random.below(std::size(lengths))]};
    options.across_documents = random.below(3) == 0;
    const std::uint64_t kind = random.below(4);
    if (kind == 1 || kind == 2) options.keep = Keep::first;
    options.protect_first = kind == 2;
    if (kind == 3) options.other_corpus = random.below(documents.begins.size());
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", L " << options.min_length);
    expect_definition(documents, options, 1 + random.below(3),
                      static_cast<std::uint32_t>(random.below(5)));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(DeduplicationKernels, PeriodicTextHasFewAnchors) {
  for (const std::uint64_t period : {1, 2, 7, 50, 100, 1000}) {
    Random random(period);
    std::string text;
    for (std::uint64_t i = 0; i < 6000; ++i)
      text += i < period ? static_cast<char>(random.below(256)) : text[i - period];
    text[4500] ^= 1;
    test::Documents documents;
    documents.add(text);
    for (const std::uint64_t length : {100, 300}) {
      SCOPED_TRACE(testing::Message() << "period " << period << ", L " << length);
      const std::uint64_t anchors =
          expect_definition(documents, {.min_length = length, .keep = Keep::first}, 1, 8);
      EXPECT_LT(anchors, 600U);
    }
  }
}

/// A k-gram that occurs often between different bytes; windows longer than the most offsets.
TEST(DeduplicationKernels, CommonGramsAndLongWindows) {
  Random random(5);
  const std::string common(30, '#');
  std::string text;
  for (int i = 0; i < 150; ++i) {
    for (int j = 0; j < 30; ++j) text += static_cast<char>('a' + random.below(i % 3 == 0 ? 2 : 20));
    text += common + "=" + common;
    if (i % 7 == 0 && i > 0) text += text.substr(random.below(text.size()), 90);
  }
  text += text.substr(500, 1500);
  test::Documents documents;
  documents.add(text);
  for (const std::uint64_t length : {20, 45, 64, 80, 1100, 1400}) {
    SCOPED_TRACE(testing::Message() << "L " << length);
    expect_definition(documents, {.min_length = length}, 2, 3);
  }
}

}  // namespace
}  // namespace sortie::texts::cuda
