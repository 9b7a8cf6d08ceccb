// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/error.hpp"
#include "sortie/suffix_array.hpp"

/// Parts of a suffix array that are built independently, on one device or several: consecutive
/// entries each. Sources: cuda/ranges/range_build.cu.
namespace sortie::suffix_array {

/// Candidates for the borders of parts. All devices draw the same.
struct CandidateDraw {
  std::uint64_t count = 0;   ///< candidates wanted; the device takes at most 4095
  std::uint64_t number = 0;  ///< of the draw
};

/// Parts of a suffix array.
struct PartCounts {
  std::uint64_t all = 1;
  std::uint64_t on_device = 1;  ///< that one device builds at a time
};

/// Which bytes are letters of a text.
using LetterSet = std::array<bool, 256>;

/// A part of a text that one of several devices copies and packs: blocks of symbols.
struct TextPart {
  std::uint64_t number = 0;
  std::uint64_t parts = 1;
};

/// Suffixes of a cover that a device has sorted, and those of them in groups.
struct CoverCounts {
  std::uint64_t suffixes = 0;
  std::uint64_t members = 0;
};

/// Device memory of a part of a cover: the suffixes in order, and of those in groups items, slots
/// and heads (cuda/build/suffix_groups.hpp).
using CoverMemory = std::array<std::span<std::byte>, 4>;

/// A text that is packed on a device, and whose suffixes at positions of a cover are sorted there.
/// Of several devices, each does a part of every step and receives the other parts. One call after
/// the other, in the order of the declarations.
class TextPreparation {
 public:
  TextPreparation() = default;
  virtual ~TextPreparation() = default;
  TextPreparation(const TextPreparation&) = delete;
  TextPreparation& operator=(const TextPreparation&) = delete;

  /// The letters of the part that was copied.
  [[nodiscard]] virtual LetterSet find_letters() = 0;
  /// Packs that part, and allocates memory for all. Waits. \param letters  of the whole text
  virtual void pack(const LetterSet& letters) = 0;
  /// Device memory of part `number`, packed. \pre pack()
  [[nodiscard]] virtual std::span<std::byte> packed_part(std::uint64_t number) = 0;

  /// The least order of the cover for which the memory suffices. \pre all packed_part() are filled
  [[nodiscard]] virtual std::uint32_t cover_order() const = 0;
  /// Sorts a part of the cover. Waits. \param order  cover_order(), or a greater one
  [[nodiscard]] virtual CoverCounts sort_cover(std::uint32_t order) = 0;
  /// Allocates memory for all parts, and moves its own there. Waits. \param counts  of all parts
  virtual void join_cover(std::span<const CoverCounts> counts) = 0;
  /// \pre join_cover()
  [[nodiscard]] virtual CoverMemory cover_part(std::uint64_t number) = 0;
};

/// Most attempts to draw candidates; each one is almost certain to succeed.
inline constexpr std::uint64_t most_draws = 8;

[[nodiscard]] inline Error cannot_be_divided() {
  return {ErrorKind::device, "suffix array: the suffixes cannot be divided into ranges"};
}

/// A part of a suffix array that has been sorted on a device.
struct SortedPart {
  /// Suffixes sorted: of pieces at both ends, other parts contain some.
  std::uint64_t suffixes = 0;
  /// Waits until the entries are in host memory. Called once, by any thread.
  std::function<void()> arrive = [] {};
};

/// Builds parts of the suffix array of a text that it holds on a device, packed and with the ranks of
/// a difference cover. Several threads may use it at a time, each for a part.
template <Position Pos>
class PartBuilder {
 public:
  PartBuilder() = default;
  virtual ~PartBuilder() = default;
  PartBuilder(const PartBuilder&) = delete;
  PartBuilder& operator=(const PartBuilder&) = delete;

  /// Most suffixes that can be sorted at a time.
  [[nodiscard]] virtual std::uint64_t most_members() const = 0;

  /// Counts the suffixes at positions [first, end) that lie between two candidates.
  /// \return one number for each piece, of which there is one more than candidates
  [[nodiscard]] virtual std::vector<std::uint64_t> count(const Context& context,
                                                         const CandidateDraw& draw,
                                                         std::uint64_t first,
                                                         std::uint64_t end) const = 0;

  /// Sorts entries of the suffix array, those from number `first` on, and starts to copy them.
  /// \param counts  of all suffixes in each piece of this draw, at most most_members() each
  [[nodiscard]] virtual SortedPart build(const Context& context, const CandidateDraw& draw,
                                         std::span<const std::uint64_t> counts, std::uint64_t first,
                                         std::span<Pos> entries) const = 0;
};

namespace cuda {

/// How a suffix array is built in ranges: consecutive parts of it, each sorted independently.
struct RangePlan {
  std::uint32_t cover_order = 0;  ///< order of the DifferenceCover
  std::uint64_t members = 0;      ///< most suffixes of a range, at least 1
};

/// Copies a part of a text to the context's device, after checking the memory for all steps.
/// \param text  the whole text, not empty; not used later
/// \param plan  instead of that for the memory of the device, whatever it takes; for tests
/// \throws Error (out_of_memory, device)
template <Position Pos>
[[nodiscard]] std::unique_ptr<TextPreparation> prepare_text(const Context& context,
                                                            const TextView& text,
                                                            const TextPart& part,
                                                            const PartCounts& parts,
                                                            const std::optional<RangePlan>& plan);

/// Ranks the cover of a text.
/// \param text  of prepare_text() with the same type, whose cover_part() are all filled
/// \throws Error (out_of_memory, device)
template <Position Pos>
[[nodiscard]] std::unique_ptr<PartBuilder<Pos>> make_part_builder(
    const Context& context, std::unique_ptr<TextPreparation> text);

}  // namespace cuda
}  // namespace sortie::suffix_array
