// SPDX-License-Identifier: Apache-2.0

// Kernels of the suffix array on the host: groups and their bounds, the refinement after a sort,
// sets of slots, first keys and the packed text.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "apps/suffix_array/cuda/build/counting.cuh"
#include "apps/suffix_array/cuda/build/large_groups.cuh"
#include "apps/suffix_array/cuda/build/refinement.cuh"
#include "apps/suffix_array/cuda/samples/chunks.cuh"
#include "apps/suffix_array/cuda/samples/group_slots.cuh"
#include "apps/suffix_array/cuda/samples/minimizer_samples.cuh"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/text/pack.cuh"

namespace sortie::suffix_array::cuda {
namespace {

template <class Kernel>
void run_grid(std::uint64_t threads, const Kernel& kernel) {
  const auto blocks = static_cast<unsigned>((threads + element_threads - 1) / element_threads);
  for (unsigned block = 0; block < blocks; ++block)
    cuda_on_host::run_block(element_threads, kernel, block);
}

/// Members in groups, each with a key and the slot that it owns. Slots have gaps between groups.
template <class Key, class Index>
struct List {
  std::vector<Key> keys;
  std::vector<Index> items;
  std::vector<Index> slots;
  std::vector<std::uint8_t> heads;
  std::vector<Index> begins;  ///< of the group of each member
  std::vector<Index> ends;

  /// Groups of the given sizes. Keys are random below `keys_below`, 0 among them.
  List(const std::vector<std::uint64_t>& sizes, std::uint64_t keys_below) {
    std::mt19937_64 random(sizes.size() + keys_below);
    Index slot = 0;
    for (const std::uint64_t size : sizes) {
      slot += static_cast<Index>(random() % 40);
      const auto begin = static_cast<Index>(keys.size());
      for (std::uint64_t i = 0; i < size; ++i) {
        heads.push_back(i == 0 ? 1 : 0);
        begins.push_back(begin);
        ends.push_back(static_cast<Index>(begin + size));
        slots.push_back(slot++);
        items.push_back(static_cast<Index>(7 * keys.size() + 3));
        keys.push_back(static_cast<Key>(random() % keys_below << (8 * sizeof(Key) - 20)));
      }
    }
  }
  [[nodiscard]] std::size_t size() const { return keys.size(); }

  /// Sorts every group of more than `more_than` and at most `most` members by keys, stably.
  void sort_groups(std::uint64_t more_than, std::uint64_t most) {
    const List before = *this;
    for (std::size_t begin = 0; begin < size(); begin = ends[begin]) {
      const std::size_t end = ends[begin];
      if (end - begin <= more_than || end - begin > most) continue;
      std::vector<std::size_t> order(end - begin);
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = begin + i;
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return before.keys[a] < before.keys[b];
      });
      for (std::size_t i = 0; i < order.size(); ++i) {
        keys[begin + i] = before.keys[order[i]];
        items[begin + i] = before.items[order[i]];
      }
    }
  }
};

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

std::vector<std::vector<std::uint64_t>> group_sizes() {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> mixed;
  for (int i = 0; i < 60; ++i) mixed.push_back(2 + random() % (i % 7 == 0 ? 100 : 9));
  return {{2},
          {31},
          {32, 32},
          {33, 31, 64, 2},
          {64, 64, 65, 63},
          {96, 2, 300, 2, 2},
          {255},
          {256},
          {257},
          {2, 2047},
          mixed};
}

template <class T>
class SuffixArrayKernels : public ::testing::Test {};
using Types = ::testing::Types<std::pair<std::uint32_t, std::uint32_t>,
                               std::pair<std::uint64_t, std::uint32_t>,
                               std::pair<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(SuffixArrayKernels, Types);

