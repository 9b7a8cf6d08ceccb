// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/ranks/bucket_sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cluster/exact_splits.hpp"
#include "cluster/rank_memory.hpp"
#include "cluster/sorted_exchange.hpp"
#include "cluster/traffic_plan.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "multisort/host/part_sort.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/run_report.hpp"

namespace sortie::sorting {
namespace {

using multisort::block_buckets;

constexpr int most_ranks = 64;         ///< then most buckets belong to one rank
constexpr int most_counted_bits = 16;  ///< so few are counted by the sort of one rank
constexpr std::size_t sampled_keys = 1024;
constexpr std::uint64_t ordered_prefix = 64;
/// Stripes of BlockPartition, which the threads share.
constexpr std::uint64_t most_stripes = 8;

/// Items of each bucket.
using BucketCounts = std::array<std::uint64_t, block_buckets>;

/// Begin of each bucket, and the end of the last one.
using BucketBegins = std::array<std::uint64_t, block_buckets + 1>;

BucketBegins begins_of_buckets(const BucketCounts& counts) {
  BucketBegins begins{};
  for (std::size_t bucket = 0; bucket < block_buckets; ++bucket)
    begins[bucket + 1] = begins[bucket] + counts[bucket];
  return begins;
}

/// A number whose least is 1 if all ranks say yes.
std::uint64_t vote(bool yes) {
  return yes ? 1 : 0;
}

template <class Key>
class BucketSort {
 public:
  BucketSort(cluster::Ranks& ranks, const Context& context, const cluster::detail::KeyShare& share)
      : ranks_(ranks),
        context_(context),
        share_(share),
        codec_(kind_of(share.type), share.options.order),
        rank_(static_cast<std::uint64_t>(ranks.rank())),
        count_(static_cast<std::uint64_t>(ranks.size())) {}

  bool run(std::uint64_t fewest) {
    if (!applies(fewest) || !choose_digit()) return false;
    const cluster::RankMemory memory(ranks_, context_);
    const EqualShares shares{ranks_.sum(items()), count_};
    if (ranks_.least(vote(fits(memory, shares.size(rank_)))) == 0) return false;
    cluster::TrafficPlan traffic(ranks_);
    try {
      divide();
      find_borders(shares);
      const cluster::PartExchange plan = split(shares, traffic);
      exchange(plan, traffic);
    } catch (...) {
      // The caller gets back keys, not their comparable form. Not by the host runtime, which must be
      // called in together().
      if (is_encoded_) codec_.decode(keys(), items());
      throw;
    }
    sort_buckets();
    traffic.finish(context_);
    const double imbalance = cluster::imbalance_of(ranks_, shares.size(rank_));
    if (context_.report != nullptr) context_.report->set("imbalance", imbalance);
    return true;
  }

 private:
  using Range = Items<Key, NoValue>;
  using Partition = multisort::BlockPartition<Key, NoValue>;
  using PartSort = multisort::PartSort<Key, NoValue>;

  [[nodiscard]] std::uint64_t items() const { return share_.items; }
  [[nodiscard]] Key* keys() const { return static_cast<Key*>(share_.key_array.data); }
  [[nodiscard]] Key encoded(std::uint64_t i) const { return codec_.encoded(keys()[i]); }

  /// Whether the first keys come in an order, as the sort of one rank would notice.
  [[nodiscard]] bool begin_in_order() const {
    const std::uint64_t few = std::min(items(), ordered_prefix);
    bool ascend = true;
    bool descend = true;
    for (std::uint64_t i = 1; i < few; ++i) {
      ascend = ascend && encoded(i - 1) <= encoded(i);
      descend = descend && encoded(i - 1) >= encoded(i);
    }
    return ascend || descend;
  }

  [[nodiscard]] bool applies(std::uint64_t fewest) {
    bool here = false;
    ranks_.together("check keys", [&] {
      const bool is_radix = share_.options.algorithm == SortAlgorithm::automatic ||
                            share_.options.algorithm == SortAlgorithm::radix;
      here = is_radix && may_sort_by_buckets(share_.type, 0, items(), ranks_.size(), fewest) &&
             resolve_backend(context_) == Backend::host && !begin_in_order();
    });
    return ranks_.least(vote(here)) == 1;
  }

