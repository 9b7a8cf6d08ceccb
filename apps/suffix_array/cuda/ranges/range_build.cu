// SPDX-License-Identifier: Apache-2.0

// Prefix doubling on a GPU from host memory to host memory: build_prefix_doubling. In one step
// (build/device_build.cu) if that fits in the memory of the device, else one range of the suffix
// array after the other. The result is the same.
//
// Steps of a construction in ranges:
//   1. The text is copied to the device and packed (symbol_stream.cuh); the copy is freed.
//   2. The suffixes at positions of a difference cover, 8.8 to 1.7 % of all, are ranked
//      (cover_ranks.cu). From then on any two suffixes can be compared, whatever they repeat, by
//      at most a period of symbols (suffix_order.cuh).
//   3. Suffixes drawn at random are sorted, the suffixes between them are counted, and the suffix
//      array is divided into ranges that fit (suffix_ranges.cu).
//   4. Each range is gathered by a pass over the text, sorted, and copied to the host.
//
// Complexity: O(n) for each range and O(n log c) for c candidates, besides the sorts; on texts with
// long repeats O(log n) comparisons of up to a period of symbols for each suffix.
//
// Memory with 32-bit positions (64-bit ones in brackets), for n symbols of b bits, s = 0.017 n to
// 0.088 n positions of the cover and ranges of m suffixes:
//
//   | name                 | bytes               | lifetime                    |
//   |----------------------|---------------------|-----------------------------|
//   | text; with k ends    | n; 9 n/8 + 8 k      | step 1                      |
//   | packed text          | b n / 8             | all steps                   |
//   | cover's sort         | 41 s (77 s)         | step 2                      |
//   | ranks                | 4 s (8 s)           | steps 3 and 4               |
//   | set of members       | n / 16 (n / 8)      | step 4                      |
//   | a range              | 38 m (73 m)         | step 4                      |
//   | constant             | 3 MiB               | all steps                   |
//
// A text of long records with m = n / 64, the least, takes up to 1.5 (1.9) bytes a symbol for DNA
// (b = 3), and 2.4 (2.7) for any bytes (b = 9). A larger budget allows larger ranges, shorter periods.
//
// Source: Karkkainen: Fast BWT in small space by blockwise suffix sorting (Theoretical Computer
// Science 2007), with GPU sorts in place of multikey quicksort.
#include "apps/suffix_array/cuda/ranges/ranges.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/host_copies.hpp"
#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "core/background_task.hpp"
#include "core/cuda/arriving_copy.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/cuda/transfer_blocks.hpp"
#include "core/files/block_pipeline.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/uninitialised_vector.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Bytes that do not grow with the text: scratch of the sorts, candidates for borders, tables.
constexpr std::uint64_t constant = std::uint64_t{3} << 20;

template <class Index>
constexpr std::uint64_t list_entry = SuffixGroups<Index>::bytes_a_member;

constexpr std::uint64_t key = sizeof(std::uint64_t);

/// Most threads that copy a part of several to the host, to memory that is new. On four H100s with
/// 64 cores, 4, 8 and 12 threads a GPU copy 46, 69 and 77 GB/s in all.
constexpr std::size_t most_part_threads = 12;

/// Bytes a member of a range. Each step includes a byte for scratch.
template <class Index>
constexpr std::uint64_t bytes_a_member() {
  constexpr std::uint64_t index = sizeof(Index);
  const std::uint64_t first_sort = 2 * (key + index) + 1;
  const std::uint64_t groups = key + index + list_entry<Index> + 1;
  const std::uint64_t text_round =
      index + list_entry<Index> + key + std::max(key + index, list_entry<Index>) + 1;
  // Members of large groups: two arrays of pairs of group and position, and slots. Two sets.
  const std::uint64_t sets = index / 4 + 1;
  const std::uint64_t last_sort = index + list_entry<Index> + 5 * index + sets;
  return std::max({first_sort, groups, text_round, last_sort});
}

