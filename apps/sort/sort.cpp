// SPDX-License-Identifier: Apache-2.0
#include "sortie/sort_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/sort/order_check.hpp"
#include "apps/sort/record_blocks.hpp"
#include "apps/sort/resident_sort.hpp"
#include "apps/sort/run_merger.hpp"
#include "apps/sort/spill_file.hpp"
#include "core/background_task.hpp"
#include "core/files/block_pipeline.hpp"
#include "core/files/block_writer.hpp"
#include "core/files/byte_source.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "multisort/backends.hpp"
#include "multisort/host/merge_runs.hpp"
#include "multisort/plan/memory.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/payload.hpp"
#include "sortie/error.hpp"

namespace sortie::sorting {
namespace {

static_assert(std::endian::native == std::endian::little, "records in files are little-endian");

class RecordFile : public RecordSource {
 public:
  RecordFile(const std::string& path, const RecordFormat& format, int threads)
      : source_(path, ByteSource::Content::raw, threads), format_(format) {
    // Standard input may have been read in part; its length is known only at its end.
    if (path == "-" || !std::filesystem::is_regular_file(path)) return;
    check_length(source_.size_hint());
    records_ = source_.size_hint() / format_.record_bytes();
  }

  std::uint64_t read(std::span<char> into) override {
    const std::size_t filled = source_.read(into);
    bytes_ += filled;
    if (filled < into.size()) check_length(bytes_);
    return filled / format_.record_bytes();
  }

  [[nodiscard]] std::optional<std::uint64_t> records() const override { return records_; }

  [[nodiscard]] bool in_any_order() const override {
    return records_ && source_.file().in_any_order();
  }

  void read_at(std::uint64_t first, std::span<char> into) const override {
    const std::uint64_t begin = first * format_.record_bytes();
    const std::size_t got = source_.file().read_at(begin, into);
    if (got == into.size()) return;
    throw input_error(source_.name(), 0, fmt::format("{} bytes", begin + got),
                      fmt::format("at least {}, as when the file was opened", begin + into.size()));
  }

 private:
  void check_length(std::uint64_t bytes) const {
    if (bytes % format_.record_bytes() == 0) return;
    throw input_error(
        source_.name(), 0, fmt::format("{} bytes", bytes),
        fmt::format("a multiple of the {} bytes of {}", format_.record_bytes(), describe(format_)));
  }

  ByteSource source_;
  RecordFormat format_;
  std::optional<std::uint64_t> records_;
  std::uint64_t bytes_ = 0;  ///< read so far
};

/// One call of sort_records_of() for a key width and a value size.
///
/// Records that fit are read, sorted and written, one after another. Otherwise there are two chunks
/// of memory. While one is sorted by all threads of the host runtime, the other one is written to
/// the spill file and filled with the next records, block by block:
///
///     chunk 0   read | sort | spill, read | sort        | spill, read |
///     chunk 1          read | sort        | spill, read | sort        | ... merge, write
///
/// The run that was sorted last stays in memory if it leaves enough for the blocks of the merge.
template <std::unsigned_integral Key, class Value>
class RecordSorter {
 public:
  using Range = Items<Key, Value>;

  RecordSorter(const Context& context, RecordSource& source, const FileSortRequest& request)
      : context_(context),
        source_(source),
        request_(request),
        budget_(context.memory_budget != 0 ? context.memory_budget
                                           : host_memory_available() / 4 * 3),
        plan_(multisort::plan::plan_memory({record_bytes, budget_, devices(), scratch()})),
        codec_(kind_of(request.format.key), request.options.order) {}

  SortResult run() {
    const std::optional<std::uint64_t> records = source_.records();
    if (records && *records <= plan_.memory_items) {
      sort_all(*records);
    } else {
      sort_in_chunks(records);
    }
    free(storage_);
    free(blocks_);
    return result_;
  }

 private:
  using Blocks = RecordBlocks<Key, Value>;
  using Storage = ItemStorage<Key, Value>;

  /// What a chunk goes through while the other one is sorted.
  struct Exchange {
    Range items = {};
    SpilledRun spilled = {};   ///< the run in the chunk, to be written; without records: none
    std::uint64_t wanted = 0;  ///< records to read
    std::uint64_t got = 0;     ///< records read, fewer only at the end of the source
  };

