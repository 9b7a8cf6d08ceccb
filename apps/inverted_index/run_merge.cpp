// SPDX-License-Identifier: Apache-2.0
#include "apps/inverted_index/run_merge.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/files/block_pipeline.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"

namespace sortie::indexing {
namespace {

/// A range of a run, whose entries are read one after the other.
class TermSource {
 public:
  TermSource(const RunStore& store, const StoredRun& run, std::uint64_t begin, std::uint64_t end,
             std::span<char> buffer)
      : run_(&run), stream_(store, run, begin, end, buffer) {
    read();
  }

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] const std::string& term() const { return term_; }
  /// Whether the term precedes that of another source, or is equal and of an earlier run.
  [[nodiscard]] bool precedes(const TermSource& other) const {
    if (key_ != other.key_) return key_ < other.key_;
    const int order = term_.compare(other.term_);
    return order != 0 ? order < 0 : run_ < other.run_;
  }
  [[nodiscard]] bool has_term_of(const std::string& term, std::uint64_t key) const {
    return key_ == key && term_ == term;
  }
  [[nodiscard]] std::uint64_t key() const { return key_; }

  void skip() {
    stream_.skip(end_ - stream_.offset());
    read();
  }

  /// Adds the postings of the term, and goes to the next one.
  void add_to(PostingsEncoder& encoder, bool positions) {
    std::uint64_t document = run_->first_document;
    while (stream_.offset() < end_) {
      const std::uint64_t code = stream_.varint();
      document += code >> 1;
      const std::uint64_t frequency = (code & 1) != 0 ? 1 : stream_.varint() + 2;
      encoder.add(static_cast<std::uint32_t>(document), frequency);
      if (!positions) continue;
      std::uint64_t position = document == run_->first_document ? run_->first_position : 0;
      for (std::uint64_t i = 0; i < frequency; ++i) {
        position += stream_.varint();
        encoder.add_position(position);
      }
    }
    read();
  }

 private:
  void read() {
    ended_ = stream_.at_end();
    if (ended_) return;
    term_.resize(stream_.varint());
    stream_.copy(term_.data(), term_.size());
    key_ = order_key(term_);
    std::uint32_t bytes = 0;
    stream_.copy(reinterpret_cast<char*>(&bytes), sizeof(bytes));
    end_ = stream_.offset() + bytes;
  }

