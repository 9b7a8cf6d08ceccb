// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "apps/inverted_index/index_writer.hpp"
#include "apps/inverted_index/run.hpp"
#include "apps/inverted_index/run_merge.hpp"
#include "apps/inverted_index/sort_queue.hpp"
#ifdef SORTIE_HAVE_CUDA
#include "apps/inverted_index/cuda/device_run_sort.hpp"
#endif
#include "core/files/block_pipeline.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/inverted_index.hpp"

namespace sortie::indexing {
namespace {

constexpr std::string_view indexer_names[] = {"cpu", "cpu-overlapped", "gpu", "gpu-overlapped"};

bool is_overlapped(Indexer indexer) {
  return indexer == Indexer::cpu_overlapped || indexer == Indexer::gpu_overlapped;
}
bool uses_gpu(Indexer indexer) {
  return indexer == Indexer::gpu || indexer == Indexer::gpu_overlapped;
}

/// Threads that parse. Beside the sort on a GPU one more, since one waits for it.
int parsers(const HostContext& context, Indexer indexer) {
  return threads_of(context) + (indexer == Indexer::gpu_overlapped ? 1 : 0);
}

void require_options(const IndexOptions& options) {
  constexpr int longest_kmer = 31;
  if (options.kmer_length < 0 || options.kmer_length > longest_kmer)
    throw Error(ErrorKind::usage, fmt::format("k-mers: found length {}, expected 1 to {}",
                                              options.kmer_length, longest_kmer));
  if (options.canonical && options.kmer_length == 0)
    throw Error(ErrorKind::usage, "canonical terms: found words, expected k-mers");
  if (!options.stemmer.empty() && options.kmer_length > 0)
    throw Error(ErrorKind::usage, "stemmer: found k-mers, expected words");
  if (!options.stemmer.empty()) Stemmer(options.stemmer);
  if (options.gpu_sort == SortAlgorithm::automatic) return;
  if (!uses_gpu(options.indexer))
    throw Error(ErrorKind::usage, fmt::format("sort {} on the GPU: found indexer {}, expected gpu "
                                              "or gpu-overlapped",
                                              name(options.gpu_sort), name(options.indexer)));
  if (options.kmer_length > 0)
    throw Error(
        ErrorKind::usage,
        fmt::format("sort {} on the GPU: found k-mers, expected words: a term's places need "
                    "a stable sort",
                    name(options.gpu_sort)));
}

/// A thread that parses blocks, and what it has.
struct Worker {
  Worker(const IndexOptions& options, std::uint64_t run_items)
      : parser(options, run_items), run(options, run_items) {}

  Documents block;
  BlockParser parser;
  TokenRun run;
  std::vector<StoredRun> runs;  ///< of the block
  double parse_seconds = 0;
  double sort_seconds = 0;
  double encode_seconds = 0;
};

class IndexBuilder {
 public:
  IndexBuilder(const Context& context, const DocumentSource& source, const IndexOptions& options,
               const IndexPlan& plan, const std::string& path)
      : context_(context),
        source_(source),
        options_(options),
        plan_(plan),
        writer_(path, options),
        store_(sorting::spill_folder(path), plan.resident_runs) {}

  IndexFigures build() {
    {
      const PhaseTimer timer(context_, "parse and sort");
      make_runs();
      report_progress(context_, "index", content_bytes_, content_bytes_);
    }
    const PhaseTimer timer(context_, "merge");
    merge_runs(context_, plan_.memory, store_, runs_, options_.positions, writer_);
    figures_.content_bytes = content_bytes_;
    figures_.runs = runs_.size();
    figures_.spilled_bytes = store_.spilled_bytes();
    writer_.finish(threads_of(context_), figures_);
    return figures_;
  }

 private:
  void make_runs() {
    const int count = parsers(context_, options_.indexer);
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < count; ++i)
      workers.push_back(std::make_unique<Worker>(options_, plan_.run_items));
    const auto caller = std::this_thread::get_id();
    SortQueue queue(is_overlapped(options_.indexer));
    BlockSteps steps;
    steps.take = [&](int worker, std::uint64_t) {
      if (std::this_thread::get_id() == caller)
        report_progress(context_, "index", content_bytes_, 0);
      Documents& block = workers[worker]->block;
      block.clear();
      return source_(block, plan_.block_bytes);
    };
    steps.work = [&](int worker, std::uint64_t) { index_block(*workers[worker], queue); };
    steps.pass = [&](int worker, std::uint64_t) { add(*workers[worker]); };
    if (options_.indexer == Indexer::cpu_overlapped) {
      run_blocks(count, steps);
    } else {
      sort_beside(queue, [&] { run_blocks(count, steps); });
    }
    for (const auto& worker : workers) {
      figures_.parse_seconds += worker->parse_seconds;
      figures_.sort_seconds += worker->sort_seconds;
      figures_.encode_seconds += worker->encode_seconds;
    }
  }

  /// Runs `parse` on a thread, and sorts runs on this one, as the host runtime requires.
  void sort_beside(SortQueue& queue, const std::function<void()>& parse) {
    std::exception_ptr error;
    std::thread parsing([&] {
      try {
        parse();
      } catch (...) {
        error = std::current_exception();
      }
      queue.close();
    });
    Context sorting = context_;
    sorting.progress = {};
    sorting.report = nullptr;
    sorting.memory_budget = 0;  // as planned
    sorting.backend = Backend::host;
#ifdef SORTIE_HAVE_CUDA
    std::optional<DeviceRunSort> on_device;
    if (uses_gpu(options_.indexer)) on_device.emplace(context_, options_.gpu_sort);
#endif
    queue.serve([&](TokenRun& run) {
      const auto start = std::chrono::steady_clock::now();
#ifdef SORTIE_HAVE_CUDA
      if (on_device) {
        on_device->sort(run.keys(), run.values());
      } else {
        run.sort(sorting);
      }
#else
      run.sort(sorting);
#endif
      figures_.sort_seconds += seconds_since(start);
      report_progress(context_, "index", content_bytes_, 0);
    });
    parsing.join();
    if (error) std::rethrow_exception(error);
  }

