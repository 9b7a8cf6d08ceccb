// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "apps/sort/ranks/border_check.hpp"
#include "apps/sort/ranks/file_sort.hpp"
#include "apps/sort/ranks/share_files.hpp"
#include "apps/sort/ranks/share_sort.hpp"
#include "apps/sort/ranks/shared_runs.hpp"
#include "apps/sort/run_merger.hpp"
#include "apps/sort/spill_file.hpp"
#include "cluster/exact_splits.hpp"
#include "cluster/shared_output.hpp"
#include "core/phase_timer.hpp"
#include "multisort/plan/memory.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "sortie/sort.hpp"

namespace sortie::sorting {

/// The records of a rank: [first, first + items) of `all`, before the sort and after it.
struct SpilledShare {
  std::uint64_t all = 0;
  std::uint64_t first = 0;
  std::uint64_t items = 0;
};

/// Sorts records beyond the memory of the ranks: sorts chunks of the share, writes each as a run to
/// the rank's temporary file, divides all runs of all ranks exactly, and merges this rank's range.
template <class Key, class Value>
class SpilledSort {
 public:
  SpilledSort(cluster::Ranks& ranks, const Context& context, RecordSource& source,
              const FileSortRequest& request, const multisort::plan::MemoryPlan& plan,
              const SpilledShare& share)
      : ranks_(ranks),
        context_(context),
        source_(source),
        request_(request),
        plan_(plan),
        share_(share),
        codec_(kind_of(request.format.key), request.options.order),
        traffic_(ranks),
        file_(ranks, spill_folder(request.output)) {}

  RankSortResult run() {
    const auto start = std::chrono::steady_clock::now();
    {
      const PhaseTimer timer(context_, "allocate");
      ranks_.together("allocate chunk", [&] {
        blocks_.emplace(2 * plan_.workers, plan_.block_items);
        chunk_ = std::min(plan_.memory_items, std::max<std::uint64_t>(share_.items, 2));
        storage_.emplace(context_, chunk_, "the records of a rank");
        merged_.emplace(context_, plan_.workers * plan_.block_items, "the blocks of a merge");
      });
    }
    {
      const PhaseTimer timer(context_, "sort chunks", 2 * share_.items * record_bytes);
      ranks_.together("sort chunks", [&] { sort_chunks(); });
    }
    std::vector<SpilledRun> parts;
    {
      const PhaseTimer timer(context_, "splits");
      file_.open_all(ranks_, traffic_);
      parts = parts_of_runs();
    }
    traffic_.finish(context_);
    merge(parts);
    RankSortResult result;
    result.sort.records = share_.all;
    result.sort.runs = ranks_.sum(runs_.size());
    result.sort.merge_rounds = 1;
    result.sort.seconds = seconds_since(start);
    result.spilled_bytes = share_.all * record_bytes;
    report(result);
    return result;
  }

 private:
  using Range = Items<Key, Value>;
  static constexpr std::uint64_t record_bytes = item_bytes<Key, Value>;
  /// Of a border and round of the splits. Reading a key takes a system call.
  static constexpr std::uint64_t samples = 64;

  void sort_chunks() {
    files_.emplace(source_, *blocks_, plan_.workers, codec_, request_.verify);
    Context context = context_;
    context.progress = {};
    context.memory_budget =
        resolve_backend(context) == Backend::host ? plan_.scratch_for(chunk_, record_bytes) : 0;
    const SortOptions options = own_sort_options(context, request_.options, has_values<Value>);
    const Range items = storage_->items();
    for (std::uint64_t done = 0; done < share_.items;) {
      const std::uint64_t n = std::min(chunk_, share_.items - done);
      files_->read(share_.first + done, items, n);
      multisort::sort(context, {items.keys, request_.format.key, n, items.values,
                                request_.format.value_bytes(), options});
      // One block after the other, as the file grows.
      for (std::uint64_t begin = 0; begin < n; begin += blocks_->block_items()) {
        const std::uint64_t size = std::min(blocks_->block_items(), n - begin);
        file_.append(blocks_->pack(0, items.from(begin), size));
      }
      runs_.push_back({done, n});
      done += n;
    }
  }

