// SPDX-License-Identifier: Apache-2.0
#include "apps/text_deduplication/host/streamed_marks.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "apps/text_deduplication/host/anchor_groups.hpp"
#include "apps/text_deduplication/host/anchors.hpp"
#include "apps/text_deduplication/host/hash_counts.hpp"
#include "apps/text_deduplication/host/sorted_groups.hpp"
#include "apps/text_deduplication/host/state_file.hpp"
#include "apps/text_deduplication/removed_ranges.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"

namespace sortie::texts::host {
namespace {

/// Parts of all hashes, by their leading bits. A pass takes consecutive ones.
constexpr int bin_bits = 12;
constexpr std::uint64_t bins = std::uint64_t{1} << bin_bits;

std::uint64_t bin_of(std::uint64_t hash) {
  return hash >> (64 - bin_bits);
}

/// What anchors take in a pool.
struct Need {
  std::uint64_t anchors = 0;
  std::uint64_t contents = 0;  ///< different bytes of their windows
  std::uint64_t bytes = 0;     ///< of both

  Need& operator+=(const Need& other) {
    anchors += other.anchors;
    contents += other.contents;
    bytes += other.bytes;
    return *this;
  }
};

/// Number of bytes of all windows of an anchor, once.
std::uint64_t content_bytes(const Anchor& anchor, const AnchorShape& shape) {
  return anchor.period - 1 + shape.window;
}
/// Bytes of these and their number, in whole words.
std::uint64_t content_record_bytes(const Anchor& anchor, const AnchorShape& shape) {
  return (sizeof(std::uint64_t) + content_bytes(anchor, shape) + 7) / 8 * 8;
}
/// Bytes of an anchor's record: the place of its content, the packed anchor, and its repeats.
std::uint64_t anchor_record_bytes(const Anchor& anchor) {
  return sizeof(std::uint64_t) * (anchor.repeats == 1 ? 2 : 3);
}

/// The anchors of a stream, with their bytes.
///
/// Each worker joins its block with the last bytes of the block before, if a document goes on
/// there.
class StreamedAnchors {
 public:
  StreamedAnchors(CorpusStream& corpus, const AnchorShape& shape, bool across_documents,
                  std::size_t other_file)
      : corpus_(corpus),
        shape_(shape),
        across_documents_(across_documents),
        other_file_(other_file) {}

  /// Calls use(worker, hash, anchor, at) as AnchorFinder::visit_runs() for all anchors of the
  /// corpus, for different blocks at the same time.
  /// \param pass  called for each block, in order; may be empty
  template <class Use>
  void visit(const CorpusSteps::Step& pass, const Use& use) {
    std::vector<Worker> workers;
    for (int i = 0; i < corpus_.workers(); ++i) workers.emplace_back(shape_);
    std::vector<std::uint8_t> tail;
    std::size_t last_file = 0;
    corpus_.pass({.work = {},
                  .pass =
                      [&](int index, const CorpusBlock& block) {
                        const bool enters_other =
                            last_file < other_file_ && block.file >= other_file_;
                        last_file = block.file;
                        take_tail(block, enters_other, tail, workers[index].joined);
                        if (pass) pass(index, block);
                      },
                  .finish =
                      [&](int index, const CorpusBlock& block) {
                        visit_block(block, workers[index],
                                    [&](std::uint64_t hash, const Anchor& anchor,
                                        const std::uint8_t* at) { use(index, hash, anchor, at); });
                      }});
  }

 private:
  struct Worker {
    explicit Worker(const AnchorShape& shape) : finder(shape) {}
    AnchorFinder finder;
    std::vector<std::uint8_t> joined;  ///< at first, the bytes before the block
  };

