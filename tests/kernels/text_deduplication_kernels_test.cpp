// SPDX-License-Identifier: Apache-2.0

// Kernels of text deduplication on the host: anchors of all windows, comparisons and marks, in the
// steps of the search on a device.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "apps/text_deduplication/cuda/content_pool.cuh"
#include "apps/text_deduplication/cuda/find_anchors.cuh"
#include "apps/text_deduplication/cuda/groups.cuh"
#include "core/random.hpp"
#include "primitives/cuda/launch.cuh"
#include "tests/support/sanitizers.hpp"
#include "tests/text_deduplication/oracle.hpp"

namespace sortie::texts::cuda {
namespace {

// Sanitizers make kernels some hundred times slower.
#if SORTIE_TEST_SANITIZED
constexpr bool is_small = true;
#else
constexpr bool is_small = false;
#endif

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
      items = compare(TextSource{bytes()}, items, shape_.offsets, most_rounds);
      items = made_of(MatchableItems{items.view()}, items.size());
      search_single_windows(TextSource{bytes()}, items, passes);
    }
  }

  /// The same for a text in chunks: the first occurrences of windows that are found.
  void run_in_chunks(std::uint64_t chunk_tiles, std::uint64_t passes) {
    const std::uint64_t chunk = chunk_tiles * tile_windows;
    const Items items = anchors({});
    std::vector<std::uint32_t> hashes(1U << 10);
    std::vector<std::uint32_t> contents(1U << 10);
    std::vector<BinNeed> needs(hash_bins);
    const HashCountsView hashes_view{hashes.data(), hashes.size() - 1};
    // The anchors of a chunk, whose offset in the text is that of its first windows.
    const auto visit = [&](const auto& use) {
      for (std::uint64_t begin = 0; begin < size_; begin += chunk) {
        Items part;
        for (std::uint32_t i = 0; i < items.size(); ++i) {
          const Anchor anchor = anchor_of(items.keys[i], items.values[i]);
          if (anchor.position - anchor.most < begin ||
              anchor.position - anchor.most >= begin + chunk)
            continue;
          part.keys.push_back(items.keys[i]);
          part.values.push_back(value_of(anchor.position - begin, anchor.least, anchor.most));
        }
        use(ChunkAnchors{bytes() + begin, begin, shape_.window, part.view()});
      }
    };
    visit([&](const ChunkAnchors& part) {
      const CountAnchors count{
          part, hashes_view, {contents.data(), contents.size() - 1}, needs.data()};
      for (std::uint32_t i = 0; i < part.items.size; ++i) count(i);
    });
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      const std::uint64_t first = hash_bins * pass / passes;
      const std::uint64_t end = hash_bins * (pass + 1) / passes;
      const std::uint64_t most = items.size() + 1;
      std::vector<uint4> pool_bytes(most * (4 + (shape_.window + shape_.offsets) / 16) + 2);
      std::vector<unsigned long long> slots(std::bit_ceil(2 * most));
      std::vector<std::uint64_t> places(most);
      unsigned long long used = 0;
      std::uint32_t count = 0;
      std::uint32_t is_full = 0;
      auto* const pool_begin = reinterpret_cast<std::uint8_t*>(pool_bytes.data());
      const ContentPool pool{
          pool_begin,    (pool_bytes.size() - 2) * 16,     slots.data(), slots.size() - 1, &used,
          places.data(), static_cast<std::uint32_t>(most), &count,       &is_full};
      visit([&](const ChunkAnchors& part) {
        std::vector<std::uint64_t> of_anchors(part.items.size + std::size_t{1});
        const ClaimSlots claim{part, hashes_view, pool, first, end, of_anchors.data()};
        const StoreContents store{part, pool, of_anchors.data()};
        const CountContents add{part, pool, of_anchors.data(), removed_.data()};
        for (std::uint32_t i = 0; i < part.items.size; ++i) claim(i);
        for (std::uint32_t i = 0; i < part.items.size; ++i) store(i);
        for (std::uint32_t i = part.items.size; i-- > 0;) add(i);  // in any order
      });
      ASSERT_EQ(is_full, 0U);
      anchors_ += count;
      places.resize(count);
      std::ranges::sort(places, {}, [&](std::uint64_t place) { return pool.record(place).first; });
      Items records;
      records.keys.resize(count);
      records.values.resize(count);
      const ItemOfRecord make{pool_begin, places.data(), records.keys.data(),
                              records.values.data()};
      for (std::uint32_t i = 0; i < count; ++i) make(i);
      records.sort();
      const RecordSource source{pool_begin};
      Items left = made_of(MatchableItems{records.view()}, count);
      left = compare(source, left, shape_.offsets, 2);
      search_single_windows(source, made_of(MatchableItems{left.view()}, left.size()), 1);
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

  template <class Source>
  void search_single_windows(const Source& source, const Items& items, std::uint64_t passes) {
    SingleWindows<Source> windows{source, shape_.window, 1, items.view(), {0, passes}};
    for (std::uint32_t i = 1; i < shape_.window; ++i) windows.power *= windows.factor;
    for (; windows.range.index != passes; ++windows.range.index) {
      Items single = made_of(windows, items.size());
      single.sort();
      EXPECT_EQ(compare(source, single, 1, 10'000).size(), 0U);
    }
  }

  template <class Source>
  Items compare(const Source& source, Items items, std::uint32_t offsets, std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds && items.size() != 0; ++round) {
      const std::uint32_t size = items.size();
      std::vector<std::uint32_t> leaders(size);
      for (std::uint32_t i = 0; i < size; ++i)
        leaders[i] = items.view().is_head(i) ? i : leaders[i - 1];
      const Groups groups{items.view(), leaders.data()};
      std::vector<Offsets> matches(size);
      const CompareWithLeader<Source> compare{source, shape_.window, groups, matches.data()};
      for (std::uint32_t i = 0; i < size; ++i) compare(i);
      mark(source, groups, matches, offsets);
      items = made_of(RemainingItems{groups, matches.data()}, size);
    }
    return items;
  }

  template <class Source>
  void mark(const Source& source, const Groups& groups, const std::vector<Offsets>& matches,
            std::uint32_t offsets) {
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
          [&] { mark_groups_kernel(source, groups, matches.data(), offsets, targets); }, i);
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

/// The search of a corpus finds what the definition says. Returns the number of anchors, or of records
/// of a text in chunks.
std::uint64_t expect_definition(const test::Documents& documents,
                                const DeduplicationOptions& options, std::uint64_t passes,
                                std::uint32_t most_rounds, std::uint64_t chunk_tiles = 0) {
  const std::uint64_t size = documents.text.size();
  Search search(documents, options);
  if (chunk_tiles == 0) {
    search.run(passes, most_rounds);
  } else {
    search.run_in_chunks(chunk_tiles, passes);
  }
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
  for (std::uint64_t seed = 0; seed < (is_small ? 5 : 40); ++seed) {
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
    if (!options.has_other_corpus()) expect_definition(documents, options, 1 + seed % 3, 0, 1);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(DeduplicationKernels, PeriodicTextHasFewAnchors) {
  for (const std::uint64_t period : {1, 2, 7, 50, 100, 1000}) {
    if (is_small && period != 7) continue;
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
      EXPECT_LE(expect_definition(documents, {.min_length = length}, 2, 0, 2), anchors);
    }
  }
}

/// A k-gram that occurs often between different bytes; windows longer than the most offsets.
TEST(DeduplicationKernels, CommonGramsAndLongWindows) {
  Random random(5);
  const std::string common(30, '#');
  std::string text;
  for (int i = 0; i < (is_small ? 40 : 150); ++i) {
    for (int j = 0; j < 30; ++j) text += static_cast<char>('a' + random.below(i % 3 == 0 ? 2 : 20));
    text += common + "=" + common;
    if (i % 7 == 0 && i > 0) text += text.substr(random.below(text.size()), 90);
  }
  text += text.substr(500, 1500);
  test::Documents documents;
  documents.add(text);
  for (const std::uint64_t length : {20, 45, 64, 80, 1100, 1400}) {
    if (is_small && length != 64) continue;
    SCOPED_TRACE(testing::Message() << "L " << length);
    expect_definition(documents, {.min_length = length}, 2, 3);
    expect_definition(documents, {.min_length = length, .keep = Keep::first}, 2, 0, 2);
  }
}

}  // namespace
}  // namespace sortie::texts::cuda
