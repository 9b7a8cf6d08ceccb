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
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "apps/suffix_array/host/induced/name_doubling.hpp"
#include "apps/suffix_array/host/induced/scratch_stack.hpp"
#include "apps/suffix_array/host/minimizers/minimizers.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
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

/// Buckets of suffixes by their first two bytes: some neighbouring pairs of bytes each.
struct PairBuckets {
  static constexpr std::uint64_t pairs = std::uint64_t{1} << 16;
  std::vector<std::uint16_t> of_pair = std::vector<std::uint16_t>(pairs);
  std::vector<std::uint64_t> sizes;

  explicit PairBuckets(const PaddedText& text) {
    const EqualShares shares = thread_shares(text.size());
    std::vector<std::vector<std::uint32_t>> parts(shares.count);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      std::vector<std::uint32_t> counts(pairs);
      for (std::uint64_t i = begin; i < end; ++i) ++counts[text.key(i) >> 48];
      parts[share] = std::move(counts);
    });
    constexpr std::uint64_t most_buckets = 1024;
    const std::uint64_t least = std::max<std::uint64_t>(text.size() / most_buckets, 1 << 14);
    sizes.push_back(0);
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
      std::uint64_t count = 0;
      for (const auto& part : parts) count += part[pair];
      if (sizes.back() > 0 && sizes.back() + count > least) sizes.push_back(0);
      sizes.back() += count;
      of_pair[pair] = static_cast<std::uint16_t>(sizes.size() - 1);
    }
  }
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
    const PairBuckets buckets(text_);
    bucket_begins_ = begins_of(buckets.sizes);
    const std::uint64_t count = buckets.sizes.size();
    const EqualShares shares = thread_shares(order_.size());
    std::vector<std::vector<std::uint64_t>> places(shares.count);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      std::vector<std::uint64_t> counts(count);
      for_each_suffix(begin, end, [&](std::uint64_t suffix) {
        ++counts[buckets.of_pair[text_.key(suffix) >> 48]];
      });
      places[share] = std::move(counts);
    });
    for (std::uint64_t bucket = 0; bucket < count; ++bucket) {
      std::uint64_t next = bucket_begins_[bucket];
      for (auto& part : places) next += std::exchange(part[bucket], next);
    }
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      std::vector<std::uint64_t>& next = places[share];
      for_each_suffix(begin, end, [&](std::uint64_t suffix) {
        const std::uint64_t key = text_.key(suffix);
        const std::uint64_t to = next[buckets.of_pair[key >> 48]]++;
        keys_[to] = key;
        suffixes_[to] = static_cast<std::uint32_t>(suffix);
      });
    });
  }

  void sort_buckets() {
    const std::uint64_t count = bucket_begins_.size() - 1;
    const auto size = [this](std::uint64_t b) { return bucket_begins_[b + 1] - bucket_begins_[b]; };
    std::vector<std::uint32_t> by_size(count);
    std::iota(by_size.begin(), by_size.end(), 0);
    std::ranges::sort(by_size, [&](std::uint32_t a, std::uint32_t b) { return size(a) > size(b); });
    // Those that one thread would take long for, on all threads.
    const std::uint64_t most =
        std::max<std::uint64_t>(text_.size() / (4 * worker_threads()), 1 << 16);
    std::uint64_t large = 0;
    for (; worker_threads() > 1 && large < count && size(by_size[large]) > most; ++large) {
      Context sorting;
      sorting.backend = Backend::host;
      sorting.threads = context_.threads;
      const std::uint64_t begin = bucket_begins_[by_size[large]];
      sortie::sort(sorting, keys_.subspan(begin, size(by_size[large])),
                   suffixes_.subspan(begin, size(by_size[large])), {.stable = true});
    }
    std::atomic<std::uint64_t> next{large};
    const std::uint64_t longest = large < count ? size(by_size[large]) : 0;
    for_each_task(worker_threads(), [&](std::uint64_t) {
      using Sorter = multisort::LocalSort<std::uint64_t, std::uint32_t>;
      const auto sorter = std::make_unique<Sorter>();
      const auto key_scratch = allocate_array<std::uint64_t>(longest);
      const auto value_scratch = allocate_array<std::uint32_t>(longest);
      for (std::uint64_t i; (i = next++) < count;) {
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
