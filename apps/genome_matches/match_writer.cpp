// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "apps/genome_matches/dot_plot.hpp"
#include "apps/genome_matches/index_state.hpp"
#include "apps/genome_matches/match_lines.hpp"
#include "apps/genome_matches/query_reader.hpp"
#include "core/files/block_pipeline.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/genome_matches.hpp"

namespace sortie::genome_matches {
namespace {

// Letters of a task. The boundaries of tasks must not depend on the number of threads.
constexpr std::uint64_t task_letters = std::uint64_t{256} << 10;

// Results of a task that wait for those before them; a task with more waits itself.
constexpr std::uint64_t most_waiting_bytes = std::uint64_t{8} << 20;

/// Records that were read together.
struct QueryBatch {
  sequences::Text text;
  std::uint64_t begin = 0;  ///< symbols of the queries before
};

/// Some records of a batch, both strands where wanted; or a part of one strand of a large record.
struct Task {
  std::shared_ptr<const QueryBatch> batch;
  std::size_t first_record = 0;
  std::size_t end_record = 0;
  std::optional<QueryRange> part;
  bool is_reverse = false;                                    // of a part
  std::shared_ptr<const std::vector<std::uint8_t>> reversed;  // letters of its strand

  [[nodiscard]] std::uint64_t letters() const {
    if (part) return part->end - part->begin;
    std::uint64_t sum = 0;
    for (std::size_t i = first_record; i < end_record; ++i) sum += batch->text.records[i].length;
    return sum;
  }
};

/// Makes tasks of the records of all queries.
class TaskSource {
 public:
  TaskSource(const MatchIndex& index, std::span<const std::string> queries, Strands strands,
             std::uint64_t most_bytes)
      : index_(index), reader_(queries, most_bytes), strands_(strands) {}

  [[nodiscard]] bool next(Task& task) {
    // The caller is one of several threads, for which the host runtime is not.
    const OwnThreads threads(host_threads());
    while (tasks_.empty()) {
      auto batch = std::make_shared<QueryBatch>();
      batch->text = reader_.next(task_letters);
      if (batch->text.records.empty()) return false;
      batch->begin = begin_;
      begin_ += batch->text.symbols.size() + 1;
      index_.prepare_query(batch->text.symbols);
      add_tasks(std::move(batch));
    }
    task = std::move(tasks_.front());
    tasks_.pop_front();
    return true;
  }

 private:
  void add_tasks(const std::shared_ptr<const QueryBatch>& batch) {
    const std::vector<sequences::Record>& records = batch->text.records;
    for (std::size_t first = 0; first < records.size();) {
      std::size_t end = first;
      std::uint64_t letters = 0;
      while (end < records.size() && letters + records[end].length <= task_letters)
        letters += records[end++].length;
      if (end > first) {
        tasks_.push_back({batch, first, end, {}, false, {}});
      } else {
        if (strands_ != Strands::reverse) add_parts(batch, first, nullptr);
        if (strands_ != Strands::forward) add_parts(batch, first, reversed(*batch, first));
        ++end;
      }
      first = end;
    }
  }

  [[nodiscard]] std::shared_ptr<const std::vector<std::uint8_t>> reversed(
      const QueryBatch& batch, std::size_t number) const {
    const sequences::Record& record = batch.text.records[number];
    auto letters = std::make_shared<std::vector<std::uint8_t>>(
        reverse_complement(Letters(batch.text.symbols).subspan(record.offset, record.length)));
    index_.prepare_query(*letters);
    return letters;
  }

  void add_parts(const std::shared_ptr<const QueryBatch>& batch, std::size_t record,
                 const std::shared_ptr<const std::vector<std::uint8_t>>& letters) {
    const std::uint64_t size = batch->text.records[record].length;
    for (std::uint64_t begin = 0; begin < size; begin += task_letters)
      tasks_.push_back({batch, record, record + 1,
                        QueryRange{begin, std::min(size, begin + task_letters)}, letters != nullptr,
                        letters});
  }

  const MatchIndex& index_;
  QueryReader reader_;
  Strands strands_;
  std::uint64_t begin_ = 0;
  std::deque<Task> tasks_;
};

/// Lets the worker of a block wait in `work` until all blocks before it have passed.
class Turns {
 public:
  void wait(std::uint64_t block) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return passed_ == block || failed_ < block; });
    // The exception of the other block is reported.
    if (failed_ < block) throw Error(ErrorKind::output, "found a fault in the matches before");
  }
  void pass(std::uint64_t block) {
    const std::lock_guard lock(mutex_);
    passed_ = block + 1;
    changed_.notify_all();
  }
  void fail(std::uint64_t block) {
    const std::lock_guard lock(mutex_);
    failed_ = std::min(failed_, block);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t passed_ = 0;
  std::uint64_t failed_ = std::numeric_limits<std::uint64_t>::max();
};

