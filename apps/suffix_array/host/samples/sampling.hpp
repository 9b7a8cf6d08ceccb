// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "apps/suffix_array/host/bit_set.hpp"
#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "apps/suffix_array/host/text/coded_text.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Hashes of `hashed` symbols from each of n consecutive positions: below 2^31, and the greatest
/// 32-bit number where the first two symbols are equal.
///
/// \param hashed  1 to stream.symbols()
/// \param first   position of the first hash; all symbols that are read lie within the text
void hash_symbols(const SymbolStream& stream, std::uint64_t hashed, std::uint64_t first,
                  std::uint64_t n, std::uint32_t* hashes, VectorUnit unit = vector_unit());

/// Chooses, for every suffix of a group, a sample a few symbols ahead, from symbols in which all
/// members of its group agree: so all of them have their samples at equal distances.
///
/// The sample of p is the position with the least hash of hashed() symbols among p ..
/// p + window() - 1, the first of them if there are several (a minimizer; Roberts et al.,
/// Bioinformatics 2004). Neighbouring suffixes mostly share one: about 2 / (window() + 1) of all
/// positions are samples, 3 % for DNA (window 67).
///
/// Positions whose symbol equals the next one are chosen only if the window has no others, that is
/// where a run is longer than the window: there the sample of p is p.
class Sampling {
 public:
  /// \param first_depth  symbols that the first sort compares, and so at most the letters of a run
  ///                     that is not a long run (runs.hpp); the window is at least as long
  /// \param depth_limit  symbols in which the members of a group agree
  Sampling(const SymbolStream& stream, std::uint64_t first_depth, std::uint64_t depth_limit)
      : stream_(stream),
        hashed_(std::clamp(depth_limit / 6, std::uint64_t{2},
                           static_cast<std::uint64_t>(stream.symbols()))),
        window_(std::max(first_depth, std::min(depth_limit - hashed_, most_window))) {}

  [[nodiscard]] std::uint64_t window() const { return window_; }
  [[nodiscard]] std::uint64_t hashed() const { return hashed_; }

  /// Calls visit(position, sample of it) for all positions of [first, last), last one first. All
  /// symbols that the choice depends on must lie within the text: `first` is a member of a group,
  /// and each other position follows one.
  template <class Visit>
  void for_each(std::uint64_t first, std::uint64_t last, const Visit& visit) const {
    // Hashes of a block of positions, followed by those of the rest of the last window.
    std::array<std::uint32_t, block + most_window> hashes;
    const std::uint64_t rest = window_ - 1;
    hash_symbols(stream_, hashed_, last, rest, hashes.data() + block);
    std::uint64_t sample = last + rest;  // outside the window: forces a search
    std::uint32_t least = 0;
    for (std::uint64_t block_end = last; block_end > first;) {
      const std::uint64_t size = std::min(block, block_end - first);
      const std::uint64_t block_begin = block_end - size;
      std::uint32_t* const of_block = hashes.data() + (block - size);
      hash_symbols(stream_, hashed_, block_begin, size, of_block);
      for (std::uint64_t i = size; i-- > 0;) {
        const std::uint64_t position = block_begin + i;
        const std::uint32_t hash = of_block[i];
        if (sample >= position + window_) {
          const std::uint32_t* const begin = of_block + i;
          const std::uint32_t* const end = begin + window_;
          least = *begin;
          for (const std::uint32_t* other = begin; other < end; ++other) {
            least = *other < least ? *other : least;
          }
          sample = position + static_cast<std::uint64_t>(std::find(begin, end, least) - begin);
        } else if (hash <= least) {
          least = hash;
          sample = position;
        }
        visit(position, sample);
      }
      // All blocks except the last one visited are longer than `rest`: the copy does not overlap.
      if (block_begin > first) std::copy_n(of_block, rest, hashes.data() + block);
      block_end = block_begin;
    }
  }

 private:
  static constexpr std::uint64_t most_window = 128;  ///< the first sort compares 64 symbols at most
  static constexpr std::uint64_t block = 512;

  const SymbolStream& stream_;
  std::uint64_t hashed_;
  std::uint64_t window_;
};