  /// Gives the worker the bytes before its block, and sets those before the next block.
  void take_tail(const CorpusBlock& block, bool enters_other, std::vector<std::uint8_t>& tail,
                 std::vector<std::uint8_t>& before) const {
    before.clear();
    if (across_documents_ ? !enters_other : block.continues) before = tail;
    if (!across_documents_ && !block.continued) {
      tail.clear();
      return;
    }
    tail = before;
    const std::uint64_t most = shape_.window - 1;
    const auto bytes = block.bytes.last(std::min<std::uint64_t>(most, block.bytes.size()));
    tail.insert(tail.end(), bytes.begin(), bytes.end());
    if (tail.size() > most)
      tail.erase(tail.begin(), tail.end() - static_cast<std::ptrdiff_t>(most));
  }

  template <class Use>
  void visit_block(const CorpusBlock& block, Worker& worker, const Use& use) {
    const std::uint64_t before = worker.joined.size();
    const std::uint8_t* text = block.bytes.data();
    if (before != 0) {
      worker.joined.insert(worker.joined.end(), block.bytes.begin(), block.bytes.end());
      text = worker.joined.data();
    }
    const std::uint64_t offset = block.first_byte - before;
    const auto visit_range = [&](std::uint64_t begin, std::uint64_t end) {
      for (; begin + shape_.window <= end; begin += AnchorFinder::most_windows) {
        const std::uint64_t last =
            std::min(end - shape_.window + 1, begin + AnchorFinder::most_windows);
        worker.finder.visit_runs(text, begin, last,
                                 [&](std::uint64_t hash, Anchor anchor, const std::uint8_t* at) {
                                   anchor.position += offset;
                                   use(hash, anchor, at);
                                 });
      }
    };
    if (across_documents_) return visit_range(0, before + block.bytes.size());
    for (std::uint64_t i = 0; i < block.documents(); ++i)
      visit_range(i == 0 ? 0 : before + block.begins[i], before + block.begins[i + 1]);
  }

  CorpusStream& corpus_;
  AnchorShape shape_;
  bool across_documents_;
  std::size_t other_file_;
};

/// Anchors, filled by several threads. Anchors whose windows have the same bytes share them.
class AnchorPool {
 public:
  /// \param part_bytes  workers take parts of as many bytes for small records, so that at most 1/32
  ///                    of the pool, and two parts for each worker, remain unused
  AnchorPool(const Need& most, int workers, std::uint64_t part_bytes, const AnchorShape& shape)
      : shape_(shape),
        part_bytes_(part_bytes),
        capacity_(most.bytes),
        bytes_(allocate_array<std::uint8_t>(most.bytes)),
        items_(most.anchors),
        slots_(slots_of(most)),
        contents_(allocate_array<std::uint64_t>(slots_)),
        parts_(static_cast<std::size_t>(workers)) {
    std::fill_n(contents_.get(), slots_, 0);
  }

  /// Elements of the table of contents.
  [[nodiscard]] static std::uint64_t slots_of(const Need& most) {
    return std::bit_ceil(most.contents + most.contents / 2 + 1);
  }

  void add(int worker, std::uint64_t hash, const Anchor& anchor, const std::uint8_t* at) {
    const std::uint64_t content = content_of(worker, anchor, at - anchor.most);
    const std::uint64_t index = count_.fetch_add(1, std::memory_order_relaxed);
    if (index >= items_.size) throw Full{};
    const bool is_repeated = anchor.repeats != 1;
    const std::uint64_t record = take(worker, anchor_record_bytes(anchor));
    put(record, content);
    put(record + 8, PackedAnchor::of(anchor).word);
    if (is_repeated) put(record + 16, anchor.repeats);
    items_.hashes[index] = hash;
    items_.values[index] = record | (is_repeated ? repeated_bit : 0);
  }

  /// More anchors than there is memory for.
  struct Full {};

  /// All that were added.
  HashedValues& items() {
    items_.size = count_;
    return items_;
  }
  [[nodiscard]] static bool is_repeated(std::uint64_t value) { return (value & repeated_bit) != 0; }
  [[nodiscard]] Member member_of(std::uint64_t value) const {
    const std::uint64_t record = value & ~repeated_bit;
    const std::uint64_t repeats = is_repeated(value) ? get(record + 16) : 1;
    const Anchor anchor = PackedAnchor{get(record + 8)}.anchor(repeats);
    return {bytes_.get() + get(record) + sizeof(std::uint64_t) + anchor.most, anchor};
  }

