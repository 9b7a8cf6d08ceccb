#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sortie/core/context.hpp"
#include "sortie/core/run_report.hpp"
#include "sortie/multisort/host/devices.hpp"
#include "sortie/multisort/host/items.hpp"
#include "sortie/multisort/host/local_sort.hpp"
#include "sortie/multisort/host/scatter.hpp"
#include "sortie/multisort/plan/bucket_tree.hpp"
#include "sortie/multisort/plan/exchange.hpp"
#include "sortie/multisort/plan/radix_partition.hpp"
#include "sortie/multisort/plan/shares.hpp"
#include "sortie/segsort/host/key_form.hpp"

namespace sortie::multisort {

/// Radix sort over logical devices, in the manner of RMG sort (Ilic, section 3).
///
/// Each device holds an equal share of the items. The devices count leading digits until the plan
/// (RadixPartition) has found where the shares of sorted keys begin, move their items once to the
/// buckets of the plan, in scratch (section 3.1), exchange them (section 3.2), and sort what they
/// got bucket by bucket (section 3.3). Shares differ by 1 % of a share at most. Stable.
template <std::unsigned_integral Key, class Value>
class RadixSort {
 public:
  using Range = Items<Key, Value>;

  /// Widest digit that the devices count: so wide that buckets fit the cache of a local sort, as
  /// far as that costs no more than 8 bits.
  static constexpr int widest_digit = LocalSort<Key, Value>::widest_digit;
  [[nodiscard]] static int usual_digit_bits(std::uint64_t n) {
    const std::uint64_t parts = n / LocalSort<Key, Value>::cached_items;
    return std::clamp(static_cast<int>(std::bit_width(parts)), 8, widest_digit);
  }

  /// \param form        turns keys into unsigned integers of the order wanted
  /// \param digit_bits  bits that are counted at a time, widest_digit at most
  RadixSort(const Context& context, Range items, std::uint64_t n, segsort::KeyForm<Key> form,
            std::size_t devices, int digit_bits)
      : context_(context),
        items_(items),
        form_(form),
        digit_bits_(digit_bits),
        sizes_(plan::equal_shares(n, devices)),
        begins_(plan::begins_of(sizes_)),
        storage_(context, n, "scratch of the sort"),
        scratch_(storage_.items()) {}

  /// \throws std::bad_alloc  no memory for the plan; the items are in any order then
  void run() {
    std::vector<Agreement> agreements(devices());
    encode(agreements);
    try {
      sort_encoded(agreements);
    } catch (...) {
      form_.decode(items_.keys, begins_.back());
      throw;
    }
  }

 private:
  /// What the keys of a device have in common.
  struct Agreement {
    Key sample = 0;     ///< one of them
    Key differing = 0;  ///< bits in which others differ from it
  };

  void sort_encoded(const std::vector<Agreement>& agreements) {
    plan::RadixPartition partition(problem(agreements));
    count(partition);
    const plan::Exchange exchange = plan::exchange_of_buckets(partition);
    // In a single bucket, all that is before a border may stay there.
    if (partition.buckets().size() > 1) {
      move_to_buckets(partition);
      swap(exchange);
    }
    sort_locally(partition, exchange);
  }

  static constexpr int key_bits = static_cast<int>(8 * sizeof(Key));
  static constexpr std::size_t digit_values = std::size_t{1} << widest_digit;
  /// Keys encoded at a time: they stay in the first-level cache until they are looked at again.
  static constexpr std::uint64_t encoded_keys = 4096 / sizeof(Key);
  /// The paper's epsilon, as a part of a share: 0.5 % (section 4, table 2).
  static constexpr std::uint64_t padding_parts = 200;

  [[nodiscard]] std::size_t devices() const { return sizes_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return begins_.back() * item_bytes<Key, Value>; }

