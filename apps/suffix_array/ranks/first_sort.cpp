// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/first_sort.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "apps/suffix_array/ranks/borders.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

/// The symbols of this rank's positions and as many behind them as the first sort looks at.
struct ShareText {
  ShareText(const PackedText& text, std::uint64_t begin, std::uint64_t end)
      : letters(text.letters(begin, std::min(text.size(), end + text.plan().depth() + 1))) {
    const auto& all = text.separators();
    const auto first = std::ranges::lower_bound(all, begin);
    const auto last = std::ranges::lower_bound(all, begin + letters.size());
    separators.assign(first, last);
    for (std::uint64_t& separator : separators) separator -= begin;
  }
  [[nodiscard]] TextView view() const { return {letters, separators}; }

  std::vector<std::uint8_t> letters;
  std::vector<std::uint64_t> separators;
};

/// A group of suffixes, as their bucket and key tell.
struct Prefix {
  std::uint64_t bucket = 0;
  std::uint64_t key = 0;

  bool operator==(const Prefix&) const = default;
};

/// Boundary data of a rank's elements, gathered by all ranks.
struct Ends {
  std::uint64_t size = 0;
  Prefix first;
  Prefix last;
};

template <Position Pos>
class RankSort {
 public:
  RankSort(Exchanges& exchanges, const Context& context, const PackedText& text)
      : exchanges_(exchanges),
        ranks_(exchanges.ranks()),
        context_(context),
        text_(text),
        plan_(text.plan()) {}

  SlotShare<Pos> run() {
    make_elements();
    std::vector<std::uint64_t> sizes(plan_.buckets);
    for (std::uint64_t bucket = 0; bucket < plan_.buckets; ++bucket)
      sizes[bucket] = bucketed_.starts[bucket + 1] - bucketed_.starts[bucket];
    ranks_.reduce_all(sizes, cluster::Reduction::sum);
    borders_ = find_borders(ranks_, plan_, bucketed_, sizes);
    exchange();
    SlotShare<Pos> share;
    std::uint64_t begin = size_;
    ranks_.sum_before({&begin, 1});
    share.begin = begin;
    share.size = size_;
    share.edge_depth = plan_.depth();
    Ends ends;
    ranks_.together("find edges", [&] { ends = own_ends(); });
    find_edges(ranks_.gather(ends), share);
    ranks_.together("sort buckets", [&] { sort(share); });
    return share;
  }

