// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/ranks/file_sort.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

#include "apps/sort/ranks/border_check.hpp"
#include "apps/sort/ranks/device_sort.hpp"
#include "apps/sort/ranks/share_files.hpp"
#include "apps/sort/ranks/share_sort.hpp"
#include "apps/sort/ranks/spilled_sort.hpp"
#include "cluster/rank_memory.hpp"
#include "cluster/shared_output.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "multisort/backends.hpp"
#include "multisort/plan/memory.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/payload.hpp"
#include "sortie/error.hpp"

namespace sortie::sorting {
namespace {

/// One call of sort_records_on_ranks() for a key width and a value size.
template <class Key, class Value>
class RankFileSort {
 public:
  RankFileSort(cluster::Ranks& ranks, const Context& context, RecordSource& source,
               const FileSortRequest& request, std::uint64_t records)
      : ranks_(ranks),
        context_(context),
        source_(source),
        request_(request),
        codec_(kind_of(request.format.key), request.options.order),
        shares_{records, static_cast<std::uint64_t>(ranks.size())},
        first_(shares_.begin(static_cast<std::uint64_t>(ranks.rank()))),
        items_(shares_.size(static_cast<std::uint64_t>(ranks.rank()))) {}

  RankSortResult run() {
    const cluster::RankMemory memory(ranks_, static_cast<const HostContext&>(context_));
    ranks_.together("plan", [&] { make_plans(memory); });
    result_.sort.records = shares_.items;
    const bool fits = ranks_.least(items_ <= memory_.memory_items ? 1 : 0) == 1;
    if (fits) {
      sort_in_memory();
    } else {
      const SpilledShare share{shares_.items, first_, items_};
      result_ = SpilledSort<Key, Value>(ranks_, context_, source_, request_, chunks_, share).run();
    }
    return result_;
  }

 private:
  using Range = Items<Key, Value>;
  static constexpr std::uint64_t record_bytes = item_bytes<Key, Value>;

  void make_plans(const cluster::RankMemory& memory) {
    const std::uint64_t budget =
        context_.memory_budget != 0 ? memory.left() : memory.left() / 4 * 3;
    const auto threads = static_cast<std::uint64_t>(threads_of(context_));
    using multisort::plan::SortScratch;
    memory_ = multisort::plan::plan_memory({record_bytes, budget, threads, SortScratch::copy});
    const bool copies = has_values<Value> || resolve_backend(context_) != Backend::host ||
                        request_.options.algorithm == SortAlgorithm::merge;
    chunks_ = multisort::plan::plan_memory(
        {record_bytes, budget, threads, copies ? SortScratch::copy : SortScratch::small});
  }

  void sort_in_memory() {
    std::optional<RecordBlocks<Key, Value>> blocks;
    std::optional<ItemStorage<Key, Value>> storage;
    {
      const PhaseTimer timer(context_, "allocate");
      ranks_.together("allocate share", [&] {
        blocks.emplace(memory_.workers, memory_.block_items);
        storage.emplace(context_, items_, "the records of a rank");
      });
    }
    const Range items = storage->items();
#ifdef SORTIE_HAVE_CUDA
    connect_before_sort(ranks_, context_, request_.options);
#endif
    ShareFiles<Key, Value> files(source_, *blocks, memory_.workers, codec_, request_.verify);
    {
      const PhaseTimer timer(context_, "read", items_ * record_bytes);
      ranks_.together("read", [&] { files.read(first_, items, items_); });
    }
    sort(items);
    if (request_.verify) {
      const PhaseTimer timer(context_, "verify", items_ * record_bytes);
      OrderCheck<Key, Value> check(first_);
      ranks_.together("verify", [&] {
        for_encoded(items, items_, codec_,
                    [&](Range part, std::uint64_t size) { check.add(part, size); });
      });
      check_over_ranks(ranks_, check, files.fingerprint(), items_);
    }
    if (request_.output.empty()) return;
    const PhaseTimer timer(context_, "write", items_ * record_bytes);
    cluster::SharedOutput output(ranks_, request_.output);
    ranks_.together("write", [&] {
      files.write(items, items_, [&](std::uint64_t begin, std::span<const char> bytes) {
        output.write_at((first_ + begin) * record_bytes, bytes);
      });
    });
    output.prepare(shares_.items * record_bytes);
    output.commit();
  }

  void sort(Range items) {
    Context context = context_;
    context.progress = {};
    context.memory_budget =
        resolve_backend(context) == Backend::host ? memory_.scratch_for(items_, record_bytes) : 0;
    cluster::detail::KeyShare share;
    share.type = request_.format.key;
    share.value_bytes = request_.format.value_bytes();
    share.items = share.values = items_;
    // The shares before and after the sort are the same.
    share.key_array = {items.keys, sizeof(Key), [&](std::uint64_t) { return items.keys; }};
    if constexpr (has_values<Value>)
      share.value_array = {items.values, sizeof(Value),
                           [&](std::uint64_t) { return items.values; }};
    share.options = request_.options;
    PhaseTimer timer(context_, "sort", 2 * items_ * record_bytes);
    sort_keys(ranks_, context, share);
    result_.sort.seconds = timer.stop();
  }

  cluster::Ranks& ranks_;
  const Context& context_;
  RecordSource& source_;
  const FileSortRequest& request_;
  KeyCodec<Key> codec_;
  EqualShares shares_;
  std::uint64_t first_;  ///< number of the first record of this rank, before the sort and after
  std::uint64_t items_;  ///< records of this rank
  multisort::plan::MemoryPlan memory_;  ///< within memory
  multisort::plan::MemoryPlan chunks_;  ///< beyond it
  RankSortResult result_;
};

template <class Key>
RankSortResult sort_keys_on_ranks(cluster::Ranks& ranks, const Context& context,
                                  RecordSource& source, const FileSortRequest& request,
                                  std::uint64_t records) {
  switch (request.format.value_bytes()) {
    case 0:
      return RankFileSort<Key, NoValue>(ranks, context, source, request, records).run();
    case 4:
      return RankFileSort<Key, Opaque<std::uint32_t>>(ranks, context, source, request, records)
          .run();
    default:
      return RankFileSort<Key, Opaque<std::uint64_t>>(ranks, context, source, request, records)
          .run();
  }
}

}  // namespace

RankSortResult sort_records_on_ranks(cluster::Ranks& ranks, const Context& context,
                                     RecordSource& source, const FileSortRequest& request) {
  std::uint64_t records = 0;
  ranks.together("check request", [&] {
    multisort::require_algorithm(context, request.options.algorithm);
    if (request.repeat != 1)
      throw Error(ErrorKind::usage,
                  fmt::format("sort: found --repeat {} on ranks, expected 1", request.repeat));
    if (!source.records())
      throw Error(ErrorKind::usage, "sort: found a source of unknown length, expected a file");
    records = *source.records();
  });
  const std::uint64_t least = ranks.least(records);
  const std::uint64_t greatest = ranks.greatest(records);
  ranks.together("check sizes", [&] {
    if (least == greatest) return;
    throw Error(ErrorKind::input,
                fmt::format("sort: found {} records on a rank and {} on another, expected that all "
                            "ranks see the same file",
                            least, greatest));
  });
  return with_key_word(key_bytes(request.format.key), [&]<class Key>(Key) {
    return sort_keys_on_ranks<Key>(ranks, context, source, request, records);
  });
}

}  // namespace sortie::sorting