  static constexpr std::uint64_t record_bytes = Blocks::record_bytes;

  /// Threads and logical devices that may sort at a time.
  [[nodiscard]] std::uint64_t devices() const {
    return static_cast<std::uint64_t>(std::max(threads_of(context_), request_.options.devices));
  }

  [[nodiscard]] multisort::plan::SortScratch scratch() const {
    const bool copies = resolve_backend(context_) != Backend::host ||
                        request_.options.algorithm == SortAlgorithm::merge ||
                        (has_values<Value> && request_.options.stable);
    return copies ? multisort::plan::SortScratch::copy : multisort::plan::SortScratch::small;
  }

  /// Frees what a pointer or an optional owns: pages and files take milliseconds.
  template <class Owner>
  void free(Owner& owner) const {
    const PhaseTimer timer(context_, "free");
    owner.reset();
  }

  void allocate(std::uint64_t items) {
    const PhaseTimer timer(context_, "allocate");
    blocks_.emplace(plan_.workers, plan_.block_items);
    storage_ = std::make_unique<Storage>(context_, items, "the records");
    storage_items_ = items;
  }

  void sort_all(std::uint64_t records) {
    allocate(records);
    const Range items = storage_->items();
    sort_in_memory(items, read(items, records));
  }

  void sort_in_chunks(std::optional<std::uint64_t> records) {
    std::uint64_t chunk = plan_.chunk_items;
    if (records) {
      // Equal chunks, of which only the last may be smaller.
      const std::uint64_t count = plan_.runs(*records);
      chunk = *records / count + (*records % count != 0 ? 1 : 0);
    }
    allocate(2 * chunk);
    const Range items = storage_->items();
    const std::uint64_t first = read(items, chunk);
    // Records of unknown number may all be in memory when the second chunk has been read.
    const std::uint64_t second = first == chunk && !records ? read(items.from(chunk), chunk) : 0;
    if (!records && second < chunk && first + second <= plan_.memory_items) {
      sort_in_memory(items, first + second);
    } else {
      sort_beyond_memory(chunk, first, second, records);
    }
  }

  void sort_in_memory(Range items, std::uint64_t n) {
    result_.records = n;
    std::optional<Storage> original;
    if (request_.repeat > 1) {
      const PhaseTimer timer(context_, "copy for --repeat", 2 * n * record_bytes);
      original.emplace(context_, n, "the records once more, for --repeat");
      copy_items(items, n, original->items());
    }
    std::vector<double> seconds;
    report_progress(context_, "sort", 0, n);
    for (int round = 0; round < request_.repeat; ++round) {
      if (round > 0) {
        const PhaseTimer timer(context_, "copy for --repeat", 2 * n * record_bytes);
        copy_items(original->items(), n, items);
      }
      PhaseTimer timer(context_, "sort", 2 * n * record_bytes);
      sort(items, n, n);
      seconds.push_back(timer.stop());
    }
    report_progress(context_, "sort", n, n);
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    result_.seconds = seconds[seconds.size() / 2];
    free(original);
    if (request_.verify) {
      const PhaseTimer timer(context_, "verify", n * record_bytes);
      for_encoded(items, n, codec_,
                  [&](Range part, std::uint64_t size) { check_.add(part, size); });
      check_.finish(read_, n);
    }
    if (request_.output.empty()) return;
    const PhaseTimer timer(context_, "write", n * record_bytes);
    WholeFile file(request_.output);
    write(file, items, n);
    file.commit();
  }

  /// Writes records in blocks, on all threads.
  void write(WholeFile& file, Range items, std::uint64_t n) const {
    const std::uint64_t block_items = plan_.block_items;
    const auto make = [&](int worker, std::uint64_t block) {
      const std::uint64_t begin = block * block_items;
      return blocks_->pack(static_cast<std::uint64_t>(worker), items.from(begin),
                           std::min(block_items, n - begin));
    };
    write_blocks(file, static_cast<int>(plan_.workers),
                 {.count = (n + block_items - 1) / block_items, .make = make});
  }

