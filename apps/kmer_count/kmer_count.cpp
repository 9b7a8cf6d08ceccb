// SPDX-License-Identifier: Apache-2.0
#include "sortie/kmer_count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>

#include "apps/kmer_count/bucket_plan.hpp"
#include "apps/kmer_count/bucket_sort.hpp"
#include "apps/kmer_count/bucket_writer.hpp"
#include "apps/kmer_count/kmer_scan.hpp"
#include "apps/kmer_count/packed_runs.hpp"
#include "apps/kmer_count/table_lines.hpp"
#include "core/files/block_pipeline.hpp"
#include "core/files/block_writer.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sequences/fasta_text.hpp"
#include "sortie/error.hpp"

#if defined(SORTIE_HAVE_CUDA)
#include "apps/kmer_count/cuda/device_counts.hpp"
#include "core/background_task.hpp"
#endif

namespace sortie::kmers {
namespace {

/// Bytes of a file that a thread parses at a time, where the memory allows it.
constexpr std::uint64_t usual_piece_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t least_piece_bytes = std::uint64_t{4} << 10;

/// Bytes of the counters of a table of cells.
constexpr std::uint64_t table_bytes = sizeof(std::uint64_t) << CellTree::most_bits;

/// Most letters of k-mers in words of 32 bits: k-mers of a bucket differ in fewer bits, since those
/// of a cell differ in 26 at most.
constexpr int most_k_of_short_words = 21;
constexpr int most_k_of_words = 32;

void require_options(const Context& context, std::span<const std::string> paths,
                     const CountOptions& options) {
  if (options.k < 1 || options.k > longest_kmer) {
    throw Error(ErrorKind::usage, fmt::format("found k-mers of {} letters, expected 1 to {}",
                                              options.k, longest_kmer));
  }
  require_range(options.counts);
  if (paths.empty()) throw Error(ErrorKind::usage, "found no files, expected at least one");
  if (context.backend == Backend::cuda && options.k > most_k_of_words) {
    throw Error(ErrorKind::unavailable,
                fmt::format("found backend cuda for k-mers of {} letters, expected at most {}",
                            options.k, most_k_of_words));
  }
}

/// One call of count_kmers().
class Counting {
 public:
  Counting(const Context& context, const CountOptions& options, const std::string& table)
      : context_(context),
        options_(options),
        table_(table),
        threads_(threads_of(context)),
        // The budget of cuda is that of device memory.
        memory_(context.backend == Backend::cuda ? host_memory_available()
                                                 : host_memory_limit(context)),
        piece_bytes_(std::clamp(memory_ / 64 / static_cast<std::uint64_t>(threads_),
                                least_piece_bytes, usual_piece_bytes)),
        runs_(sorting::spill_folder(table), memory_ / 3, options.k) {}

  KmerFigures run(std::span<const std::string> paths,
                  const std::function<void(const KmerFigures&)>& finish) {
    require_memory_of_threads();
    read(paths);
#if defined(SORTIE_HAVE_CUDA)
    if (is_for_device()) {
      count_on_device(finish);
      return std::move(figures_);
    }
#endif
    if (options_.k > most_k_of_words) {
      count<DoubleWord, DoubleWord>(finish);
    } else if (options_.k <= most_k_of_short_words) {
      count<std::uint64_t, std::uint32_t>(finish);
    } else {
      count<std::uint64_t, std::uint64_t>(finish);
    }
    return std::move(figures_);
  }

 private:
  /// Bytes of what is small: counters of cells and buffers of buckets.
  [[nodiscard]] std::uint64_t small_bytes() const {
    return memory_ / 10 + (static_cast<std::uint64_t>(threads_) + 1) * table_bytes;
  }

  void require_memory_of_threads() const {
    const std::uint64_t least = 3 * (static_cast<std::uint64_t>(threads_) + 1) * table_bytes;
    if (memory_ < least) throw out_of_memory_error("counting k-mers", least, memory_);
  }

