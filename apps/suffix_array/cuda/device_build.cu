#include "sortie/apps/suffix_array/cuda/device_build.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "sortie/apps/suffix_array/cuda/device_phase.hpp"
#include "sortie/apps/suffix_array/cuda/first_sort.hpp"
#include "sortie/apps/suffix_array/cuda/pack.hpp"
#include "sortie/apps/suffix_array/cuda/refine.hpp"
#include "sortie/apps/suffix_array/cuda/runs.hpp"
#include "sortie/apps/suffix_array/cuda/sizes.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"
#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::suffix_array::cuda {
namespace {

// Thread j looks up the key of item j: the rank of the suffix h symbols behind its own.
//
// p + h never passes the end of p's record, and so is at most n, where the bare end of the text has
// its rank: p is unresolved after h symbols only if its record does not end within them, that is if
// end(p) >= p + h. For h = k because FirstSortItems makes a group of its own of every suffix whose
// word contains an end. And if it holds for h, it holds for 2h: p stays unresolved only when some q
// has the same key, so p + h shares its rank, so it is itself unresolved after h symbols (the ranks
// of resolved suffixes, separators and the end of the text among them, are unique), hence
// end(p) = end(p + h) >= p + h + h.
template <class Index>
__global__ void __launch_bounds__(block_threads)
    gather_keys_kernel(const Index* positions, std::uint64_t count, Index h, const Index* ranks,
                       Index* keys) {
  const std::uint64_t j = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (j < count) keys[j] = ranks[positions[j] + h];
}

void require(std::uint64_t budget, std::string_view what, std::uint64_t bytes) {
  if (bytes > budget) throw out_of_memory_error(what, bytes, budget);
}

/// The suffixes whose place is not known yet, in the order of the suffix array as far as it is
/// known: every segment holds suffixes that are equal in their first h symbols.
template <class Index>
struct Unresolved {
  std::uint64_t members = 0;
  std::uint64_t segments = 0;
  DeviceBuffer<Index> positions;      ///< where the suffixes begin
  DeviceBuffer<Index> segment_slots;  ///< first slot of the suffix's segment
  DeviceBuffer<Index> offsets;        ///< segments + 1 begins and ends among the members
};

/// One construction. The steps run in the order of their declaration.
template <class Index>
class Construction {
 public:
  Construction(const Context& context, const DeviceText& text)
      : context_(context),
        text_(text),
        size_(text.symbols.size()),
        budget_(device_memory_budget(context)),
        remainder_(1, context.stream) {}

  void sort_by_first_symbols();
  void find_groups();
  void resolve_groups();

  [[nodiscard]] DeviceBuffer<Index> take_suffix_array() { return std::move(suffix_array_); }

 private:
  /// A Refinement of the items that writes to the given arrays.
  template <class Items>
  void refine_items(const Items& items, std::uint64_t count, Index* positions,
                    Index* segment_slots);
  void sort_segments(const Index* begins, const Index* ends, std::uint64_t segments);
  /// Refines all members by keys_, which their segments are sorted by.
  void refine_round();
  void order_runs();
  void run_round();
  void report_progress() const;
  void require_memory_for_rounds() const;

  const Context& context_;
  const DeviceText& text_;
  std::uint64_t size_;
  std::uint64_t budget_;
  PackingPlan plan_;
  std::uint64_t depth_ = 0;  ///< h: symbols by which the suffixes are sorted so far

  DeviceBuffer<std::uint64_t> words_;
  DeviceBuffer<Index> suffix_array_;
  DeviceBuffer<Index> ranks_;
  Unresolved<Index> unresolved_;
  RunSegments<Index> runs_;

  // Partners of the arrays of unresolved_ during the rounds. The array that a step no longer needs
  // takes the output of the next: new segment slots go where the unsorted keys were.
  DeviceBuffer<Index> keys_;
  DeviceBuffer<Index> keys_alternate_;
  DeviceBuffer<Index> positions_alternate_;