  /// \param chunk   items of a chunk; there is storage for two
  /// \param first   items that have been read into the first chunk
  /// \param second  the same of the second chunk; 0 if it has not been read yet
  void sort_beyond_memory(std::uint64_t chunk, std::uint64_t first, std::uint64_t second,
                          std::optional<std::uint64_t> records) {
    if (request_.repeat > 1)
      throw Error(ErrorKind::usage,
                  fmt::format("sort: found --repeat {} for records beyond memory, expected 1",
                              request_.repeat));
    const auto start = std::chrono::steady_clock::now();
    auto file = std::make_unique<SpillFile>(spill_folder(request_.output));
    std::vector<SpilledRun> runs;
    multisort::Run<Key, Value> last = sort_chunks(chunk, first, second, *file, runs, records);
    result_.runs = runs.size() + (last.size > 0 ? 1 : 0);
    allocate_merge();
    Range slots = storage_->items();
    std::uint64_t slot_items = storage_items_;
    if (runs.size() > plan_.runs_merged(chunk)) {
      spill(last, *file, runs);
    } else {
      // The last run is in one of the chunks.
      if (last.items.keys == slots.keys) slots = slots.from(chunk);
      slot_items = chunk;
    }
    while (runs.size() > plan_.runs_merged(slot_items)) {
      auto next = std::make_unique<SpillFile>(spill_folder(request_.output));
      runs = merge_groups(*file, runs, *next, slots, slot_items);
      file.swap(next);
      free(next);
    }
    merge_into_output(*file, runs, last, slots, slot_items);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    result_.seconds = taken.count();
    free(file);
    free(merged_);
  }

  /// Sorts all chunks, and spills all but the last one, which is returned.
  multisort::Run<Key, Value> sort_chunks(std::uint64_t chunk, std::uint64_t first,
                                         std::uint64_t second, const SpillFile& file,
                                         std::vector<SpilledRun>& runs,
                                         std::optional<std::uint64_t> records) {
    const Range items = storage_->items();
    Range sorted = items;
    std::uint64_t n = first;
    Exchange other{.items = items.from(chunk), .wanted = first < chunk ? 0 : chunk};
    if (second > 0) other = {.items = other.items, .got = second};
    while (true) {
      BackgroundTask exchanging([&] { exchange(other, &file); });
      {
        const PhaseTimer timer(context_, "sort", 2 * n * record_bytes);
        sort(sorted, n, storage_items_);
      }
      {
        const bool spills = other.spilled.records > 0;
        PhaseTimer timer(context_, spills ? "spill" : "read");
        exchanging.wait();
        timer.set_bytes((other.spilled.records + other.wanted) * record_bytes);
      }
      const SpilledRun run{result_.records, n};
      result_.records += n;
      report_progress(context_, "sort chunks", result_.records, records.value_or(0));
      if (other.got == 0) return {sorted, n};
      runs.push_back(run);
      std::swap(sorted, other.items);
      n = std::exchange(other.got, 0);
      other.spilled = run;
      other.wanted = n < chunk ? 0 : chunk;
    }
  }

  /// Writes the run of a chunk and reads the next records into it, block by block.
  /// \param file  null if there is no run
  void exchange(Exchange& chunk, const SpillFile* file) {
    const std::uint64_t block_items = plan_.block_items;
    const std::uint64_t items = std::max(chunk.spilled.records, chunk.wanted);
    bool ended = false;
    std::vector<std::uint64_t> got(plan_.workers);
    std::vector<Fingerprint> fingerprints(plan_.workers);
    const auto size = [&](std::uint64_t block, std::uint64_t all) {
      return std::min(block_items, all - std::min(all, block * block_items));
    };
    BlockSteps steps;
    steps.take = [&](int, std::uint64_t block) { return block * block_items < items; };
    steps.work = [&](int worker, std::uint64_t block) {
      const std::uint64_t n = size(block, chunk.spilled.records);
      if (n == 0) return;
      const std::uint64_t begin = block * block_items;
      file->write((chunk.spilled.begin + begin) * record_bytes,
                  blocks_->pack(static_cast<std::uint64_t>(worker), chunk.items.from(begin), n));
    };
    steps.pass = [&](int worker, std::uint64_t block) {
      const std::uint64_t n = ended ? 0 : size(block, chunk.wanted);
      const Range into = chunk.items.from(block * block_items);
      got[worker] =
          n == 0 ? 0 : source_.read(blocks_->records(static_cast<std::uint64_t>(worker), into, n));
      chunk.got += got[worker];
      ended = got[worker] < n;
    };
    steps.finish = [&](int worker, std::uint64_t block) {
      const Range into = chunk.items.from(block * block_items);
      blocks_->unpack(static_cast<std::uint64_t>(worker), into, got[worker]);
      if (request_.verify) add_to(fingerprints[worker], into, got[worker]);
    };
    run_blocks(static_cast<int>(plan_.workers), steps);
    for (const Fingerprint& fingerprint : fingerprints) read_ += fingerprint;
  }