TYPED_TEST(SuffixArrayKernels, BoundsOfGroups) {
  using Index = typename TypeParam::second_type;
  for (const auto& sizes : group_sizes()) {
    const List<typename TypeParam::first_type, Index> list(sizes, 5);
    std::vector<GroupBounds<Index>> found(list.size());
    run_grid(list.size(), [&] {
      const std::uint64_t j = blockIdx.x * element_threads + threadIdx.x;
      const auto group = group_bounds<Index>(list.heads.data(), list.size(), j);
      if (j < list.size()) found[j] = group;
    });
    for (std::size_t j = 0; j < list.size(); ++j) {
      ASSERT_EQ(found[j].small, list.ends[j] - list.begins[j] <= most_counted) << "member " << j;
      if (!found[j].small) continue;
      ASSERT_EQ(found[j].begin, list.begins[j]) << "member " << j;
      ASSERT_EQ(found[j].end, list.ends[j]) << "member " << j;
    }
  }
}

TYPED_TEST(SuffixArrayKernels, SortByCounting) {
  using Key = typename TypeParam::first_type;
  using Index = typename TypeParam::second_type;
  for (const auto& sizes : group_sizes()) {
    const List<Key, Index> list(sizes, 9);
    List<Key, Index> sorted = list;
    run_grid(list.size(), [&] {
      sort_by_counting_kernel(list.heads.data(), list.size(), list.keys.data(), list.items.data(),
                              sorted.keys.data(), sorted.items.data());
    });
    List<Key, Index> expected = list;
    expected.sort_groups(0, most_counted);
    EXPECT_EQ(sorted.keys, expected.keys);
    EXPECT_EQ(sorted.items, expected.items);

    std::vector<Index> begins;
    std::vector<Index> ends;
    for (std::size_t j = 0; j < list.size(); j = list.ends[j]) {
      if (list.ends[j] - list.begins[j] <= most_counted) continue;
      begins.insert(begins.begin(), list.begins[j]);  // large groups are in no order
      ends.insert(ends.begin(), list.ends[j]);
    }
    const SortByCounting<Key, Index> task{list.keys.data(), list.items.data(), sorted.keys.data(),
                                          sorted.items.data()};
    cuda_on_host::run_block(element_threads, [&] {
      count_in_large_groups_kernel(task, begins.data(), ends.data(),
                                   static_cast<Index>(begins.size()));
    });
    expected.sort_groups(most_counted, no_limit);
    EXPECT_EQ(sorted.keys, expected.keys);
    EXPECT_EQ(sorted.items, expected.items);
  }
}

// More groups than a block scans at a time.
TEST(SuffixArrayKernels, ManyLargeGroups) {
  const std::vector<std::uint64_t> sizes(300, 66);
  List<std::uint32_t, std::uint32_t> expected(sizes, 9);
  const List<std::uint32_t, std::uint32_t> list = expected;
  List<std::uint32_t, std::uint32_t> sorted = list;
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> ends;
  for (std::uint32_t group = 0; group < sizes.size(); ++group) {
    begins.push_back(66 * group);
    ends.push_back(66 * group + 66);
  }
  const SortByCounting<std::uint32_t, std::uint32_t> task{list.keys.data(), list.items.data(),
                                                          sorted.keys.data(), sorted.items.data()};
  cuda_on_host::run_block(element_threads, [&] {
    count_in_large_groups_kernel(task, begins.data(), ends.data(), 300U);
  });
  expected.sort_groups(0, no_limit);
  EXPECT_EQ(sorted.keys, expected.keys);
  EXPECT_EQ(sorted.items, expected.items);
}

/// The list that remains, by definition, and where the group of each item begins.
template <class Index>
struct Remaining {
  std::vector<Index> items;
  std::vector<Index> slots;
  std::vector<std::uint8_t> heads;
  std::vector<Index> offsets;
  std::vector<Index> begins;  ///< of all items