  void read(std::span<const std::string> paths) {
    PhaseTimer timer(context_, "read");
    std::uint64_t total = 0;
    for (const std::string& path : paths) {
      std::error_code ignored;
      const std::uintmax_t size = std::filesystem::file_size(path, ignored);
      total += ignored ? 0 : size;
    }
    std::uint64_t before = 0;
    HostContext context = context_;
    context.memory_budget = memory_ / 4;
    context.report = nullptr;
    // Content of compressed files is more than the total.
    context.progress = [&](std::string_view, std::uint64_t done, std::uint64_t) {
      report_progress(context_, "read", before + done, before + done <= total ? total : 0);
    };
    std::vector<std::vector<std::uint64_t>> words(static_cast<std::size_t>(threads_));
    for (const std::string& path : paths) {
      const std::size_t kept = runs_.size();
      sequences::SymbolPieces pieces;
      pieces.overlap = static_cast<std::uint64_t>(options_.k) - 1;
      pieces.may_be_apart = true;
      pieces.start = [&] {
        runs_.keep(kept);
        for (std::vector<std::uint64_t>& mine : words) mine.clear();
      };
      pieces.take = [&](int worker, std::span<std::uint8_t> symbols) {
        std::vector<std::uint64_t>& mine = words[static_cast<std::size_t>(worker)];
        pack_runs(symbols, options_.k, mine);
        // The ends of a piece, which are not apart, wait for a larger block.
        if (mine.size() * sizeof(std::uint64_t) < piece_bytes_ / 8) return;
        runs_.add(mine);
        mine.clear();
      };
      before += sequences::read_symbol_pieces(context, path, {}, pieces, piece_bytes_);
      for (const std::vector<std::uint64_t>& mine : words) runs_.add(mine);
    }
    report_progress(context_, "read", before, before);
    timer.set_bytes(before);
  }

  /// Calls visit(worker, words) for all blocks on all threads.
  /// \param phase  of the progress, in blocks of all passes; empty: is not told
  template <class Visit>
  void for_each_block(std::string_view phase, std::uint64_t pass, std::uint64_t passes,
                      const Visit& visit) {
    std::vector<std::vector<std::uint64_t>> buffers(static_cast<std::size_t>(threads_));
    const auto tell = [&](std::uint64_t blocks) {
      if (!phase.empty())
        report_progress(context_, phase, pass * runs_.size() + blocks, passes * runs_.size());
    };
    BlockSteps steps;
    steps.take = [&](int worker, std::uint64_t block) {
      if (block == runs_.size()) return false;
      if (worker == 0) tell(block);
      return true;
    };
    steps.work = [&](int worker, std::uint64_t block) {
      visit(static_cast<std::size_t>(worker),
            runs_.load(static_cast<std::size_t>(block), buffers[static_cast<std::size_t>(worker)]));
    };
    run_blocks(threads_, steps);
    tell(runs_.size());
  }

  template <class Key, class Take>
  void scan(std::span<const std::uint64_t> words, Take&& take) const {
    if (options_.canonical) {
      scan_kmers<Key, true>(words, options_.k, take);
    } else {
      scan_kmers<Key, false>(words, options_.k, take);
    }
  }

  /// Counts the k-mers of each cell. Cells with more than `most_items` are divided.
  template <class Key>
  void count_cells(CellTree& tree, std::uint64_t most_items) {
    const PhaseTimer timer(context_, "scan");
    const auto threads = static_cast<std::size_t>(threads_);
    {
      const CellTree::Table& root = tree.tables()[0];
      std::vector<std::vector<std::uint64_t>> counts(threads);
      for (auto& mine : counts) mine.resize(root.counts.size());
      for_each_block("scan", 0, 1, [&](std::size_t worker, std::span<const std::uint64_t> words) {
        std::uint64_t* const mine = counts[worker].data();
        const int shift = root.shift;
        scan<Key>(words, [&](Key key) { ++mine[static_cast<std::size_t>(key >> shift)]; });
      });
      add_counts(counts, tree.tables()[0].counts);
    }
    const std::size_t tables =
        std::max<std::uint64_t>(1, memory_ / 10 / (threads + 1) / table_bytes);
    while (true) {
      const std::size_t first = tree.divide(most_items, tables);
      const std::size_t added = tree.tables().size() - first;
      if (added == 0) return;
      const KmerRouter router = tree.router_to_tables(first);
      std::vector<std::vector<std::vector<std::uint64_t>>> counts(added);
      for (std::size_t t = 0; t < added; ++t) {
        counts[t].resize(threads);
        for (auto& mine : counts[t]) mine.resize(tree.tables()[first + t].counts.size());
      }
      for_each_block("", 0, 1, [&](std::size_t worker, std::span<const std::uint64_t> words) {
        scan<Key>(words, [&](Key key) {
          const std::uint16_t table = router(key);
          if (table == KmerRouter::none) return;
          ++counts[table][worker][tree.tables()[first + table].index(key)];
        });
      });
      for (std::size_t t = 0; t < added; ++t)
        add_counts(counts[t], tree.tables()[first + t].counts);
    }
  }