template <class Index>
constexpr std::uint64_t bytes_a_sample() {
  constexpr std::uint64_t index = sizeof(Index);
  // Ranks, two arrays of steps, the list, keys, and the memory of a sort or a refinement.
  const std::uint64_t doubling =
      4 * index + list_entry<Index> + std::max(2 * index + 1, list_entry<Index>) + 1;
  return std::max(bytes_a_member<Index>(), doubling);
}

template <class Index>
std::uint64_t member_bytes(const TextShape& shape) {
  return bytes_a_member<Index>() + static_cast<std::uint64_t>(shape.kept);
}

std::uint64_t packed_bytes(const TextShape& shape) {
  return (shape.symbols / 64 + 1) * static_cast<std::uint64_t>(shape.bits) * 8;
}

/// Bytes of the sort of a range.
template <class Index>
std::uint64_t bytes_to_sort(const TextShape& shape, const RangePlan& plan) {
  // A NumberedSet of the positions searched.
  const std::uint64_t chunk = std::max(least_searched_chunk, shape.symbols / searched_chunks + 1);
  const std::uint64_t set = chunk / 16 * sizeof(Index);
  return packed_bytes(shape) +
         DifferenceCover::most_positions(plan.cover_order, shape.symbols) * sizeof(Index) +
         shape.sorts * (set + plan.members * member_bytes<Index>(shape)) + constant;
}

/// The plan with a given cover and the smallest ranges.
RangePlan least_plan(const TextShape& shape, std::uint32_t cover_order) {
  return {cover_order, (shape.symbols + most_ranges_wanted - 1) / most_ranges_wanted};
}

/// Returns the unused memory of the pool to the system, so that it can be allocated again as one
/// block.
void close_gaps(cudaStream_t stream) {
  check_cuda(cudaStreamSynchronize(stream));
  release_unused_device_memory();
}

/// Converts positions to the width of the result. Widened on the device, where that costs nothing
/// compared with the copy, in memory that the construction has freed.
template <class Pos, class Index>
DeviceBuffer<Pos> with_width(DeviceBuffer<Index> positions, cudaStream_t stream) {
  if constexpr (sizeof(Pos) == sizeof(Index)) {
    return positions;
  } else {
    DeviceBuffer<Pos> wide(positions.size(), stream);
    const auto widen = [narrow = positions.data(), to = wide.data()] __device__(std::uint64_t i) {
      to[i] = narrow[i];
    };
    for_each_item<std::uint64_t>(wide.size(), widen, stream);
    return wide;
  }
}

/// Copies the ranges of a suffix array to the host, on a stream and threads of its own: the copy of a
/// range overlaps the sort of the next.
///
/// Memory: the ranges that are being copied.
template <Position Pos>
class RangesToHost {
 public:
  /// \param entries  memory for all
  /// \param threads  that copy a range
  RangesToHost(const DeviceContext& context, std::span<Pos> entries, std::size_t threads)
      : device_(context.device),
        threads_(threads),
        work_stream_(context.stream),
        entries_(entries) {}
  ~RangesToHost() { release(); }
  RangesToHost(const RangesToHost&) = delete;
  RangesToHost& operator=(const RangesToHost&) = delete;

  /// Takes the page faults of the memory beside later work. \pre start() was not called
  void touch() {
    copies_.emplace_back().work.emplace(
        [entries = entries_] { touch_new_memory(entries.data(), entries.size_bytes()); });
  }
  /// Waits for all copies and frees their ranges. Rethrows errors of the copies.
  void wait() {
    for (Copy& copy : copies_) copy.work->wait();
    release();
  }
  /// Starts the copy of a range, of which the first `skipped` entries are left out, and those beyond
  /// the memory. Ordered after the work that is on the context's stream now.
  void start(DeviceBuffer<Pos> range, std::uint64_t skipped = 0) {
    const std::uint64_t count = std::min<std::uint64_t>(
        range.size() - std::min(range.size(), skipped), entries_.size() - done_);
    const std::span<Pos> to = entries_.subspan(done_, count);
    done_ += count;
    check_cuda(cudaEventRecord(sorted_.get(), work_stream_));
    check_cuda(cudaStreamWaitEvent(stream_.get(), sorted_.get(), 0));
    Copy& copy = copies_.emplace_back();
    copy.range = std::move(range);
    copy.work.emplace([this, to, from = copy.range.data() + skipped] {
      check_cuda(cudaSetDevice(device_));
      run(to, from);
    });
  }