 private:
  /// In values, which are offsets of records.
  static constexpr std::uint64_t repeated_bit = 1;

  struct alignas(64) Part {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  [[nodiscard]] std::uint64_t get(std::uint64_t offset) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.get() + offset, sizeof(word));
    return word;
  }
  void put(std::uint64_t offset, std::uint64_t word) {
    std::memcpy(bytes_.get() + offset, &word, sizeof(word));
  }

  /// The offset of as many unused bytes.
  std::uint64_t take(int worker, std::uint64_t size) {
    Part& part = parts_[static_cast<std::size_t>(worker)];
    std::uint64_t begin = part.begin;
    if (size > part_bytes_ / 32) {
      begin = used_.fetch_add(size, std::memory_order_relaxed);
    } else {
      if (part.end - begin < size) {
        begin = used_.fetch_add(part_bytes_, std::memory_order_relaxed);
        part.end = begin + part_bytes_;
      }
      part.begin = begin + size;
    }
    if (begin + size > capacity_) throw Full{};
    return begin;
  }

  /// The record with the bytes of the anchor's windows, their number before them. A slot of the
  /// table has the offset of a record, in words, plus one, above 16 bits of the hash; or 0.
  std::uint64_t content_of(int worker, const Anchor& anchor, const std::uint8_t* bytes) {
    constexpr int tag_bits = 16;
    const std::uint64_t size = content_bytes(anchor, shape_);
    const std::uint64_t hash = hash_of(bytes, size);
    const std::uint64_t tag = hash >> (64 - tag_bits);
    std::uint64_t own = 0;  // the slot's value, once the bytes are in the pool
    const auto place_of = [](std::uint64_t slot) { return ((slot >> tag_bits) - 1) * 8; };
    for (std::uint64_t probe = 0; probe < slots_; ++probe) {
      const std::atomic_ref<std::uint64_t> slot(contents_[(hash + probe) & (slots_ - 1)]);
      std::uint64_t found = slot.load(std::memory_order_acquire);
      if (found == 0) {
        if (own == 0) {
          const std::uint64_t record = take(worker, content_record_bytes(anchor, shape_));
          put(record, size);
          std::memcpy(bytes_.get() + record + sizeof(std::uint64_t), bytes, size);
          own = (record / 8 + 1) << tag_bits | tag;
        }
        if (slot.compare_exchange_strong(found, own, std::memory_order_acq_rel))
          return place_of(own);
      }
      if ((found & ((1U << tag_bits) - 1)) != tag) continue;
      const std::uint64_t record = place_of(found);
      if (get(record) == size &&
          std::memcmp(bytes_.get() + record + sizeof(std::uint64_t), bytes, size) == 0)
        return record;
    }
    throw Full{};
  }

  AnchorShape shape_;
  std::uint64_t part_bytes_;
  std::uint64_t capacity_;
  HostArray<std::uint8_t> bytes_;
  HashedValues items_;
  std::uint64_t slots_;
  HostArray<std::uint64_t> contents_;
  std::vector<Part> parts_;  ///< of the workers
  std::atomic<std::uint64_t> used_ = 0;
  std::atomic<std::uint64_t> count_ = 0;
};

/// Returns what the threads of a pass have freed to the system. Each pass has new threads, whose
/// allocations the C library keeps apart: without this, 8 passes over 136 MB in 100 MB of memory
/// ended with 167 MB.
void give_back_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace

struct StreamedMarks::Work {
  Work(const Context& given, CorpusStream& stream, const CorpusDeduplicationOptions& all,
       std::uint64_t bytes)
      : context(given),
        corpus(stream),
        options(all.windows),
        state_path(all.state_file),
        other_file(all.other_file),
        shape(AnchorShape::of(options.min_length)),
        anchors(stream, shape, options.across_documents, other_file),
        memory(bytes),
        counts(std::max<std::uint64_t>(bytes / counts_share, sizeof(std::uint64_t))) {}

