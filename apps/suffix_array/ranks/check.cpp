// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/ranks/position_array.hpp"
#include "apps/suffix_array/ranks/results.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

constexpr std::string_view array_title = "suffix array";
constexpr std::string_view lcp_title = "LCP array";
constexpr std::string_view transform_title = "Burrows-Wheeler transform";

/// The last suffix of a rank, and the rank of the suffix one symbol later.
struct LastSuffix {
  std::uint64_t exists = 0;
  std::uint64_t position = 0;
  std::uint64_t next = 0;
};

template <Position Pos>
class ShareCheck {
 public:
  ShareCheck(Exchanges& exchanges, const Context& context, const PackedText& text,
             const cluster::SuffixArrayShare<Pos>& share)
      : exchanges_(exchanges),
        ranks_(exchanges.ranks()),
        context_(context),
        text_(text),
        share_(share),
        entries_(share.suffixes) {}

  void check_order() {
    constexpr Pos unseen = std::numeric_limits<Pos>::max();
    PositionArray<Pos> inverse(exchanges_, context_, text_.size(), unseen);
    std::vector<Pos> next;
    ranks_.together("check positions", [&] {
      next = allocate_vector<Pos>(entries_.size());
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (entries_[i] >= text_.size()) throw wrong(array_title, i, beyond_text(entries_[i]));
        next[i] = static_cast<Pos>(text_.rank_of_slot(share_.begin + i));
      }
    });
    inverse.store(entries_, next);
    ranks_.together("check permutation", [&] {
      // Where a position occurs twice, another one does not occur.
      const auto missing = std::ranges::find(inverse.own(), unseen);
      if (missing == inverse.own().end()) return;
      throw Error(ErrorKind::check,
                  fmt::format("{}: found no entry for position {}, expected one", array_title,
                              inverse.own_begin() +
                                  static_cast<std::uint64_t>(missing - inverse.own().begin())));
    });
    const auto is_last = [&](Pos position) { return position + std::uint64_t{1} == text_.size(); };
    for (std::size_t i = 0; i < entries_.size(); ++i)
      next[i] = is_last(entries_[i]) ? Pos{0} : static_cast<Pos>(entries_[i] + 1);
    inverse.fetch(next, next.data());
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (is_last(entries_[i])) next[i] = static_cast<Pos>(text_.rank_of_end());
    LastSuffix own;
    if (!entries_.empty()) own = {1, entries_.back(), next.back()};
    const LastSuffix before = last_before(ranks_.gather(own));
    ranks_.together("check neighbours", [&] { compare_neighbours(before, next); });
  }

  /// The same by comparing each suffix with the one before: entries of which each is strictly
  /// greater are distinct, so all positions are there. Takes O(sum of LCP values), and no memory.
  void check_order_by_text() {
    const std::optional<Pos> before = entry_before(ranks_, entries_);
    ranks_.together("check by text", [&] {
      for_each_range(std::uint64_t{entries_.size()}, task_entries,
                     [&](std::uint64_t first, std::uint64_t last) {
                       for (std::uint64_t i = first; i < last; ++i) {
                         if (i + ahead < last && entries_[i + ahead] < text_.size())
                           text_.stream().prefetch(entries_[i + ahead]);
                         check_entry(i, i > 0 ? std::optional(entries_[i - 1]) : before);
                       }
                     });
    });
  }

  void check_lcp() {
    const std::optional<Pos> before = entry_before(ranks_, entries_);
    PositionArray<Pos> permuted(exchanges_, context_, text_.size(), Pos{0});
    permuted.store(entries_, share_.lcp);
    std::vector<Pos> previous;
    ranks_.together("previous positions", [&] {
      previous = allocate_vector<Pos>(entries_.size());
      for (std::size_t i = 0; i < entries_.size(); ++i)
        previous[i] = static_cast<Pos>(entries_[i] - (entries_[i] > 0 ? 1 : 0));
    });
    permuted.fetch(previous, previous.data());
    ranks_.together("check lcp", [&] {
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        const std::uint64_t right = entries_[i];
        if (i == 0 && !before) {
          if (share_.lcp[0] != 0)
            throw wrong(lcp_title, 0, fmt::format("found {}, expected 0", share_.lcp[0]));
          continue;
        }
        const std::uint64_t left = i > 0 ? entries_[i - 1] : *before;
        if (is_right(left, right, share_.lcp[i], previous[i])) continue;
        throw wrong(lcp_title, i,
                    fmt::format("found {}, but positions {} and {} have {} letters in common",
                                share_.lcp[i], left, right, text_.common_symbols(left, right, 0)));
      }
    });
  }

  void check_transform() {
    ranks_.together("check bwt", [&] {
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        const std::uint8_t expected =
            text_.symbol((entries_[i] == 0 ? text_.size() : entries_[i]) - 1);
        if (share_.bwt[i] == expected) continue;
        throw wrong(transform_title, i,
                    fmt::format("found byte {}, expected byte {}", share_.bwt[i], expected));
      }
    });
  }

 private:
  [[nodiscard]] Error wrong(std::string_view title, std::uint64_t i,
                            const std::string& words) const {
    return wrong_entry(title, share_.begin + i, words);
  }

  /// \param before  the entry before, if there is one
  void check_entry(std::uint64_t i, std::optional<Pos> before) const {
    const std::uint64_t entry = share_.begin + i;
    const std::vector<std::uint64_t>& separators = text_.separators();
    const std::uint64_t position = entries_[i];
    if (position >= text_.size()) throw wrong(array_title, i, beyond_text(position));
    if (entry < separators.size()) {
      if (position != separators[entry]) throw wrong(array_title, i, no_separator(position, entry));
    } else if (before && !precedes(*before, position)) {
      throw wrong(array_title, i, wrong_order(position, *before));
    }
  }

  /// Whether a suffix comes before another one. \pre both are in the text
  [[nodiscard]] bool precedes(std::uint64_t left, std::uint64_t right) const {
    const host::SymbolStream& stream = text_.stream();
    if (left == right) return false;
    for (std::uint64_t depth = 0;; depth += static_cast<unsigned>(stream.symbols())) {
      const std::uint64_t of_left = stream.until_end(stream.word(left + depth));
      const std::uint64_t of_right = stream.until_end(stream.word(right + depth));
      if (of_left != of_right) return of_left < of_right;
      if (stream.ended(of_left)) return left < right;
    }
  }

  [[nodiscard]] std::string beyond_text(std::uint64_t position) const {
    return fmt::format("found position {}, expected a position below {}", position, text_.size());
  }
  [[nodiscard]] std::string no_separator(std::uint64_t position, std::uint64_t entry) const {
    return fmt::format("found position {}, expected position {}, where record {} ends", position,
                       text_.separators()[entry], entry);
  }

  [[nodiscard]] LastSuffix last_before(const std::vector<LastSuffix>& all) const {
    LastSuffix before;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks_.rank()); ++rank)
      if (all[rank].exists != 0) before = all[rank];
    return before;
  }

  void compare_neighbours(LastSuffix before, std::span<const Pos> next) const {
    const std::vector<std::uint64_t>& separators = text_.separators();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::uint64_t entry = share_.begin + i;
      const LastSuffix own{1, entries_[i], next[i]};
      if (entry < separators.size()) {
        if (entries_[i] != separators[entry])
          throw wrong(array_title, i, no_separator(entries_[i], entry));
      } else if (entry > separators.size()) {
        const std::uint64_t left = text_.stream().code(before.position);
        const std::uint64_t right = text_.stream().code(own.position);
        if (left > right || (left == right && before.next > own.next))
          throw wrong(array_title, i, wrong_order(own.position, before.position));
      }
      before = own;
    }
  }

  /// Whether `common` letters are right, given that all other entries are.
  /// \param previous  the entry of the suffix one symbol before `right`
  [[nodiscard]] bool is_right(std::uint64_t left, std::uint64_t right, std::uint64_t common,
                              std::uint64_t previous) const {
    if (common > text_.size() - std::max(left, right)) return false;
    if (are_equal_letters(left + common, right + common)) return false;
    if (common == 0) return true;
    if (left > 0 && right > 0 && are_equal_letters(left - 1, right - 1))
      return previous == common + 1;
    return text_.common_symbols(left, right, 0) == common;
  }
  [[nodiscard]] bool are_equal_letters(std::uint64_t left, std::uint64_t right) const {
    if (std::max(left, right) >= text_.size()) return false;
    const std::uint64_t code = text_.stream().code(left);
    return code != 0 && code == text_.stream().code(right);
  }

  static constexpr std::uint64_t task_entries = std::uint64_t{1} << 16;
  static constexpr std::uint64_t ahead = 16;  ///< entries, of which the text is prefetched

  Exchanges& exchanges_;
  cluster::Ranks& ranks_;
  const Context& context_;
  const PackedText& text_;
  const cluster::SuffixArrayShare<Pos>& share_;
  std::span<const Pos> entries_;
};

}  // namespace

template <Position Pos>
void check_share(Exchanges& exchanges, const Context& context, const PackedText& text,
                 const cluster::SuffixArrayShare<Pos>& share,
                 const cluster::SuffixArrayOptions& options, bool by_text) {
  const PhaseTimer timer(context, "check");
  ShareCheck<Pos> check(exchanges, context, text, share);
  by_text ? check.check_order_by_text() : check.check_order();
  if (options.lcp) check.check_lcp();
  if (options.bwt) check.check_transform();
}

SORTIE_FOR_BOTH_POSITIONS(check_share);

}  // namespace sortie::suffix_array::on_ranks
