// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/star_prefix_index.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "apps/genome_index/packed_numbers.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

/// begin_of() of all levels but the first is 4 more than a multiple of 8: eight entries, which take
/// whole bytes, consist of the last four of a level and the first four of the next.
constexpr std::uint64_t edge = 4;

}  // namespace

StarPrefixIndex::StarPrefixIndex(IndexFile& file, std::uint32_t depth, int bits)
    : file_(file), depth_(depth), bits_(bits), levels_(depth) {
  file.write_number(std::uint64_t{depth});
  for (std::uint32_t level = 1; level <= depth + 1; ++level) file.write_number(begin_of(level));
  offset_ = file.reserve(bytes(depth, bits) - file.size());
}

std::uint64_t StarPrefixIndex::bytes(std::uint32_t depth, int bits) {
  const std::uint64_t head = sizeof(std::uint64_t) * (depth + 2);
  return head + (begin_of(depth + 1) - 1) * static_cast<std::uint64_t>(bits) / 8 +
         sizeof(std::uint64_t);
}

void StarPrefixIndex::append(std::span<const std::vector<SuffixPrefix>> prefixes) {
  const std::optional<SuffixPrefix> held = last_;
  std::vector<std::span<const SuffixPrefix>> pieces;
  if (held) pieces.push_back({&*held, 1});
  for (std::span<const SuffixPrefix> piece : prefixes) {
    if (!piece.empty() && last_ && last_->equals(piece.front())) piece = piece.subspan(1);
    if (piece.empty()) continue;
    pieces.push_back(piece);
    last_ = piece.back();
  }
  if (pieces.empty()) return;
  // The last one is held back.
  pieces.back() = pieces.back().first(pieces.back().size() - 1);
  if (pieces.back().empty()) pieces.pop_back();
  if (pieces.empty()) return;
  row_before_ = pieces.back().back().row;
  add(pieces);
}

void StarPrefixIndex::add(Pieces pieces) {
  for_each_task(depth_,
                [&](std::uint64_t i) { collect(depth_ - static_cast<std::uint32_t>(i), pieces); });
  for (std::uint32_t number = depth_; number >= 1; --number) {
    Level& level = levels_[number - 1];
    // The last prefix may still be cut.
    const std::uint64_t known = level.presents.empty() ? 0 : level.presents.back().prefix;
    const std::uint64_t end = known < edge ? 0 : (known - edge) / 8 * 8 + edge;
    if (end <= level.written) continue;
    write_entries(number, level.written, end);
    level.written = end;
    const auto kept = std::ranges::lower_bound(level.presents, end, {}, &Present::prefix);
    level.presents.erase(level.presents.begin(), kept);
  }
}

void StarPrefixIndex::collect(std::uint32_t number, Pieces pieces) {
  std::vector<Present>& presents = levels_[number - 1].presents;
  const std::uint32_t shift = 2 * (16 - number);
  const auto add_suffix = [&](const SuffixPrefix& suffix) {
    if (suffix.valid < number) {
      if (!presents.empty()) presents.back().is_cut = true;
      return;
    }
    const std::uint64_t prefix = suffix.letters >> shift;
    if (!presents.empty() && presents.back().prefix == prefix) return;
    if (presents.empty() && suffix.row != 0)
      throw Error(
          ErrorKind::input,
          "star: found an N or the end of a record within the first letters of the smallest "
          "suffix, expected more letters: STAR fails on such a genome");
    presents.push_back({prefix, suffix.row, false});
  };
  for (const auto piece : pieces) std::ranges::for_each(piece, add_suffix);
}

void StarPrefixIndex::write_entries(std::uint32_t number, std::uint64_t begin, std::uint64_t end) {
  Level& level = levels_[number - 1];
  const std::uint64_t size = std::uint64_t{1} << 2 * number;
  const auto for_each_entry = [&](std::uint64_t first, std::uint64_t last, const auto& visit) {
    auto next = std::ranges::lower_bound(level.presents, first, {}, &Present::prefix);
    while (first < last) {
      const bool is_found = next != level.presents.end();
      const std::uint64_t absent_end = is_found ? std::min(next->prefix, last) : last;
      const std::uint64_t entry = (is_found ? next->row : rows_) | absent();
      for (; first < absent_end; ++first) visit(first, entry);
      if (first == last) break;
      visit(first++, next->row | (next->is_cut ? cut() : 0));
      ++next;
    }
  };
  for_each_entry(begin, std::min(end, edge),
                 [&](std::uint64_t i, std::uint64_t entry) { level.first[i] = entry; });
  for_each_entry(std::max(begin, size - edge), end, [&](std::uint64_t i, std::uint64_t entry) {
    level.last[i - (size - edge)] = entry;
  });
  const std::uint64_t first = std::max(begin, edge);
  const std::uint64_t last = std::min(end, size - edge);
  if (first >= last) return;
  constexpr std::uint64_t task_entries = std::uint64_t{1} << 16;
  for_each_range(last - first, task_entries, [&](std::uint64_t from, std::uint64_t to) {
    PackedNumbers packed(bits_, to - from);
    for_each_entry(first + from, first + to,
                   [&](std::uint64_t, std::uint64_t entry) { packed.append(entry); });
    file_.write_at(
        offset_ + (begin_of(number) + first + from) / 8 * static_cast<std::uint64_t>(bits_),
        packed.finish());
  });
}

void StarPrefixIndex::finish(std::uint64_t rows) {
  rows_ = rows;
  // From the first row of a prefix, STAR looks for the next prefix in steps. If the last step
  // before the end leads to the row before the last one, STAR does not see the last row.
  const std::uint64_t step = (rows >> 2 * depth_) + 1;
  const bool is_unseen =
      step > 1 && last_->row == rows - 1 && last_->row != 0 && (rows - 2 - row_before_) % step == 0;
  const std::span<const SuffixPrefix> last(&*last_, 1);
  if (!is_unseen) add({&last, 1});
  for (std::uint32_t number = 1; number <= depth_; ++number) {
    // Where a level has no prefix, STAR marks the entry before the level as cut.
    std::vector<Present>& before = levels_[std::max(number, 2U) - 2].presents;
    const std::uint64_t last = (std::uint64_t{1} << 2 * (number - 1)) - 1;
    if (levels_[number - 1].presents.empty() && !before.empty() && before.back().prefix == last)
      before.back().is_cut = true;
  }
  for (std::uint32_t number = 1; number <= depth_; ++number) {
    Level& level = levels_[number - 1];
    write_entries(number, level.written, std::uint64_t{1} << 2 * number);
  }
  for (std::uint32_t number = 1; number <= depth_; ++number) {
    PackedNumbers packed(bits_, 2 * edge);
    for (const std::uint64_t entry : levels_[number - 1].last) packed.append(entry);
    if (number < depth_)
      for (const std::uint64_t entry : levels_[number].first) packed.append(entry);
    std::vector<char> bytes = packed.finish();
    const std::uint64_t at = (begin_of(number + 1) - edge) / 8 * static_cast<std::uint64_t>(bits_);
    if (number == depth_) bytes.resize(file_.size() - offset_ - at);
    file_.write_at(offset_ + at, bytes);
  }
}

}  // namespace sortie::genomes
