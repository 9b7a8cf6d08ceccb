// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/genome_index/fm_sides.hpp"
#include "apps/genome_index/index_outputs.hpp"
#include "sortie/context.hpp"

namespace sortie::genomes {

/// Where the rows of a suffix array go. Both places have been reserved.
struct FmTarget {
  IndexFile* sides_file = nullptr;
  std::uint64_t sides_offset = 0;
  std::uint64_t sides = 0;  ///< at least those that the rows fill
  IndexFile* samples_file = nullptr;
  std::uint64_t samples_offset = 0;
};

/// Rows that the tables behind the sides mention.
struct FmRows {
  std::uint64_t first_suffix = 0;         ///< of the suffix at 0
  std::vector<std::uint64_t> short_rows;  ///< of those of less than fm_prefix_letters letters
};

/// Rows between two that are sampled.
inline constexpr std::uint64_t fm_sample_step = 16;

/// Builds the suffix array of a text in the order of bowtie2 and HISAT2, in which the end is greater
/// than all letters, and writes sides and samples of it, the same to each target, block by block.
///
/// \param complements  of the text's codes: 3 - code. The plain order of these, from the last to the
///                     first, is that of the tools
/// \param packed       the text, forward, 4 letters a byte, the first in the lowest bits
/// \param reversed     the text is the reverse of that which is packed
/// \throws Error as for_each_rows(), and (output)
[[nodiscard]] FmRows write_fm_rows(const Context& context,
                                   std::span<const std::uint8_t> complements,
                                   const std::uint8_t* packed, bool reversed,
                                   const SideLayout& layout, std::span<const FmTarget> targets);

/// Bytes of memory that write_fm_rows() takes for a block of rows.
inline constexpr std::uint64_t fm_block_memory = std::uint64_t{2} << 20;

}  // namespace sortie::genomes
