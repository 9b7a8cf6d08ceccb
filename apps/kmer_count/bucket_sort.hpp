// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/host_memory.hpp"
#include "multisort/host/local_sort.hpp"
#include "primitives/host/radix_pass.hpp"

namespace sortie::kmers {

/// Sorts the k-mers of a bucket and counts equal ones. One for each thread.
///
/// \tparam Word  how a k-mer is stored: all of its bits, or its lowest 32, which differ in a bucket
template <class Word>
class BucketSort {
 public:
  /// Bytes for each k-mer beside the bucket.
  static constexpr std::uint64_t scratch_bytes = sizeof(Word) > 8
                                                     ? 2 * sizeof(std::uint64_t) + sizeof(Word)
                                                     : sizeof(Word);

  /// Calls add(kmer, count) for the distinct k-mers, ascending.
  /// \param words  overwritten
  /// \param n      at least 1
  /// \param first  no k-mer is below; `last`: none is above
  template <class Key, class Add>
  void count(Word* words, std::uint64_t n, Key first, Key last, Add&& add) {
    const Key range = last - first;
    if constexpr (sizeof(Word) <= 8) {
      // Counters of all k-mers in the range, where about as many as there are k-mers.
      constexpr std::uint64_t most_range_per_item = 2;
      if (range < most_range_per_item * n && n < ~std::uint32_t{0}) {
        counters_.assign(static_cast<std::size_t>(range) + 1, 0);
        for (std::uint64_t i = 0; i < n; ++i)
          ++counters_[static_cast<Word>(words[i] - static_cast<Word>(first))];
        for (std::size_t i = 0; i < counters_.size(); ++i) {
          if (counters_[i] != 0) add(static_cast<Key>(first + i), std::uint64_t{counters_[i]});
        }
        return;
      }
      if constexpr (sizeof(Word) < sizeof(Key)) {
        for (std::uint64_t i = 0; i < n; ++i) words[i] -= static_cast<Word>(first);
      }
      sort_words_of(words, n);
      const Key base = sizeof(Word) < sizeof(Key) ? first : Key{0};
      count_sorted(words, n, [&](Word word, std::uint64_t count) {
        add(static_cast<Key>(base + word), count);
      });
    } else {
      count_wide(words, n, first, range, add);
    }
  }

  /// The same for words that are sorted, and hold all bits.
  template <class Add>
  static void count_sorted(const Word* words, std::uint64_t n, Add&& add) {
    for (std::uint64_t i = 0; i < n;) {
      const std::uint64_t begin = i;
      const Word word = words[i];
      for (++i; i < n && words[i] == word; ++i) continue;
      add(word, i - begin);
    }
  }

 private:
  using Short = std::conditional_t<(sizeof(Word) > 8), std::uint64_t, Word>;

  void sort_words_of(Short* words, std::uint64_t n) {
    const std::uint64_t scratch =
        n > sort_.items_without_scratch()
            ? n
            : std::min(n, multisort::LocalSort<Short, NoValue>::short_part);
    if (scratch_size_ < scratch) {
      scratch_.reset();
      scratch_ = allocate_array<Short>(scratch);
      scratch_size_ = scratch;
    }
    sort_.sort({words, {}}, {scratch_.get(), {}}, n);
  }

  /// Sorts the highest bits of k-mers, as many as fit a word beside the index of a k-mer. K-mers
  /// that agree in these are mostly equal.
  template <class Key, class Add>
  void count_wide(const Word* words, std::uint64_t n, Key first, Key range, Add&& add) {
    const int index_bits = std::max(1, width_of<std::uint64_t>(n - 1));
    const int shift = std::max(0, width_of<DoubleWord>(range) - (64 - index_bits));
    order_.resize(n);
    for (std::uint64_t i = 0; i < n; ++i)
      order_[i] = static_cast<std::uint64_t>((words[i] - first) >> shift) << index_bits | i;
    sort_words_of(order_.data(), n);
    const std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;
    const auto kmer = [&](std::uint64_t i) { return words[order_[i] & index_mask]; };
    // Buckets may be larger than the second-level cache.
    constexpr std::uint64_t ahead = 16;
    const auto fetch = [&](std::uint64_t i) {
      if (i < n) __builtin_prefetch(words + (order_[i] & index_mask));
    };
    for (std::uint64_t i = 0; i < ahead; ++i) fetch(i);
    for (std::uint64_t i = 0; i < n;) {
      const std::uint64_t begin = i;
      const std::uint64_t high = order_[i] >> index_bits;
      do fetch(i + ahead);
      while (++i < n && order_[i] >> index_bits == high);
      if (i - begin == 1) {
        add(kmer(begin), 1);
      } else {
        count_equal_heads(begin, i, kmer, add);
      }
    }
  }

  /// Counts k-mers that agree in their highest bits: in an ascending list, else by sorting.
  template <class KmerAt, class Add>
  void count_equal_heads(std::uint64_t begin, std::uint64_t end, const KmerAt& kmer, Add&& add) {
    constexpr std::size_t most_listed = 8;
    std::array<std::pair<Word, std::uint64_t>, most_listed> listed;
    std::size_t size = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      const Word word = kmer(i);
      std::size_t place = 0;
      while (place < size && listed[place].first < word) ++place;
      if (place < size && listed[place].first == word) {
        ++listed[place].second;
      } else if (size < most_listed) {
        for (std::size_t last = size++; last > place; --last) listed[last] = listed[last - 1];
        listed[place] = {word, 1};
      } else {
        kmers_.clear();
        for (std::uint64_t j = begin; j < end; ++j) kmers_.push_back(kmer(j));
        std::sort(kmers_.begin(), kmers_.end());
        return count_sorted(kmers_.data(), kmers_.size(), add);
      }
    }
    for (std::size_t place = 0; place < size; ++place)
      add(listed[place].first, listed[place].second);
  }

  multisort::LocalSort<Short, NoValue> sort_;
  HostArray<Short> scratch_;
  std::uint64_t scratch_size_ = 0;
  std::vector<std::uint32_t> counters_;
  std::vector<std::uint64_t> order_;
  std::vector<Word> kmers_;
};

}  // namespace sortie::kmers