/// Maps each suffix that is in a group, or follows one that is, to its sample; later to the rank of
/// the sample.
///
/// Some thirty neighbours share a sample, so a sample is stored once for all of them, with a set of
/// the positions where the sample changes. For a genome of ten million bases all of this stays in
/// the L2 cache. An array with a rank for every suffix does not, and random reads from it took
/// longer than sorting.
template <Position Pos>
class SampleMap {
 public:
  /// \param members  set of the suffixes in groups, n + 1 bits
  SampleMap(const Sampling& sampling, const BitSet& members, std::uint64_t size)
      : sampling_(sampling), members_(members), size_(size) {}

  /// Finds the samples of all members, on all threads.
  void find() {
    const std::uint64_t count = find_part(0, 1);
    join_parts(0, count);
  }

  /// One of several processes finds the samples in its part of the text. Then values() and
  /// changes() of all parts are put together.
  /// \return values of this part
  std::uint64_t find_part(std::uint64_t part, std::uint64_t parts) {
    changes_ = BitSet(size_ + 1);
    const EqualShares ranges = ranges_of(parts);
    const std::uint64_t begin = ranges.begin(part);
    found_.resize(ranges.size(part));
    for_each_task(found_.size(), [&](std::uint64_t range) {
      std::vector<Pos>& of_range = found_[range];
      const std::uint64_t range_begin = (begin + range) * range_length;
      const std::uint64_t range_end = std::min(range_begin + range_length, size_);
      for_each_member_range(range_begin, range_end, [&](std::uint64_t first, std::uint64_t last) {
        // Visits positions in descending order, so changes come in reverse.
        const std::size_t before = of_range.size();
        std::uint64_t known = size_ + 1;
        sampling_.for_each(first, last, [&](std::uint64_t position, std::uint64_t sample) {
          if (sample == known) return;
          // The sample of the positions from position + 1 on begins there.
          if (known <= size_) changes_.set_alone(position + 1);
          of_range.push_back(static_cast<Pos>(sample));
          known = sample;
        });
        changes_.set_alone(first);
        std::reverse(of_range.begin() + static_cast<std::ptrdiff_t>(before), of_range.end());
      });
    });
    std::uint64_t values = 0;
    for (const std::vector<Pos>& of_range : found_) values += of_range.size();
    return values;
  }

  /// Allocates `count` values, of which those of this part begin at `before`.
  void join_parts(std::uint64_t before, std::uint64_t count) {
    values_ = allocate_array<Pos>(count);
    count_ = count;
    std::vector<std::uint64_t> begins{before};
    for (const std::vector<Pos>& of_range : found_)
      begins.push_back(begins.back() + of_range.size());
    for_each_task(found_.size(), [&](std::uint64_t i) {
      std::copy(found_[i].begin(), found_[i].end(), values_.get() + begins[i]);
    });
    found_ = {};
  }
  [[nodiscard]] std::span<Pos> values() { return {values_.get(), count_}; }
  /// Where the sample changes. Each part has its own words, which change_begins() gives.
  [[nodiscard]] std::span<std::uint64_t> changes() { return changes_.span(); }
  [[nodiscard]] std::vector<std::uint64_t> change_begins(std::uint64_t parts) const {
    std::vector<std::uint64_t> begins;
    for (std::uint64_t part = 0; part < parts; ++part)
      begins.push_back(ranges_of(parts).begin(part) * (range_length / BitSet::word_bits));
    begins.push_back(changes_.words().size());
    return begins;
  }

  /// Marks all samples in `samples`, and numbers the changes. \pre values of all parts
  void finish(BitSet& samples) {
    numbers_.emplace(changes_);
    for_each_index(0, count_, [&](std::uint64_t i) { samples.set(values_[i]); });
  }

  void forget() { values_.reset(); }
  [[nodiscard]] bool is_known() const { return values_ != nullptr; }

  /// The value (a sample, or its replacement) of a member or of a position that follows one.
  [[nodiscard]] Pos operator[](std::uint64_t position) const {
    return values_[numbers_->last_number(position)];
  }
  void prefetch(std::uint64_t position) const { numbers_->prefetch(position); }

  /// values[i] = (*this)[positions[i]] for n of them. With AVX-512, bits are counted by POPCNT,
  /// which all processors with it have.
  void look_up(const Pos* positions, std::uint64_t n, Pos* values) const {
    const auto look_up_all = [ positions, n, values, this ]() __attribute__((always_inline)) {
      for (std::uint64_t i = 0; i < n; ++i) values[i] = (*this)[positions[i]];
    };
    run_on_unit(vector_unit(), look_up_all);
  }

