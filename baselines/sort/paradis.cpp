// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <thread>
#include <utility>

#include "baselines/sort/sort_peer.hpp"

/// PARADIS (Cho, Brand, Bordawekar, Finkler, Kulandaisamy, Puri: PARADIS: An Efficient Parallel
/// Algorithm for In-place Radix Sort, PVLDB 2015): radix sort from the highest digit on. Threads
/// permute the items of a range to its buckets, each within stripes of its own, as far as these
/// suffice; then each bucket is repaired, and the rest is permuted again. Buckets are sorted in the
/// same way, large ones by all threads, the others by one each.
namespace sortie::baselines {
namespace {

constexpr int digit_bits = 8;
constexpr std::size_t digits = std::size_t{1} << digit_bits;
/// Ranges of fewer items are sorted by comparisons.
constexpr std::uint64_t least_for_radix = 64;

/// The key as an unsigned number in the order of its type.
template <class Key>
auto ordered_bits(Key key) {
  using Bits = std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits sign = Bits{1} << (8 * sizeof(Key) - 1);
  const auto bits = std::bit_cast<Bits>(key);
  if constexpr (std::is_floating_point_v<Key>) return (bits & sign) != 0 ? ~bits : bits | sign;
  if constexpr (std::is_signed_v<Key>) return static_cast<Bits>(bits ^ sign);
  return bits;
}

template <class Item>
auto key_of(const Item& item) {
  if constexpr (requires { item.key; }) {
    return item.key;
  } else {
    return item;
  }
}

template <class Item>
std::size_t digit_of(const Item& item, int shift) {
  return static_cast<std::size_t>(ordered_bits(key_of(item)) >> shift) % digits;
}

/// Runs work(0) .. work(threads - 1) at the same time.
void on_threads(std::size_t threads, const std::function<void(std::size_t)>& work) {
  std::vector<std::jthread> others;
  for (std::size_t p = 1; p < threads; ++p) others.emplace_back(work, p);
  work(0);
}

template <class Item>
class Paradis {
 public:
  Paradis(Item* items, std::size_t threads) : items_(items), threads_(threads) {}

  void sort(std::uint64_t size) {
    std::vector<Range> large;
    std::vector<Range> small;
    const std::uint64_t least_for_all =
        threads_ == 1 ? size + 1 : std::max<std::uint64_t>(size / (4 * threads_), 1 << 16);
    const auto add = [&](const Range& range) {
      if (range.size() < 2 || range.shift < 0) return;
      (range.size() < least_for_all ? small : large).push_back(range);
    };
    add({0, size, top_shift});
    while (!large.empty()) {
      const Range range = large.back();
      large.pop_back();
      const Borders borders = permute(range);
      for (std::size_t d = 0; d < digits; ++d)
        add({borders[d], borders[d + 1], range.shift - digit_bits});
    }
    std::sort(small.begin(), small.end(),
              [](const Range& a, const Range& b) { return a.size() > b.size(); });
    std::atomic<std::size_t> next = 0;
    on_threads(threads_, [&](std::size_t) {
      for (std::size_t i = next++; i < small.size(); i = next++) sort_alone(small[i]);
    });
  }

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    int shift;  ///< of the digit to sort by
    [[nodiscard]] std::uint64_t size() const { return end - begin; }
  };
  using Borders = std::array<std::uint64_t, digits + 1>;
  /// The items of each bucket that a thread may still place: [head, tail).
  struct Stripes {
    std::array<std::uint64_t, digits> head;
    std::array<std::uint64_t, digits> tail;
  };

  static constexpr int top_shift =
      8 * static_cast<int>(sizeof(ordered_bits(key_of(Item{})))) - digit_bits;

  [[nodiscard]] Borders borders_of(const Range& range, std::size_t threads) const {
    std::vector<std::array<std::uint64_t, digits>> counts(threads);
    on_threads(threads, [&](std::size_t p) {
      std::array<std::uint64_t, digits> own{};
      const std::uint64_t end = range.begin + range.size() * (p + 1) / threads;
      for (std::uint64_t i = range.begin + range.size() * p / threads; i < end; ++i)
        ++own[digit_of(items_[i], range.shift)];
      counts[p] = own;
    });
    Borders borders{range.begin};
    for (std::size_t d = 0; d < digits; ++d) {
      borders[d + 1] = borders[d];
      for (const auto& own : counts) borders[d + 1] += own[d];
    }
    return borders;
  }

