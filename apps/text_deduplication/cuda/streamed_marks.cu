// SPDX-License-Identifier: Apache-2.0

// Duplicates of a corpus that is read in passes, on a GPU.
//
// The first reading counts hashes of anchors, so that those that occur once are dropped from then on,
// and what the others take. Each further one takes the anchors of a part of all hashes, as many as
// fit, with the bytes of their windows, equal ones once (content_pool.cuh). Then records are compared
// like anchors of a text in memory (group_search.cuh).
//
// Memory, for a budget of M bytes and a text of n bytes:
//
//   | name               | bytes                        | lifetime                  |
//   |--------------------|------------------------------|---------------------------|
//   | removed, kept      | n / 8 each                   | whole call                |
//   | counts of hashes   | M / 8; in the first reading, | whole call                |
//   |                    | those of contents as well    |                           |
//   | chunk              | up to M / 16                 | a chunk                   |
//   | records            | 32 and their windows' bytes  | pass                      |
//   | slots; then items  | 64 for each record           | reading; comparison       |
#include "apps/text_deduplication/cuda/streamed_marks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "apps/text_deduplication/cuda/content_pool.cuh"
#include "apps/text_deduplication/cuda/device_text.cuh"
#include "apps/text_deduplication/cuda/group_search.cuh"
#include "apps/text_deduplication/host/state_file.hpp"
#include "apps/text_deduplication/removed_ranges.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/phase_timer.hpp"

namespace sortie::texts::cuda {
namespace {

/// Cuts a corpus into chunks of text. Windows that do not end in a chunk begin in the next one, which
/// has their bytes again.
class Chunks {
 public:
  using Use = std::function<void(std::uint64_t offset, std::span<const std::uint8_t> text,
                                 std::span<const std::uint64_t> borders)>;

  Chunks(std::uint64_t bytes, std::uint64_t window, bool across_documents, Use use)
      : buffer_(bytes + window), window_(window), across_(across_documents), use_(std::move(use)) {}

  /// Blocks come in the order of the text.
  void append(const CorpusBlock& block) {
    for (std::uint64_t i = 0; i < block.documents(); ++i) {
      if (!across_ && !(i == 0 && block.continues)) begin_document();
      std::span<const std::uint8_t> bytes =
          block.bytes.subspan(block.begins[i], block.begins[i + 1] - block.begins[i]);
      while (!bytes.empty()) {
        const std::uint64_t taken = std::min(bytes.size(), buffer_.size() - filled_);
        std::memcpy(buffer_.data() + filled_, bytes.data(), taken);
        filled_ += taken;
        bytes = bytes.subspan(taken);
        if (filled_ == buffer_.size()) flush();
      }
    }
  }

  /// Uses what is left.
  void flush() {
    if (filled_ == 0) return;
    if (borders_.back() != filled_) borders_.push_back(filled_);
    use_(offset_, std::span<const std::uint8_t>(buffer_.data(), filled_), borders_);
    const std::uint64_t kept = std::min(window_ - 1, filled_ - document_begin_);
    std::memmove(buffer_.data(), buffer_.data() + (filled_ - kept), kept);
    offset_ += filled_ - kept;
    filled_ = kept;
    document_begin_ = 0;
    borders_ = {0};
  }

 private:
  void begin_document() {
    document_begin_ = filled_;
    if (borders_.back() != filled_) borders_.push_back(filled_);
  }