  template <class Items>
  static Remaining of(const Items& all, std::uint64_t count) {
    Remaining rest;
    const auto begins_group = [&](std::uint64_t j) {
      const auto i = static_cast<Index>(j);
      return j == count || all.is_head(i) || all.key(i) != all.key(i - 1) ||
             all.is_final(all.key(i));
    };
    for (std::uint64_t begin = 0; begin < count;) {
      std::uint64_t end = begin + 1;
      while (!begins_group(end)) ++end;
      if (end - begin > 1) rest.offsets.push_back(static_cast<Index>(rest.items.size()));
      for (std::uint64_t j = begin; j < end; ++j) {
        rest.begins.push_back(static_cast<Index>(begin));
        if (end - begin == 1) continue;
        rest.heads.push_back(j == begin ? 1 : 0);
        rest.items.push_back(all.item(static_cast<Index>(j)));
        rest.slots.push_back(all.slot(static_cast<Index>(j)));
      }
      begin = end;
    }
    rest.offsets.push_back(static_cast<Index>(rest.items.size()));
    return rest;
  }
};

/// Records the begin that the refinement reports for each item.
template <class Index>
struct RecordBegin {
  Index* begins;

  template <class Items>
  void operator()(const Items&, Index j, Index group_begin) const {
    begins[j] = group_begin;
  }
};

/// Both kernels of a refinement, with totals added by the warps or by a scan before.
template <class Items>
void expect_refined(const Items& items, std::uint64_t count, bool added_up) {
  using Index = decltype(items.slot(0));
  const auto expected = Remaining<Index>::of(items, count);
  const std::uint64_t tiles = (count + refinement_tile - 1) / refinement_tile;
  std::vector<RefinementTotals<Index>> totals(tiles);
  run_grid(tiles * lanes, [&] { total_kernel(items, count, tiles, totals.data()); });
  if (added_up) {
    RefinementTotals<Index> sum{};
    for (auto& of_tile : totals) {
      const auto own = of_tile;
      of_tile = sum;
      sum = sum + own;
    }
  }
  Remaining<Index> rest;
  rest.items.resize(count);
  rest.slots.resize(count);
  rest.heads.resize(count);
  rest.offsets.resize(count / 2 + 1);
  rest.begins.resize(count);
  RefinementTotals<Index> all{};
  run_grid(tiles * lanes, [&] {
    keep_kernel(items, RecordBegin<Index>{rest.begins.data()}, count, tiles, totals.data(),
                added_up,
                GroupsView<Index>{rest.items.data(), rest.slots.data(), rest.heads.data(),
                                  rest.offsets.data()},
                &all);
  });
  ASSERT_EQ(all.members, expected.items.size());
  ASSERT_EQ(all.groups + 1, expected.offsets.size());
  rest.items.resize(all.members);
  rest.slots.resize(all.members);
  rest.heads.resize(all.members);
  rest.offsets.resize(all.groups + 1);
  EXPECT_EQ(rest.items, expected.items);
  EXPECT_EQ(rest.slots, expected.slots);
  EXPECT_EQ(rest.heads, expected.heads);
  EXPECT_EQ(rest.offsets, expected.offsets);
  EXPECT_EQ(rest.begins, expected.begins);
}

TYPED_TEST(SuffixArrayKernels, RefineGroups) {
  using Key = typename TypeParam::first_type;
  using Index = typename TypeParam::second_type;
  for (const auto& sizes : group_sizes()) {
    for (const std::uint64_t keys : {1, 3, 1000}) {
      List<Key, Index> list(sizes, keys);
      list.sort_groups(0, no_limit);
      const auto mask = static_cast<Key>(~Key{0});  // keys of 0 contain an end
      const GroupItems<Index, Key> items{
          list.keys.data(),
          {list.items.data(), list.slots.data(), list.heads.data(), nullptr},
          mask};
      expect_refined(items, list.size(), keys == 3);
    }
  }
}

