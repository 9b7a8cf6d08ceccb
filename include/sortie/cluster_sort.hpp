// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "sortie/cluster.hpp"
#include "sortie/context.hpp"
#include "sortie/export.hpp"
#include "sortie/key_types.hpp"
#include "sortie/sort.hpp"
#include "sortie/sort_records.hpp"

namespace sortie::cluster {

namespace detail {

/// An array of a rank whose length changes.
struct ShareArray {
  void* data = nullptr;
  std::size_t item_bytes = 0;
  /// Changes its length to so many items; their content need not be kept. Returns their address.
  std::function<void*(std::uint64_t items)> resize;
};

template <class T>
[[nodiscard]] ShareArray share_array(std::vector<T>& items) {
  return {items.data(), sizeof(T), [&items](std::uint64_t size) -> void* {
            // Freed first, since the rank has memory for two copies of its share.
            if (size > items.capacity()) items = std::vector<T>();
            items.resize(size);
            return items.data();
          }};
}

/// Keys of this rank, perhaps with values.
struct KeyShare {
  KeyType type = KeyType::u32;
  int value_bytes = 0;  ///< 0 (keys only), 4 or 8
  std::uint64_t items = 0;
  std::uint64_t values = 0;  ///< their number
  ShareArray key_array;
  ShareArray value_array;
  SortOptions options;
};

SORTIE_API void sort(Ranks& ranks, const Context& context, const KeyShare& share);
SORTIE_API void sort_records(Ranks& ranks, const Context& context,
                             const sortie::detail::RecordSort& sort, const ShareArray& array);

}  // namespace detail

/// Sorts the keys of all ranks. Collective: every rank calls it, with the same options. Afterwards
/// rank r of P has the keys numbered [r n / P, (r + 1) n / P) in the order of all n keys.
///
/// Each rank sorts its keys by sortie::sort(), exact splits divide them among the ranks, one
/// exchange gives each rank a run from every rank, and each rank merges its runs. On the host, where
/// each rank has at least 2^20 keys of 32 or 64 bits and their leading digits divide them well, each
/// rank divides its keys into buckets, only the buckets at the borders of shares are split exactly,
/// and each rank sorts the buckets that it receives: nothing is merged. On CUDA, where the GPUs of the
/// ranks can be connected (NCCL; within a process, peer copies) and have the memory, the items stay on
/// them from the local sort on, go from GPU to GPU, and are sorted again there.
///
/// \param keys     of this rank; any number, also none
/// \param options  as for sortie::sort(); of `transport`, staged: through host memory on GPUs, too
/// \param context  of this rank: backend, device and threads of the local sort;
///                 memory budget: bytes of host memory beside the keys, of the local sort on CUDA
///                 those of the GPU;
///                 report: phases "local sort", "splits", "exchange", "merge", or by buckets
///                 "divide", "splits", "exchange", "buckets", or on GPUs "connect", "copy in",
///                 "local sort", "splits", "exchange", "sort received", "copy out", and the figure
///                 "exchange_path" (text); figures "ranks",
///                 "planned_exchange_bytes" and "exchanged_bytes" (sums over all ranks, computed
///                 before the exchange and counted by it), "most_exchange_bytes" (planned, of the
///                 rank that sends most), "imbalance" (items of the largest share over the mean)
/// \throws Error  as sort(), its message preceded by the rank; (out_of_memory) before any work: the
///                share does not fit a rank's memory; (check) other bytes were sent than planned;
///                (unavailable) Transport::peer, and items cannot go from GPU to GPU.
///                Each rank then has its own keys in an unspecified order; after an error in the
///                merge, the content of the vectors is unspecified
///
/// Complexity: that of sort() for n / P keys, O(n / P log P) for a merge, about log(n) / log(s)
/// rounds of the splits (cluster/exact_splits.hpp). Sends each key at most once.
/// Extra memory: one copy of the larger of the share before and after.
/// The result does not depend on the ranks' numbers of keys or threads.
///
/// Source: Harsh, Kale, Solomonik: Histogram Sort with Sampling (SPAA 2019), for the splits;
/// Tanasic et al. (GPGPU 2013), section 3; Ilic, RMG Sort (2022), section 3.1, for the buckets.
template <SortKey Key>
void sort(Ranks& ranks, const Context& context, std::vector<Key>& keys,
          const SortOptions& options = {}) {
  detail::KeyShare share;
  share.type = key_type_of<Key>();
  share.items = keys.size();
  share.key_array = detail::share_array(keys);
  share.options = options;
  detail::sort(ranks, context, share);
}

/// As above, with a value for each key. Stable, whatever the options say: equal keys keep the order
/// of their ranks, and of their positions in a rank.
/// \throws Error (usage) also if values.size() differs from keys.size() on a rank
template <SortKey Key, SortValue Value>
void sort(Ranks& ranks, const Context& context, std::vector<Key>& keys, std::vector<Value>& values,
          const SortOptions& options = {}) {
  detail::KeyShare share;
  share.type = key_type_of<Key>();
  share.value_bytes = static_cast<int>(sizeof(Value));
  share.items = keys.size();
  share.values = values.size();
  share.key_array = detail::share_array(keys);
  share.value_array = detail::share_array(values);
  share.options = options;
  detail::sort(ranks, context, share);
}

/// Sorts the records of all ranks by a comparator, on the host: as sort() of keys, and stable.
/// \param before  strict weak order of records, the same on all ranks; called by several threads at
///                once; must not throw
/// \throws Error  as sort_records(), and as sort() of keys
template <class Record, class Before>
requires std::is_trivially_copyable_v<Record>
void sort_records(Ranks& ranks, const Context& context, std::vector<Record>& records,
                  Before before) {
  detail::sort_records(ranks, context,
                       sortie::detail::record_sort(std::span<Record>(records), before),
                       detail::share_array(records));
}

}  // namespace sortie::cluster