  /// Replaces each value by change(value), on all threads.
  template <class Change>
  void replace(const Change& change) {
    for_each_index(0, numbers_->count(), [&](std::uint64_t i) { values_[i] = change(values_[i]); });
  }

 private:
  /// Positions of a task: whole words of the sets.
  static constexpr std::uint64_t range_length = std::uint64_t{1} << 16;

  /// The ranges of each part.
  [[nodiscard]] EqualShares ranges_of(std::uint64_t parts) const {
    return {(size_ + range_length - 1) / range_length, parts};
  }

  /// Calls visit(begin, end) for all maximal ranges of positions in [first, last) that are members
  /// or follow one.
  template <class Visit>
  void for_each_member_range(std::uint64_t first, std::uint64_t last, const Visit& visit) const {
    std::uint64_t begin = first;
    if (first == 0 || !members_.test(first - 1)) begin = members_.next_set(first, last);
    while (begin < last) {
      // A gap of one position does not end the range: that position follows a member.
      std::uint64_t end = members_.next_clear(begin, last) + 1;
      while (end < last && members_.test(end)) end = members_.next_clear(end, last) + 1;
      end = std::min(end, last);
      visit(begin, end);
      begin = members_.next_set(end, last);
    }
  }

  const Sampling& sampling_;
  const BitSet& members_;
  std::uint64_t size_;
  BitSet changes_;
  std::vector<std::vector<Pos>> found_;  ///< values of this part, by range
  std::optional<NumberedSet<Pos>> numbers_;
  HostArray<Pos> values_;
  std::uint64_t count_ = 0;
};

/// Sorts short groups of slots by the ranks of their suffixes' samples, many groups at once.
///
/// In similar genomes nearly all groups have as many members as there are genomes; sorting these
/// one by one, mispredicted branches dominate. Here one pass of sort_parts() sorts all groups. An
/// element consists, from the high bits down, of the number of the group in the batch, the rank,
/// and the index in the batch.
template <Position Pos>
class GroupBatch {
 public:
  static constexpr std::uint64_t longest_group = longest_vector_part;

  /// \param suffixes  the suffix array; its groups are sorted in place
  GroupBatch(const SampleMap<Pos>& ranks, Pos* suffixes) : ranks_(ranks), suffixes_(suffixes) {}

  [[nodiscard]] static bool holds_ranks_up_to(std::uint64_t greatest) {
    return greatest >> rank_bits == 0;
  }

  /// Adds the group [begin, end) of slots, of 2 to longest_group members, and prefetches what its
  /// ranks need.
  void add(std::uint64_t begin, std::uint64_t end) {
    if (size_ + (end - begin) > capacity) sort();
    ++groups_;
    for (std::uint64_t slot = begin; slot < end; ++slot, ++size_) {
      const Pos position = suffixes_[slot];
      ranks_.prefetch(position);
      elements_[size_] = groups_ << (rank_bits + place_bits) | size_;
      positions_[size_] = position;
      slots_[size_] = slot;
    }
  }

  /// Sorts the groups that were added since the last call. Must be called at the end.
  void sort() {
    std::array<Pos, capacity> found;
    ranks_.look_up(positions_.data(), size_, found.data());
    for (std::uint64_t i = 0; i < size_; ++i) {
      elements_[i] |= static_cast<std::uint64_t>(found[i]) << place_bits;
    }
    if (has_fast_word_sort()) {
      sort_parts(elements_.data(), elements_.data(), size_);
    } else {
      detail::insertion_sort(elements_.data(), size_);
    }
    for (std::uint64_t i = 0; i < size_; ++i) {
      suffixes_[slots_[i]] = positions_[elements_[i] % capacity];
    }
    size_ = 0;
    groups_ = 0;
  }

 private:
  static constexpr int place_bits = 9;
  static constexpr int group_bits = 9;  // groups have two members or more, and count from 1
  static constexpr int rank_bits = 64 - place_bits - group_bits;
  /// The data for the ranks of so many positions, one or two cache lines each, stays in L1 and L2.
  static constexpr std::uint64_t capacity = std::uint64_t{1} << place_bits;

  const SampleMap<Pos>& ranks_;
  Pos* suffixes_;
  std::uint64_t size_ = 0;
  std::uint64_t groups_ = 0;
  std::array<std::uint64_t, capacity> elements_;
  std::array<Pos, capacity> positions_;
  std::array<std::uint64_t, capacity> slots_;
};

}  // namespace sortie::suffix_array::host