TYPED_TEST(SuffixArrayKernels, RefineFirstSort) {
  using Key = typename TypeParam::first_type;
  using Index = typename TypeParam::second_type;
  std::mt19937_64 random(8);
  for (const std::size_t count : {1, 33, 255, 256, 257, 2500}) {
    for (const std::uint64_t different : {1, 20, 3000}) {
      std::vector<Key> keys(count);
      std::vector<Index> positions(count);
      for (std::size_t j = 0; j < count; ++j) {
        keys[j] = static_cast<Key>(random() % different * 2 + (random() % 10 == 0 ? 1 : 0));
        positions[j] = static_cast<Index>(count - j);
      }
      std::sort(keys.begin(), keys.end());
      expect_refined(FirstSortItems<Index, Key>{keys.data(), positions.data()}, count, false);
    }
  }
}

TYPED_TEST(SuffixArrayKernels, SlotsOfGroups) {
  using Index = typename TypeParam::second_type;
  for (const auto& sizes : group_sizes()) {
    const List<std::uint32_t, Index> list(sizes, 2);
    const std::size_t words = list.slots.back() / 32 + 1;
    std::vector<NumberedWord<Index>> members(words);
    std::vector<NumberedWord<Index>> heads(words);
    const GroupSlotsView<Index> sets{{members.data()}, {heads.data()}};
    run_grid(list.size(),
             [&] { insert_slots_kernel(list.slots.data(), list.heads.data(), list.size(), sets); });
    for (std::size_t i = 1; i < words; ++i) {
      members[i].before = members[i - 1].before + static_cast<Index>(__popc(members[i - 1].bits));
      heads[i].before = heads[i - 1].before + static_cast<Index>(__popc(heads[i - 1].bits));
    }
    std::size_t j = 0;
    Index groups = 0;
    for (Index slot = 0; slot <= list.slots.back(); ++slot) {
      const bool is_member = list.slots[j] == slot;
      ASSERT_EQ(sets.contains(slot), is_member) << "slot " << slot;
      if (is_member && list.heads[j] != 0) ++groups;
      ASSERT_EQ(sets.groups_up_to(slot), groups) << "slot " << slot;
      if (is_member) {
        ASSERT_EQ(members[slot / 32].rank(slot), j);
        ++j;
      }
    }

    // The list again, from the sets and the suffix array.
    std::vector<Index> suffix_array(list.slots.back() + 1);
    for (std::size_t i = 0; i < list.size(); ++i) suffix_array[list.slots[i]] = list.items[i];
    List<std::uint32_t, Index> restored = list;
    std::fill(restored.items.begin(), restored.items.end(), Index{0});
    std::fill(restored.slots.begin(), restored.slots.end(), Index{0});
    std::fill(restored.heads.begin(), restored.heads.end(), std::uint8_t{9});
    std::vector<Index> offsets(sizes.size());
    const RestoreMembers<Index> restore{
        sets,
        suffix_array.data(),
        0,
        0,
        {restored.items.data(), restored.slots.data(), restored.heads.data(), offsets.data()}};
    for (Index slot = 0; slot < suffix_array.size(); ++slot) restore(slot);
    EXPECT_EQ(restored.items, list.items);
    EXPECT_EQ(restored.slots, list.slots);
    EXPECT_EQ(restored.heads, list.heads);
    for (const Index offset : offsets) EXPECT_EQ(list.begins[offset], offset);
  }
}

