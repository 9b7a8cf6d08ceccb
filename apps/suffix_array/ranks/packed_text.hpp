// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "apps/suffix_array/host/text/coded_text.hpp"
#include "cluster/rank_memory.hpp"
#include "sortie/cluster.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::on_ranks {

/// A text that every rank holds whole, packed: 3/8 byte a symbol for DNA, and 9/8 for a text of all
/// bytes. Separators take 9 bytes each.
class PackedText {
 public:
  using ShareBytes = std::function<std::uint64_t(std::uint64_t)>;

  /// Packs the text of rank 0 and sends it to all. Collective.
  /// \param text         on rank 0; not used elsewhere
  /// \param share_bytes  share_bytes(s) that a rank needs besides for a share of s symbols
  /// \throws Error (out_of_memory) the memory of a rank is not enough
  PackedText(cluster::Ranks& ranks, const Context& context, const cluster::RankMemory& memory,
             const TextView& text, const ShareBytes& share_bytes);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Of the packed text and the separators.
  [[nodiscard]] std::uint64_t bytes() const {
    return host::SymbolStream::bytes(size_, plan_) + separators_.size() * separator_bytes;
  }
  [[nodiscard]] const host::PrefixPlan& plan() const { return plan_; }
  [[nodiscard]] const host::SymbolStream& stream() const { return stream_; }
  [[nodiscard]] const std::vector<std::uint64_t>& separators() const { return separators_; }

  /// A number that compares as suffixes do, from the slot of one or the first slot of its group.
  /// The end of the text has no slot. It is between the separators, which come first, and the
  /// letters.
  [[nodiscard]] std::uint64_t rank_of_slot(std::uint64_t slot) const {
    return slot < separators_.size() ? slot : slot + 1;
  }
  [[nodiscard]] std::uint64_t rank_of_end() const { return separators_.size(); }

  /// The symbol at a position, also of a separator. \pre position < size()
  [[nodiscard]] std::uint8_t symbol(std::uint64_t position) const;

  /// The symbols that the suffixes at two positions have in common, given that the first `known`
  /// agree without an end.
  [[nodiscard]] std::uint64_t common_symbols(std::uint64_t left, std::uint64_t right,
                                             std::uint64_t known) const;

  static constexpr std::uint64_t separator_bytes = sizeof(std::uint64_t) + sizeof(std::uint8_t);

 private:
  /// What the other ranks receive first.
  struct Header {
    std::uint64_t size = 0;
    std::uint64_t separators = 0;
    host::LetterCounts counts{};
  };
  PackedText(cluster::Ranks& ranks, const Context& context, const cluster::RankMemory& memory,
             const TextView& text, const ShareBytes& share_bytes, const Header& header);
  [[nodiscard]] static Header shared_header(cluster::Ranks& ranks, const Context& context,
                                            const TextView& text);

  std::uint64_t size_;
  host::PrefixPlan plan_;
  host::SymbolStream stream_;
  std::vector<std::uint64_t> separators_;
  std::vector<std::uint8_t> separator_symbols_;
  std::array<std::uint8_t, 257> letter_of_code_{};
};

}  // namespace sortie::suffix_array::on_ranks