  DeviceBuffer<Remainder<Index>> remainder_;
};

template <class Index>
void Construction<Index>::sort_by_first_symbols() {
  const cudaStream_t stream = context_.stream;
  DevicePhase packing(context_, "pack", size_ * (2 + sizeof(std::uint64_t) + sizeof(Index)));
  words_ = {size_, stream};
  suffix_array_ = {size_, stream};
  {
    const DeviceBuffer<std::uint32_t> separator_bits = mark_separators(text_, stream);
    plan_ = plan_first_sort(text_, separator_bits.data(), stream);
    pack_prefixes(text_, separator_bits.data(), plan_, words_.data(), suffix_array_.data(), stream);
  }
  packing.finish();

  const std::uint64_t passes = (static_cast<std::uint64_t>(plan_.word_bits) + 7) / 8;
  DevicePhase sorting(context_, "sort",
                      2 * passes * size_ * (sizeof(std::uint64_t) + sizeof(Index)));
  DeviceBuffer<std::uint64_t> words_alternate(size_, stream);
  DeviceBuffer<Index> positions_alternate(size_, stream);
  sort_by_word(words_, words_alternate, suffix_array_, positions_alternate, plan_.word_bits,
               stream);
  depth_ = static_cast<std::uint64_t>(plan_.symbols);
  sorting.finish();
}

template <class Index>
template <class Items>
void Construction<Index>::refine_items(const Items& items, std::uint64_t count, Index* positions,
                                       Index* segment_slots) {
  Refinement<Items> refinement{};
  refinement.items = items;
  refinement.count = static_cast<Index>(count);
  refinement.separators = static_cast<Index>(text_.separators.size());
  refinement.suffix_array = suffix_array_.data();
  refinement.ranks = ranks_.data();
  refinement.positions = positions;
  refinement.segment_slots = segment_slots;
  refinement.offsets = unresolved_.offsets.data();
  refinement.remainder = remainder_.data();
  refine(refinement, context_.stream);

  Remainder<Index> remainder{};
  remainder_.copy_to({&remainder, 1});
  check_cuda(cudaStreamSynchronize(context_.stream));
  unresolved_.members = remainder.members;
  unresolved_.segments = remainder.groups;
}

template <class Index>
void Construction<Index>::find_groups() {
  const cudaStream_t stream = context_.stream;
  DevicePhase phase(context_, "groups", size_ * (sizeof(std::uint64_t) + 2 * sizeof(Index)));
  ranks_ = {size_ + 1, stream};
  const Index rank_of_end = static_cast<Index>(text_.separators.size());
  check_cuda(cudaMemcpyAsync(ranks_.data() + size_, &rank_of_end, sizeof(Index),
                             cudaMemcpyHostToDevice, stream));
  unresolved_.positions = {size_, stream};
  unresolved_.segment_slots = {size_, stream};
  unresolved_.offsets = {size_ / 2 + 1, stream};
  refine_items(FirstSortItems<Index>{words_.data(), suffix_array_.data(), plan_.base}, size_,
               unresolved_.positions.data(), unresolved_.segment_slots.data());
  runs_ = find_run_segments(plan_, words_.data(), unresolved_.segment_slots.data(),
                            unresolved_.offsets.data(), unresolved_.segments, stream);
  words_.reset();
  phase.finish();
  if (context_.report != nullptr) {
    context_.report->set("unresolved_after_first_sort", unresolved_.members);
  }
  report_progress();
}

template <class Index>
void Construction<Index>::resolve_groups() {
  std::uint64_t rounds = 0;
  DevicePhase phase(context_, "rounds");
  if (unresolved_.members > 0) {
    require_memory_for_rounds();
    keys_ = {unresolved_.members, context_.stream};
    keys_alternate_ = {unresolved_.members, context_.stream};
    positions_alternate_ = {unresolved_.members, context_.stream};
  }
  if (runs_.count > 0) order_runs();
  for (; unresolved_.members > 0; ++rounds) {
    run_round();
    report_progress();
  }
  phase.finish();
  if (context_.report != nullptr) context_.report->set("rounds", rounds);
}

template <class Index>
void Construction<Index>::run_round() {
  const std::uint64_t members = unresolved_.members;
  gather_keys_kernel<<<blocks_for(members), block_threads, 0, context_.stream>>>(
      unresolved_.positions.data(), members, static_cast<Index>(depth_), ranks_.data(),
      keys_.data());
  check_cuda(cudaGetLastError());
  sort_segments(unresolved_.offsets.data(), unresolved_.offsets.data() + 1, unresolved_.segments);
  depth_ *= 2;
  refine_round();
}

/// Sorts the run segments by the lengths of their runs. The other segments get equal keys, so they
/// stay as they are. The groups that result are again equal in h symbols and in right order, so the
/// rounds go on from there with the same h.
template <class Index>
void Construction<Index>::order_runs() {
  const cudaStream_t stream = context_.stream;
  std::vector<Index> begins(runs_.count);
  std::vector<Index> ends(runs_.count);
  runs_.begins.copy_to(begins);
  runs_.ends.copy_to(ends);
  check_cuda(cudaStreamSynchronize(stream));

  // The sort writes run segments only; everything else must stand in its output before.
  check_cuda(cudaMemsetAsync(keys_.data(), 0, keys_.bytes(), stream));
  check_cuda(cudaMemsetAsync(keys_alternate_.data(), 0, keys_alternate_.bytes(), stream));
  check_cuda(cudaMemcpyAsync(positions_alternate_.data(), unresolved_.positions.data(),
                             unresolved_.members * sizeof(Index), cudaMemcpyDeviceToDevice,
                             stream));
  for (std::size_t i = 0; i < begins.size(); ++i) {
    write_run_keys<Index>(
        {unresolved_.positions.data() + begins[i], static_cast<Index>(ends[i] - begins[i]),
         static_cast<Index>(depth_), ranks_.data(), keys_.data() + begins[i]},
        stream);
  }
  sort_segments(runs_.begins.data(), runs_.ends.data(), runs_.count);
  refine_round();
}

template <class Index>
void Construction<Index>::refine_round() {
  refine_items(RoundItems<Index>{keys_.data(), unresolved_.positions.data(),
                                 unresolved_.segment_slots.data()},
               unresolved_.members, positions_alternate_.data(), keys_alternate_.data());
  std::swap(unresolved_.positions, positions_alternate_);
  std::swap(unresolved_.segment_slots, keys_alternate_);
}

/// Sorts the positions of the given segments by keys_; the results take the place of the inputs.
template <class Index>
void Construction<Index>::sort_segments(const Index* begins, const Index* ends,
                                        std::uint64_t segments) {
  DoubleBuffer<Index> keys(keys_.data(), keys_alternate_.data());
  DoubleBuffer<Index> positions(unresolved_.positions.data(), positions_alternate_.data());
  const auto members = static_cast<std::int64_t>(unresolved_.members);
  const auto count = static_cast<std::int64_t>(segments);
  std::size_t bytes = 0;
  check_cuda(DeviceSegmentedSort::SortPairs(nullptr, bytes, keys, positions, members, count, begins,
                                            ends, context_.stream));
  DeviceBuffer<std::byte> scratch(bytes, context_.stream);
  check_cuda(DeviceSegmentedSort::SortPairs(scratch.data(), bytes, keys, positions, members, count,
                                            begins, ends, context_.stream));
  if (keys.Current() != keys_.data()) std::swap(keys_, keys_alternate_);
  if (positions.Current() != unresolved_.positions.data()) {
    std::swap(unresolved_.positions, positions_alternate_);
  }
}

template <class Index>
void Construction<Index>::require_memory_for_rounds() const {
  const std::uint64_t held = suffix_array_.bytes() + ranks_.bytes() +
                             unresolved_.positions.bytes() + unresolved_.segment_slots.bytes() +
                             unresolved_.offsets.bytes();
  // Scratch of the segmented sort: 4 bytes a segment and 8 for each 2048 items, rounded up; later
  // rounds may have more segments than the first, but never more than half of its members. That of
  // refine is smaller, and taken when the other is free again.
  constexpr std::uint64_t constant_scratch = 1 << 20;
  const std::uint64_t members = unresolved_.members;
  const std::uint64_t scratch = 2 * members + members / 128 + constant_scratch;
  require(budget_, "the rounds of prefix doubling",
          held + 3 * members * sizeof(Index) +
              std::max<std::uint64_t>(scratch, refine_scratch<RoundItems<Index>>(members)));
}

template <class Index>
void Construction<Index>::report_progress() const {
  if (context_.progress) context_.progress("rounds", size_ - unresolved_.members, size_);
}

}  // namespace