 private:
  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(ranks_.rank()); }

  /// The elements of this rank's positions, by bucket.
  void make_elements() {
    const PhaseTimer timer(context_, "elements");
    ranks_.together("make elements", [&] {
      const EqualShares shares{text_.size(), static_cast<std::uint64_t>(ranks_.size())};
      const std::uint64_t begin = shares.begin(rank());
      const std::uint64_t size = shares.size(rank());
      require_budget(context_, "elements", 17 * size);
      const ShareText own(text_, begin, begin + size);
      const host::PrefixRoll roll(plan_);
      const EqualShares chunks = thread_shares(size);
      std::vector<Pos> next(chunks.count * plan_.buckets);
      const auto for_each = [&](auto visit) {
        for_each_share(chunks, [&](std::uint64_t chunk, std::uint64_t first, std::uint64_t last) {
          Pos* const of_chunk = next.data() + chunk * plan_.buckets;
          // Copies, whose members no store of the loop can change.
          roll.for_each(
              own.view(), first, last,
              [=](std::uint64_t position, std::uint64_t bucket, std::uint64_t key) {
                visit(of_chunk[bucket], position, key);
              },
              [&](std::uint64_t from, std::uint64_t to, std::uint64_t) {
                const std::uint64_t code = plan_.code[own.letters[from]];
                for (; from < to; ++from)
                  visit(of_chunk[plan_.run_bucket(code)], from, plan_.run_key(code));
              });
        });
      };
      for_each([](Pos& place, std::uint64_t, std::uint64_t) { ++place; });
      counts_to_starts(next.data(), plan_.buckets, chunks.count);
      bucketed_.starts.assign(next.begin(),
                              next.begin() + static_cast<std::ptrdiff_t>(plan_.buckets));
      bucketed_.starts.push_back(size);
      elements_ = allocate_array<std::uint64_t>(size);
      bucketed_.elements = {elements_.get(), size};
      for_each([begin, to = elements_.get(), position_bits = plan_.position_bits](
                   Pos& place, std::uint64_t position, std::uint64_t key) {
        to[place++] = key << position_bits | (begin + position);
      });
    });
  }

  /// Buckets between two borders: the first, and the end of them.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> buckets_of(std::uint64_t rank) const {
    const Border& end = borders_[rank + 1];
    const std::uint64_t first = borders_[rank].bucket;
    return {first, std::max(first, end.bucket + (end.element != 0 ? 1 : 0))};
  }

  /// Sends each element to the rank of its slot, and puts those received in the order of buckets.
  void exchange() {
    const PhaseTimer timer(context_, "exchange");
    const auto size = static_cast<std::uint64_t>(ranks_.size());
    std::vector<std::uint64_t> counts(size);        // elements for each rank
    std::vector<std::uint64_t> bucket_counts;       // of each of its buckets, for each rank
    std::vector<std::uint64_t> buckets_sent(size);  // entries of the former
    ranks_.together("divide elements", [&] {
      for (std::uint64_t to = 0; to < size; ++to) {
        const std::uint64_t begin = place_of(bucketed_, borders_[to]);
        const std::uint64_t end = std::max(begin, place_of(bucketed_, borders_[to + 1]));
        const auto [first, last] = buckets_of(to);
        for (std::uint64_t bucket = first; bucket < last; ++bucket) {
          const std::uint64_t from = std::clamp(bucketed_.starts[bucket], begin, end);
          bucket_counts.push_back(std::clamp(bucketed_.starts[bucket + 1], begin, end) - from);
        }
        counts[to] = end - begin;
        buckets_sent[to] = last - first;
      }
    });
    const auto [first, last] = buckets_of(rank());
    first_bucket_ = first;
    const std::vector<std::uint64_t> entries(size, last - first);
    const auto bucket_sizes =
        exchanges_.send(context_, "receive counts", bucket_counts.data(), buckets_sent, &entries);
    const auto received = exchanges_.send(context_, "receive elements", elements_.get(), counts);
    elements_.reset();
    ranks_.together("order by bucket", [&] {
      size_ = received.size();
      elements_ = allocate_array<std::uint64_t>(context_, "elements of other ranks", size_);
      const std::uint64_t buckets = last - first;
      std::vector<std::uint64_t> from(received.begins.begin(), received.begins.end() - 1);
      starts_ = {0};
      for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
        std::uint64_t at = starts_.back();
        for (std::uint64_t source = 0; source < size; ++source) {
          const std::uint64_t count = bucket_sizes.items[source * buckets + bucket];
          std::copy_n(received.items.get() + from[source], count, elements_.get() + at);
          from[source] += count;
          at += count;
        }
        starts_.push_back(at);
      }
    });
  }

  [[nodiscard]] Ends own_ends() const {
    if (size_ == 0) return {};
    const std::uint64_t* const elements = elements_.get();
    const auto after = std::ranges::upper_bound(starts_, std::uint64_t{0});
    const auto first = static_cast<std::uint64_t>(after - starts_.begin()) - 1;
    const auto end = std::ranges::lower_bound(starts_, size_);
    const auto last = static_cast<std::uint64_t>(end - starts_.begin()) - 1;
    return {size_,
            {first_bucket_ + first,
             plan_.key_of(*std::min_element(elements, elements + starts_[first + 1]))},
            {first_bucket_ + last,
             plan_.key_of(*std::max_element(elements + starts_[last], elements + size_))}};
  }

  /// Finds out whether the first and the last group go on on other ranks, and moves their elements
  /// to the ends.
  void find_edges(const std::vector<Ends>& ends, SlotShare<Pos>& share) {
    ranks_.together("move edges", [&] {
      // More capacity, for the suffixes that equal_share() adds.
      share.order.suffixes = allocate_vector<Pos>(size_ + size_ / 32);
      share.order.suffixes.resize(size_);
      share.order.joined = host::BitSet(size_ + 1);
      if (size_ == 0) return;
      const Ends& own = ends[rank()];
      std::uint64_t left = rank();
      while (left > 0 && ends[left - 1].size == 0) --left;
      std::uint64_t right = rank() + 1;
      while (right < ends.size() && ends[right].size == 0) ++right;
      const auto is_group = [&](const Prefix& prefix) { return !plan_.contains_end(prefix.key); };
      std::uint64_t* const begin = elements_.get();
      std::uint64_t* const end = begin + size_;
      if (left > 0 && is_group(own.first) && ends[left - 1].last == own.first) {
        std::uint64_t* const bucket_end = begin + starts_[own.first.bucket - first_bucket_ + 1];
        share.before = static_cast<std::uint64_t>(
            std::partition(begin, bucket_end,
                           [&](auto item) { return plan_.key_of(item) == own.first.key; }) -
            begin);
      }
      if (right < ends.size() && is_group(own.last) && ends[right].first == own.last) {
        std::uint64_t* const bucket = begin + starts_[own.last.bucket - first_bucket_];
        share.after = static_cast<std::uint64_t>(end - std::partition(bucket, end, [&](auto item) {
                                                   return plan_.key_of(item) != own.last.key;
                                                 }));
      }
    });
  }

  void sort(SlotShare<Pos>& share) {
    const PhaseTimer timer(context_, "buckets");
    host::FirstOrder<Pos>& order = share.order;
    const std::uint64_t first = share.before;
    const std::uint64_t last = share.is_inside_group() ? first : size_ - share.after;
    std::vector<host::ElementRange> ranges;
    for (std::size_t bucket = 0; bucket + 1 < starts_.size(); ++bucket) {
      const std::uint64_t begin = std::clamp(starts_[bucket], first, last);
      const std::uint64_t end = std::clamp(starts_[bucket + 1], first, last);
      if (begin < end) ranges.push_back({begin, end, begin});
    }
    const auto edge = [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        order.suffixes[i] = static_cast<Pos>(plan_.position_of(elements_[i]));
    };
    edge(0, first);
    edge(last, size_);
    host::sort_ranges(plan_, text_.stream(), elements_.get(), std::move(ranges), order);
    order.joined.set_range(0, share.before);
    if (share.after > 0) order.joined.set_range(size_ - share.after + 1, size_ + 1);
    const std::uint64_t edges = first + size_ - last;
    order.in_equal_prefixes += edges;
    order.in_groups += edges;
  }

  Exchanges& exchanges_;
  cluster::Ranks& ranks_;
  const Context& context_;
  const PackedText& text_;
  const host::PrefixPlan& plan_;
  BucketedElements bucketed_;  ///< of this rank's positions
  HostArray<std::uint64_t> elements_;
  std::vector<Border> borders_;
  std::uint64_t size_ = 0;          ///< elements received
  std::uint64_t first_bucket_ = 0;  ///< of these
  std::vector<std::uint64_t> starts_;
};

}  // namespace

template <Position Pos>
SlotShare<Pos> sort_first(Exchanges& exchanges, const Context& context, const PackedText& text) {
  return RankSort<Pos>(exchanges, context, text).run();
}

SORTIE_FOR_BOTH_POSITIONS(sort_first);

}  // namespace sortie::suffix_array::on_ranks
