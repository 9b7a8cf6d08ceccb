#include "sortie/apps/suffix_array/host/first_sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <utility>

#include "sortie/apps/suffix_array/host/parallel.hpp"
#include "sortie/apps/suffix_array/host/word_sort.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/segsort/segmented_sort.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Buckets of about this many suffixes are then sorted within the L2 cache.
constexpr std::uint64_t wanted_bucket = 1024;
/// With 2^13 buckets spreading 70 M suffixes takes 0.39 s instead of 0.24 s, and sorting gains
/// nothing (one core of a Zen 5 VM).
constexpr int most_bucket_bits = 12;

int bucket_bits_for(std::uint64_t size, const PackingPlan& plan) {
  // One bit at least: a shift by all 64 bits of a word would be undefined.
  const int bits = std::max(1, static_cast<int>(std::bit_width(size / wanted_bucket)));
  return std::min({bits, most_bucket_bits, plan.word_bits});
}

/// Threads that have enough to do.
std::uint64_t useful_threads(std::uint64_t size) {
  constexpr std::uint64_t worth_a_thread = std::uint64_t{1} << 14;
  return std::clamp(size / worth_a_thread, std::uint64_t{1},
                    static_cast<std::uint64_t>(host_threads()));
}

/// The words of the positions of a record from left to right, four cycles a step: all digits move
/// up one place, the first symbol leaves and a new last one enters. The arithmetic is that of 64
/// bits, whose overflows cancel out because the result is a word again.
class RollingWord {
 public:
  explicit RollingWord(const PackingPlan& plan) : plan_(plan) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      leaving_[byte] = plan.code[byte] * plan.top_weight * plan.base;
    }
  }

  /// Calls visit(position, word) for [begin, end) within the record that ends at `record_end`.
  template <class Visit>
  void for_each(const TextView& text, std::uint64_t begin, std::uint64_t end,
                std::uint64_t record_end, const Visit& visit) const {
    if (begin == end) return;
    const std::uint8_t* const symbols = text.symbols.data();
    const auto ahead = static_cast<std::uint64_t>(plan_.symbols);
    const std::uint64_t full_end = record_end > ahead ? std::min(end, record_end - ahead) : 0;
    std::uint64_t word = pack_word(plan_, text, begin);
    std::uint64_t position = begin;
    for (; position < full_end; ++position) {
      visit(position, word);
      const std::uint64_t entering = plan_.code[symbols[position + ahead]];
      word = word * plan_.base + (entering - leaving_[symbols[position]]);
    }
    for (; position < end; ++position) {
      visit(position, word);
      word = word * plan_.base - leaving_[symbols[position]];
    }
  }

 private:
  PackingPlan plan_;
  std::array<std::uint64_t, 256> leaving_{};
};

/// Calls visit(position, word) for the positions of [begin, end), separators included.
template <class Visit>
void for_each_word(const TextView& text, const RollingWord& rolling, std::uint64_t begin,
                   std::uint64_t end, const Visit& visit) {
  auto separator = std::lower_bound(text.separators.begin(), text.separators.end(), begin);
  while (begin < end) {
    const std::uint64_t record_end =
        separator == text.separators.end() ? text.size() : *separator++;
    const std::uint64_t piece_end = std::min(record_end, end);
    rolling.for_each(text, begin, piece_end, record_end, visit);
    if (piece_end < end) visit(piece_end, std::uint64_t{0});
    begin = piece_end + 1;
  }
}

}  // namespace

std::uint64_t largest_private_bucket(std::uint64_t size) {
  constexpr std::uint64_t always_private = std::uint64_t{1} << 14;
  const auto threads = static_cast<std::uint64_t>(host_threads());
  return std::clamp(size / (4 * threads), always_private, std::uint64_t{1} << 31);
}