  static constexpr std::uint64_t counts_share = 8;  ///< of the memory
  static constexpr std::uint64_t passages_share = 16;

  Context context;
  CorpusStream& corpus;
  DeduplicationOptions options;
  std::string state_path;
  std::size_t other_file;
  AnchorShape shape;
  StreamedAnchors anchors;
  std::uint64_t memory;
  HashCounts counts;
  std::vector<Need> needs = std::vector<Need>(bins);
  std::vector<std::uint64_t> begins;
  std::uint64_t available = 0;  ///< bytes for the anchors of a pass
  DeduplicationPlan plan;
  std::uint64_t resumed_passes = 0;

  void scan() {
    const PhaseTimer timer(context, "count anchors");
    // Bytes of windows that were met before; takes less than the pools later.
    HashCounts contents(std::max<std::uint64_t>(memory / counts_share, sizeof(std::uint64_t)));
    std::vector<std::vector<Need>> of_workers(static_cast<std::size_t>(corpus.workers()),
                                              std::vector<Need>(bins));
    anchors.visit(
        [&](int, const CorpusBlock& block) {
          for (std::uint64_t i = block.continues ? 1 : 0; i < block.documents(); ++i)
            begins.push_back(block.first_byte + block.begins[i]);
        },
        [&](int worker, std::uint64_t hash, const Anchor& anchor, const std::uint8_t* at) {
          const int before = counts.add(hash);
          if (anchor.repeats > 1) counts.add(hash);
          const std::uint64_t content = hash_of(at - anchor.most, content_bytes(anchor, shape));
          const bool is_new = contents.add(content) == 0;
          if (before == 0 && anchor.repeats == 1) return;
          // With the second one, the first one is needed, whose windows are about as long.
          Need need{1, is_new ? 1U : 0U, 0};
          if (before == 1) need += {1, 1, 0};
          need.bytes = need.anchors * anchor_record_bytes(anchor) +
                       need.contents * content_record_bytes(anchor, shape);
          of_workers[worker][bin_of(hash)] += need;
        });
    begins.push_back(corpus.text_bytes());
    for (const std::vector<Need>& of_worker : of_workers)
      for (std::uint64_t i = 0; i < bins; ++i) needs[i] += of_worker[i];
    require_begins(begins, corpus.text_bytes(), options);
    if (other_file < corpus.files().size())
      options.other_corpus = corpus.files()[other_file].first_document;
  }

  [[nodiscard]] std::uint64_t part_bytes() const {
    constexpr std::uint64_t most = std::uint64_t{1} << 14;
    return std::min(most, available / 64 / static_cast<std::uint64_t>(corpus.workers()) / 8 * 8);
  }

  /// The anchors of the bins [first, end), and what changes between readings.
  [[nodiscard]] Need need_of(std::uint64_t first, std::uint64_t end, double slack) const {
    Need need;
    for (std::uint64_t bin = first; bin < end; ++bin) need += needs[bin];
    need.anchors = static_cast<std::uint64_t>(slack * static_cast<double>(need.anchors)) + 64;
    need.contents = static_cast<std::uint64_t>(slack * static_cast<double>(need.contents)) + 64;
    need.bytes = static_cast<std::uint64_t>(slack * static_cast<double>(need.bytes)) +
                 2 * part_bytes() * static_cast<std::uint64_t>(corpus.workers());
    return need;
  }
  /// Of the pool: records, hashes and values, the table of contents; and what is found for the
  /// report.
  [[nodiscard]] static std::uint64_t bytes_of(const Need& need) {
    return need.bytes + need.anchors * 2 * sizeof(std::uint64_t) +
           AnchorPool::slots_of(need) * sizeof(std::uint64_t) +
           need.contents * sizeof(FirstWindows);
  }