// The members of large groups, loaded, sorted by words and stored.
template <class Key>
void expect_large_groups_sorted(const std::vector<std::uint64_t>& sizes) {
  const List<Key, std::uint32_t> list(sizes, 9);
  List<Key, std::uint32_t> expected = list;
  expected.sort_groups(most_counted, no_limit);
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> places;
  std::uint32_t members = 0;
  for (std::size_t j = list.size(); j != 0; j = list.begins[j - 1]) {  // groups in reverse order
    const std::uint32_t begin = list.begins[j - 1];
    if (j - begin <= most_counted) continue;
    begins.push_back(begin);
    places.push_back(members);
    members += static_cast<std::uint32_t>(j - begin);
  }
  if (members == 0) return;
  const LargeMembers large{begins.data(), places.data(), static_cast<std::uint32_t>(begins.size())};
  const auto store_sorted = [&](const auto& task, auto& values, std::uint64_t* words,
                                const auto& is_before) {
    for (std::uint32_t number = 0; number < members; ++number)
      task.load(number, list.keys.data(), list.items.data());
    std::vector<std::uint32_t> order(members);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), is_before);
    const std::vector<std::uint64_t> old_words(words, words + members);
    const auto old_values = values;
    for (std::uint32_t i = 0; i < members; ++i) {
      words[i] = old_words[order[i]];
      values[i] = old_values[order[i]];
    }
    List<Key, std::uint32_t> sorted = list;
    for (std::uint32_t number = 0; number < members; ++number)
      task.store(number, sorted.keys.data(), sorted.items.data());
    EXPECT_EQ(sorted.keys, expected.keys);
    EXPECT_EQ(sorted.items, expected.items);
  };
  std::vector<std::uint64_t> words(members);
  if constexpr (sizeof(Key) == 4) {
    std::vector<std::uint32_t> items(members);
    store_sorted(LargeByWord<Key>{large, 32, words.data(), items.data()}, items, words.data(),
                 [&](std::uint32_t a, std::uint32_t b) { return words[a] < words[b]; });
  } else {
    std::vector<std::uint64_t> tags(members);
    store_sorted(LargeByTwoWords{large, words.data(), tags.data()}, tags, words.data(),
                 [&](std::uint32_t a, std::uint32_t b) {
                   return std::pair(tags[a] >> 32, words[a]) < std::pair(tags[b] >> 32, words[b]);
                 });
  }
}

TEST(SuffixArrayKernels, LargeGroupsAsOneArray) {
  for (const auto& sizes : group_sizes()) {
    expect_large_groups_sorted<std::uint32_t>(sizes);
    expect_large_groups_sorted<std::uint64_t>(sizes);
  }
}

TYPED_TEST(SuffixArrayKernels, VisitsTheElementsOfASet) {
  using Index = typename TypeParam::second_type;
  std::mt19937_64 random(31);
  for (const std::size_t bound : {1, 31, 33, 256, 2000, 5000}) {
    for (const unsigned one_in : {1U, 5U, 300U}) {
      const std::size_t words = (bound + 31) / 32;
      std::vector<NumberedWord<Index>> set(words);
      std::vector<std::pair<Index, Index>> expected;  // element, rank
      for (std::size_t i = 0; i < bound; ++i) {
        if (i % 32 == 0) set[i / 32].before = static_cast<Index>(expected.size());
        if (random() % one_in != 0) continue;
        set[i / 32].bits |= 1U << (i % 32);
        expected.emplace_back(static_cast<Index>(i), static_cast<Index>(expected.size()));
      }
      std::vector<std::pair<Index, Index>> found(expected.size());
      const auto visit = [&](Index element, Index rank) { found.at(rank) = {element, rank}; };
      run_grid(words * 32 / set_words_a_warp,
               [&] { visit_elements_kernel(NumberedSet<Index>{set.data()}, words, visit); });
      EXPECT_EQ(found, expected) << "1 of " << one_in << " numbers below " << bound;
    }
  }
}

/// A text of random letters, most of them common, with some separators.
struct Text {
  std::vector<std::uint8_t> symbols;
  std::vector<std::uint32_t> separator_bits;