  PinnedBuffer<std::uint8_t> buffer_;
  std::uint64_t window_;
  bool across_;
  Use use_;
  std::uint64_t filled_ = 0;
  std::uint64_t offset_ = 0;          ///< of the buffer in the text
  std::uint64_t document_begin_ = 0;  ///< in the buffer, of the last document
  std::vector<std::uint64_t> borders_ = {0};
};

/// More anchors than there is memory for.
struct Full {};

DeviceBuffer<std::uint32_t> zeros(std::uint64_t size, cudaStream_t stream) {
  DeviceBuffer<std::uint32_t> buffer(size, stream);
  check_cuda(cudaMemsetAsync(buffer.data(), 0, buffer.bytes(), stream));
  return buffer;
}

HashCountsView counts_view(DeviceBuffer<std::uint32_t>& words) {
  return {words.data(), words.size() - 1};
}

}  // namespace

struct StreamedMarks::Work {
  static constexpr std::uint64_t counts_share = 8;  ///< of the memory
  static constexpr std::uint64_t chunk_share = 16;
  static constexpr std::uint64_t passages_share = 16;
  static constexpr std::uint64_t least_chunk = std::uint64_t{1} << 16;
  static constexpr std::uint64_t most_chunk = std::uint64_t{1} << 26;
  /// Its place, and its slots or its item in a comparison.
  static constexpr std::uint64_t bytes_beside_record = 64;
  static constexpr double usual_slack = 1.05;

  Work(const Context& given, CorpusStream& stream, const CorpusDeduplicationOptions& all,
       std::uint64_t bytes)
      : context(given),
        call(context),
        corpus(stream),
        options(all.windows),
        state_path(all.state_file),
        shape(WindowShape::of(options.min_length)),
        budget(call),
        memory(std::min(bytes, budget.bytes())),
        hashes(zeros(counts_words(), call.stream)),
        needs(hash_bins) {}

  Context context;
  DeviceCall call;
  CorpusStream& corpus;
  DeduplicationOptions options;
  std::string state_path;
  WindowShape shape;
  DeviceBudget budget;
  std::uint64_t memory;
  DeviceBuffer<std::uint32_t> hashes;
  std::vector<BinNeed> needs;
  std::vector<std::uint64_t> begins;
  std::uint64_t available = 0;  ///< bytes for the records of a pass
  DeduplicationPlan plan;
  std::uint64_t resumed_passes = 0;

  [[nodiscard]] std::uint64_t counts_words() const {
    return std::bit_floor(std::max<std::uint64_t>(memory / counts_share, 4) / 4);
  }
  /// Bytes of a chunk that each byte of its text takes: anchors, their slots.
  [[nodiscard]] std::uint64_t bytes_per_chunk_byte() const { return 2 + 80 / (shape.offsets + 1); }
  [[nodiscard]] std::uint64_t chunk_bytes() const {
    return std::clamp(memory / chunk_share / bytes_per_chunk_byte(), least_chunk, most_chunk);
  }

  /// Reads the corpus. \param use  use(ChunkAnchors) for the anchors of each chunk
  /// \param pass  called for each block; may be empty
  template <class Use>
  void visit(const std::function<void(const CorpusBlock&)>& pass, const Use& use) {
    Chunks chunks(chunk_bytes(), shape.window, options.across_documents,
                  [&](std::uint64_t offset, std::span<const std::uint8_t> text,
                      std::span<const std::uint64_t> borders) {
                    DeviceText on_device(call, text, borders, shape);
                    const std::uint64_t count = on_device.count_anchors({});
                    const Items items = on_device.anchors({}, count);
                    use(ChunkAnchors{on_device.bytes(), offset, shape.window, items.view()});
                  });
    corpus.pass({.work = {},
                 .pass =
                     [&](int, const CorpusBlock& block) {
                       // Workers are threads of their own.
                       const CurrentDevice current(call.device);
                       if (pass) pass(block);
                       chunks.append(block);
                     },
                 .finish = {}});
    chunks.flush();
    check_cuda(cudaStreamSynchronize(call.stream));
  }

  void scan() {
    const PhaseTimer timer(context, "count anchors");
    DeviceBuffer<std::uint32_t> contents = zeros(counts_words(), call.stream);
    DeviceBuffer<BinNeed> bins(hash_bins, call.stream);
    check_cuda(cudaMemsetAsync(bins.data(), 0, bins.bytes(), call.stream));
    visit(
        [&](const CorpusBlock& block) {
          for (std::uint64_t i = block.continues ? 1 : 0; i < block.documents(); ++i)
            begins.push_back(block.first_byte + block.begins[i]);
        },
        [&](const ChunkAnchors& chunk) {
          for_each_item<std::uint32_t>(
              chunk.items.size,
              CountAnchors{chunk, counts_view(hashes), counts_view(contents), bins.data()},
              call.stream);
        });
    begins.push_back(corpus.text_bytes());
    bins.copy_to(std::span(needs));
    check_cuda(cudaStreamSynchronize(call.stream));
    require_begins(begins, corpus.text_bytes(), options);
  }