/// One call of write_matches().
class MatchWriter {
 public:
  MatchWriter(const HostContext& context, const MatchIndex& index,
              std::span<const std::string> queries, const MatchOutput& output)
      : context_(context),
        index_(index),
        output_(output),
        lines_(index.reference(), output),
        // A batch, the next one, and their reverse complements.
        source_(index, queries, output.strands, host_memory_limit(context) / 4),
        workers_(static_cast<std::size_t>(threads_of(context))) {
    open(matches_, output.matches);
    open(statistics_, output.statistics);
    open(plot_file_, output.plot);
    if (plot_file_) plot_.emplace(index.reference());
  }

  MatchFigures write() {
    BlockSteps steps;
    steps.take = [this](int worker, std::uint64_t) { return source_.next(state_of(worker).task); };
    steps.work = [this](int worker, std::uint64_t block) {
      guarded(block, [&] { search(state_of(worker), block); });
    };
    steps.pass = [this](int worker, std::uint64_t block) {
      guarded(block, [&] { pass(state_of(worker)); });
      turns_.pass(block);
      if (worker == 0) report_progress(context_, "matches", figures_.query_letters, 0);
    };
    run_blocks(static_cast<int>(workers_.size()), steps);
    report_progress(context_, "matches", figures_.query_letters, figures_.query_letters);
    if (plot_) plot_file_->write(plot_->to_svg());
    // All bytes are written before the first file gets a name: a process that is killed by then
    // leaves nothing behind.
    for (const auto step : {&WholeFile::flush, &WholeFile::prepare, &WholeFile::commit})
      for (auto* file : {&matches_, &statistics_, &plot_file_})
        if (*file) ((**file).*step)();
    return figures_;
  }

 private:
  struct Worker {
    Task task;
    bool has_turn = false;
    // Of the task, as far as they are not written:
    fmt::memory_buffer lines;
    fmt::memory_buffer statistics;
    std::vector<PlottedMatch> plotted;
    MatchFigures figures;
    // Of a part of a record, if they depend on the parts before:
    std::vector<Match> matches;
    std::vector<StatisticsRun> runs;
  };

  static void open(std::optional<WholeFile>& file, const std::string& path) {
    if (!path.empty()) file.emplace(path);
  }
  [[nodiscard]] Worker& state_of(int worker) { return workers_[static_cast<std::size_t>(worker)]; }

