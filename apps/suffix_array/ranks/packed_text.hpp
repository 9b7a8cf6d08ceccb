// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "apps/suffix_array/host/text/coded_text.hpp"
#include "cluster/rank_memory.hpp"
#include "sequences/symbol_blocks.hpp"
#include "sortie/cluster.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::on_ranks {

/// The text of rank 0: symbols in memory, or packed while they were read. Empty on other ranks.
class RankText {
 public:
  explicit RankText(const TextView& view) : view_(view) {}
  /// \param blocks      sealed; separators have the byte 0, which no letter has
  /// \param is_last_use  blocks are freed one after the other while pack() reads them
  RankText(sequences::SymbolBlocks& blocks, std::span<const std::uint64_t> separators,
           bool is_last_use)
      : view_({}, separators), blocks_(&blocks), is_last_use_(is_last_use) {}

  [[nodiscard]] std::uint64_t size() const {
    return blocks_ != nullptr ? blocks_->size() : view_.size();
  }
  [[nodiscard]] std::span<const std::uint64_t> separators() const { return view_.separators; }
  /// \pre the symbols are in memory
  [[nodiscard]] const TextView& view() const { return view_; }
  /// \pre the host runtime is started
  [[nodiscard]] host::LetterCounts count_letters() const;
  [[nodiscard]] std::uint8_t separator_symbol(std::size_t number) const {
    return blocks_ != nullptr ? 0 : view_.symbols[view_.separators[number]];
  }
  /// Packs the text on all threads. \pre the host runtime is started
  [[nodiscard]] host::SymbolStream pack(const HostContext& context,
                                        const host::PrefixPlan& plan) const;

 private:
  TextView view_;
  sequences::SymbolBlocks* blocks_ = nullptr;
  bool is_last_use_ = false;
};

/// A text that every rank holds whole, packed: 3/8 byte a symbol for DNA, and 9/8 for a text of all
/// bytes. Separators take 9 bytes each.
class PackedText {
 public:
  using ShareBytes = std::function<std::uint64_t(std::uint64_t)>;

  /// Packs the text of rank 0 and sends it to all. Collective.
  /// \param text         of rank 0
  /// \param share_bytes  share_bytes(s) that a rank needs besides for a share of s symbols
  /// \throws Error (out_of_memory) the memory of a rank is not enough
  PackedText(cluster::Ranks& ranks, const Context& context, const cluster::RankMemory& memory,
             const RankText& text, const ShareBytes& share_bytes);

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
             const RankText& text, const ShareBytes& share_bytes, const Header& header);
  [[nodiscard]] static Header shared_header(cluster::Ranks& ranks, const Context& context,
                                            const RankText& text);

  std::uint64_t size_;
  host::PrefixPlan plan_;
  host::SymbolStream stream_;
  std::vector<std::uint64_t> separators_;
  std::vector<std::uint8_t> separator_symbols_;
  std::array<std::uint8_t, 257> letter_of_code_{};
};

}  // namespace sortie::suffix_array::on_ranks
