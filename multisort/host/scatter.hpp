// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "multisort/host/items.hpp"
#include "segsort/host/line_writer.hpp"

namespace sortie::multisort {

/// Moves each item straight to the next place of its bucket. Stable.
template <class Key, class Value, class Start, class BucketOf>
void scatter_directly(Items<Key, Value> from, std::uint64_t n, Start* starts, BucketOf bucket_of,
                      Items<Key, Value> to) {
  for (std::uint64_t i = 0; i < n; ++i) {
    const Key key = from.keys[i];
    const Start place = starts[bucket_of(key)]++;
    to.keys[place] = key;
    if constexpr (has_values<Value>) to.values[place] = from.values[i];
  }
}

/// The same through a cache line a bucket (segsort::detail::LineWriter), for arrays beyond the
/// caches. Within the second-level cache scatter_directly() is faster.
template <std::unsigned_integral Key, class Value>
class LineScatter {
 public:
  explicit LineScatter(std::size_t buckets)
      : key_lines_(std::make_unique_for_overwrite<Line[]>(buckets)),
        value_lines_(std::make_unique_for_overwrite<Line[]>(has_values<Value> ? buckets : 0)),
        firsts_(buckets) {}

  /// Moves each item to the next place of its bucket. Stable.
  /// \param starts  for each bucket its next place in `to`; on return the places behind its items
  /// \param bucket_of  number of a key's bucket
  /// Does not allocate and does not throw.
  template <class BucketOf>
  void operator()(Items<Key, Value> from, std::uint64_t n, std::uint64_t* starts,
                  BucketOf bucket_of, Items<Key, Value> to) {
    if constexpr (has_values<Value>) {
      if (!Writer<Value>::fits(to.values)) return scatter_directly(from, n, starts, bucket_of, to);
    }
    std::copy_n(starts, firsts_.size(), firsts_.begin());
    const std::uint64_t* const firsts = firsts_.data();
    Writer<Key> keys(key_lines_.get(), to.keys);
    if constexpr (has_values<Value>) {
      Writer<Value> values(value_lines_.get(), to.values);
      for (std::uint64_t i = 0; i < n; ++i) {
        const Key key = from.keys[i];
        const std::size_t bucket = bucket_of(key);
        const std::uint64_t place = starts[bucket]++;
        put_pair(keys, values, bucket, firsts[bucket], place, key, from.values[i]);
      }
      for (std::size_t bucket = 0; bucket < firsts_.size(); ++bucket)
        values.finish(bucket, firsts[bucket], starts[bucket]);
    } else {
      for (std::uint64_t i = 0; i < n; ++i) {
        const Key key = from.keys[i];
        const std::size_t bucket = bucket_of(key);
        const std::uint64_t place = starts[bucket]++;
        if (keys.put(bucket, place, key)) keys.write_line(bucket, firsts[bucket], place + 1);
      }
    }
    for (std::size_t bucket = 0; bucket < firsts_.size(); ++bucket)
      keys.finish(bucket, firsts[bucket], starts[bucket]);
    Writer<Key>::make_visible();
  }

 private:
  using Line = segsort::detail::CacheLine;
  template <class Item>
  using Writer = segsort::detail::LineWriter<Item>;

  std::unique_ptr<Line[]> key_lines_;
  std::unique_ptr<Line[]> value_lines_;
  std::vector<std::uint64_t> firsts_;  ///< where each bucket begins
};

}  // namespace sortie::multisort
