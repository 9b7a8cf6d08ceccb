// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sortie::genomes {

/// Sorts the suffixes of short texts on one thread, in the order of bowtie2 and HISAT2: the end is
/// greater than every letter. Memory that is kept for the next text: 40 bytes a letter.
class WindowSorter {
 public:
  /// Letters of the longest text.
  static constexpr std::uint64_t most_letters = 57344;

  /// \param codes  0 to 3, at most most_letters
  /// \return the suffixes in order, the empty one included, which is the last; valid until the next
  ///         call
  /// Complexity: O(n log n) steps for texts without long repeats, O(n log^2 n) for others.
  /// Source: Larsson, Sadakane (Theoretical Computer Science 387, 2007), after a sort by 32 letters.
  std::span<const std::uint16_t> sort(std::span<const std::uint8_t> codes);

 private:
  struct Element {
    std::uint64_t key;  ///< the first 32 letters, the first in the highest bits, filled with 3
    std::uint16_t position;
  };
  struct Group {
    std::uint32_t begin;
    std::uint32_t end;
  };

  void sort_by_keys(std::span<const std::uint8_t> codes);
  void find_groups(std::uint64_t letters);
  void double_prefixes(std::uint64_t agreed);

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> places_;
  std::vector<Element> elements_;
  std::vector<std::uint16_t> suffixes_;
  std::vector<std::uint16_t> ranks_;
  std::vector<Group> groups_;
  std::vector<Group> refined_;
  std::vector<std::uint32_t> members_;
};

}  // namespace sortie::genomes