 private:
  struct Copy {
    DeviceBuffer<Pos> range;
    std::optional<BackgroundTask> work;
  };

  void run(std::span<Pos> to, const Pos* from) const {
    const BlockTransfer array{reinterpret_cast<std::byte*>(const_cast<Pos*>(from)),
                              reinterpret_cast<std::byte*>(to.data()), to.size_bytes(),
                              cudaMemcpyDeviceToHost};
    TransferBlocks blocks(std::clamp<std::size_t>(array.blocks() / 2, 1, threads_));
    blocks.wait_for(stream_.get());
    run_blocks(static_cast<int>(blocks.size()),
               {.take = [count = array.blocks()](int, auto block) { return block < count; },
                .work = [&](int worker, auto block) { blocks.copy(worker, array, block); },
                .pass = {},
                .finish = {}});
  }
  void release() noexcept {
    for (Copy& copy : copies_) {
      copy.work.reset();
      release_on_device(device_, [&] { copy.range.reset(); });
    }
    copies_.clear();
  }

  int device_;
  std::size_t threads_;
  cudaStream_t work_stream_;
  std::span<Pos> entries_;
  std::uint64_t done_ = 0;  ///< entries whose copy has been started
  CudaEvent sorted_ = make_event();
  CudaStream stream_ = make_stream();
  /// Last: its end waits for threads that use the other members.
  std::list<Copy> copies_;
};

/// Sorts ranges, one after the other.
template <Position Index>
void sort_ranges(const DeviceContext& context, const SuffixOrder<Index>& order,
                 std::uint64_t symbols, const std::vector<SuffixRange>& ranges,
                 const RangeSink<Index>& sink) {
  RangeFigures figures;
  std::uint64_t done = 0;
  std::uint64_t all = 0;
  for (const SuffixRange& range : ranges) all += range.members;
  for (const SuffixRange& range : ranges) {
    WaitingPhase sorting(context, "ranges");
    DeviceBuffer<Index> suffixes = sort_range(order, symbols, range, figures, context.stream);
    sorting.stop();
    sink(std::move(suffixes));
    done += range.members;
    if (context.progress) context.progress("ranges", done, all);
  }
  if (context.report == nullptr) return;
  context.report->set("ranges", std::uint64_t{ranges.size()});
  context.report->set("unresolved_after_first_sort", figures.unresolved_after_first_sort);
  context.report->set("compared", figures.compared);
}

/// Builds with positions of type Index on the device, in one step if that fits, else in ranges.
/// \param in_one_step  to_result(DeviceBuffer<Pos>)
/// \param in_ranges    to_result(std::vector<Pos>)
template <class Pos, class Index, class InOneStep, class InRanges>
auto build_by(const DeviceContext& context, const TextView& text, const InOneStep& in_one_step,
              const InRanges& in_ranges) -> decltype(in_ranges({})) {
  // The rounds check their own memory.
  const std::uint64_t wanted = text.symbols.size_bytes() + text.separators.size_bytes() +
                               bytes_before_rounds<Index>(text.size());
  if (wanted <= device_memory_budget(context)) {
    try {
      DeviceBuffer<Index> positions;
      {
        const Inputs<Index> inputs(context, "the suffix array", text, {});
        positions =
            build_on_device<Index>(beside(context, inputs.bytes()), inputs.text(), context.stream);
      }
      return in_one_step(with_width<Pos>(std::move(positions), context.stream));
    } catch (const Error& error) {
      // The rounds do not fit: the text has too many long repeats.
      if (error.kind() != ErrorKind::out_of_memory) throw;
    }
  }
  std::vector<Pos> entries;
  resize_for_overwrite(entries, static_cast<std::int64_t>(text.size()));
  RangesToHost<Pos> host(
      context, entries,
      transfer_threads(std::span(entries).size_bytes(), threads_of(context), BesideTransfer::work));
  host.touch();
  build_in_ranges<Index>(context, text, sizeof(Pos), [&](DeviceBuffer<Index> positions) {
    WaitingPhase copy_out(context, "copy out", positions.size() * sizeof(Pos));
    host.wait();
    host.start(with_width<Pos>(std::move(positions), context.stream));
    copy_out.stop();
  });
  const PhaseTimer copy_out(context, "copy out");
  host.wait();
  return in_ranges(std::move(entries));
}