  Text(const std::string& common, const std::string& rare, std::size_t size, bool separators)
      : symbols(size) {
    std::mt19937_64 random(size + common.size());
    for (std::uint8_t& symbol : symbols) {
      const std::string& letters = !rare.empty() && random() % 90 == 0 ? rare : common;
      symbol = static_cast<std::uint8_t>(letters[random() % letters.size()]);
    }
    if (!separators) return;
    separator_bits.resize((size + 31) / 32);
    for (std::size_t i = 0; i < size; ++i)
      if (random() % 50 == 0) separator_bits[i / 32] |= 1U << (i % 32);
  }
  [[nodiscard]] TextReader reader() const {
    return {symbols.data(), separator_bits.empty() ? nullptr : separator_bits.data(),
            symbols.size()};
  }
  /// The code of the letters as find_letters_kernel finds them. Every letter begins its run.
  [[nodiscard]] PrefixCode code(int bits) const {
    LettersFound found{};
    const TextReader text = reader();
    cuda_on_host::run_block(element_threads, [&] {
      find_letters_kernel(text, (symbols.size() + TextChunk::symbols - 1) / TextChunk::symbols, 1,
                          &found);
    });
    std::array<bool, 256> occurs{};
    std::array<std::uint64_t, 256> starts{};
    std::array<bool, 256> expected{};
    std::array<std::uint64_t, 256> expected_starts{};
    unsigned previous = 256;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      if (i % TextChunk::symbols == 0) previous = 256;
      if (!text.is_letter(i)) continue;
      expected[symbols[i]] = true;
      if (symbols[i] != previous) ++expected_starts[symbols[i]];
      previous = symbols[i];
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
      occurs[byte] = (found.occurs[byte / 32] >> (byte % 32) & 1U) != 0;
      starts[byte] = found.starts[byte];
    }
    EXPECT_EQ(occurs, expected);
    EXPECT_EQ(starts, expected_starts);
    return plan_prefix_code(occurs, starts, bits);
  }
};

std::vector<Text> texts() {
  return {{"ACGT", "", 1, false},
          {"ACGT", "N", 5000, true},
          {"ACGT", "", 4096, true},
          {"A", "", 300, true},
          {"abcdefghijklmnop", "XYZ", 4200, false}};
}

/// The key of a suffix by definition (PrefixCode).
std::uint64_t key_of(const PrefixCode& code, const TextReader& text, std::uint64_t position) {
  std::uint64_t leaf = 0;
  for (int i = 0; i < code.symbols; ++i, ++position) {
    if (!text.is_letter(position)) return 2 * leaf + 1;
    const std::uint32_t letter = code.letters[text.symbols[position]];
    leaf += (letter & 0x1ffU) * code.leaves[i + 1] + (letter >> 16 & 0x1ffU);
    if ((letter & PrefixCode::stop) != 0) break;
  }
  return 2 * leaf;
}

TYPED_TEST(SuffixArrayKernels, FirstKeys) {
  using Key = typename TypeParam::first_type;
  using Index = typename TypeParam::second_type;
  for (const Text& text : texts()) {
    const PrefixCode code = text.code(sizeof(Key) == 4 ? 32 : 40);
    const auto table = key_table<Key>(code);
    const std::size_t size = text.symbols.size();
    std::vector<Key> keys(size);
    std::vector<Index> positions(size);
    for (unsigned block = 0; block * tile_positions < size; ++block)
      cuda_on_host::run_block(
          element_threads,
          [&] { write_first_keys_kernel(text.reader(), table, keys.data(), positions.data()); },
          block);
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(keys[i], static_cast<Key>(key_of(code, text.reader(), i))) << "position " << i;
      ASSERT_EQ(positions[i], i);
    }
  }
}

TYPED_TEST(SuffixArrayKernels, ListsChunks) {
  using Index = typename TypeParam::second_type;
  std::mt19937_64 random(29);
  for (const std::size_t count : {1, 2, 31, 32, 33, 257, 1000}) {
    for (const std::uint64_t longest : {1, 5, 100}) {
      std::vector<std::array<Index, 2>> chunks(count);  // first and end, in text order
      Index size = 0;
      for (auto& chunk : chunks) {
        chunk[0] = size;
        size += static_cast<Index>(1 + random() % longest);
        chunk[1] = size;
      }
      std::shuffle(chunks.begin(), chunks.end(), random);
      std::vector<Index> firsts;
      std::vector<Index> ends;
      std::vector<Index> expected;
      for (const auto& [first, end] : chunks) {
        for (Index i = first; i < end; ++i) expected.push_back(i);
        firsts.push_back(first);
        ends.push_back(static_cast<Index>(expected.size()));
      }
      std::vector<Index> positions(size);
      const auto write = [positions = positions.data()](std::uint64_t at, Index position) {
        positions[at] = position;
      };
      run_grid(count, [&] { list_chunks_kernel(firsts.data(), ends.data(), count, write); });
      ASSERT_EQ(positions, expected) << count << " chunks of at most " << longest;
    }
  }
}