template <Position Index>
std::uint64_t bytes_before_rounds(std::uint64_t symbols) {
  const std::uint64_t sort =
      symbols * 2 * (sizeof(std::uint64_t) + sizeof(Index)) + sort_by_word_scratch<Index>(symbols);
  const std::uint64_t groups = symbols * (sizeof(std::uint64_t) + 4 * sizeof(Index)) +
                               symbols / 2 * sizeof(Index) +
                               refine_scratch<FirstSortItems<Index>>(symbols);
  return std::max(sort, groups);
}

template <Position Index>
DeviceBuffer<Index> build_on_device(const Context& context, const DeviceText& text) {
  const std::uint64_t size = text.symbols.size();
  if (size > max_symbols<Index>) {
    throw Error(ErrorKind::usage, "suffix array: found a text of " + std::to_string(size) +
                                      " symbols, expected at most " +
                                      std::to_string(max_symbols<Index>) + " for " +
                                      std::to_string(8 * sizeof(Index)) + "-bit positions");
  }
  if (size == 0) return {};
  require(device_memory_budget(context), "the first sort of prefix doubling",
          bytes_before_rounds<Index>(size));

  Construction<Index> construction(context, text);
  construction.sort_by_first_symbols();
  construction.find_groups();
  construction.resolve_groups();
  return construction.take_suffix_array();
}

template std::uint64_t bytes_before_rounds<std::uint32_t>(std::uint64_t);
template std::uint64_t bytes_before_rounds<std::uint64_t>(std::uint64_t);
template DeviceBuffer<std::uint32_t> build_on_device(const Context&, const DeviceText&);
template DeviceBuffer<std::uint64_t> build_on_device(const Context&, const DeviceText&);

}  // namespace sortie::suffix_array::cuda