  /// The records of the bins [first, end), and what changes between readings.
  [[nodiscard]] BinNeed need_of(std::uint64_t first, std::uint64_t end, double slack) const {
    BinNeed need{};
    for (std::uint64_t bin = first; bin < end; ++bin) {
      need.records += needs[bin].records;
      need.bytes += needs[bin].bytes;
    }
    need.records = static_cast<std::uint64_t>(slack * static_cast<double>(need.records)) + 64;
    need.bytes = static_cast<std::uint64_t>(slack * static_cast<double>(need.bytes)) / 16 * 16 +
                 64 * ChunkAnchors::record_bytes(shape.window + shape.offsets);
    return need;
  }
  [[nodiscard]] static std::uint64_t bytes_of(const BinNeed& need) {
    return need.bytes + need.records * bytes_beside_record;
  }
  /// The end of the most bins from `first` on that fit into memory.
  /// \throws Error (out_of_memory) one does not fit
  [[nodiscard]] std::uint64_t end_of_pass(std::uint64_t first, double slack) const {
    std::uint64_t end = first;
    BinNeed need{};
    do {
      if (end == hash_bins) return end;
      need = need_of(first, ++end, slack);
    } while (bytes_of(need) <= available && need.records <= most_items);
    if (end > first + 1) return end - 1;
    throw out_of_memory_error("text deduplication, for the windows of equal hashes",
                              memory - available + bytes_of(need), memory);
  }

  void make_plan() {
    plan.text_bytes = begins.back();
    plan.documents = begins.size() - 1;
    plan.in_memory = false;
    const std::uint64_t marks =
        OffsetBits::bytes_of(plan.text_bytes) * (options.protect_first ? 2 : 1);
    const std::uint64_t held =
        marks + hashes.bytes() + (chunk_bytes() + shape.window) * bytes_per_chunk_byte();
    if (held >= memory)
      throw out_of_memory_error("text deduplication, for marks of offsets", held, memory);
    available = memory - held;
    std::uint64_t most = 0;
    plan.passes = 0;
    for (std::uint64_t first = 0, end = 0; first < hash_bins; first = end) {
      end = end_of_pass(first, usual_slack);
      most = std::max(most, bytes_of(need_of(first, end, usual_slack)));
      ++plan.passes;
    }
    plan.memory = held + most;
    plan.disk = state_path.empty() ? 0 : marks + memory / passages_share;
  }

  /// The records of a pass.
  struct Records {
    DeviceBuffer<std::uint8_t> pool;
    DeviceBuffer<std::uint64_t> places;
  };

