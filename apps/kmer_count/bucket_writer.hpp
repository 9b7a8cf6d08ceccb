// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/host_memory.hpp"
#include "primitives/host/radix_pass.hpp"

namespace sortie::kmers {

/// Moves k-mers to buckets, on several threads. Each has a buffer of some cache lines for each
/// bucket; a full buffer takes the next place of the bucket.
///
/// A buffer has 512 bytes, since each write to another page costs a TLB miss: with 1024 buckets, it
/// takes half of the CPU time that lines of 64 bytes take with 4096 (two virtual Zen 5 cores, 7e8
/// k-mers of 5.6 GB: 6 s instead of 11 s). The sort of the larger buckets takes 1 s more.
template <class Word>
class BucketWriter {
 public:
  /// Buckets whose buffers fit in the second-level cache.
  static constexpr std::uint64_t usual_buckets = 1024;
  static constexpr std::size_t line_words = sizeof(CacheLine) / sizeof(Word);

  /// \param words  the buckets, at a cache line, each at a multiple of line_words: buffers are
  ///               written past the caches
  /// \param nexts  first item of each bucket in `words`, shared by threads; once all is written,
  ///               behind its last item
  BucketWriter(Word* words, std::atomic<std::uint64_t>* nexts, std::size_t buckets)
      : words_(words), nexts_(nexts), buffers_(allocate_array<Buffer>(buckets)), fill_(buckets) {}

  [[gnu::always_inline]] void put(std::size_t bucket, Word word) {
    const std::size_t slot = fill_[bucket];
    buffers_[bucket].words[slot] = word;
    fill_[bucket] = static_cast<std::uint8_t>(slot + 1);
    if (slot + 1 == buffer_words) write_full(bucket);
  }

  /// Must be called by the thread before another one reads what it has put.
  static void make_visible() { LineWriter<Word>::make_visible(); }

  /// Writes the buffers that are not full. \pre no thread calls put() any more
  void finish() {
    for (std::size_t bucket = 0; bucket < fill_.size(); ++bucket) {
      const std::uint64_t n = fill_[bucket];
      std::copy_n(buffers_[bucket].words, n, words_ + nexts_[bucket].fetch_add(n));
    }
  }

 private:
  static constexpr std::size_t buffer_words = 8 * line_words;
  static_assert(buffer_words < 256);

  struct alignas(64) Buffer {
    Word words[buffer_words];
  };

  void write_full(std::size_t bucket) {
    fill_[bucket] = 0;
    const Word* const from = buffers_[bucket].words;
    Word* const to = words_ + nexts_[bucket].fetch_add(buffer_words, std::memory_order_relaxed);
#ifdef __SSE2__
    for (std::size_t i = 0; i < buffer_words; i += sizeof(__m128i) / sizeof(Word))
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
#else
    std::copy_n(from, buffer_words, to);
#endif
  }

  Word* words_;
  std::atomic<std::uint64_t>* nexts_;
  HostArray<Buffer> buffers_;
  std::vector<std::uint8_t> fill_;  ///< words in each buffer
};

}  // namespace sortie::kmers
