// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "apps/suffix_array/cuda/text/text_packer.hpp"
#include "apps/suffix_array/part_builder.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// The parameters that determine the memory of a construction in ranges.
struct TextShape {
  std::uint64_t symbols = 0;  ///< at least 1
  std::uint64_t separators = 0;
  int bits = 9;  ///< bits of a symbol of the packed text: 1 to 9
  /// Bytes that the receiver of a range keeps for each of its suffixes while the next is sorted.
  int kept = 0;
  std::uint64_t sorts = 1;  ///< ranges that are sorted at a time
};

/// Orders of covers that plans use. The least one needs the fewest symbols for a comparison, 181;
/// the greatest, 5221 symbols, ranks 1.7 % of all suffixes.
inline constexpr std::uint32_t least_cover_order = 2;
inline constexpr std::uint32_t greatest_cover_order = 14;

/// A range has at least 1/64 of all suffixes, since each range takes a pass over the text.
inline constexpr std::uint64_t most_ranges_wanted = 64;

/// A part that is alone on its device is sorted in so many ranges, so that the first is copied to
/// the host beside the sort of the second. Parts that share a device overlap each other.
inline constexpr std::uint64_t ranges_a_part = 2;

/// The members of a range are searched in this many chunks of the text, one after the other, and in
/// fewer if these would be shorter than the least chunk.
inline constexpr std::uint64_t searched_chunks = 4;
inline constexpr std::uint64_t least_searched_chunk = std::uint64_t{1} << 20;

/// Most bytes of device memory that a construction in ranges takes (range_build.cu has the table).
/// Pure arithmetic.
template <Position Index>
[[nodiscard]] std::uint64_t bytes_in_ranges(const TextShape& shape, const RangePlan& plan);

/// The least budget that plan_ranges() accepts.
template <Position Index>
[[nodiscard]] std::uint64_t least_bytes(const TextShape& shape);

/// The least cover order and the largest ranges that a budget allows.
/// \param least_order  of the cover
/// \throws Error (out_of_memory)  the budget is below least_bytes()
template <Position Index>
[[nodiscard]] RangePlan plan_ranges(const TextShape& shape, std::uint64_t budget,
                                    std::uint32_t least_order = least_cover_order);

/// The first sort keys of a range: as many symbols of the packed text as 63 bits hold, zeros after
/// an end, and in the lowest bit whether there is an end. So suffixes with equal odd keys are in
/// their final order, as first_groups() requires.
struct WindowKey {
  SymbolStream text;

  /// Symbols that a key covers.
  __host__ __device__ int symbols() const { return 63 / text.bits; }
  /// Bits of the greatest key.
  __host__ __device__ int bits() const { return symbols() * text.bits + 1; }

  __host__ __device__ std::uint64_t operator()(std::uint64_t position) const {
    const std::uint64_t window =
        text.window<std::uint64_t>(position) >> ((text.window_symbols(64) - symbols()) * text.bits);
    return window << 1 | ((window & text.last_symbol_mask()) == 0 ? 1U : 0U);
  }
};

/// A set of suffixes of a text, sorted by the symbols compared so far.
template <Position Index>
struct TextSorted {
  DeviceBuffer<Index> suffixes;  ///< their positions, in order
  SuffixGroups<Index> groups;    ///< those that are equal so far; slots are entries of `suffixes`
  std::uint64_t depth = 0;       ///< least letters in which the members of a group agree
  std::uint64_t unresolved = 0;  ///< suffixes in groups after the first sort
};

/// Sorts suffixes by the symbols of the packed text alone: by one radix sort by WindowKey, then
/// groups by windows of 64 bits. Waits for the stream once, and once a round.
///
/// \param text       its first_depth() is 0
/// \param positions  ascending
/// \param key_bits   low bits of the first keys in which suffixes may differ
/// \param depth      stops when this many letters are compared, although groups remain
/// \param when_slow  also stops when a round leaves more than half of its suffixes in groups
/// Complexity: O(m) for m suffixes, and a round is linear in the suffixes in groups. Memory:
/// range_build.cu, bytes_a_member.
template <Position Index>
[[nodiscard]] TextSorted<Index> sort_by_text(const SymbolStream& text,
                                             DeviceBuffer<Index> positions, int key_bits,
                                             std::uint64_t depth, bool when_slow,
                                             cudaStream_t stream);

/// Consecutive suffixes of the suffix array: from the one at `begin` on, and before the one at
/// `end`.
struct SuffixRange {
  std::uint64_t begin = 0;  ///< a position
  std::uint64_t end = 0;
  std::uint64_t begin_window = 0;  ///< the 64-bit windows of both
  std::uint64_t end_window = 0;
  bool first = false;  ///< begins with the first suffix of all; `begin` is not used
  bool last = false;   ///< ends with the last suffix of all; `end` is not used
  std::uint64_t members = 0;
};

/// Joins consecutive ranges to ranges of at most `most` members. Returns nothing if a range has more.
[[nodiscard]] std::vector<SuffixRange> join_ranges(const std::vector<SuffixRange>& parts,
                                                   std::uint64_t most);

/// Suffixes drawn at random, one from each of equal ranges of the text, and sorted: the borders of
/// pieces of the suffix array. All suffixes differ, so every text can be divided, also one of a
/// single repeated letter.
///
/// Memory: less than 512 KiB.
template <Position Index>
class RangeCandidates {
 public:
  /// \param symbols  symbols of the text, at least 1
  RangeCandidates(const SuffixOrder<Index>& order, std::uint64_t symbols, const CandidateDraw& draw,
                  cudaStream_t stream);

