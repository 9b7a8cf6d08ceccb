// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "apps/suffix_array/host/arrays.hpp"
#include "apps/suffix_array/host/bit_set.hpp"
#include "apps/suffix_array/host/samples/numbered_set.hpp"
#include "apps/suffix_array/host/samples/sampling.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/simd/vector_unit.hpp"

namespace sortie::suffix_array::host {

/// Maps each suffix that is in a group, or follows one that is, to its sample; later to the rank of
/// the sample.
///
/// Some thirty neighbours share a sample, so a sample is stored once for all of them, with a set of
/// the positions where the sample changes. For a genome of ten million bases all of this stays in
/// the L2 cache. An array with a rank for every suffix does not, and random reads from it took
/// longer than sorting.
///
/// Memory: n / 8 bytes, P n / 64, and P for each change of the sample, for n symbols and positions
/// of P bytes.
template <Position Pos>
class SampleMap {
 public:
  /// \param members  set of the suffixes in groups, n + 1 bits
  SampleMap(const Sampling& sampling, const BitSet& members, std::uint64_t size)
      : sampling_(sampling), members_(members), size_(size) {}

  /// Finds the samples of all members, on all threads, and marks them in `samples`.
  void find(BitSet& samples) {
    changes_ = BitSet(size_ + 1);
    std::vector<std::vector<Pos>> found((size_ + range_length - 1) / range_length);
    for_each_range(size_, range_length, [&](std::uint64_t first, std::uint64_t last) {
      std::vector<Pos>& of_range = found[first / range_length];
      for_each_member_range(first, last, [&](std::uint64_t begin, std::uint64_t end) {
        // Visits positions in descending order, so changes come in reverse.
        const std::size_t before = of_range.size();
        std::uint64_t known = size_ + 1;
        sampling_.for_each(begin, end, [&](std::uint64_t position, std::uint64_t sample) {
          if (sample == known) return;
          // The sample of the positions from position + 1 on begins there.
          if (known <= size_) changes_.set_alone(position + 1);
          of_range.push_back(static_cast<Pos>(sample));
          known = sample;
        });
        changes_.set_alone(begin);
        std::reverse(of_range.begin() + static_cast<std::ptrdiff_t>(before), of_range.end());
      });
    });
    numbers_.emplace(changes_);
    values_ = allocate<Pos>(numbers_->count());
    std::vector<std::uint64_t> begins(found.size() + 1);
    for (std::size_t i = 0; i < found.size(); ++i) begins[i + 1] = begins[i] + found[i].size();
    for_each_task(found.size(), [&](std::uint64_t i) {
      std::copy(found[i].begin(), found[i].end(), values_.get() + begins[i]);
      for (const Pos sample : found[i]) samples.set(sample);
    });
  }

  /// Frees the values.
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
  std::optional<NumberedSet<Pos>> numbers_;
  Array<Pos> values_;
};

}  // namespace sortie::suffix_array::host