Error too_many_symbols() {
  return {ErrorKind::usage, "suffix array: found more symbols than 32-bit positions can address"};
}

/// The same with the narrowest positions that address the text.
template <class Pos, class InOneStep, class InRanges>
auto build_with(const DeviceContext& call, const TextView& text, const InOneStep& in_one_step,
                const InRanges& in_ranges) {
  if (text.size() <= max_symbols<std::uint32_t>)
    return build_by<Pos, std::uint32_t>(call, text, in_one_step, in_ranges);
  if constexpr (sizeof(Pos) == sizeof(std::uint64_t)) {
    return build_by<Pos, std::uint64_t>(call, text, in_one_step, in_ranges);
  }
  throw too_many_symbols();
}

}  // namespace

template <Position Index>
std::uint64_t bytes_in_ranges(const TextShape& shape, const RangePlan& plan) {
  const std::uint64_t separators =
      shape.separators == 0 ? 0 : shape.separators * sizeof(std::uint64_t) + shape.symbols / 8;
  const std::uint64_t cover = DifferenceCover::most_positions(plan.cover_order, shape.symbols);
  return std::max({shape.symbols + separators + packed_bytes(shape) + constant,
                   packed_bytes(shape) + cover * bytes_a_sample<Index>() + constant,
                   bytes_to_sort<Index>(shape, plan)});
}

template <Position Index>
std::uint64_t least_bytes(const TextShape& shape) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t order = least_cover_order; order <= greatest_cover_order; ++order) {
    least = std::min(least, bytes_in_ranges<Index>(shape, least_plan(shape, order)));
  }
  return least;
}

template <Position Index>
RangePlan plan_ranges(const TextShape& shape, std::uint64_t budget, std::uint32_t least_order) {
  for (std::uint32_t order = std::max(least_order, least_cover_order);
       order <= greatest_cover_order; ++order) {
    if (bytes_in_ranges<Index>(shape, least_plan(shape, order)) > budget) continue;
    const std::uint64_t rest = budget - bytes_to_sort<Index>(shape, {order, 0});
    return {order, std::min(shape.symbols, rest / (shape.sorts * member_bytes<Index>(shape)))};
  }
  throw out_of_memory_error("the suffix array in ranges", least_bytes<Index>(shape), budget);
}

template <Position Index>
RangeTextPacker<Index>::RangeTextPacker(const DeviceContext& context, const TextView& text,
                                        const TextPart& part, int kept, const PartCounts& parts,
                                        const std::optional<RangePlan>& given, bool mirrored)
    : DeviceTextPacker(context, mirrored ? 2 * text.size() : text.size(), part),
      shape_{symbols(), text.separators.size(), 1, kept, parts.on_device},
      parts_(parts),
      given_(given) {
  // A part of the free memory is left out: the pool grows in large blocks, and fragments.
  constexpr std::uint64_t gaps = std::uint64_t{32} << 20;
  const std::uint64_t free = device_memory_free() / 16 * 15;
  usable_ = free - std::min(free, gaps);
  budget_ = context.memory_budget == 0 ? usable_ : std::min(context.memory_budget, usable_);
  // Checks the memory for the fewest bits a symbol.
  if (!given) static_cast<void>(plan_ranges<Index>(shape_, budget_));
  if (mirrored) {
    copy_mirrored(text.symbols);
  } else {
    copy(text);
  }
}