  const StoredRun* run_;
  RunStream stream_;
  std::string term_;
  std::uint64_t key_ = 0;
  std::uint64_t end_ = 0;  ///< of the postings
  bool ended_ = false;
};

/// Terms from `begin` on, up to the begin of the next chunk.
struct Chunk {
  std::string_view begin;
  std::uint64_t bytes = 0;  ///< of runs
};

/// Cuts the terms of all runs into chunks of about `chunk_bytes` bytes of runs.
std::vector<Chunk> cut_chunks(std::span<const StoredRun> runs, std::uint64_t chunk_bytes) {
  std::vector<std::pair<std::string_view, std::uint64_t>> samples;
  for (const StoredRun& run : runs) {
    for (std::size_t i = 0; i < run.samples.size(); ++i) {
      const std::uint64_t end = i + 1 < run.samples.size() ? run.samples[i + 1].offset : run.size;
      samples.emplace_back(run.samples[i].term, end - run.samples[i].offset);
    }
  }
  std::sort(samples.begin(), samples.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Chunk> chunks;
  for (const auto& [term, bytes] : samples) {
    const bool cuts = chunks.empty() || chunks.back().bytes + bytes > chunk_bytes;
    if (cuts && (chunks.empty() || chunks.back().begin < term)) chunks.push_back({term});
    chunks.back().bytes += bytes;
  }
  if (!chunks.empty()) chunks.front().begin = {};
  return chunks;
}

class Merger {
 public:
  /// \param workers  threads; fewer are used if their buffers do not fit the memory
  Merger(std::uint64_t memory, int workers, const RunStore& store, std::span<const StoredRun> runs,
         bool positions, IndexWriter& writer)
      : store_(store), runs_(runs), positions_(positions), writer_(writer) {
    std::uint64_t bytes = 0;
    for (const StoredRun& run : runs) bytes += run.size;
    constexpr std::uint64_t least_buffer = 512;
    constexpr std::uint64_t usual_buffer = 1 << 13;
    constexpr std::uint64_t most_buffer = 1 << 18;
    const std::uint64_t count = std::max<std::uint64_t>(runs.size(), 1);
    const std::uint64_t most_workers = memory / (2 * usual_buffer * count);
    const std::uint64_t used =
        std::clamp<std::uint64_t>(most_workers, 1, static_cast<std::uint64_t>(workers));
    workers_.resize(used);
    const std::uint64_t share = memory / used;
    buffer_bytes_ = std::clamp(share / 2 / count, least_buffer, most_buffer);
    // A chunk is as long in the index as in the runs, at most.
    constexpr std::uint64_t least_chunk = 1 << 16;
    constexpr std::uint64_t most_chunk = 16 << 20;
    constexpr std::uint64_t chunks_a_worker = 16;
    most_bytes_ = std::clamp(share / 4, least_chunk, most_chunk);
    chunks_ = cut_chunks(
        runs, std::clamp(bytes / (chunks_a_worker * used), least_chunk / 4, most_bytes_));
  }

  [[nodiscard]] int workers() const { return static_cast<int>(workers_.size()); }
  [[nodiscard]] std::span<const Chunk> chunks() const { return chunks_; }

  /// Makes a chunk.
  void make(int worker, std::uint64_t number) {
    if (!is_long(number)) merge(workers_[static_cast<std::size_t>(worker)], number, false);
  }
  /// Adds its terms, and reserves its bytes, or makes and writes it.
  void add(int worker, std::uint64_t number) {
    Worker& made = workers_[static_cast<std::size_t>(worker)];
    if (is_long(number)) {
      merge(made, number, true);
      writer_.file().write(made.postings);
      made.postings.clear();
    } else if (!made.postings.empty()) {
      made.place = writer_.file().reserve(made.postings.size());
    }
    const char* at = made.terms.data();
    const char* const end = at + made.terms.size();
    while (at < end) {
      const std::uint64_t size = take_varint(at, end);
      const std::string_view term(at, size);
      at += size;
      PostingsEncoder::List list{};
      list.documents = take_varint(at, end);
      list.occurrences = take_varint(at, end);
      list.bytes = take_varint(at, end);
      writer_.add_term(term, list);
    }
  }
  void write(int worker, std::uint64_t) {
    const Worker& made = workers_[static_cast<std::size_t>(worker)];
    if (!made.postings.empty()) writer_.file().write_at(made.place, made.postings);
  }

 private:
  struct Worker {
    std::vector<char> buffers;
    std::string postings;
    std::string terms;
    std::uint64_t place = 0;  ///< of the postings in the file
  };

  /// Whether the chunk has more bytes than may be in memory.
  [[nodiscard]] bool is_long(std::uint64_t number) const {
    return chunks_[number].bytes > 2 * most_bytes_;
  }

  /// \param writes  writes the postings to the file while they are made
  void merge(Worker& worker, std::uint64_t number, bool writes) {
    const std::string_view begin = chunks_[number].begin;
    const bool is_last = number + 1 == chunks_.size();
    const std::string end(is_last ? std::string_view() : chunks_[number + 1].begin);
    const std::uint64_t end_key = order_key(end);
    worker.postings.clear();
    worker.terms.clear();
    worker.buffers.resize(runs_.size() * buffer_bytes_);
    std::vector<TermSource> sources;
    sources.reserve(runs_.size());
    const auto is_within = [&](const TermSource& source) {
      if (source.ended()) return false;
      if (is_last) return true;
      return source.key() != end_key ? source.key() < end_key : source.term() < end;
    };
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::vector<RunSample>& samples = runs_[i].samples;
      const auto after = std::upper_bound(
          samples.begin(), samples.end(), begin,
          [](std::string_view term, const RunSample& sample) { return term < sample.term; });
      const auto behind = std::lower_bound(
          after, is_last ? after : samples.end(), end,
          [](const RunSample& sample, std::string_view term) { return sample.term < term; });
      TermSource source(store_, runs_[i], after == samples.begin() ? 0 : (after - 1)->offset,
                        is_last || behind == samples.end() ? runs_[i].size : behind->offset,
                        std::span(worker.buffers).subspan(i * buffer_bytes_, buffer_bytes_));
      while (!source.ended() && source.term() < begin) source.skip();
      if (is_within(source)) sources.push_back(std::move(source));
    }
    // A heap whose top is the source with the first term.
    std::vector<TermSource*> heap;
    for (TermSource& source : sources) heap.push_back(&source);
    const auto follows = [](const TermSource* a, const TermSource* b) { return b->precedes(*a); };
    std::make_heap(heap.begin(), heap.end(), follows);
    const auto flush = [&] {
      if (!writes || worker.postings.size() < most_bytes_) return;
      writer_.file().write(worker.postings);
      worker.postings.clear();
    };
    PostingsEncoder encoder(writer_.lengths(), worker.postings, flush);
    std::string term;
    while (!heap.empty()) {
      term = heap.front()->term();
      const std::uint64_t key = heap.front()->key();
      do {
        TermSource* const source = heap.front();
        std::pop_heap(heap.begin(), heap.end(), follows);
        source->add_to(encoder, positions_);
        if (is_within(*source)) {
          heap.back() = source;
          std::push_heap(heap.begin(), heap.end(), follows);
        } else {
          heap.pop_back();
        }
      } while (!heap.empty() && heap.front()->has_term_of(term, key));
      const PostingsEncoder::List list = encoder.finish();
      append_varint(worker.terms, term.size());
      worker.terms.append(term);
      append_varint(worker.terms, list.documents);
      append_varint(worker.terms, list.occurrences);
      append_varint(worker.terms, list.bytes);
      flush();
    }
  }

  const RunStore& store_;
  std::span<const StoredRun> runs_;
  bool positions_;
  IndexWriter& writer_;
  std::vector<Chunk> chunks_;
  std::uint64_t most_bytes_ = 0;  ///< of a chunk in memory
  std::uint64_t buffer_bytes_ = 0;
  std::vector<Worker> workers_;
};

}  // namespace

void merge_runs(const HostContext& context, std::uint64_t memory, const RunStore& store,
                std::span<const StoredRun> runs, bool positions, IndexWriter& writer) {
  Merger merger(memory, threads_of(context), store, runs, positions, writer);
  std::uint64_t total = 0;
  for (const Chunk& chunk : merger.chunks()) total += chunk.bytes;
  std::uint64_t done = 0;
  const auto caller = std::this_thread::get_id();
  BlockSteps steps;
  steps.take = [&](int, std::uint64_t chunk) { return chunk < merger.chunks().size(); };
  steps.work = [&](int worker, std::uint64_t chunk) { merger.make(worker, chunk); };
  steps.pass = [&](int worker, std::uint64_t chunk) {
    merger.add(worker, chunk);
    done += merger.chunks()[chunk].bytes;
    if (std::this_thread::get_id() == caller) report_progress(context, "merge", done, total);
  };
  steps.finish = [&](int worker, std::uint64_t chunk) { merger.write(worker, chunk); };
  run_blocks(merger.workers(), steps);
  report_progress(context, "merge", total, total);
}

}  // namespace sortie::indexing