  /// Speculative permutation: items go to the thread's own stripe of their bucket while it lasts.
  void permute_stripes(Stripes& stripes, int shift) {
    for (std::size_t d = 0; d < digits; ++d) {
      for (std::uint64_t i = stripes.head[d]; i < stripes.tail[d]; ++i) {
        Item item = items_[i];
        std::size_t to = digit_of(item, shift);
        while (to != d && stripes.head[to] < stripes.tail[to]) {
          std::swap(item, items_[stripes.head[to]++]);
          to = digit_of(item, shift);
        }
        if (to == d) {
          items_[i] = items_[stripes.head[d]];
          items_[stripes.head[d]++] = item;
        } else {
          items_[i] = item;
        }
      }
    }
  }

  /// Moves the items of bucket d that are in no place of their own to its end. \return where these
  /// begin
  std::uint64_t repair(std::size_t d, const std::vector<Stripes>& stripes, std::uint64_t end,
                       int shift) {
    std::uint64_t tail = end;
    for (const Stripes& own : stripes) {
      for (std::uint64_t i = own.head[d]; i < own.tail[d] && i < tail; ++i) {
        if (digit_of(items_[i], shift) == d) continue;
        do --tail;
        while (i < tail && digit_of(items_[tail], shift) != d);
        if (i < tail) std::swap(items_[i], items_[tail]);
      }
    }
    return tail;
  }

  /// Permutes a range to its buckets by all threads.
  [[nodiscard]] Borders permute(const Range& range) {
    const Borders borders = borders_of(range, threads_);
    std::array<std::uint64_t, digits> heads;
    std::copy_n(borders.begin(), digits, heads.begin());
    for (bool rest = true; rest;) {
      std::vector<Stripes> stripes(threads_);
      on_threads(threads_, [&](std::size_t p) {
        for (std::size_t d = 0; d < digits; ++d) {
          const std::uint64_t size = borders[d + 1] - heads[d];
          stripes[p].head[d] = heads[d] + size * p / threads_;
          stripes[p].tail[d] = heads[d] + size * (p + 1) / threads_;
        }
        Stripes own = stripes[p];
        permute_stripes(own, range.shift);
        stripes[p].head = own.head;
      });
      std::atomic<std::size_t> next = 0;
      std::atomic<bool> wrong = false;
      on_threads(threads_, [&](std::size_t) {
        for (std::size_t d = next++; d < digits; d = next++) {
          heads[d] = repair(d, stripes, borders[d + 1], range.shift);
          if (heads[d] < borders[d + 1]) wrong = true;
        }
      });
      rest = wrong;
    }
    return borders;
  }

  void sort_alone(const Range& range) {
    if (range.size() < least_for_radix) {
      std::sort(items_ + range.begin, items_ + range.end, [](const Item& a, const Item& b) {
        return ordered_bits(key_of(a)) < ordered_bits(key_of(b));
      });
      return;
    }
    const Borders borders = borders_of(range, 1);
    Stripes stripes;
    for (std::size_t d = 0; d < digits; ++d) {
      stripes.head[d] = borders[d];
      stripes.tail[d] = borders[d + 1];
    }
    permute_stripes(stripes, range.shift);  // one thread has all places: nothing to repair
    if (range.shift == 0) return;
    for (std::size_t d = 0; d < digits; ++d)
      if (borders[d + 1] - borders[d] > 1)
        sort_alone({borders[d], borders[d + 1], range.shift - digit_bits});
  }

  Item* items_;
  std::size_t threads_;
};

}  // namespace

void sort_by_paradis(const PeerItems& array, int threads) {
  with_peer_items(array, [&](auto items) {
    using Item = typename decltype(items)::value_type;
    Paradis<Item>(items.data(), static_cast<std::size_t>(std::max(threads, 1))).sort(items.size());
  });
}

}  // namespace sortie::baselines