  static void add_counts(const std::vector<std::vector<std::uint64_t>>& from,
                         std::vector<std::uint64_t>& to) {
    for (const auto& counts : from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += counts[i];
    }
  }

  template <class Key, class Word>
  void count(const std::function<void(const KmerFigures&)>& finish) {
    const std::uint64_t left = memory_ - std::min(memory_, runs_.resident_bytes() + small_bytes());
    const std::uint64_t thread_bytes = left / 4 / static_cast<std::uint64_t>(threads_);
    // The text of a bucket is twice in memory while its buffer grows.
    const std::uint64_t item_bytes =
        BucketSort<Word>::scratch_bytes +
        (table_.empty() ? 0 : 3 * (static_cast<std::uint64_t>(options_.k) + 8));
    BucketLimits limits;
    limits.alignment = BucketWriter<Word>::line_words;
    limits.pass_items = std::max<std::uint64_t>(left / 4 * 3 / sizeof(Word), 2 * limits.alignment);
    limits.bucket_items =
        std::min(thread_bytes / item_bytes + 1, limits.pass_items - limits.alignment);
    limits.buckets = BucketWriter<Word>::usual_buckets;
    limits.range_bits = static_cast<int>(8 * sizeof(Word));
    CellTree tree(options_.k);
    count_cells<Key>(tree, limits.bucket_items);
    const std::vector<Cell> cells = tree.cells();
    const std::vector<std::vector<Bucket>> passes = plan_passes(cells, limits);
    std::uint64_t most_words = 0;
    std::uint64_t most_items = 0;
    for (const std::vector<Bucket>& pass : passes) {
      for (const Bucket& bucket : pass) {
        if (bucket.is_counted) continue;
        most_words = std::max(most_words, bucket.begin + bucket.items);
        most_items = std::max(most_items, bucket.items);
      }
    }
    CountPlan& plan = figures_.plan;
    for (const Cell& cell : cells) plan.kmers += cell.items;
    plan.packed_bytes = runs_.resident_bytes() + runs_.spilled_bytes();
    plan.spilled_bytes = runs_.spilled_bytes();
    plan.passes = passes.size();
    plan.memory = runs_.resident_bytes() + most_words * sizeof(Word) +
                  static_cast<std::uint64_t>(threads_) * (most_items * item_bytes + table_bytes);
    if (options_.announce) options_.announce(plan);
    if (options_.plan_only) return;

    std::optional<WholeFile> file;
    if (!table_.empty()) file.emplace(table_);
    const HostArray<Word> words = allocate_array<Word>(most_words);
    std::vector<TableLines> lines = make_lines(file.has_value());
    std::vector<BucketSort<Word>> sorts(static_cast<std::size_t>(threads_));
    std::uint64_t counted = 0;
    for (std::size_t pass = 0; pass < passes.size(); ++pass) {
      const std::vector<Bucket>& buckets = passes[pass];
      partition<Key>(tree, cells, buckets, words.get(), pass, passes.size());
      const PhaseTimer timer(context_, "count");
      OutputBlocks blocks;
      blocks.count = buckets.size();
      blocks.make = [&](int worker, std::uint64_t number) {
        TableLines& mine = lines[static_cast<std::size_t>(worker)];
        mine.clear();
        const auto add = [&](Key kmer, std::uint64_t count) { mine.add(kmer, count); };
        const Bucket& bucket = buckets[number];
        if (bucket.is_counted) {
          for (std::size_t c = bucket.first_cell; c < bucket.end_cell; ++c)
            add(static_cast<Key>(cells[c].first), cells[c].items);
          return mine.text();
        }
        Word* const begin = words.get() + bucket.begin;
        const Cell& last = cells[bucket.end_cell - 1];
        sorts[static_cast<std::size_t>(worker)].count(
            begin, bucket.items, static_cast<Key>(cells[bucket.first_cell].first),
            static_cast<Key>(last.first + (DoubleWord{1} << last.shift) - 1), add);
        return mine.text();
      };
      std::uint64_t told = 0;
      blocks.tell = [&](std::uint64_t done) {
        for (; told < done; ++told) counted += buckets[told].items;
        report_progress(context_, "count", counted, plan.kmers);
      };
      if (file) {
        write_blocks(*file, threads_, blocks);
      } else {
        make_blocks(threads_, blocks);
      }
    }
    finish_table(lines, file, finish);
  }