  /// Writes the last run, too: there are too many runs to keep it in memory.
  void spill(multisort::Run<Key, Value>& last, const SpillFile& file,
             std::vector<SpilledRun>& runs) {
    const PhaseTimer timer(context_, "spill", last.size * record_bytes);
    Exchange chunk{.items = last.items, .spilled = {result_.records - last.size, last.size}};
    exchange(chunk, &file);
    runs.push_back(chunk.spilled);
    last.size = 0;
  }

  void allocate_merge() {
    const PhaseTimer timer(context_, "allocate");
    blocks_.emplace(2 * plan_.workers, plan_.block_items);
    merged_ = std::make_unique<Storage>(context_, plan_.workers * plan_.block_items,
                                        "the blocks of a merge");
  }

  /// One merge round: merges as many runs at a time as memory has slots for, into another file.
  std::vector<SpilledRun> merge_groups(const SpillFile& from, std::span<const SpilledRun> runs,
                                       const SpillFile& to, Range slots, std::uint64_t items) {
    const PhaseTimer timer(context_, "merge", 2 * result_.records * record_bytes);
    ++result_.merge_rounds;
    const std::size_t most = plan_.runs_merged(items);
    std::vector<SpilledRun> merged;
    std::uint64_t done = 0;
    for (std::size_t first = 0; first < runs.size(); first += most) {
      const std::span<const SpilledRun> group =
          runs.subspan(first, std::min(most, runs.size() - first));
      SpilledRun run{done, 0};
      for (const SpilledRun& part : group) run.records += part.records;
      const MergeOutput output{[&](std::uint64_t offset, std::span<const char> bytes) {
        to.write(run.begin * record_bytes + offset, bytes);
      }};
      merge(from, group, {}, slots, items, output, nullptr, done);
      done += run.records;
      merged.push_back(run);
    }
    return merged;
  }

  void merge_into_output(const SpillFile& file, std::span<const SpilledRun> runs,
                         multisort::Run<Key, Value> last, Range slots, std::uint64_t items) {
    const PhaseTimer timer(context_, "merge", 2 * result_.records * record_bytes);
    if (result_.runs > 1) ++result_.merge_rounds;
    for_each_range(last.size, plan_.block_items, [&](std::uint64_t begin, std::uint64_t end) {
      codec_.encode(last.items.keys + begin, end - begin);
    });
    std::optional<WholeFile> whole;
    MergeOutput output;
    if (!request_.output.empty()) {
      whole.emplace(request_.output);
      output.in_order = whole->is_stream();
      const std::uint64_t begin =
          whole->is_stream() ? 0 : whole->reserve(result_.records * record_bytes);
      output.write = [&, begin](std::uint64_t offset, std::span<const char> bytes) {
        if (whole->is_stream()) {
          whole->write(bytes);
        } else {
          whole->write_at(begin + offset, bytes);
        }
      };
    }
    merge(file, runs, last, slots, items, output, request_.verify ? &check_ : nullptr, 0);
    if (request_.verify) check_.finish(read_, result_.records);
    if (whole) whole->commit();
  }

  /// \param slots  memory for `items` items of the runs
  /// \param check  checks the records in their final order; null: no check
  /// \param done   records merged before in this round
  void merge(const SpillFile& file, std::span<const SpilledRun> runs,
             multisort::Run<Key, Value> last, Range slots, std::uint64_t items,
             const MergeOutput& output, OrderCheck<Key, Value>* check, std::uint64_t done) {
    RunMerger<Key, Value>(context_, file, runs, last,
                          {.slots = slots,
                           .slot_items = runs.empty() ? 1 : items / (2 * runs.size()),
                           .merged = merged_->items(),
                           .workers = plan_.workers,
                           .blocks = *blocks_},
                          codec_)
        .run(output, check, [&](std::uint64_t merged) {
          report_progress(context_, "merge", done + merged, result_.records);
        });
  }

