// SPDX-License-Identifier: Apache-2.0
#include "sortie/cluster_sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/sort/ranks/share_sort.hpp"
#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster::detail {
namespace {

sorting::ShareSteps record_steps(const Context& context, const sortie::detail::RecordSort& sort,
                                 const ShareArray& array) {
  sorting::ShareSteps steps;
  steps.items = sort.count;
  steps.arrays.push_back(array);
  steps.sort_copies = true;
  steps.sort = [&context, &sort] { sortie::detail::sort_records(context, sort, 0); };
  const auto* const records = static_cast<const std::byte*>(sort.records);
  const std::size_t bytes = sort.record_bytes;
  steps.sorted = [&sort, records, bytes] {
    SortedItems items{sort.count, bytes, {}, {}};
    // The comparator is given a record at an aligned address.
    const auto aligned = std::make_shared<HostArray<std::byte>>(allocate_array<std::byte>(bytes));
    items.read = [records, bytes](std::uint64_t i, std::byte* into) {
      std::copy_n(records + i * bytes, bytes, into);
    };
    items.place = [&sort, records, bytes, aligned](const std::byte* sample, std::uint64_t low,
                                                   std::uint64_t high, bool after_equal) {
      const std::byte* const item = aligned->get();
      std::copy_n(sample, bytes, aligned->get());
      return first_not(low, high, [&](std::uint64_t i) {
        const std::byte* const record = records + i * bytes;
        return after_equal ? !sort.before(item, record) : sort.before(record, item);
      });
    };
    return items;
  };
  steps.merge = [&sort, bytes](std::span<const std::uint64_t> begins,
                               std::span<std::byte* const> from, std::span<void* const> to) {
    const auto at = [&](std::size_t run, std::uint64_t i) -> const void* {
      return from[0] + (begins[run] + i) * bytes;
    };
    std::vector<std::uint64_t> sizes;
    for (std::size_t run = 0; run + 1 < begins.size(); ++run)
      sizes.push_back(begins[run + 1] - begins[run]);
    merge_on_threads(sizes, at, sort.before,
                     [&](const std::vector<std::uint64_t>& lows,
                         const std::vector<std::uint64_t>& highs, std::uint64_t first) {
                       std::vector<sortie::detail::RecordRun> runs;
                       for (std::size_t run = 0; run < sizes.size(); ++run)
                         runs.push_back({at(run, lows[run]), highs[run] - lows[run]});
                       sort.merge(runs, static_cast<std::byte*>(to[0]) + first * bytes);
                     });
  };
  return steps;
}

}  // namespace

void sort(Ranks& ranks, const Context& context, const KeyShare& share) {
  ranks.together("check keys", [&] {
    if (share.value_bytes == 0 || share.values == share.items) return;
    throw Error(ErrorKind::usage,
                fmt::format("sort: found {} keys and {} values, expected one value per key",
                            share.items, share.values));
  });
  sorting::sort_keys(ranks, context, share);
}

void sort_records(Ranks& ranks, const Context& context, const sortie::detail::RecordSort& sort,
                  const ShareArray& array) {
  static_cast<void>(sorting::sort_share(ranks, context, record_steps(context, sort, array)));
}

}  // namespace sortie::cluster::detail
