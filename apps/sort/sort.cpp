// SPDX-License-Identifier: Apache-2.0
#include "sortie/sort_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/sort/order_check.hpp"
#include "apps/sort/run_merger.hpp"
#include "core/block_writer.hpp"
#include "core/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/whole_file.hpp"
#include "multisort/backends.hpp"
#include "multisort/plan/memory.hpp"
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
        plan_(multisort::plan::plan_memory(record_bytes, budget_)),
        codec_(kind_of(request.format.key), request.options.order) {}

  SortResult run() {
    const std::optional<std::uint64_t> records = source_.records();
    const bool fits = records && *records <= plan_.chunk_items;
    const std::uint64_t chunk = fits ? *records : chunk_items(records);
    PhaseTimer allocating(context_, "allocate");
    packer_.emplace(multisort::plan::transfer_buffer_bytes(budget_));
    auto storage = std::make_unique<ItemStorage<Key, Value>>(context_, chunk, "the records");
    allocating.stop();
    const std::uint64_t n = read(storage->items(), chunk);
    if (fits || n < chunk) {
      sort_in_memory(storage->items(), n);
    } else {
      sort_beyond_memory(std::move(storage), chunk, records);
    }
    free(storage);
    free(packer_);
    return result_;
  }

 private:
  /// Frees what a pointer or an optional owns: pages and files take milliseconds.
  template <class Owner>
  void free(Owner& owner) const {
    const PhaseTimer timer(context_, "free");
    owner.reset();
  }

  static constexpr std::uint64_t record_bytes = RecordPacker<Key, Value>::record_bytes;

  /// Records per chunk if the records do not fit: the most that fit, or less to make chunks equal.
  [[nodiscard]] std::uint64_t chunk_items(std::optional<std::uint64_t> records) const {
    if (!records) return plan_.chunk_items;
    const std::uint64_t count = plan_.runs(*records);
    return *records / count + (*records % count != 0 ? 1 : 0);
  }

  void sort_in_memory(Range items, std::uint64_t n) {
    result_.records = n;
    std::optional<ItemStorage<Key, Value>> original;
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
      sort(items, n);
      seconds.push_back(timer.stop());
    }
    report_progress(context_, "sort", n, n);
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    result_.seconds = seconds[seconds.size() / 2];
    free(original);
    if (request_.verify) {
      const PhaseTimer timer(context_, "verify", n * record_bytes);
      for_encoded_blocks(items, n,
                         [&](Range block, std::uint64_t size) { check_.add(block, size); });
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
    constexpr std::uint64_t records_a_block = (std::uint64_t{1} << 20) / record_bytes;
    const int workers = threads_of(context_);
    std::vector<RecordPacker<Key, Value>> packers(
        workers, RecordPacker<Key, Value>(records_a_block * record_bytes));
    const auto make = [&](int worker, std::uint64_t block) {
      const std::uint64_t begin = block * records_a_block;
      std::span<const char> packed;
      packers[worker].pack(items.from(begin), std::min(records_a_block, n - begin),
                           [&](std::span<const char> bytes) { packed = bytes; });
      return packed;
    };
    write_blocks(file, workers,
                 {.count = (n + records_a_block - 1) / records_a_block, .make = make});
  }

  /// \param storage  holds the first chunk, already read
  void sort_beyond_memory(std::unique_ptr<ItemStorage<Key, Value>> storage, std::uint64_t chunk,
                          std::optional<std::uint64_t> records) {
    if (request_.repeat > 1)
      throw Error(ErrorKind::usage,
                  fmt::format("sort: found --repeat {} for records beyond memory, expected 1",
                              request_.repeat));
    const auto start = std::chrono::steady_clock::now();
    auto file = std::make_unique<SpillFile>(spill_folder(request_.output));
    std::vector<SpilledRun> runs = sort_chunks(storage->items(), chunk, *file, records);
    free(storage);
    result_.runs = runs.size();
    while (runs.size() > plan_.runs_merged) {
      auto next = std::make_unique<SpillFile>(spill_folder(request_.output));
      runs = merge_groups(*file, runs, *next);
      file.swap(next);
      free(next);
    }
    merge_into_output(*file, runs);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    result_.seconds = taken.count();
    free(file);
  }

  std::vector<SpilledRun> sort_chunks(Range items, std::uint64_t chunk, SpillFile& file,
                                      std::optional<std::uint64_t> records) {
    std::vector<SpilledRun> runs;
    for (std::uint64_t n = chunk; n > 0; n = n == chunk ? read(items, chunk) : 0) {
      PhaseTimer sorting(context_, "sort", 2 * n * record_bytes);
      sort(items, n);
      sorting.stop();
      const PhaseTimer timer(context_, "spill", n * record_bytes);
      packer_->pack(items, n, [&](std::span<const char> bytes) { file.append(bytes); });
      runs.push_back({result_.records, n});
      result_.records += n;
      report_progress(context_, "sort chunks", result_.records, records.value_or(0));
    }
    return runs;
  }

  /// One merge round: merges as many runs at a time as memory has blocks for, into another file.
  std::vector<SpilledRun> merge_groups(const SpillFile& from, std::span<const SpilledRun> runs,
                                       SpillFile& to) {
    const PhaseTimer timer(context_, "merge", 2 * result_.records * record_bytes);
    ++result_.merge_rounds;
    std::vector<SpilledRun> merged;
    std::uint64_t done = 0;
    for (std::size_t first = 0; first < runs.size(); first += plan_.runs_merged) {
      const std::uint64_t begin = done;
      const std::size_t count = std::min<std::size_t>(plan_.runs_merged, runs.size() - first);
      merge(from, runs.subspan(first, count), done, false,
            [&](std::span<const char> bytes) { to.append(bytes); });
      merged.push_back({begin, done - begin});
    }
    return merged;
  }

  void merge_into_output(const SpillFile& file, std::span<const SpilledRun> runs) {
    const PhaseTimer timer(context_, "merge", 2 * result_.records * record_bytes);
    if (runs.size() > 1) ++result_.merge_rounds;
    std::optional<WholeFile> output;
    std::function<void(std::span<const char>)> write;
    if (!request_.output.empty()) {
      output.emplace(request_.output);
      write = [&](std::span<const char> bytes) { output->write(bytes); };
    }
    std::uint64_t done = 0;
    merge(file, runs, done, request_.verify, write);
    if (request_.verify) check_.finish(read_, result_.records);
    if (output) output->commit();
  }

  /// \param done   the records merged in this round; grows
  /// \param check  whether these are the records in their final order
  /// \param write  takes the merged records, unless it is empty
  void merge(const SpillFile& file, std::span<const SpilledRun> runs, std::uint64_t& done,
             bool check, const std::function<void(std::span<const char>)>& write) {
    if (runs.empty()) return;
    const std::uint64_t block = plan_.block_items * plan_.runs_merged / runs.size();
    RunMerger<Key, Value>(context_, file, runs, block, plan_.output_items, codec_, *packer_)
        .run([&](Range items, std::uint64_t n) {
          if (check) check_.add(items, n);
          if (write) {
            codec_.decode(items.keys, n);
            packer_->pack(items, n, write);
          }
          done += n;
          report_progress(context_, "merge", done, result_.records);
        });
  }

  std::uint64_t read(Range items, std::uint64_t n) {
    const PhaseTimer timer(context_, "read", n * record_bytes);
    const std::uint64_t got =
        packer_->unpack(items, n, [&](std::span<char> into) { return source_.read(into); });
    if (request_.verify) {
      for_encoded_blocks(items, got,
                         [&](Range block, std::uint64_t size) { read_.add(block, size); });
    }
    return got;
  }

  void sort(Range items, std::uint64_t n) {
    const int value_bytes = has_values<Value> ? static_cast<int>(sizeof(Value)) : 0;
    Context context = context_;
    context.progress = {};  // a chunk is only a part of this call's work
    // The budget is of host memory; it does not bound GPU memory.
    if (resolve_backend(context) == Backend::cuda) context.memory_budget = 0;
    multisort::sort(
        context, {items.keys, request_.format.key, n, items.values, value_bytes, request_.options});
  }

  /// Calls body(items, n) for consecutive blocks, with encoded copies of the keys.
  template <class Body>
  void for_encoded_blocks(Range items, std::uint64_t n, Body body) const {
    std::array<Key, 1024> keys;
    for (std::uint64_t begin = 0; begin < n; begin += keys.size()) {
      const std::uint64_t size = std::min<std::uint64_t>(keys.size(), n - begin);
      std::copy_n(items.keys + begin, size, keys.begin());
      codec_.encode(keys.data(), size);
      Range block = items.from(begin);
      block.keys = keys.data();
      body(block, size);
    }
  }

  const Context& context_;
  RecordSource& source_;
  const FileSortRequest& request_;
  std::uint64_t budget_;
  multisort::plan::MemoryPlan plan_;
  KeyCodec<Key> codec_;
  std::optional<RecordPacker<Key, Value>> packer_;  ///< while run() runs
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
  return with_key_word(key_bytes(request.format.key), [&]<class Word>(Word) {
    return sort_keys_of<Word>(context, source, request);
  });
}

}  // namespace sortie::sorting