template <Position Index>
CoverCounts RangeTextPacker<Index>::sort_cover(std::uint32_t order) {
  const std::uint64_t symbols = shape_.symbols;
  plan_ = plan(order);
  // Closing the gaps takes 50 to 100 ms, and is of no use where the memory suffices for the arrays of
  // all steps, one beside the other.
  const std::uint64_t part =
      symbols / parts_.all / (parts_.on_device == 1 ? ranges_a_part : 1) / 8 * 9 + 1;
  const std::uint64_t all_steps =
      bytes_to_sort<Index>(packed_shape(), {plan_.cover_order, std::min(plan_.members, part)}) +
      DifferenceCover::most_positions(plan_.cover_order, symbols) * bytes_a_sample<Index>() +
      2 * symbols + shape_.separators * sizeof(std::uint64_t);
  tight_ = !given_ && budget_ == usable_ && (parts_.all == 1 || all_steps > budget_);
  WaitingPhase ranking(context(), "cover");
  if (tight_) close_gaps(context().stream);
  ranking_.emplace(packed().stream, symbols, plan_.cover_order, context().stream);
  const CoverCounts counts = ranking_->sort(text_part());
  ranking.stop();
  return counts;
}

template <Position Index>
OrderedText<Index> RangeTextPacker<Index>::order(const DeviceContext& context) {
  WaitingPhase ranking(context, "cover");
  OrderedText<Index> text{take_packed(), ranking_->rank(), plan_};
  ranking_.reset();
  if (tight_) close_gaps(context.stream);
  ranking.stop();
  if (context.report != nullptr) {
    context.report->set("cover_period", std::uint64_t{text.cover.view.period});
    context.report->set("cover_rounds", text.cover.rounds);
  }
  return text;
}

template <Position Index>
void build_in_ranges(const DeviceContext& context, const TextView& view, int kept,
                     const RangeSink<Index>& sink, const std::optional<RangePlan>& given) {
  RangeTextPacker<Index> packer(context, view, {}, kept, {}, given);
  const OrderedText<Index> text = packer.order_alone(context, packer.find_letters());
  WaitingPhase cutting(context, "borders");
  const std::vector<SuffixRange> ranges =
      find_ranges(text.order(), view.size(), text.plan.members, context.stream);
  cutting.stop();
  sort_ranges(context, text.order(), view.size(), ranges, sink);
}

template <Position Pos>
std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text) {
  const DeviceCall call(context);
  return build_with<Pos>(
      call, text, [&](const DeviceBuffer<Pos>& suffixes) { return to_host(call, suffixes); },
      [](std::vector<Pos> suffixes) { return suffixes; });
}

template <Position Pos>
ArrivingArray<Pos> build_arriving(const Context& context, const TextView& text) {
  const DeviceCall call(context);
  return build_with<Pos>(
      call, text,
      [threads = threads_of(context)](DeviceBuffer<Pos> suffixes) {
        return arriving<Pos>(std::move(suffixes), threads);
      },
      [](std::vector<Pos> suffixes) { return ArrivingArray<Pos>(std::move(suffixes)); });
}

namespace {

/// Positions of type Index on the device.
template <Position Pos, Position Index>
class DevicePartBuilder final : public PartBuilder<Pos> {
 public:
  DevicePartBuilder(const DeviceContext& context, RangeTextPacker<Index>& packer)
      : symbols_(packer.symbols()),
        parts_(packer.parts().all),
        is_alone_(packer.parts().on_device == 1),
        text_(packer.order(context)) {
    // Other threads use other streams.
    check_cuda(cudaStreamSynchronize(context.stream));
  }

  [[nodiscard]] std::uint64_t most_members() const override { return text_.plan.members; }

  [[nodiscard]] std::vector<std::uint64_t> count(const Context& context, const CandidateDraw& draw,
                                                 std::uint64_t first,
                                                 std::uint64_t end) const override {
    const DeviceCall call(context);
    WaitingPhase cutting(call, "borders");
    return RangeCandidates<Index>(text_.order(), symbols_, draw, call.stream).count(first, end);
  }