  /// \return whether the digit divides the keys well, as a sample tells
  [[nodiscard]] bool choose_digit() {
    std::array<Key, sampled_keys> mine;
    for (std::uint64_t i = 0; i < sampled_keys; ++i)
      mine[i] = encoded(items() / sampled_keys * i + items() % sampled_keys * i / sampled_keys);
    const std::vector<std::array<Key, sampled_keys>> samples = ranks_.gather(mine);
    const Key first = samples.front().front();
    Key differing = 0;
    for (const auto& sample : samples)
      differing |= differing_bits(sample.data(), sampled_keys, first);
    if (std::bit_width(differing) < key_bits) {
      const PhaseTimer timer(context_, "range", items() * sizeof(Key));
      Key of_rank = 0;
      ranks_.together("range", [&] { of_rank = differing_from(first); });
      for (const Key other : ranks_.gather(of_rank)) differing |= other;
    }
    if (std::bit_width(differing) <= most_counted_bits) return false;
    digit_ = Digit::highest(differing, multisort::block_digit_bits);
    BucketCounts counts{};
    for (const auto& sample : samples)
      for (const Key key : sample) ++counts[digit_(key)];
    // A bucket is sorted by one thread.
    const std::uint64_t threads = ranks_.greatest(worker_threads());
    const std::uint64_t all = samples.size() * sampled_keys;
    return *std::ranges::max_element(counts) <=
           std::max(all / (2 * count_ * threads), all * 4 / block_buckets);
  }

  /// The bits in which any key of this rank differs from `first`.
  [[nodiscard]] Key differing_from(Key first) const {
    std::atomic<Key> all{0};
    for_each_share(thread_shares(items()),
                   [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
                     Key differing = 0;
                     for (std::uint64_t i = begin; i < end; ++i)
                       differing |= static_cast<Key>(encoded(i) ^ first);
                     all |= differing;
                   });
    return all;
  }

  [[nodiscard]] std::uint64_t stripes() const {
    return std::clamp<std::uint64_t>(worker_threads(), 1, most_stripes);
  }

  /// \param after  keys of this rank after the sort
  [[nodiscard]] bool fits(const cluster::RankMemory& memory, std::uint64_t after) const {
    const std::uint64_t growth = after > items() ? after - items() : 0;
    return (after + growth) * sizeof(Key) + Partition::bytes(items(), stripes()) +
               worker_threads() * PartSort::bytes(after) <=
           memory.left();
  }

  void divide() {
    const PhaseTimer timer(context_, "divide", 4 * items() * sizeof(Key));
    BucketCounts counts{};
    ranks_.together("divide", [&] {
      Partition partition(items(), stripes());
      is_encoded_ = true;
      partition.begin({keys(), nullptr}, items(), digit_);
      for_each_task(stripes(), [&](std::uint64_t stripe) {
        partition.collect(stripe, [&](Key* some, std::uint64_t n) { codec_.encode(some, n); });
      });
      BucketCounts ends;
      partition.place(ends);
      for_each_task(partition.shares(), [&](std::uint64_t share) { partition.exchange(share); });
      partition.finish(ends);
      std::uint64_t begin = 0;
      for (std::size_t bucket = 0; bucket < block_buckets; ++bucket) {
        counts[bucket] = ends[bucket] - begin;
        begin = ends[bucket];
      }
    });
    own_ = begins_of_buckets(counts);
    of_ranks_ = ranks_.gather(counts);
    BucketCounts sums{};
    for (const BucketCounts& other : of_ranks_)
      for (std::size_t bucket = 0; bucket < block_buckets; ++bucket) sums[bucket] += other[bucket];
    all_ = begins_of_buckets(sums);
    largest_ = *std::ranges::max_element(sums);
  }

  /// The bucket in which the share of each rank but the first begins.
  void find_borders(const EqualShares& shares) {
    borders_ = {0};
    for (std::uint64_t rank = 1; rank < count_; ++rank) {
      const auto behind = std::ranges::upper_bound(all_, shares.begin(rank));
      const auto bucket = static_cast<std::size_t>(behind - all_.begin()) - 1;
      // An empty share at the end begins behind the last key.
      borders_.push_back(std::min(bucket, block_buckets - 1));
    }
  }