  /// Encodes the keys and finds out in which bits those of each device agree.
  void encode(std::vector<Agreement>& agreements) {
    const PhaseTimer timer(context_, "range", begins_.back() * sizeof(Key));
    for_each_device(devices(), [&](std::size_t device) {
      Agreement found;
      for (std::uint64_t begin = begins_[device]; begin < begins_[device + 1];
           begin += encoded_keys) {
        Key* const keys = items_.keys + begin;
        const std::uint64_t n = std::min(encoded_keys, begins_[device + 1] - begin);
        form_.encode(keys, n);
        if (begin == begins_[device]) found.sample = keys[0];
        for (std::uint64_t i = 0; i < n; ++i)
          found.differing |= static_cast<Key>(keys[i] ^ found.sample);
      }
      agreements[device] = found;
    });
  }

  /// The problem, with the leading bits in which all keys agree.
  [[nodiscard]] plan::PartitionProblem problem(const std::vector<Agreement>& agreements) const {
    plan::PartitionProblem problem;
    problem.key_bits = key_bits;
    problem.digit_bits = digit_bits_;
    problem.source_sizes = sizes_;
    problem.destination_sizes = sizes_;
    problem.padding = begins_.back() / devices() / padding_parts;
    if (begins_.back() == 0) return problem;
    Key differing = 0;
    const Key sample = items_.keys[0];
    for (std::size_t device = 0; device < devices(); ++device) {
      if (sizes_[device] == 0) continue;
      differing |=
          static_cast<Key>(agreements[device].differing | (agreements[device].sample ^ sample));
    }
    const int width = static_cast<int>(std::bit_width(differing));
    problem.common_prefix_bits = key_bits - width;
    problem.common_prefix = width == key_bits ? 0 : std::uint64_t{sample} >> width;
    return problem;
  }

  /// Answers the plan until it asks no more.
  void count(plan::RadixPartition& partition) {
    const PhaseTimer timer(context_, "histogram");
    std::vector<std::uint64_t> counts;
    while (!partition.refinements().empty()) {
      const std::vector<plan::Refinement>& wanted = partition.refinements();
      const std::size_t digits = wanted.front().digits();
      counts.assign(wanted.size() * devices() * digits, 0);
      for_each_device(devices(), [&](std::size_t device) {
        const Key* const keys = items_.keys + begins_[device];
        if (partition.buckets().size() == 1) {
          count_all(keys, sizes_[device], wanted.front(), counts.data() + device * digits);
        } else {
          count_some(keys, sizes_[device], wanted, counts.data() + device * digits,
                     devices() * digits);
        }
      });
      partition.refine(counts);
    }
  }

  /// Counts the digits of all keys.
  static void count_all(const Key* keys, std::uint64_t n, const plan::Refinement& wanted,
                        std::uint64_t* counts) {
    // Of neighbours with equal digits each would wait for the counter of the one before.
    constexpr std::size_t tables = 2;
    std::array<std::array<std::uint64_t, digit_values>, tables> table{};
    const int shift = key_bits - wanted.prefix_bits - wanted.digit_bits;
    const std::size_t mask = wanted.digits() - 1;
    const auto digit = [&](Key key) { return static_cast<std::size_t>(key >> shift) & mask; };
    std::uint64_t i = 0;
    for (; i + tables <= n; i += tables)
      for (std::size_t t = 0; t < tables; ++t) ++table[t][digit(keys[i + t])];
    for (; i < n; ++i) ++table[0][digit(keys[i])];
    for (std::size_t value = 0; value <= mask; ++value)
      for (const auto& part : table) counts[value] += part[value];
  }