TYPED_TEST(SuffixArrayKernels, KnownSamplesAreThoseOfSampling) {
  using Index = typename TypeParam::second_type;
  // A random text of 3 bits a symbol, every fifth position in the set.
  constexpr Index size = 3000;
  std::mt19937_64 random(30);
  std::vector<std::uint64_t> words(size * 3 / 64 + 2);
  for (auto& word : words) word = random();
  const SymbolStream stream{words.data(), nullptr, nullptr, 3, 10, 0};
  std::vector<NumberedWord<Index>> set(size / 32 + 1);
  std::vector<Index> minimizers;
  for (Index i = 2; i < size; i += 5) {
    set[i / 32].bits |= 1U << (i % 32);
    minimizers.push_back(i);
  }
  for (std::size_t w = 1; w < set.size(); ++w)
    set[w].before = set[w - 1].before + static_cast<Index>(std::popcount(set[w - 1].bits));
  const Sampling sampling = plan_sampling(stream, 30);
  KnownSamples<Index> known{sampling};
  std::vector<std::uint16_t> distances;
  for (const Index i : minimizers) distances.push_back(known.word(i, size));
  known.minimizers = {set.data()};
  known.distances = distances.data();
  for (std::size_t j = 0; j < minimizers.size(); ++j) {
    const Index i = minimizers[j];
    EXPECT_EQ(distances[j] != 0, i + KnownSamples<Index>::reach <= size);
    if (i + 2 * Sampling::most_context > size) continue;
    Index found[4] = {};
    known.samples(i, found[0], found[1]);
    sampling.samples(i, found[2], found[3]);
    ASSERT_EQ(found[0], found[2]);
    ASSERT_EQ(found[1], found[3]);
  }
}

TEST(SuffixArrayKernels, PackSymbols) {
  for (const Text& text : texts()) {
    const PrefixCode code = text.code(32);
    const auto bits = static_cast<int>(std::bit_width(static_cast<unsigned>(code.sigma)));
    const std::size_t threads = text.symbols.size() / PackSymbols::symbols + 1;
    std::array<std::uint16_t, 256> codes{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const bool is_rare = (code.letters[byte] & PrefixCode::stop) != 0;
      codes[byte] = static_cast<std::uint16_t>(code.codes[byte] | (is_rare ? 0x8000U : 0U));
    }
    std::vector<std::uint64_t> words(threads * static_cast<std::size_t>(bits) + 2);
    std::vector<std::uint32_t> rare(2 * threads + 2);
    std::vector<std::uint32_t> rare_blocks((threads + 31) / 32);
    const PackSymbols pack{text.reader(), codes.data(), bits,
                           words.data(),  rare.data(),  rare_blocks.data()};
    for (std::size_t j = 0; j < threads; ++j) pack(j);
    const SymbolStream stream{words.data(), rare.data(), rare_blocks.data(), bits, code.symbols, 0};

    const TextReader reader = text.reader();
    const auto is_rare = [&](std::uint64_t position) {
      return reader.is_letter(position) && (codes[text.symbols[position]] & 0x8000U) != 0;
    };
    for (std::uint64_t i = 0; i < text.symbols.size(); ++i) {
      ASSERT_EQ(stream.symbol(i), reader.is_letter(i) ? codes[text.symbols[i]] & 0x7fffU : 0U)
          << "position " << i;
      int depth = 1;
      while (depth < code.symbols && !is_rare(i + static_cast<unsigned>(depth) - 1)) ++depth;
      ASSERT_EQ(stream.first_depth(i), depth) << "position " << i;
    }
  }
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