  /// One pass over the corpus for the bins [first, end). Nothing if memory does not suffice.
  std::optional<Records> collect(std::uint64_t first, std::uint64_t end, double slack,
                                 const MarkTargets& targets) {
    const PhaseTimer timer(context, "collect anchors");
    cudaStream_t stream = call.stream;
    const BinNeed need = need_of(first, end, slack);
    Records records{{need.bytes + text_padding, stream}, {need.records, stream}};
    const std::uint64_t slot_count = std::bit_ceil(need.records + need.records / 2 + 1);
    DeviceBuffer<unsigned long long> slots(slot_count, stream);
    check_cuda(cudaMemsetAsync(slots.data(), 0, slots.bytes(), stream));
    DeviceBuffer<unsigned long long> used(1, stream);
    check_cuda(cudaMemsetAsync(used.data(), 0, used.bytes(), stream));
    DeviceBuffer<std::uint32_t> counters = zeros(2, stream);  // of records, and whether it is full
    const ContentPool pool{records.pool.data(),
                           need.bytes,
                           slots.data(),
                           slot_count - 1,
                           used.data(),
                           records.places.data(),
                           static_cast<std::uint32_t>(need.records),
                           counters.data(),
                           counters.data() + 1};
    std::vector<std::uint32_t> counted(2);
    try {
      visit({}, [&](const ChunkAnchors& chunk) {
        const std::uint32_t size = chunk.items.size;
        DeviceBuffer<std::uint64_t> of_anchors(size, stream);
        for_each_item<std::uint32_t>(
            size, ClaimSlots{chunk, counts_view(hashes), pool, first, end, of_anchors.data()},
            stream);
        for_each_item<std::uint32_t>(size, StoreContents{chunk, pool, of_anchors.data()}, stream);
        for_each_item<std::uint32_t>(
            size, CountContents{chunk, pool, of_anchors.data(), targets.removed}, stream);
        counters.copy_to(std::span(counted));
        check_cuda(cudaStreamSynchronize(stream));
        if (counted[1] != 0) throw Full{};
      });
    } catch (const Full&) {
      return std::nullopt;
    }
    DeviceBuffer<std::uint64_t> places(counted[0], stream);
    if (counted[0] != 0)
      check_cuda(cudaMemcpyAsync(places.data(), records.places.data(), places.bytes(),
                                 cudaMemcpyDeviceToDevice, stream));
    records.places = std::move(places);
    return records;
  }

  /// Compares records, and marks the first occurrences of their windows.
  void compare(Records& records, const MarkTargets& targets, DuplicateMarks& marks) {
    const std::uint64_t size = records.places.size();
    DeviceBuffer<std::uint64_t> first(size, call.stream);
    for_each_item<std::uint32_t>(
        size, FirstOfRecord{records.pool.data(), records.places.data(), first.data()}, call.stream);
    sort_by(first, records.places, 0, 40, call.stream);
    first.reset();
    Items items(size, call.stream);
    for_each_item<std::uint32_t>(size,
                                 ItemOfRecord{records.pool.data(), records.places.data(),
                                              items.keys.data(), items.values.data()},
                                 call.stream);
    records.places.reset();
    GroupSearch groups(call, budget, shape, targets);
    groups.search(RecordSource{records.pool.data()}, std::move(items));
    groups.join_first_windows(marks);
  }

  DuplicateMarks find() {
    DuplicateMarks marks;
    marks.removed = OffsetBits(plan.text_bytes);
    if (options.protect_first) marks.kept = OffsetBits(plan.text_bytes);
    const std::uint64_t method = std::uint64_t{1} << 32 | shape.offsets;  // other than the host's
    host::StateFile state(state_path, options, CorpusDeduplicationOptions{}.other_file,
                          corpus.files(), method);
    host::Progress done = state.read(marks);
    resumed_passes = done.passes;
    DeviceMarks device_marks(plan.text_bytes, options.protect_first, call.stream);
    device_marks.copy_from(marks);
    const MarkTargets targets = device_marks.targets(options, plan.text_bytes);
    double slack = usual_slack;
    while (done.bins < hash_bins) {
      const std::uint64_t end = end_of_pass(done.bins, slack);
      std::optional<Records> records = collect(done.bins, end, slack, targets);
      if (!records) {
        slack *= 1.5;
        continue;
      }
      slack = usual_slack;
      compare(*records, targets, marks);
      report_progress(context, "groups", end, hash_bins);
      marks.limit_first_windows(memory / passages_share);
      done = {end, done.passes + 1};
      if (done.bins == hash_bins || state_path.empty()) continue;
      device_marks.copy_to(marks, call);
      state.write(marks, done);
    }
    device_marks.copy_to(marks, call);
    if (context.report != nullptr) context.report->set("passes", done.passes);
    return marks;
  }
};

StreamedMarks::StreamedMarks(const Context& context, CorpusStream& corpus,
                             const CorpusDeduplicationOptions& options, std::uint64_t memory)
    : work_(std::make_unique<Work>(context, corpus, options, memory)) {
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

}  // namespace sortie::texts::cuda