  void index_block(Worker& worker, SortQueue& queue) {
    const bool alone = options_.indexer == Indexer::cpu_overlapped;
    worker.runs.clear();
    worker.parser.begin(worker.block);
    for (;;) {
      if (!alone) queue.begin_parsing();
      auto start = std::chrono::steady_clock::now();
      bool more = false;
      try {
        more = worker.parser.parse(worker.run);
      } catch (...) {
        if (!alone) queue.end_parsing();
        throw;
      }
      worker.parse_seconds += seconds_since(start);
      if (!more) {
        if (!alone) queue.end_parsing();
        return;
      }
      start = std::chrono::steady_clock::now();
      if (alone) {
        worker.run.sort_alone();
        worker.sort_seconds += seconds_since(start);
      } else {
        queue.sort(worker.run);
      }
      start = std::chrono::steady_clock::now();
      std::vector<RunSample> samples;
      const std::span<const char> bytes = worker.run.encode(samples);
      worker.runs.push_back(store_.add(bytes));
      worker.runs.back().samples = std::move(samples);
      worker.runs.back().first_document = worker.run.first_document();
      worker.runs.back().first_position = worker.run.first_position();
      worker.encode_seconds += seconds_since(start);
    }
  }

  /// Adds a block, whose documents get their numbers. In the order of blocks.
  void add(Worker& worker) {
    const Documents& block = worker.block;
    const auto first = static_cast<std::uint32_t>(writer_.documents() - (block.continues ? 1 : 0));
    for (StoredRun& run : worker.runs) {
      if (run.first_document == 0 && block.continues) run.first_position += positions_;
      run.first_document += first;
    }
    std::move(worker.runs.begin(), worker.runs.end(), std::back_inserter(runs_));
    const bool goes_on = block.continues && block.size() == 1;
    positions_ = worker.parser.last_positions() + (goes_on ? positions_ : 0);
    writer_.add_documents(block, worker.parser.lengths());
    content_bytes_ += block.bytes.size();
  }

  const Context& context_;
  const DocumentSource& source_;
  const IndexOptions& options_;
  const IndexPlan& plan_;
  IndexWriter writer_;
  RunStore store_;
  std::vector<StoredRun> runs_;
  std::uint64_t positions_ = 0;  ///< of the last document that was added
  std::atomic<std::uint64_t> content_bytes_ = 0;
  IndexFigures figures_;
};

}  // namespace

std::string_view name(Indexer indexer) {
  return indexer_names[static_cast<std::size_t>(indexer)];
}

Indexer parse_indexer(std::string_view text) {
  const auto* const found = std::find(std::begin(indexer_names), std::end(indexer_names), text);
  if (found != std::end(indexer_names))
    return static_cast<Indexer>(found - std::begin(indexer_names));
  throw Error(ErrorKind::usage, fmt::format("indexer: found {}, expected {}", sortie::quoted(text),
                                            fmt::join(indexer_names, ", ")));
}

void Documents::clear() {
  bytes.clear();
  begins.assign(1, 0);
  names.clear();
  continues = false;
}

void Documents::end_document(std::string_view name) {
  names.emplace_back(name);
  begins.push_back(bytes.size());
}

IndexPlan plan_index(const HostContext& context, const IndexOptions& options,
                     std::uint64_t content_bytes) {
  require_options(options);
  const auto workers = static_cast<std::uint64_t>(parsers(context, options.indexer));
  // A word and its separators take 4 bytes or more on average; a k-mer takes one.
  const std::uint64_t bytes_an_item = options.kmer_length > 0 ? 1 : 4;
  // The block, one more that the source fills, what the source reads, and the run.
  const std::uint64_t memory_a_byte_times_4 =
      4 * 3 + 4 * run_bytes_per_item(options) / bytes_an_item;
  constexpr std::uint64_t least_block = 1 << 14;
  constexpr std::uint64_t usual_block = 16 << 20;
  // A third of the memory is for sorted runs.
  const std::uint64_t limit = host_memory_limit(context);
  IndexPlan plan;
  plan.block_bytes = options.block_bytes;
  if (plan.block_bytes == 0) {
    plan.block_bytes = std::min(usual_block / (bytes_an_item == 1 ? 4 : 1),
                                limit / 3 * 2 * 4 / (workers * memory_a_byte_times_4));
    if (plan.block_bytes < least_block) {
      throw out_of_memory_error("inverted index",
                                workers * least_block * memory_a_byte_times_4 / 4 * 3 / 2, limit);
    }
  }
  plan.run_items = std::max<std::uint64_t>(plan.block_bytes / bytes_an_item, 1);
  plan.memory = workers * plan.block_bytes * memory_a_byte_times_4 / 4;
  plan.resident_runs = limit / 3;
  plan.runs = (content_bytes + plan.block_bytes - 1) / plan.block_bytes;
  return plan;
}

IndexFigures build_index(const Context& context, const DocumentSource& source,
                         const std::string& path, const IndexOptions& options) {
  const IndexPlan plan = plan_index(context, options, 0);
  if (uses_gpu(options.indexer)) {
    Context gpu = context;
    gpu.backend = Backend::cuda;
    static_cast<void>(resolve_backend(gpu));
  }
  return IndexBuilder(context, source, options, plan, path).build();
}

}  // namespace sortie::indexing