  void guarded(std::uint64_t block, const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      turns_.fail(block);
      throw;
    }
  }

  [[nodiscard]] bool is_unique() const { return index_.options().kind == Kind::unique; }

  [[nodiscard]] static QueryStrand strand_of(const Task& task) {
    const sequences::Record& record = task.batch->text.records[task.first_record];
    if (task.is_reverse) return {&record, true, *task.reversed};
    return {&record, false,
            Letters(task.batch->text.symbols).subspan(record.offset, record.length)};
  }

  void search(Worker& worker, std::uint64_t block) {
    worker.has_turn = false;
    const Task& task = worker.task;
    if (task.part) return search_part(worker, block, strand_of(task), *task.part);
    for (std::size_t i = task.first_record; i < task.end_record; ++i) {
      const sequences::Record& record = task.batch->text.records[i];
      const Letters letters =
          Letters(task.batch->text.symbols).subspan(record.offset, record.length);
      if (output_.strands != Strands::reverse)
        search_whole(worker, block, {&record, false, letters});
      if (output_.strands == Strands::forward) continue;
      std::vector<std::uint8_t> reversed = reverse_complement(letters);
      index_.prepare_query(reversed);
      search_whole(worker, block, {&record, true, reversed});
    }
  }

  void search_whole(Worker& worker, std::uint64_t block, const QueryStrand& query) {
    if (matches_) lines_.append_header(query, worker.lines);
    if (is_unique()) {
      add(worker, block, query, index_.find(query.letters));
    } else {
      index_.state().find(query.letters, {0, query.letters.size()},
                          [&](std::span<const Match> found) { add(worker, block, query, found); });
    }
    if (statistics_) append_statistics(query, index_.statistics(query.letters), worker.statistics);
  }

  void search_part(Worker& worker, std::uint64_t block, const QueryStrand& query, QueryRange part) {
    if (matches_ && part.begin == 0) lines_.append_header(query, worker.lines);
    index_.state().find(query.letters, part, [&](std::span<const Match> found) {
      if (is_unique()) {
        worker.matches.assign(found.begin(), found.end());
      } else {
        add(worker, block, query, found);
      }
    });
    worker.runs.clear();
    if (statistics_) index_.state().find_statistics(query.letters, part, worker.runs);
  }

  /// Takes the matches of a query: formats them, and writes them if there are many.
  void add(Worker& worker, std::uint64_t block, const QueryStrand& query,
           std::span<const Match> matches) {
    if (output_.verify) index_.check(query.letters, matches);
    if (matches_) lines_.append(query, matches, worker.lines);
    for (const Match& match : matches) {
      worker.figures.matched_letters += match.length;
      worker.figures.longest = std::max(worker.figures.longest, match.length);
      if (!plot_) continue;
      const std::uint64_t begin = worker.task.batch->begin + query.record->offset;
      worker.plotted.push_back(
          {match.reference,
           begin + (query.is_reverse ? query.record->length - 1 - match.query : match.query),
           match.length, query.is_reverse});
    }
    worker.figures.matches += matches.size();
    if (worker.lines.size() + worker.plotted.size() * sizeof(PlottedMatch) < most_waiting_bytes)
      return;
    if (!worker.has_turn) turns_.wait(block);
    worker.has_turn = true;
    flush(worker);
  }

  /// Writes what a worker has. One worker at a time, in the order of the tasks.
  void flush(Worker& worker) {
    if (plot_) add_to_plot(worker);
    if (matches_) matches_->write(std::string_view(worker.lines.data(), worker.lines.size()));
    worker.lines.clear();
    worker.plotted.clear();
  }

  void add_to_plot(const Worker& worker) {
    const Task& task = worker.task;
    // Each record once: with its first part, and when the task is flushed for the first time.
    for (std::size_t i = task.first_record; i < task.end_record; ++i) {
      const sequences::Record& record = task.batch->text.records[i];
      const std::uint64_t begin = task.batch->begin + record.offset;
      if (begin < plotted_letters_) continue;
      plot_->add_query(std::string(first_word(record.name)), record.length + 1);
      plotted_letters_ = begin + record.length + 1;
    }
    for (const PlottedMatch& match : worker.plotted) plot_->add(match);
  }

  void pass(Worker& worker) {
    const Task& task = worker.task;
    if (task.part) pass_part(worker, strand_of(task));
    flush(worker);
    if (statistics_) {
      statistics_->write(std::string_view(worker.statistics.data(), worker.statistics.size()));
      worker.statistics.clear();
    }
    const MatchFigures found = std::exchange(worker.figures, {});
    figures_.matches += found.matches;
    figures_.matched_letters += found.matched_letters;
    figures_.longest = std::max(figures_.longest, found.longest);
    // Each record once, with the first strand.
    if (task.part && task.is_reverse && output_.strands == Strands::both) return;
    figures_.query_letters += task.letters();
    if (!task.part || task.part->begin == 0)
      figures_.queries += task.end_record - task.first_record;
  }

  /// Joins what depends on the parts before: unique matches, until all are known, and the last run.
  void pass_part(Worker& worker, const QueryStrand& query) {
    const bool is_last = worker.task.part->end == query.letters.size();
    if (is_unique()) {
      unique_.insert(unique_.end(), worker.matches.begin(), worker.matches.end());
      worker.matches.clear();
      if (is_last) {
        keep_unique_in_query(unique_);
        worker.has_turn = true;
        add(worker, 0, query, unique_);
        unique_.clear();
      }
    }
    if (!statistics_) return;
    append_runs(runs_, worker.runs);
    const std::size_t complete = runs_.size() - (is_last || runs_.empty() ? 0 : 1);
    append_statistics(query, std::span(runs_).first(complete), worker.statistics);
    runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(complete));
  }

  const HostContext& context_;
  const MatchIndex& index_;
  const MatchOutput& output_;
  MatchLines lines_;
  TaskSource source_;
  std::optional<WholeFile> matches_;
  std::optional<WholeFile> statistics_;
  std::optional<WholeFile> plot_file_;
  std::vector<Worker> workers_;
  Turns turns_;
  // Of the tasks that have passed:
  MatchFigures figures_;
  std::optional<DotPlot> plot_;
  std::uint64_t plotted_letters_ = 0;  ///< of the records in the plot
  std::vector<Match> unique_;          ///< of the parts so far of a strand
  std::vector<StatisticsRun> runs_;    ///< the last one of the parts so far
};

}  // namespace

MatchFigures write_matches(const HostContext& context, const MatchIndex& index,
                           std::span<const std::string> queries, const MatchOutput& output) {
  if (!output.statistics.empty() && !index.options().statistics)
    throw Error(ErrorKind::usage, "matching statistics: found an index without what they need");
  PhaseTimer timer(context, "matches");
  const MatchFigures figures = MatchWriter(context, index, queries, output).write();
  timer.set_bytes(figures.query_letters);
  return figures;
}

}  // namespace sortie::genome_matches