  /// Counts the digits of the keys that lie in a bucket of `wanted`.
  /// \param stride  counters between one bucket of `wanted` and the next
  static void count_some(const Key* keys, std::uint64_t n,
                         const std::vector<plan::Refinement>& wanted, std::uint64_t* counts,
                         std::size_t stride) {
    const int shift = key_bits - wanted.front().prefix_bits - wanted.front().digit_bits;
    const std::size_t digits = wanted.front().digits();
    const int width = wanted.front().digit_bits;
    if (wanted.size() == 1) {
      // Whether a key lies in the bucket cannot be predicted, so keys that do not are counted too.
      std::array<std::uint64_t, digit_values + 1> table{};
      const std::uint64_t prefix = wanted.front().prefix;
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t leading = keys[i] >> shift;
        const auto inside = std::size_t{0} - std::size_t{leading >> width == prefix};
        ++table[(leading & (digits - 1) & inside) | (digit_values & ~inside)];
      }
      std::copy_n(table.begin(), digits, counts);
      return;
    }
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t leading = keys[i] >> shift;
      const std::uint64_t prefix = leading >> width;
      for (std::size_t w = 0; w < wanted.size(); ++w) {
        if (wanted[w].prefix != prefix) continue;
        ++counts[w * stride + (leading & (digits - 1))];
        break;
      }
    }
  }

  /// Moves the items of each device to its scratch, in the order of the buckets.
  void move_to_buckets(const plan::RadixPartition& partition) {
    const PhaseTimer timer(context_, "scatter", 2 * bytes());
    const plan::BucketTree tree(partition);
    if (tree.nodes().size() > 1) {
      scatter_by(
          partition, tree.buckets(), [](std::size_t bucket) { return bucket; }, tree.lookup());
      return;
    }
    // One digit tells the bucket, so that it can do without the table. Values that it has in no key
    // share the table's first bucket and receive nothing.
    const plan::BucketTree::Node node = tree.nodes().front();
    scatter_by(
        partition, std::size_t{node.mask} + 1,
        [&](std::size_t digit) { return static_cast<std::size_t>(tree.entries()[digit]); },
        [node](Key key) { return static_cast<std::size_t>(key >> node.shift) & node.mask; });
  }

  /// \param places     places that items go to
  /// \param bucket_at  bucket_at(place) is the bucket there
  /// \param place_of   place_of(key)
  template <class BucketAt, class PlaceOf>
  void scatter_by(const plan::RadixPartition& partition, std::size_t places, BucketAt bucket_at,
                  PlaceOf place_of) {
    std::vector<LineScatter<Key, Value>> scatters;
    std::vector<std::vector<std::uint64_t>> starts(devices());
    std::vector<std::uint64_t> begins;
    for (std::size_t device = 0; device < devices(); ++device) {
      begins.assign(1, 0);
      for (const plan::Bucket& bucket : partition.buckets())
        begins.push_back(begins.back() + bucket.counts[device]);
      scatters.emplace_back(places);
      for (std::size_t place = 0; place < places; ++place)
        starts[device].push_back(begins[bucket_at(place)]);
    }
    for_each_device(devices(), [&](std::size_t device) {
      scatters[device](items_.from(begins_[device]), sizes_[device], starts[device].data(),
                       place_of, scratch_.from(begins_[device]));
    });
  }

  void swap(const plan::Exchange& exchange) {
    const PhaseTimer timer(context_, "exchange", 2 * bytes());
    const std::vector<std::uint64_t> destinations = plan::begins_of(exchange.destination_sizes);
    for_each_device(devices(), [&](std::size_t source) {
      for (const plan::Transfer& transfer : exchange.by_source[source]) {
        copy_items(scratch_.from(begins_[source] + transfer.source_begin), transfer.size,
                   items_.from(destinations[transfer.destination] + transfer.destination_begin));
      }
    });
  }

  void sort_locally(const plan::RadixPartition& partition, const plan::Exchange& exchange) {
    const PhaseTimer timer(context_, "local sort");
    const std::vector<std::uint64_t> destinations = plan::begins_of(exchange.destination_sizes);
    // A task costs little here, so that no neighbours are worth being fused.
    const std::vector<std::vector<plan::SortTask>> tasks = plan::sort_tasks(partition, 0);
    std::vector<LocalSort<Key, Value>> sorters(devices());
    for_each_device(devices(), [&](std::size_t device) {
      for (const plan::SortTask& task : tasks[device]) {
        const std::uint64_t begin = destinations[device] + task.begin;
        const Range part = items_.from(begin);
        if (task.remaining_bits > 0) sorters[device].sort(part, scratch_.from(begin), task.size);
        form_.decode(part.keys, task.size);
      }
    });
  }

  const Context& context_;
  Range items_;
  segsort::KeyForm<Key> form_;
  int digit_bits_;
  std::vector<std::uint64_t> sizes_;   ///< of the devices' shares
  std::vector<std::uint64_t> begins_;  ///< of the devices' shares
  ItemStorage<Key, Value> storage_;
  Range scratch_;
};

}  // namespace sortie::multisort
