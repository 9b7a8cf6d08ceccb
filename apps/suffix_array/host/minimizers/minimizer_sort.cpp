// SPDX-License-Identifier: Apache-2.0

// Suffix arrays on many host threads, by minimizers.
//
// 1. minimizers  A position is a minimizer if its value, a hash of two bytes, is the least of six positions in a
//                row: 0.29 of all in texts. The six positions from a suffix on give its minimizer; they depend
//                on seven bytes.
// 2. doubling    A minimizer is named by eight bytes. These determine the distance to the next minimizer, so
//                the suffixes of the string of names have the order of the suffixes of the text that begin at
//                minimizers. They are sorted by doubling (name_doubling.hpp).
// 3. divide      All suffixes, by the order of their minimizers, are moved to buckets by their first bytes.
// 4. buckets     Each bucket is sorted by the first eight bytes of the suffixes, stable. Suffixes that agree in
//                these have their minimizers at the same distance, so they are in order already.
//
// Zeros follow the text. So a suffix may agree with one that has zeros before the end of the text; it is less,
// as the end of the string of names is less than all names. A minimizer may be behind the end of the text.
//
// Memory, for n symbols of which m are minimizers, text excluded:
//
// | array                      | bytes                             | lifetime |
// |----------------------------|-----------------------------------|----------|
// | suffixes                   | 4 n                               | all      |
// | keys of the suffixes       | 8 n                               | all      |
// | order, first suffixes      | 8 m                               | 1 to 3   |
// | names                      | 8 m, in the keys                  | 1, 2     |
// | ranks, strings of further  | in what is left of the keys, and  | 2        |
// | minimizers                 | in the suffixes                   |          |
// | scratch of the threads     | 12 for each suffix of the largest | 4        |
// |                            | bucket that one thread sorts      |          |

#include "apps/suffix_array/host/minimizers/minimizer_sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "apps/suffix_array/host/induced/name_doubling.hpp"
#include "apps/suffix_array/host/induced/scratch_stack.hpp"
#include "apps/suffix_array/host/minimizers/minimizers.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "core/random.hpp"
#include "multisort/host/local_sort.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/sort.hpp"

namespace sortie::suffix_array::host {
namespace {

constexpr std::uint64_t bytes_in_key = 8;
/// Values of positions depend on two bytes. The minimizer after one at c depends on [c, c + bytes_in_key).
constexpr std::uint64_t byte_window = bytes_in_key - 2;

/// A text that zeros follow.
class PaddedText {
 public:
  explicit PaddedText(std::span<const std::uint8_t> text) : text_(text) {
    const std::uint64_t count = std::min<std::uint64_t>(text.size(), tail_bytes);
    tail_begin_ = text.size() - count;
    std::copy_n(text.end() - static_cast<std::ptrdiff_t>(count), count, tail_.begin());
  }

  [[nodiscard]] std::uint64_t size() const { return text_.size(); }
  /// Eight bytes as a number that is in the order of texts.
  [[nodiscard]] std::uint64_t key(std::uint64_t position) const {
    std::uint64_t word = load(position);
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    return word;
  }
  /// A pseudo-random number of the two bytes from a position on. Those of equal bytes are greatest, so that
  /// in a short run its begin is no minimizer.
  [[nodiscard]] std::uint32_t value(std::uint64_t position) const {
    const std::uint8_t* const at =
        position + 2 <= size() ? text_.data() + position : tail_.data() + (position - tail_begin_);
    const std::uint32_t pair = at[0] | std::uint32_t{at[1]} << 8;
    if (at[0] == at[1]) return 0xffffffff;
    const std::uint32_t product = pair * 0x9e3779b1;
    return (product ^ product >> 15) * 0x85ebca77;
  }
  void prefetch(std::uint64_t position) const { __builtin_prefetch(text_.data() + position); }

 private:
  static constexpr std::uint64_t tail_bytes = 2 * bytes_in_key;

  [[nodiscard]] std::uint64_t load(std::uint64_t position) const {
    std::uint64_t word;
    const std::uint8_t* const at = position + bytes_in_key <= size()
                                       ? text_.data() + position
                                       : tail_.data() + (position - tail_begin_);
    std::memcpy(&word, at, sizeof(word));
    return word;
  }