  /// Counts the suffixes at positions [first, end) in each piece. Waits for the stream.
  /// Complexity: O((end - first) log c) for c candidates.
  [[nodiscard]] std::vector<std::uint64_t> count(std::uint64_t first, std::uint64_t end) const;
  /// The pieces. Waits for the stream. \param counts  of all suffixes in each
  [[nodiscard]] std::vector<SuffixRange> pieces(std::span<const std::uint64_t> counts) const;

 private:
  SuffixOrder<Index> order_;
  cudaStream_t stream_;
  std::vector<Index> candidates_;  ///< as drawn
  DeviceBuffer<Index> positions_;  ///< sorted
  DeviceBuffer<std::uint64_t> windows_;
};

/// Divides the suffix array, before it is built, into ranges of at most `most_members`.
///
/// All suffixes between two neighbouring candidates are counted, and neighbouring counts are joined.
///
/// \param symbols  symbols of the text, at least 1
/// Waits for the stream twice, and again in the unlikely case that a range is too large.
/// Complexity: O(n log c) for c candidates. Memory: less than 512 KiB.
template <Position Index>
[[nodiscard]] std::vector<SuffixRange> find_ranges(const SuffixOrder<Index>& order,
                                                   std::uint64_t symbols,
                                                   std::uint64_t most_members, cudaStream_t stream);

/// Figures of the sort of a range.
struct RangeFigures {
  std::uint64_t unresolved_after_first_sort = 0;
  std::uint64_t compared = 0;  ///< suffixes sorted by comparisons
};

/// The suffixes of a range, in order: the suffixes of the text that lie in the range are gathered,
/// sorted by text as long as each round separates most of them, and the rest by a merge sort of each
/// group that compares two suffixes at a time by SuffixOrder.
/// \param figures  incremented
/// Waits for the stream several times. Complexity: O(n) for the text, O(m) for the m members of the
/// range, and O(g log g) comparisons for the g remaining ones, each of at most a period of symbols.
/// Memory: bytes_to_sort() of range_build.cu, which includes the text and the ranks of the cover.
template <Position Index>
[[nodiscard]] DeviceBuffer<Index> sort_range(const SuffixOrder<Index>& order, std::uint64_t symbols,
                                             const SuffixRange& range, RangeFigures& figures,
                                             cudaStream_t stream);

/// A text on a device of which any two suffixes can be compared.
template <Position Index>
struct OrderedText {
  PackedText packed;
  RankedCover<Index> cover;
  RangePlan plan;

  [[nodiscard]] SuffixOrder<Index> order() const { return {packed.stream, cover.view}; }
};

/// Step 1 of a construction in ranges (range_build.cu), with the memory that all steps may take:
/// what is free before anything is copied.
template <Position Index>
class RangeTextPacker final : public DeviceTextPacker {
 public:
  /// \param given     instead of the plan for the memory of the device
  /// \param mirrored  the reverse complement follows the symbols (RowRequest); of one part only
  /// \throws Error (out_of_memory)  names the fewest bytes required, before the copy; (device)
  RangeTextPacker(const DeviceContext& context, const TextView& text, const TextPart& part,
                  int kept, const PartCounts& parts, const std::optional<RangePlan>& given,
                  bool mirrored = false);

  [[nodiscard]] std::uint32_t cover_order() const override { return plan(0).cover_order; }
  [[nodiscard]] CoverCounts sort_cover(std::uint32_t order) override;
  void join_cover(std::span<const CoverCounts> counts) override { ranking_->join(counts); }
  [[nodiscard]] CoverMemory cover_part(std::uint64_t number) override {
    return ranking_->part(number);
  }
  /// The end of step 2. Called once. \pre all cover_part() are filled
  /// \throws Error (out_of_memory, device)
  [[nodiscard]] OrderedText<Index> order(const DeviceContext& context);
  /// Steps 1 and 2 of a text that is on this device alone. \param letters  find_letters()
  [[nodiscard]] OrderedText<Index> order_alone(const DeviceContext& context,
                                               const LetterSet& letters) {
    pack(letters);
    const CoverCounts counts = sort_cover(0);
    join_cover({&counts, 1});
    return order(context);
  }
  [[nodiscard]] const PartCounts& parts() const { return parts_; }

 private:
  [[nodiscard]] TextShape packed_shape() const {
    TextShape shape = shape_;
    shape.bits = packed().stream.bits;
    return shape;
  }
  [[nodiscard]] RangePlan plan(std::uint32_t order) const {
    return given_ ? *given_ : plan_ranges<Index>(packed_shape(), budget_, order);
  }

  TextShape shape_;
  PartCounts parts_;
  std::optional<RangePlan> given_;
  std::uint64_t usable_ = 0;  ///< bytes of the device
  std::uint64_t budget_ = 0;  ///< of these
  bool tight_ = false;
  std::optional<CoverRanking<Index>> ranking_;
  RangePlan plan_;
};

/// Receives the suffix array, one range after the other.
template <Position Index>
using RangeSink = std::function<void(DeviceBuffer<Index> suffixes)>;

/// Builds a suffix array in ranges; see range_build.cu.
///
/// \param context  progress has one call a range; its device must be current (DeviceCall)
/// \param text     in host memory, of at least one symbol, addressable by Index
/// \param kept     bytes that `sink` keeps for each suffix of a range until it is called again;
///                 while it runs, it may use the memory that the range took besides its suffixes
/// \param plan     instead of that for the memory of the device, whatever it takes; for tests
/// \throws Error (out_of_memory)  names the fewest bytes required, before any sort; (device)
template <Position Index>
void build_in_ranges(const DeviceContext& context, const TextView& text, int kept,
                     const RangeSink<Index>& sink, const std::optional<RangePlan>& plan = {});

}  // namespace sortie::suffix_array::cuda