  /// The end of the most bins from `first` on that fit into memory.
  /// \throws Error (out_of_memory) one does not fit
  [[nodiscard]] std::uint64_t end_of_pass(std::uint64_t first, double slack) const {
    std::uint64_t end = first;
    while (end < bins && bytes_of(need_of(first, end + 1, slack)) <= available) ++end;
    if (end == first) {
      throw out_of_memory_error("text deduplication, for the windows of equal hashes",
                                memory - available + bytes_of(need_of(first, first + 1, slack)),
                                memory);
    }
    return end;
  }

  static constexpr double usual_slack = 1.05;

  void make_plan() {
    plan.text_bytes = begins.back();
    plan.documents = begins.size() - 1;
    plan.in_memory = false;
    const std::uint64_t marks =
        OffsetBits::bytes_of(plan.text_bytes) * (options.protect_first ? 2 : 1);
    const std::uint64_t held = marks + begins.size() * sizeof(std::uint64_t) +
                               memory / counts_share + memory / passages_share;
    if (held >= memory)
      throw out_of_memory_error("text deduplication, for marks of offsets", held, memory);
    available = memory - held;
    std::uint64_t most = 0;
    plan.passes = 0;
    for (std::uint64_t first = 0, end = 0; first < bins; first = end) {
      end = end_of_pass(first, usual_slack);
      most = std::max(most, bytes_of(need_of(first, end, usual_slack)));
      ++plan.passes;
    }
    plan.memory = held + most;
    plan.disk = state_path.empty() ? 0 : marks + memory / passages_share;
  }

  /// One pass over the corpus for the bins [first, end). Returns false if memory does not suffice.
  bool collect(std::uint64_t first, std::uint64_t end, AnchorPool& pool) {
    try {
      anchors.visit(
          {}, [&](int worker, std::uint64_t hash, const Anchor& anchor, const std::uint8_t* at) {
            const std::uint64_t bin = bin_of(hash);
            if (bin >= first && bin < end && counts.occurs_twice(hash))
              pool.add(worker, hash, anchor, at);
          });
    } catch (const AnchorPool::Full&) {
      return false;
    }
    return true;
  }

  DuplicateMarks find() {
    DuplicateMarks marks;
    marks.removed = OffsetBits(plan.text_bytes);
    if (options.protect_first) marks.kept = OffsetBits(plan.text_bytes);
    StateFile state(state_path, options, other_file, corpus.files(), shape.gram);
    Progress done = state.read(marks);
    resumed_passes = done.passes;
    double slack = usual_slack;
    while (done.bins < bins) {
      const std::uint64_t end = end_of_pass(done.bins, slack);
      give_back_memory();
      AnchorPool pool(need_of(done.bins, end, slack), corpus.workers(), part_bytes(), shape);
      if (!collect(done.bins, end, pool)) {
        slack *= 1.5;
        continue;
      }
      slack = usual_slack;
      sort_by_hash(context, pool.items());
      mark_groups(
          context, pool.items(), AnchorPool::is_repeated,
          [&](std::uint64_t value) { return pool.member_of(value); }, shape, options,
          other_begin_of(begins, options), marks);
      report_progress(context, "groups", end, bins);
      marks.limit_first_windows(memory / passages_share);
      done = {end, done.passes + 1};
      if (done.bins < bins) state.write(marks, done);
    }
    if (context.report != nullptr) context.report->set("passes", done.passes);
    return marks;
  }
};

StreamedMarks::StreamedMarks(const Context& context, CorpusStream& corpus,
                             const CorpusDeduplicationOptions& options, std::uint64_t memory) {
  start_host_runtime(context.threads);
  work_ = std::make_unique<Work>(context, corpus, options, memory);
  work_->scan();
  work_->make_plan();
}
StreamedMarks::~StreamedMarks() = default;

const DeduplicationPlan& StreamedMarks::plan() const {
  return work_->plan;
}
const std::vector<std::uint64_t>& StreamedMarks::begins() const {
  return work_->begins;
}
const DeduplicationOptions& StreamedMarks::windows() const {
  return work_->options;
}
DuplicateMarks StreamedMarks::find() {
  return work_->find();
}
std::uint64_t StreamedMarks::resumed_passes() const {
  return work_->resumed_passes;
}

}  // namespace sortie::texts::host