  /// Moves the k-mers of a pass to their buckets.
  template <class Key, class Word>
  void partition(const CellTree& tree, std::span<const Cell> cells, std::span<const Bucket> buckets,
                 Word* words, std::size_t pass, std::size_t passes) {
    if (std::ranges::all_of(buckets, &Bucket::is_counted)) return;
    const PhaseTimer timer(context_, "partition");
    std::vector<std::pair<Cell, std::uint16_t>> numbers;
    const auto nexts = std::make_unique<std::atomic<std::uint64_t>[]>(buckets.size());
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      nexts[b] = buckets[b].begin;
      if (buckets[b].is_counted) continue;
      for (std::size_t c = buckets[b].first_cell; c < buckets[b].end_cell; ++c)
        numbers.emplace_back(cells[c], static_cast<std::uint16_t>(b));
    }
    const KmerRouter router = tree.router(numbers);
    std::vector<BucketWriter<Word>> writers;
    for (int t = 0; t < threads_; ++t) writers.emplace_back(words, nexts.get(), buckets.size());
    // K-mers of other passes are dropped without a branch.
    constexpr std::size_t batch = 256;
    const auto first = static_cast<Key>(cells[buckets.front().first_cell].first);
    const Cell& last = cells[buckets.back().end_cell - 1];
    const auto range = static_cast<Key>(last.first + (DoubleWord{1} << last.shift) - 1 - first);
    for_each_block("partition", pass, passes,
                   [&](std::size_t worker, std::span<const std::uint64_t> runs) {
                     BucketWriter<Word>& writer = writers[worker];
                     std::array<Key, batch> keys;
                     std::size_t size = 0;
                     const auto put = [&] {
                       for (std::size_t i = 0; i < size; ++i) {
                         const std::uint16_t bucket = router(keys[i]);
                         if (bucket != KmerRouter::none)
                           writer.put(bucket, static_cast<Word>(keys[i]));
                       }
                       size = 0;
                     };
                     scan<Key>(runs, [&](Key key) {
                       keys[size] = key;
                       size += static_cast<Key>(key - first) <= range ? 1 : 0;
                       if (size == batch) put();
                     });
                     put();
                     writer.make_visible();
                   });
    for (BucketWriter<Word>& writer : writers) writer.finish();
  }

#if defined(SORTIE_HAVE_CUDA)
  [[nodiscard]] bool is_for_device() const {
    return options_.k >= least_device_k && options_.k <= most_device_k && !options_.plan_only &&
           (context_.backend == Backend::cuda || resolve_backend(context_) == Backend::cuda);
  }