  /// Reads up to n items, on all threads.
  std::uint64_t read(Range items, std::uint64_t n) {
    const PhaseTimer timer(context_, "read", n * record_bytes);
    if constexpr (!has_values<Value>) {
      // The source reads large ranges on several threads.
      const std::uint64_t got =
          source_.read({reinterpret_cast<char*>(items.keys), n * record_bytes});
      if (request_.verify) add_to(read_, items, got);
      return got;
    } else {
      Exchange chunk{.items = items, .wanted = n};
      exchange(chunk, nullptr);
      return chunk.got;
    }
  }

  void add_to(Fingerprint& fingerprint, Range items, std::uint64_t n) const {
    for_encoded(items, n, codec_,
                [&](Range part, std::uint64_t size) { fingerprint.add(part, size); });
  }

  /// \param held  items in memory, these included
  void sort(Range items, std::uint64_t n, std::uint64_t held) {
    const int value_bytes = has_values<Value> ? static_cast<int>(sizeof(Value)) : 0;
    Context context = context_;
    context.progress = {};  // a chunk is only a part of this call's work
    if (resolve_backend(context) == Backend::cuda) {
      // The budget is of host memory; it does not bound GPU memory.
      context.memory_budget = 0;
    } else if (context.memory_budget != 0) {
      context.memory_budget = plan_.scratch_for(held, record_bytes);
    }
    multisort::sort(
        context, {items.keys, request_.format.key, n, items.values, value_bytes, request_.options});
  }

  const Context& context_;
  RecordSource& source_;
  const FileSortRequest& request_;
  std::uint64_t budget_;
  multisort::plan::MemoryPlan plan_;
  KeyCodec<Key> codec_;
  // While run() runs:
  std::optional<Blocks> blocks_;
  std::unique_ptr<Storage> storage_;
  std::uint64_t storage_items_ = 0;
  std::unique_ptr<Storage> merged_;  ///< a block for each worker
  SortResult result_;
  Fingerprint read_;
  OrderCheck<Key, Value> check_;
};

template <class Key>
SortResult sort_keys_of(const Context& context, RecordSource& source,
                        const FileSortRequest& request) {
  switch (request.format.value_bytes()) {
    case 0:
      return RecordSorter<Key, NoValue>(context, source, request).run();
    case 4:
      return RecordSorter<Key, Opaque<std::uint32_t>>(context, source, request).run();
    default:
      return RecordSorter<Key, Opaque<std::uint64_t>>(context, source, request).run();
  }
}

}  // namespace

void RecordSource::read_at(std::uint64_t, std::span<char>) const {
  throw Error(ErrorKind::usage, "found a source of records that is read in order only");
}

std::unique_ptr<RecordSource> open_record_file(const std::string& path, const RecordFormat& format,
                                               int threads) {
  return std::make_unique<RecordFile>(path, format, threads);
}

RecordFormat parse_record_format(std::string_view key, std::string_view value) {
  RecordFormat format{parse_key_type(key), std::nullopt};
  if (value.empty()) return format;
  format.value = parse_key_type(value);
  if (format.value_bytes() < 4)
    throw Error(ErrorKind::usage, fmt::format("values: found {}, expected a type of 4 or 8 bytes",
                                              name(*format.value)));
  return format;
}

std::string describe(const RecordFormat& format) {
  std::string text = fmt::format("{} keys", name(format.key));
  if (format.value) text += fmt::format(" with {} values", name(*format.value));
  return text;
}

SortResult sort_records_of(const Context& context, RecordSource& source,
                           const FileSortRequest& request) {
  multisort::require_algorithm(context, request.options.algorithm);
#ifdef SORTIE_HAVE_CUDA
  // If the device memory runs out, the records are sorted in another way, from the beginning, which
  // a stream that has taken some of them would not bear.
  if (request.output.empty() || WholeFile::takes_rewrites(request.output)) {
    if (std::optional<SortResult> result = sort_on_device(context, source, request)) return *result;
  }
#endif
  return with_key_word(key_bytes(request.format.key), [&]<class Word>(Word) {
    return sort_keys_of<Word>(context, source, request);
  });
}

}  // namespace sortie::sorting