  std::span<const std::uint8_t> text_;
  std::uint64_t tail_begin_;
  std::array<std::uint8_t, 4 * bytes_in_key> tail_{};
};

/// Buckets of keys, divided at splitters from a random sample. A key that is frequent in the sample has a bucket
/// of its own.
class KeyBuckets {
 public:
  explicit KeyBuckets(const HostContext& context, const PaddedText& text) {
    constexpr std::uint64_t samples = std::uint64_t{1} << 16;
    const std::uint64_t buckets = std::clamp<std::uint64_t>(text.size() >> 14, 1, 2048);
    const std::uint64_t step = samples / buckets;
    std::vector<std::uint64_t> sample(samples);
    Random random(samples);
    for (std::uint64_t& key : sample) key = text.key(random.below(text.size()));
    Context sorting;
    sorting.backend = Backend::host;
    sorting.threads = context.threads;
    sortie::sort(sorting, std::span(sample));
    for (std::uint64_t i = step; i < samples; i += step) {
      const std::uint64_t key = sample[i];
      if (!splitters_.empty() && key < splitters_.back()) continue;  // has its bucket
      if (splitters_.empty() || key > splitters_.back()) splitters_.push_back(key);
      if (i + step < samples && sample[i + step] == key && key != ~std::uint64_t{0})
        splitters_.push_back(key + 1);
    }
    // Splitters below the keys of each pair of bytes.
    std::uint64_t next = 0;
    for (std::uint64_t pair = 0; pair <= pairs; ++pair) {
      while (next < splitters_.size() && splitters_[next] >> pair_shift < pair) ++next;
      before_[pair] = static_cast<std::uint32_t>(next);
    }
  }

  [[nodiscard]] std::uint64_t count() const { return splitters_.size() + 1; }
  /// How many splitters are at most a key.
  [[nodiscard]] std::uint64_t bucket_of(std::uint64_t key) const {
    const std::uint64_t pair = key >> pair_shift;
    const std::uint64_t* first = splitters_.data() + before_[pair];
    for (std::uint64_t left = before_[pair + 1] - before_[pair]; left > 0;) {
      const std::uint64_t half = (left + 1) / 2;
      first += first[half - 1] <= key ? half : 0;
      left -= half;
    }
    return static_cast<std::uint64_t>(first - splitters_.data());
  }

 private:
  static constexpr std::uint64_t pairs = std::uint64_t{1} << 16;
  static constexpr int pair_shift = 48;

  std::vector<std::uint64_t> splitters_;
  std::vector<std::uint32_t> before_ = std::vector<std::uint32_t>(pairs + 1);
};

class MinimizerSort {
 public:
  MinimizerSort(const HostContext& context, std::span<const std::uint8_t> text,
                std::span<std::uint32_t> suffixes)
      : context_(context), text_(text), suffixes_(suffixes) {}

  void run() {
    const auto key_memory = allocate_array<std::uint64_t>(text_.size());
    keys_ = {key_memory.get(), text_.size()};
    PhaseTimer finding(context_, "minimizers");
    find_minimizers();
    finding.stop();
    PhaseTimer doubling(context_, "doubling");
    {
      const std::uint64_t count = order_.size();
      ScratchStack scratch(
          {std::as_writable_bytes(keys_.subspan(count)), std::as_writable_bytes(suffixes_)});
      sort_by_doubling_of_keys(context_, keys_.first(count), order_, scratch);
    }
    doubling.stop();
    PhaseTimer division(context_, "divide");
    divide();
    division.stop();
    const PhaseTimer sorting(context_, "buckets");
    sort_buckets();
  }

