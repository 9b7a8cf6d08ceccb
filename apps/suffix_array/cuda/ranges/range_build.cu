// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/range_build.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "apps/suffix_array/cuda/host_copies.hpp"
#include "apps/suffix_array/cuda/ranges/suffix_ranges.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_phase.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

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

/// \param plan_for  returns the plan for the bits of a packed symbol
/// \param tight     the plan uses all free memory of the device
template <class Index, class PlanFor>
void build_by(const DeviceContext& context, const TextView& view, const PlanFor& plan_for,
              bool tight, const RangeSink<Index>& sink) {
  const cudaStream_t stream = context.stream;
  const std::uint64_t symbols = view.size();
  RangePlan plan;
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

  const SuffixOrder<Index> order{text, cover.view()};
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
    context.report->set("cover_period", std::uint64_t{cover.period});
    context.report->set("cover_rounds", cover.rounds);
    context.report->set("unresolved_after_first_sort", figures.unresolved_after_first_sort);
    context.report->set("compared", figures.compared);
  }
}

}  // namespace

template <Position Index>
void build_in_planned_ranges(const DeviceContext& context, const TextView& text,
                             const RangePlan& plan, const RangeSink<Index>& sink) {
  build_by(
      context, text, [&](int) { return plan; }, false, sink);
}

template <Position Index>
void build_in_ranges(const DeviceContext& context, const TextView& text, int kept,
                     const RangeSink<Index>& sink) {
  // A part of the free memory is left out: the pool grows in large blocks, and fragments.
  constexpr std::uint64_t gaps = std::uint64_t{32} << 20;
  const std::uint64_t free = device_memory_free() / 16 * 15;
  const std::uint64_t usable = free - std::min(free, gaps);
  const std::uint64_t budget =
      context.memory_budget == 0 ? usable : std::min(context.memory_budget, usable);
  TextShape shape{text.size(), text.separators.size(), 1, kept};
  // Checks the memory for the most bits a symbol, before the text is copied.
  static_cast<void>(plan_ranges<Index>(shape, budget));
  const auto plan_for = [&](int bits) {
    shape.bits = bits;
    return plan_ranges<Index>(shape, budget);
  };
  build_by(context, text, plan_for, budget == usable, sink);
}

SORTIE_INSTANTIATE_FOR_POSITIONS(build_in_planned_ranges);
SORTIE_INSTANTIATE_FOR_POSITIONS(build_in_ranges);

}  // namespace sortie::suffix_array::cuda