template <Position Pos>
std::vector<std::uint64_t> spread_by_words(const TextView& text, const PackingPlan& plan,
                                           std::span<std::uint64_t> words,
                                           std::span<Pos> suffixes) {
  const std::uint64_t size = text.size();
  const int bucket_bits = bucket_bits_for(size, plan);
  const int shift = plan.word_bits - bucket_bits;
  const std::uint64_t buckets = std::uint64_t{1} << bucket_bits;
  const std::uint64_t pieces = useful_threads(size);
  const auto piece_begin = [=](std::uint64_t piece) {
    return size / pieces * piece + std::min(piece, size % pieces);
  };

  const RollingWord rolling(plan);
  // counts[piece][bucket], turned into the next free slot of that part of the bucket.
  std::vector<std::uint64_t> counts(pieces * buckets);
  for_each_task(pieces, [&](std::uint64_t piece) {
    std::uint64_t* const count = counts.data() + piece * buckets;
    for_each_word(text, rolling, piece_begin(piece), piece_begin(piece + 1),
                  [=](std::uint64_t, std::uint64_t word) { ++count[word >> shift]; });
  });
  std::vector<std::uint64_t> bucket_starts(buckets + 1);
  std::uint64_t slot = 0;
  for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
    bucket_starts[bucket] = slot;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      slot += std::exchange(counts[piece * buckets + bucket], slot);
    }
  }
  bucket_starts[buckets] = slot;

  for_each_task(pieces, [&](std::uint64_t piece) {
    std::uint64_t* const next = counts.data() + piece * buckets;
    for_each_word(text, rolling, piece_begin(piece), piece_begin(piece + 1),
                  [=](std::uint64_t position, std::uint64_t word) {
                    const std::uint64_t to = next[word >> shift]++;
                    words[to] = word;
                    suffixes[to] = static_cast<Pos>(position);
                  });
  });
  return bucket_starts;
}

template <Position Pos>
void sort_buckets(const Context& context, std::span<const std::uint64_t> bucket_starts,
                  std::span<std::uint64_t> words, std::span<Pos> suffixes) {
  const std::uint64_t limit = largest_private_bucket(words.size());
  std::vector<std::uint64_t> large_begins;
  std::vector<std::uint64_t> large_ends;
  std::uint64_t longest = 0;  // of the others
  for (std::uint64_t bucket = 0; bucket + 1 < bucket_starts.size(); ++bucket) {
    const std::uint64_t length = bucket_starts[bucket + 1] - bucket_starts[bucket];
    if (length <= limit) {
      longest = std::max(longest, length);
    } else {
      large_begins.push_back(bucket_starts[bucket]);
      large_ends.push_back(bucket_starts[bucket + 1]);
    }
  }
  if (!large_begins.empty()) {
    segmented_sort<std::uint64_t, Pos, std::uint64_t>(context, words, suffixes, large_begins,
                                                      large_ends, {.stable = true});
  }

  // Every thread takes the next bucket until none is left; it keeps its scratch throughout.
  const std::uint64_t threads = useful_threads(words.size());
  const auto word_scratch = std::make_unique_for_overwrite<std::uint64_t[]>(threads * longest);
  const auto position_scratch = std::make_unique_for_overwrite<Pos[]>(threads * longest);
  std::atomic<std::uint64_t> next{0};
  for_each_task(threads, [&](std::uint64_t thread) {
    for (std::uint64_t bucket = next++; bucket + 1 < bucket_starts.size(); bucket = next++) {
      const std::uint64_t begin = bucket_starts[bucket];
      const std::uint64_t length = bucket_starts[bucket + 1] - begin;
      if (length > limit) continue;
      sort_words(words.data() + begin, suffixes.data() + begin, length,
                 word_scratch.get() + thread * longest, position_scratch.get() + thread * longest);
    }
  });
}

template std::vector<std::uint64_t> spread_by_words(const TextView&, const PackingPlan&,
                                                    std::span<std::uint64_t>,
                                                    std::span<std::uint32_t>);
template std::vector<std::uint64_t> spread_by_words(const TextView&, const PackingPlan&,
                                                    std::span<std::uint64_t>,
                                                    std::span<std::uint64_t>);
template void sort_buckets(const Context&, std::span<const std::uint64_t>, std::span<std::uint64_t>,
                           std::span<std::uint32_t>);
template void sort_buckets(const Context&, std::span<const std::uint64_t>, std::span<std::uint64_t>,
                           std::span<std::uint64_t>);

}  // namespace sortie::suffix_array::host