  /// Divides the buckets of the borders. \return where this rank's keys go
  [[nodiscard]] cluster::PartExchange split(const EqualShares& shares,
                                            cluster::TrafficPlan& traffic) {
    const PhaseTimer timer(context_, "splits");
    std::vector<std::size_t> divided(borders_.begin() + 1, borders_.end());
    divided.erase(std::unique(divided.begin(), divided.end()), divided.end());
    ranks_.together("sort borders", [&] {
      sorters_.resize(worker_threads());
      for (auto& sorter : sorters_) sorter = std::make_unique<PartSort>(context_, largest_);
      for (const std::size_t bucket : divided)
        sorters_[0]->sort({keys() + own_[bucket], nullptr}, own_[bucket + 1] - own_[bucket],
                          digit_.shift);
    });
    std::vector<cluster::SortedItems> sequences;
    std::vector<std::uint64_t> begins_of_divided{0};  // in the order of all divided buckets
    for (const std::size_t bucket : divided) {
      sequences.push_back(cluster::sorted_items(
          own_[bucket + 1] - own_[bucket],
          [begin = keys() + own_[bucket]](std::uint64_t i) { return begin[i]; }, std::less<Key>{}));
      begins_of_divided.push_back(begins_of_divided.back() + all_[bucket + 1] - all_[bucket]);
    }
    const auto number_of = [&](std::uint64_t rank) {
      return static_cast<std::size_t>(std::ranges::lower_bound(divided, borders_[rank]) -
                                      divided.begin());
    };
    std::vector<std::uint64_t> sizes;
    std::uint64_t begin = 0;
    for (std::uint64_t rank = 1; rank <= count_; ++rank) {
      const std::uint64_t end = rank == count_ ? begins_of_divided.back()
                                               : begins_of_divided[number_of(rank)] +
                                                     shares.begin(rank) - all_[borders_[rank]];
      sizes.push_back(end - begin);
      begin = end;
    }
    const cluster::Splits splits = cluster::exact_splits(ranks_, sequences, sizes);
    std::vector<std::uint64_t> sent{0};
    for (std::uint64_t rank = 1; rank < count_; ++rank)
      sent.push_back(own_[borders_[rank]] + splits[number_of(rank)][rank]);
    sent.push_back(items());
    // Of the parts, the keys in the first bucket of the receiver.
    std::vector<std::uint64_t> heads;
    for (std::uint64_t rank = 0; rank < count_; ++rank)
      heads.push_back(std::min(own_[borders_[rank] + 1], sent[rank + 1]) - sent[rank]);
    cluster::PartExchange plan = cluster::plan_exchange(ranks_, traffic, sent);
    traffic.add_counts();
    make_runs(plan, ranks_.exchange_counts(heads));
    return plan;
  }

  /// From the counts of all ranks, the keys of each bucket in each run that this rank receives.
  void make_runs(const cluster::PartExchange& plan, const std::vector<std::uint64_t>& heads) {
    first_ = borders_[rank_];
    const std::size_t end = rank_ + 1 < count_ ? borders_[rank_ + 1] + 1 : block_buckets;
    parts_.assign(end - first_, std::vector<std::uint64_t>(count_));
    for (std::uint64_t source = 0; source < count_; ++source) {
      std::uint64_t left = plan.run(source);
      for (std::size_t bucket = first_; bucket < end; ++bucket) {
        const std::uint64_t most = bucket == first_ ? heads[source] : of_ranks_[source][bucket];
        const std::uint64_t part = std::min(left, most);
        parts_[bucket - first_][source] = part;
        left -= part;
      }
    }
  }

  void exchange(const cluster::PartExchange& plan, cluster::TrafficPlan& traffic) {
    const PhaseTimer timer(context_, "exchange", 2 * plan.items_received() * sizeof(Key));
    ranks_.together("allocate", [&] {
      received_ = allocate_array<Key>(context_, "received keys", plan.items_received());
    });
    run_begins_ = plan.received;
    const cluster::PartArray array{reinterpret_cast<const std::byte*>(keys()),
                                   reinterpret_cast<std::byte*>(received_.get()), sizeof(Key)};
    cluster::exchange_parts(ranks_, traffic, plan, {&array, 1});
  }

