// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/host_memory.hpp"
#include "primitives/host/radix_pass.hpp"

namespace sortie::kmers {

/// Moves k-mers to buckets, on several threads. Each has a cache line for each bucket; a full line
/// takes the next place of the bucket.
template <class Word>
class BucketWriter {
 public:
  static constexpr std::size_t line_words = sizeof(CacheLine) / sizeof(Word);

  /// Bytes of a thread for each bucket.
  static constexpr std::uint64_t bytes_per_bucket = sizeof(CacheLine) + 1;

  /// \param words  the buckets
  /// \param nexts  first item of each bucket in `words`; behind its last item once all is written.
  ///               A multiple of line_words, or the lines are not streamed
  /// \param streamed  whether lines are written past the caches
  BucketWriter(Word* words, std::atomic<std::uint64_t>* nexts, std::size_t buckets, bool streamed)
      : words_(words),
        nexts_(nexts),
        streamed_(streamed),
        lines_(allocate_array<CacheLine>(buckets)),
        fill_(buckets) {}

  [[gnu::always_inline]] void put(std::size_t bucket, Word word) {
    const std::size_t slot = fill_[bucket];
    std::memcpy(lines_[bucket].bytes + slot * sizeof(Word), &word, sizeof(Word));
    if (slot + 1 == line_words) {
      write_line(bucket);
      fill_[bucket] = 0;
    } else {
      fill_[bucket] = static_cast<std::uint8_t>(slot + 1);
    }
  }

  /// Must be called by the thread before another one reads what it has put.
  static void make_visible() { LineWriter<Word>::make_visible(); }

  /// Writes the lines that are not full. \pre no thread calls put() any more
  void finish() {
    for (std::size_t bucket = 0; bucket < fill_.size(); ++bucket) {
      const std::uint64_t n = fill_[bucket];
      if (n == 0) continue;
      const std::uint64_t place = nexts_[bucket].fetch_add(n, std::memory_order_relaxed);
      std::memcpy(words_ + place, lines_[bucket].bytes, n * sizeof(Word));
    }
  }

 private:
  void write_line(std::size_t bucket) {
    const std::uint64_t place = nexts_[bucket].fetch_add(line_words, std::memory_order_relaxed);
    char* const to = reinterpret_cast<char*>(words_ + place);
    const char* const from = lines_[bucket].bytes;
#ifdef __SSE2__
    if (streamed_) {
      for (std::size_t i = 0; i < sizeof(CacheLine); i += sizeof(__m128i))
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                         _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
      return;
    }
#endif
    std::memcpy(to, from, sizeof(CacheLine));
  }

  Word* words_;
  std::atomic<std::uint64_t>* nexts_;
  bool streamed_;
  HostArray<CacheLine> lines_;
  std::vector<std::uint8_t> fill_;  ///< words in each line
};

}  // namespace sortie::kmers
