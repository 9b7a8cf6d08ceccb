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
#include <array>
#include <limits>
#include <optional>
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
#include "core/cuda/pinned_memory.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
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
         DifferenceCover::most_positions(plan.cover_order, shape.symbols) * sizeof(Index) + set +
         plan.members * member_bytes<Index>(shape) + constant;
}

/// The plan with a given cover and the smallest ranges.
RangePlan least_plan(const TextShape& shape, std::uint32_t cover_order) {
  return {cover_order, (shape.symbols + most_ranges_wanted - 1) / most_ranges_wanted};
}

/// The same letters, none of them rare.
PrefixCode without_rare_letters(const PrefixCode& code) {
  std::array<bool, 256> occurs{};
  for (std::size_t byte = 0; byte < occurs.size(); ++byte) occurs[byte] = code.codes[byte] != 0;
  return plan_prefix_code(occurs, {}, 32);
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

/// Copies the ranges of a suffix array to the host, on a stream and a thread of its own: the copy
/// of a range overlaps the sort of the next. The page faults of the host's memory are parallel to
/// the sort, too.
///
/// Memory: the range that is being copied, and 8 MiB page-locked.
template <Position Pos>
class RangesToHost {
 public:
  /// \param symbols  entries of the suffix array
  RangesToHost(const DeviceContext& context, std::uint64_t symbols)
      : device_(context.device), work_stream_(context.stream), copier_(symbols * sizeof(Pos)) {
    suffixes_.reserve(symbols);
    work_.emplace(
        [memory = suffixes_.data(), symbols] { touch_new_memory(memory, symbols * sizeof(Pos)); });
  }

  /// Waits for the copy of the previous range and frees the range. Rethrows errors of the copy.
  void wait() {
    if (work_) work_->wait();
    work_.reset();
    range_.reset();
  }
  /// Starts the copy of a range, ordered after the work that is on the context's stream now.
  /// \pre wait() was called since the last start()
  void start(DeviceBuffer<Pos> range) {
    range_ = std::move(range);
    check_cuda(cudaEventRecord(sorted_.get(), work_stream_));
    check_cuda(cudaStreamWaitEvent(stream_.get(), sorted_.get(), 0));
    work_.emplace([this] {
      check_cuda(cudaSetDevice(device_));
      copier_.copy(range_.data(), range_.bytes(), stream_.get(), [this](auto chunk) {
        const Pos* const items = reinterpret_cast<const Pos*>(chunk.data());
        suffixes_.insert(suffixes_.end(), items, items + chunk.size() / sizeof(Pos));
      });
    });
  }
  /// All ranges, in the order of the calls of start().
  [[nodiscard]] std::vector<Pos> finish() {
    wait();
    return std::move(suffixes_);
  }

 private:
  int device_;
  cudaStream_t work_stream_;
  ChunkCopier copier_;
  std::vector<Pos> suffixes_;
  DeviceBuffer<Pos> range_;
  CudaEvent sorted_ = make_event();
  CudaStream stream_ = make_stream();
  /// Last: its destructor waits for the thread, which uses the other members.
  std::optional<BackgroundTask> work_;
};

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
  RangesToHost<Pos> host(context, text.size());
  build_in_ranges<Index>(context, text, sizeof(Pos), [&](DeviceBuffer<Index> positions) {
    WaitingPhase copy_out(context, "copy out", positions.size() * sizeof(Pos));
    host.wait();
    host.start(with_width<Pos>(std::move(positions), context.stream));
    copy_out.stop();
  });
  const PhaseTimer copy_out(context, "copy out");
  return in_ranges(host.finish());
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
  throw Error(ErrorKind::usage,
              "suffix array: found more symbols than 32-bit positions can address");
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
RangePlan plan_ranges(const TextShape& shape, std::uint64_t budget) {
  for (std::uint32_t order = least_cover_order; order <= greatest_cover_order; ++order) {
    if (bytes_in_ranges<Index>(shape, least_plan(shape, order)) > budget) continue;
    const std::uint64_t rest = budget - bytes_to_sort<Index>(shape, {order, 0});
    return {order, std::min(shape.symbols, rest / member_bytes<Index>(shape))};
  }
  throw out_of_memory_error("the suffix array in ranges", least_bytes<Index>(shape), budget);
}

template <Position Index>
void build_in_ranges(const DeviceContext& context, const TextView& view, int kept,
                     const RangeSink<Index>& sink, const std::optional<RangePlan>& given) {
  const cudaStream_t stream = context.stream;
  const std::uint64_t symbols = view.size();
  // A part of the free memory is left out: the pool grows in large blocks, and fragments.
  constexpr std::uint64_t gaps = std::uint64_t{32} << 20;
  const std::uint64_t free = device_memory_free() / 16 * 15;
  const std::uint64_t usable = free - std::min(free, gaps);
  const std::uint64_t budget =
      context.memory_budget == 0 ? usable : std::min(context.memory_budget, usable);
  const bool tight = !given && budget == usable;
  const auto plan_for = [&](int bits) {
    const TextShape shape{symbols, view.separators.size(), bits, kept};
    return given ? *given : plan_ranges<Index>(shape, budget);
  };
  // Checks the memory for the fewest bits a symbol, before the text is copied.
  RangePlan plan = plan_for(1);
  PackedText packed;
  {
    const Inputs<Index> inputs(context, "the text", view, {});
    WaitingPhase packing(context, "pack", 2 * symbols);
    const MarkedText marked = mark_separators(inputs.text(), stream);
    const PrefixCode code = without_rare_letters(plan_first_sort(marked, 32, stream));
    plan = plan_for(symbol_bits(code));
    packed = pack_text(marked, code, stream);
    packing.stop();
  }
  packed.stream.first_symbols = 0;  // no sort by this code
  const SymbolStream& text = packed.stream;

  WaitingPhase ranking(context, "cover");
  if (tight) close_gaps(stream);
  const RankedCover<Index> cover = rank_cover<Index>(text, symbols, plan.cover_order, stream);
  if (tight) close_gaps(stream);
  ranking.stop();

  const SuffixOrder<Index> order{text, cover.view};
  WaitingPhase cutting(context, "borders");
  const std::vector<SuffixRange> ranges = find_ranges(order, symbols, plan.members, stream);
  cutting.stop();

  RangeFigures figures;
  std::uint64_t done = 0;
  for (const SuffixRange& range : ranges) {
    WaitingPhase sorting(context, "ranges");
    DeviceBuffer<Index> suffixes = sort_range(order, symbols, range, figures, stream);
    sorting.stop();
    sink(std::move(suffixes));
    done += range.members;
    if (context.progress) context.progress("ranges", done, symbols);
  }
  if (context.report != nullptr) {
    context.report->set("ranges", std::uint64_t{ranges.size()});
    context.report->set("cover_period", std::uint64_t{cover.view.period});
    context.report->set("cover_rounds", cover.rounds);
    context.report->set("unresolved_after_first_sort", figures.unresolved_after_first_sort);
    context.report->set("compared", figures.compared);
  }
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

SORTIE_FOR_BOTH_POSITIONS(bytes_in_ranges);
SORTIE_FOR_BOTH_POSITIONS(least_bytes);
SORTIE_FOR_BOTH_POSITIONS(plan_ranges);
SORTIE_FOR_BOTH_POSITIONS(build_in_ranges);
SORTIE_FOR_BOTH_POSITIONS(build_prefix_doubling);
SORTIE_FOR_BOTH_POSITIONS(build_arriving);

}  // namespace sortie::suffix_array::cuda