  /// The GPU sorts and counts, threads of the host write the lines. Only k-mers that have a line
  /// come back from it.
  void count_on_device(const std::function<void(const KmerFigures&)>& finish) {
    /// Distinct k-mers that are copied at a time, and those whose lines a thread writes.
    constexpr std::uint64_t window_kmers = std::uint64_t{1} << 25;
    constexpr std::uint64_t block_kmers = std::uint64_t{1} << 15;
    if (options_.await_device) options_.await_device();
    PhaseTimer planning(context_, "plan");
    CountPlan& plan = figures_.plan;
    plan.kmers = runs_.kmers();
    plan.packed_bytes = runs_.resident_bytes() + runs_.spilled_bytes();
    plan.spilled_bytes = runs_.spilled_bytes();
    std::optional<DeviceCounts> device;
    device.emplace(context_, options_.k, options_.canonical, plan.kmers, runs_);
    plan.passes = plan.kmers == 0 ? 0 : device->passes();
    plan.memory = runs_.resident_bytes();
    planning.stop();
    if (options_.announce) options_.announce(plan);

    std::optional<WholeFile> file;
    if (!table_.empty()) file.emplace(table_);
    std::vector<TableLines> lines = make_lines(file.has_value());
    // A checksum is that of all k-mers.
    CountRange kept = options_.counts;
    if (table_.empty()) kept = {.least = std::numeric_limits<std::uint64_t>::max()};
    if (options_.checksum) kept = {};
    HostArray<std::uint64_t> kmers;
    HostArray<std::uint32_t> counts;
    std::uint64_t capacity = 0;  // of both arrays
    std::unique_ptr<BackgroundTask> freeing;
    for (std::size_t pass = 0; pass < plan.passes; ++pass) {
      PhaseTimer on_device(context_, "device");
      const std::uint64_t size = device->count(pass, kept, figures_.histogram);
      on_device.stop();
      // The system takes as long to free the letters as some lines take to be written.
      if (pass + 1 == plan.passes)
        freeing = std::make_unique<BackgroundTask>([this] { runs_.keep(0); });
      const PhaseTimer timer(context_, "count");
      for (std::uint64_t first = 0; first < size; first += window_kmers) {
        const std::uint64_t window = std::min(window_kmers, size - first);
        if (capacity < window) {
          kmers = allocate_array<std::uint64_t>(window);
          counts = allocate_array<std::uint32_t>(window);
          capacity = window;
        }
        PhaseTimer copying(context_, "copy out");
        device->copy(first, {kmers.get(), window}, {counts.get(), window});
        copying.stop();
        if (pass + 1 == plan.passes && first + window == size) {
          device.reset();
          if (options_.release_device) options_.release_device();
        }
        OutputBlocks blocks;
        blocks.count = (window + block_kmers - 1) / block_kmers;
        blocks.make = [&](int worker, std::uint64_t number) {
          TableLines& text = lines[static_cast<std::size_t>(worker)];
          text.clear();
          const std::uint64_t end = std::min((number + 1) * block_kmers, window);
          for (std::uint64_t i = number * block_kmers; i < end; ++i) text.add(kmers[i], counts[i]);
          return text.text();
        };
        if (file) {
          write_blocks(*file, threads_, blocks);
        } else {
          make_blocks(threads_, blocks);
        }
      }
      report_progress(context_, "count", pass + 1, plan.passes);
    }
    device.reset();
    for (const auto& [count, number] : figures_.histogram) {
      figures_.kmers += count * number;
      figures_.distinct += number;
    }
    const PhaseTimer finishing(context_, "finish");
    finish_table(lines, file, finish);
  }
#endif

  [[nodiscard]] std::vector<TableLines> make_lines(bool writes) const {
    std::vector<TableLines> lines;
    for (int t = 0; t < threads_; ++t)
      lines.emplace_back(options_.k, options_.counts, options_.format, writes, options_.checksum);
    return lines;
  }

  void finish_table(const std::vector<TableLines>& lines, std::optional<WholeFile>& file,
                    const std::function<void(const KmerFigures&)>& finish) {
    for (const TableLines& part : lines) part.add_to(figures_);
    finish_figures(figures_);
    if (file) {
      figures_.table_bytes = file->bytes_written();
      file->flush();
    }
    // Files get names only when the bytes of all are written.
    if (finish) finish(figures_);
    if (file) file->commit();
  }

  const Context& context_;
  const CountOptions& options_;
  const std::string& table_;
  int threads_;
  std::uint64_t memory_;
  std::size_t piece_bytes_;
  RunBlocks runs_;
  KmerFigures figures_;
};

}  // namespace

KmerFigures count_kmers(const Context& context, std::span<const std::string> paths,
                        const CountOptions& options, const std::string& table,
                        const std::function<void(const KmerFigures&)>& finish) {
  require_options(context, paths, options);
  return Counting(context, options, table).run(paths, finish);
}

}  // namespace sortie::kmers