  /// The parts of all runs of all ranks that this rank merges, by rank and run.
  [[nodiscard]] std::vector<SpilledRun> parts_of_runs() {
    const std::uint64_t own_begin = file_.begin(ranks_.rank()) / record_bytes;
    std::vector<cluster::SortedItems> sequences;
    for (const SpilledRun& run : runs_) {
      const std::uint64_t begin = own_begin + run.begin;
      sequences.push_back(cluster::sorted_items(
          run.records, [this, begin](std::uint64_t i) { return key_at(begin + i); },
          std::less<Key>{}));
    }
    const std::vector<std::uint64_t> sizes =
        EqualShares{share_.all, static_cast<std::uint64_t>(ranks_.size())}.sizes();
    const cluster::Splits splits =
        cluster::exact_splits(ranks_, sequences, sizes, "read runs", samples);

    const std::vector<std::uint64_t> runs_of = ranks_.gather(std::uint64_t{runs_.size()});
    const auto p = static_cast<std::size_t>(ranks_.size());
    std::vector<std::vector<SpilledRun>> sent(p);
    for (std::size_t d = 0; d < p; ++d)
      for (std::size_t run = 0; run < runs_.size(); ++run)
        sent[d].push_back(
            {own_begin + runs_[run].begin + splits[run][d], splits[run][d + 1] - splits[run][d]});
    const std::vector<std::uint64_t> begins = begins_of(runs_of);
    std::vector<SpilledRun> parts(begins.back());
    std::vector<cluster::SendPiece> sends;
    std::vector<cluster::ReceivePiece> receives;
    for (std::size_t other = 0; other < p; ++other) {
      const int rank = static_cast<int>(other);
      sends.push_back({rank, std::as_bytes(std::span(sent[other]))});
      receives.push_back(
          {rank, std::as_writable_bytes(std::span(parts).subspan(begins[other], runs_of[other]))});
    }
    traffic_.add((p - 1) * runs_.size(), sizeof(SpilledRun));
    ranks_.exchange(sends, receives);
    std::erase_if(parts, [](const SpilledRun& part) { return part.records == 0; });
    return parts;
  }

  [[nodiscard]] Key key_at(std::uint64_t record) const {
    Key key = 0;
    file_.read(record * record_bytes, {reinterpret_cast<char*>(&key), sizeof(Key)});
    return codec_.encoded(key);
  }

  void merge(std::span<const SpilledRun> parts) {
    const PhaseTimer timer(context_, "merge", 2 * share_.items * record_bytes);
    std::optional<cluster::SharedOutput> output;
    if (!request_.output.empty()) output.emplace(ranks_, request_.output);
    OrderCheck<Key, Value> check(share_.first);
    ranks_.together("merge", [&] {
      const std::uint64_t slots = 2 * std::max<std::uint64_t>(parts.size(), 1);
      if (slots > chunk_)
        throw out_of_memory_error("the merge of the runs of all ranks", slots * record_bytes,
                                  chunk_ * record_bytes);
      MergeOutput to;
      if (output) {
        to.write = [&](std::uint64_t offset, std::span<const char> bytes) {
          output->write_at(share_.first * record_bytes + offset, bytes);
        };
      }
      RunMerger<Key, Value, SharedRuns>(context_, file_, parts, {},
                                        {.slots = storage_->items(),
                                         .slot_items = chunk_ / slots,
                                         .merged = merged_->items(),
                                         .workers = plan_.workers,
                                         .blocks = *blocks_},
                                        codec_)
          .run(to, request_.verify ? &check : nullptr, [&](std::uint64_t merged) {
            report_progress(context_, "merge", merged, share_.items);
          });
    });
    if (request_.verify) check_over_ranks(ranks_, check, files_->fingerprint(), share_.items);
    if (!output) return;
    output->prepare(share_.all * record_bytes);
    output->commit();
  }

  void report(const RankSortResult& result) {
    const double imbalance = cluster::imbalance_of(ranks_, share_.items);
    if (context_.report == nullptr) return;
    context_.report->set("imbalance", imbalance);
    context_.report->set("spilled_bytes", result.spilled_bytes);
  }

  cluster::Ranks& ranks_;
  const Context& context_;
  RecordSource& source_;
  const FileSortRequest& request_;
  multisort::plan::MemoryPlan plan_;
  SpilledShare share_;
  KeyCodec<Key> codec_;
  cluster::TrafficPlan traffic_;  ///< records move through files
  SharedRuns file_;
  std::uint64_t chunk_ = 0;  ///< items of a chunk, and of the slots of the merge
  std::optional<RecordBlocks<Key, Value>> blocks_;
  std::optional<ItemStorage<Key, Value>> storage_;
  std::optional<ItemStorage<Key, Value>> merged_;
  std::optional<ShareFiles<Key, Value>> files_;
  std::vector<SpilledRun> runs_;  ///< in the file of this rank
};

}  // namespace sortie::sorting