  /// Keys of a bucket of this rank, from all ranks.
  struct Bucket {
    std::size_t number = 0;
    std::uint64_t begin = 0;  ///< in the share
    std::uint64_t size = 0;
  };

  void sort_buckets() {
    const PhaseTimer timer(context_, "buckets", 4 * run_begins_.back() * sizeof(Key));
    ranks_.together("sort buckets", [&] {
      // From here on the keys that were sent are not needed.
      auto* const to = static_cast<Key*>(share_.key_array.resize(run_begins_.back()));
      std::vector<Bucket> buckets;
      std::vector<std::vector<std::uint64_t>> from;  // begins of each bucket's parts
      std::vector<std::uint64_t> next(run_begins_.begin(), run_begins_.end() - 1);
      std::uint64_t begin = 0;
      for (std::size_t number = 0; number < parts_.size(); ++number) {
        Bucket bucket{number, begin, 0};
        from.push_back(next);
        for (std::uint64_t source = 0; source < count_; ++source) {
          bucket.size += parts_[number][source];
          next[source] += parts_[number][source];
        }
        begin += bucket.size;
        buckets.push_back(bucket);
      }
      std::ranges::sort(buckets, std::greater{}, &Bucket::size);
      std::atomic<std::size_t> taken{0};
      for_each_task(sorters_.size(), [&](std::uint64_t thread) {
        for (std::size_t i = taken++; i < buckets.size(); i = taken++) {
          const Bucket& bucket = buckets[i];
          Key* place = to + bucket.begin;
          for (std::uint64_t source = 0; source < count_; ++source)
            place = std::copy_n(received_.get() + from[bucket.number][source],
                                parts_[bucket.number][source], place);
          sorters_[thread]->sort({to + bucket.begin, nullptr}, bucket.size, digit_.shift);
          codec_.decode(to + bucket.begin, bucket.size);
        }
      });
    });
  }

  static constexpr int key_bits = 8 * static_cast<int>(sizeof(Key));

  cluster::Ranks& ranks_;
  const Context& context_;
  const cluster::detail::KeyShare& share_;
  KeyCodec<Key> codec_;
  std::uint64_t rank_;
  std::uint64_t count_;  ///< ranks
  Digit digit_;
  bool is_encoded_ = false;
  BucketBegins own_{};                  ///< of this rank's keys
  BucketBegins all_{};                  ///< of those of all ranks
  std::uint64_t largest_ = 0;           ///< keys of the largest bucket of all ranks
  std::vector<BucketCounts> of_ranks_;  ///< keys of each rank before the exchange
  std::vector<std::size_t> borders_;    ///< for each rank, the bucket in which its share begins
  std::vector<std::unique_ptr<PartSort>> sorters_;  ///< one a thread
  std::size_t first_ = 0;                           ///< first bucket of this rank
  std::vector<std::vector<std::uint64_t>> parts_;   ///< keys of its buckets, from each rank
  std::vector<std::uint64_t> run_begins_;           ///< of the runs received
  HostArray<Key> received_;
};

}  // namespace

bool may_sort_by_buckets(KeyType type, int value_bytes, std::uint64_t items, int ranks,
                         std::uint64_t fewest) {
  return value_bytes == 0 && key_bytes(type) >= 4 && ranks > 1 && ranks <= most_ranks &&
         items >= std::max<std::uint64_t>(fewest, 1);
}

bool sort_by_buckets(cluster::Ranks& ranks, const Context& context,
                     const cluster::detail::KeyShare& share, std::uint64_t fewest) {
  if (share.value_bytes != 0) return false;
  switch (key_bytes(share.type)) {
    case 4:
      return BucketSort<std::uint32_t>(ranks, context, share).run(fewest);
    case 8:
      return BucketSort<std::uint64_t>(ranks, context, share).run(fewest);
    default:
      return false;
  }
}

}  // namespace sortie::sorting