  SortedPart build(const Context& context, const CandidateDraw& draw,
                   std::span<const std::uint64_t> counts, std::uint64_t first,
                   std::span<Pos> entries) const override {
    if (entries.empty()) return {};
    const DeviceCall call(context);
    std::vector<SuffixRange> own;
    std::uint64_t skipped = 0;
    std::uint64_t before = 0;
    const RangeCandidates<Index> candidates(text_.order(), symbols_, draw, call.stream);
    for (const SuffixRange& piece : candidates.pieces(counts)) {
      const std::uint64_t behind = before + piece.members;
      if (behind > first && before < first + entries.size()) {
        if (own.empty()) skipped = first - before;
        own.push_back(piece);
      }
      before = behind;
    }
    std::uint64_t sorted = 0;
    std::uint64_t largest = 0;
    for (const SuffixRange& piece : own) {
      sorted += piece.members;
      largest = std::max(largest, piece.members);
    }
    const std::uint64_t wanted = is_alone_ ? sorted / ranges_a_part + largest : sorted;
    const std::uint64_t most = std::clamp(wanted, largest, std::max(largest, most_members()));
    // The other ranges are copied beside the sort of the next ones. Where memory is left for all of
    // the part, a sort does not wait for the copy before it.
    const bool holds_all =
        sorted * sizeof(Pos) <= (std::max(most, most_members()) - most) * bytes_a_member<Index>();
    const auto threads = static_cast<std::uint64_t>(threads_of(call)) / parts_;
    auto host = std::make_shared<RangesToHost<Pos>>(
        call, entries, std::clamp<std::size_t>(threads, 1, most_part_threads));
    sort_ranges<Index>(call, text_.order(), symbols_, join_ranges(own, most),
                       [&](DeviceBuffer<Index> positions) {
                         WaitingPhase copy_out(call, "copy out", positions.size() * sizeof(Pos));
                         host->wait();
                         host->start(with_width<Pos>(std::move(positions), call.stream),
                                     std::exchange(skipped, 0));
                         copy_out.stop();
                       });
    // When all has arrived, nothing of the device is in use.
    return {sorted, [host = std::move(host)]() mutable {
              host->wait();
              host.reset();
            }};
  }

 private:
  std::uint64_t symbols_;
  std::uint64_t parts_;  ///< of all devices
  bool is_alone_;
  OrderedText<Index> text_;
};

}  // namespace

template <Position Pos>
std::unique_ptr<TextPreparation> prepare_text(const Context& context, const TextView& text,
                                              const TextPart& part, const PartCounts& parts,
                                              const std::optional<RangePlan>& plan) {
  const DeviceCall call(context);
  if (text.size() <= max_symbols<std::uint32_t>)
    return std::make_unique<RangeTextPacker<std::uint32_t>>(call, text, part, sizeof(Pos), parts,
                                                            plan);
  if constexpr (sizeof(Pos) == sizeof(std::uint64_t))
    return std::make_unique<RangeTextPacker<std::uint64_t>>(call, text, part, sizeof(Pos), parts,
                                                            plan);
  throw too_many_symbols();
}

template <Position Pos>
std::unique_ptr<PartBuilder<Pos>> make_part_builder(const Context& context,
                                                    std::unique_ptr<TextPreparation> text) {
  const DeviceCall call(context);
  if (auto* const narrow = dynamic_cast<RangeTextPacker<std::uint32_t>*>(text.get()))
    return std::make_unique<DevicePartBuilder<Pos, std::uint32_t>>(call, *narrow);
  if constexpr (sizeof(Pos) == sizeof(std::uint64_t))
    return std::make_unique<DevicePartBuilder<Pos, std::uint64_t>>(
        call, dynamic_cast<RangeTextPacker<std::uint64_t>&>(*text));
  throw too_many_symbols();
}

SORTIE_FOR_BOTH_POSITIONS(bytes_in_ranges);
SORTIE_FOR_BOTH_POSITIONS(least_bytes);
SORTIE_FOR_BOTH_POSITIONS(plan_ranges);
template class RangeTextPacker<std::uint32_t>;
template class RangeTextPacker<std::uint64_t>;
SORTIE_FOR_BOTH_POSITIONS(build_in_ranges);
SORTIE_FOR_BOTH_POSITIONS(prepare_text);
SORTIE_FOR_BOTH_POSITIONS(make_part_builder);
SORTIE_FOR_BOTH_POSITIONS(build_prefix_doubling);
SORTIE_FOR_BOTH_POSITIONS(build_arriving);

}  // namespace sortie::suffix_array::cuda