 private:
  /// Finds the minimizers, and writes their names to the keys. Each share first writes what it finds where
  /// its suffixes and their keys will be, since it is not known how many are before.
  void find_minimizers() {
    const EqualShares shares = thread_shares(text_.size());
    const std::span<std::byte> distances = std::as_writable_bytes(keys_).last(
        text_.size());  // behind the names, of which less than 7/8 n
    std::vector<std::uint64_t> counts(shares.count);
    const auto value = [this](std::uint64_t position) { return text_.value(position); };
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t to = begin;
      for_each_minimizer(begin, end, byte_window, value,
                         [&](std::uint64_t suffix, std::uint64_t minimizer) {
                           suffixes_[to] = static_cast<std::uint32_t>(suffix);
                           distances[to++] = static_cast<std::byte>(minimizer - suffix);
                         });
      counts[share] = to - begin;
    });
    const std::vector<std::uint64_t> places = begins_of(counts);
    const std::uint64_t count = places.back();
    order_memory_ = allocate_array<std::uint32_t>(count);
    order_ = {order_memory_.get(), count};
    first_memory_ = allocate_array<std::uint32_t>(count + 1);
    first_ = {first_memory_.get(), count + 1};
    first_[count] = static_cast<std::uint32_t>(text_.size());
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t) {
      for (std::uint64_t i = 0; i < counts[share]; ++i) {
        const std::uint32_t suffix = suffixes_[begin + i];
        first_[places[share] + i] = suffix;
        keys_[places[share] + i] =
            text_.key(suffix + std::to_integer<std::uint64_t>(distances[begin + i]));
      }
    });
  }

  /// Calls visit(suffix) for the suffixes of minimizers [begin, end) of the order.
  template <class Visit>
  void for_each_suffix(std::uint64_t begin, std::uint64_t end, const Visit& visit) const {
    constexpr std::uint64_t near = 16;
    constexpr std::uint64_t far = 32;
    for (std::uint64_t i = begin; i < end; ++i) {
      if (i + far < end) __builtin_prefetch(&first_[order_[i + far]]);
      if (i + near < end) text_.prefetch(first_[order_[i + near]]);
      const std::uint32_t minimizer = order_[i];
      for (std::uint64_t suffix = first_[minimizer]; suffix < first_[minimizer + 1]; ++suffix)
        visit(suffix);
    }
  }

  /// Moves the keys of all suffixes to buckets, in each in the order of their minimizers.
  void divide() {
    const KeyBuckets buckets(context_, text_);
    const std::uint64_t count = buckets.count();
    const EqualShares shares = thread_shares(order_.size());
    std::vector<std::vector<std::uint64_t>> places(shares.count);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      std::vector<std::uint64_t> counts(count);
      for_each_suffix(begin, end, [&](std::uint64_t suffix) {
        ++counts[buckets.bucket_of(text_.key(suffix))];
      });
      places[share] = std::move(counts);
    });
    std::uint64_t next_place = 0;
    bucket_begins_ = {0};
    for (std::uint64_t bucket = 0; bucket < count; ++bucket) {
      for (auto& part : places) next_place += std::exchange(part[bucket], next_place);
      bucket_begins_.push_back(next_place);
    }
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      std::vector<std::uint64_t>& next = places[share];
      for_each_suffix(begin, end, [&](std::uint64_t suffix) {
        const std::uint64_t key = text_.key(suffix);
        const std::uint64_t to = next[buckets.bucket_of(key)]++;
        keys_[to] = key;
        suffixes_[to] = static_cast<std::uint32_t>(suffix);
      });
    });
  }

  void sort_buckets() {
    const std::uint64_t count = bucket_begins_.size() - 1;
    const auto size = [this](std::uint64_t b) { return bucket_begins_[b + 1] - bucket_begins_[b]; };
    // The largest first. Those of one key are in order.
    std::vector<std::uint32_t> by_size;
    std::mutex mutex;
    for_each_range(count, 16, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t bucket = begin; bucket < end; ++bucket) {
        const auto keys = keys_.subspan(bucket_begins_[bucket], size(bucket));
        if (std::ranges::adjacent_find(keys, std::ranges::not_equal_to()) == keys.end()) continue;
        const std::scoped_lock lock(mutex);
        by_size.push_back(static_cast<std::uint32_t>(bucket));
      }
    });
    std::ranges::sort(by_size, std::ranges::greater(), size);
    std::atomic<std::uint64_t> next{0};
    for_each_task(worker_threads(), [&](std::uint64_t) {
      using Sorter = multisort::LocalSort<std::uint64_t, std::uint32_t>;
      const auto sorter = std::make_unique<Sorter>();
      HostArray<std::uint64_t> key_scratch;
      HostArray<std::uint32_t> value_scratch;
      for (std::uint64_t i; (i = next++) < by_size.size();) {
        if (key_scratch == nullptr) {  // none is larger
          key_scratch = allocate_array<std::uint64_t>(size(by_size[i]));
          value_scratch = allocate_array<std::uint32_t>(size(by_size[i]));
        }
        const std::uint64_t begin = bucket_begins_[by_size[i]];
        sorter->sort({keys_.data() + begin, suffixes_.data() + begin},
                     {key_scratch.get(), value_scratch.get()}, size(by_size[i]));
      }
    });
  }

  const HostContext& context_;
  PaddedText text_;
  std::span<std::uint32_t> suffixes_;
  std::span<std::uint64_t> keys_;
  HostArray<std::uint32_t> order_memory_;
  HostArray<std::uint32_t> first_memory_;
  std::span<std::uint32_t> order_;  ///< minimizers in the order of their suffixes
  std::span<std::uint32_t> first_;  ///< the first suffix of each minimizer
  std::vector<std::uint64_t> bucket_begins_;
};

}  // namespace

void sort_by_minimizers(const HostContext& context, std::span<const std::uint8_t> text,
                        std::span<std::uint32_t> suffixes) {
  MinimizerSort(context, text, suffixes).run();
}

}  // namespace sortie::suffix_array::host
