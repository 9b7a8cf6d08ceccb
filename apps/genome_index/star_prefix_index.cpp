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

StarPrefixIndex::StarPrefixIndex(IndexFile& file, std::uint32_t depth, int bits,
                                 std::uint64_t genome_rows, std::uint64_t inserted_rows)
    : file_(file),
      depth_(depth),
      bits_(bits),
      genome_rows_(genome_rows),
      inserted_rows_(inserted_rows),
      levels_(depth) {
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
  std::vector<std::span<const SuffixPrefix>> pieces;
  for (const std::span<const SuffixPrefix> piece : prefixes)
    if (!piece.empty()) pieces.push_back(piece);
  const SuffixPrefix* const last = find_last_groups(pieces);
  if (last != nullptr && last->genome_rows + 1 == genome_rows_ && is_last_row_unseen()) {
    const auto piece = std::ranges::find_if(pieces, [&](std::span<const SuffixPrefix> candidate) {
      return last >= candidate.data() && last < candidate.data() + candidate.size();
    });
    const auto offset = static_cast<std::size_t>(last - piece->data());
    const std::span<const SuffixPrefix> behind = piece->subspan(offset + 1);
    *piece = piece->first(offset);
    pieces.insert(piece + 1, behind);
  }
  add(pieces);
}

/// Finds the last two groups of equal rows of the genome, as group_ and group_before_. Groups may
/// have begun in an earlier call.
/// \return the last row of the genome, null if there is none
const SuffixPrefix* StarPrefixIndex::find_last_groups(Pieces pieces) {
  const SuffixPrefix* last = nullptr;
  const SuffixPrefix* group = nullptr;
  const SuffixPrefix* before = nullptr;
  bool is_whole = false;  // the group before
  for (auto piece = pieces.rbegin(); piece != pieces.rend() && !is_whole; ++piece) {
    for (auto suffix = piece->rbegin(); suffix != piece->rend() && !is_whole; ++suffix) {
      if (suffix->is_inserted) continue;
      if (last == nullptr) last = &*suffix;
      if (before == nullptr && (group == nullptr || suffix->equals(*group))) {
        group = &*suffix;
      } else if (before == nullptr || suffix->equals(*before)) {
        before = &*suffix;
      } else {
        is_whole = true;
      }
    }
  }
  if (group == nullptr) return nullptr;
  const SuffixPrefix& earliest = before != nullptr ? *before : *group;
  const bool continues = !is_whole && group_ && group_->equals(earliest);
  if (before != nullptr) {
    group_before_ = continues ? group_->genome_rows : before->genome_rows;
    group_ = *group;
  } else if (!continues) {
    group_before_ = group_ ? group_->genome_rows : 0;
    group_ = *group;
  }
  return last;
}

/// From the first row of a prefix, STAR looks for the next prefix in steps. If the last step before
/// the end leads to the row before the last one, STAR does not see the last row.
bool StarPrefixIndex::is_last_row_unseen() const {
  const std::uint64_t step = (genome_rows_ >> 2 * depth_) + 1;
  return step > 1 && genome_rows_ > 1 && group_->genome_rows + 1 == genome_rows_ &&
         (genome_rows_ - 2 - group_before_) % step == 0;
}

void StarPrefixIndex::add(Pieces pieces) {
  for_each_task(depth_, [&](std::uint64_t i) {
    const std::uint32_t number = depth_ - static_cast<std::uint32_t>(i);
    if (inserted_rows_ != 0) {
      collect<true>(number, pieces);
    } else {
      collect<false>(number, pieces);
    }
  });
  for (std::uint32_t number = depth_; number >= 1; --number) {
    Level& level = levels_[number - 1];
    // The first junction may still change all rows.
    if (inserted_rows_ != 0 && !level.has_inserted && !level.has_only_a) continue;
    // The last prefix of the genome may still be cut.
    const std::uint64_t known =
        level.last_of_genome == none ? 0 : level.presents[level.last_of_genome].prefix;
    const std::uint64_t end = known < edge ? 0 : (known - edge) / 8 * 8 + edge;
    if (end <= level.written) continue;
    write_entries(number, level.written, end);
    level.written = end;
    const auto kept = std::ranges::lower_bound(level.presents, end, {}, &Present::prefix);
    level.last_of_genome -= static_cast<std::uint64_t>(kept - level.presents.begin());
    level.presents.erase(level.presents.begin(), kept);
  }
}

template <bool has_inserted>
void StarPrefixIndex::collect(std::uint32_t number, Pieces pieces) {
  Level& level = levels_[number - 1];
  const std::uint32_t shift = 2 * (16 - number);
  for (const auto piece : pieces) {
    for (const SuffixPrefix& suffix : piece) {
      const std::uint64_t prefix = suffix.letters >> shift;
      const bool is_inserted = has_inserted && suffix.is_inserted;
      if (is_inserted) level.has_inserted = true;
      if (suffix.valid < number) {
        add_cut_row(level, suffix);
      } else if (is_inserted) {
        add_inserted_row(level, suffix, prefix);
      } else if (prefix != level.prefix || (has_inserted && !level.group_is_of_genome)) {
        add_genome_row(level, suffix, prefix);
      }
    }
  }
}

void StarPrefixIndex::add_genome_row(Level& level, const SuffixPrefix& suffix,
                                     std::uint64_t prefix) {
  if (level.last_of_genome == none && suffix.genome_rows != 0)
    throw Error(ErrorKind::input,
                "star: found an N or the end of a record within the first letters of the smallest "
                "suffix, expected more letters: STAR fails on such a genome");
  const bool is_behind_inserted = prefix == level.prefix;
  if (!is_behind_inserted) {
    level.prefix = prefix;
    level.group_row = suffix.row;
    level.group_inserted = suffix.row - suffix.genome_rows;
    level.group_is_present = false;
  }
  if (!level.group_is_present) level.presents.push_back({prefix, level.group_row, false});
  level.group_is_present = true;
  level.group_is_of_genome = true;
  level.last_of_genome = level.presents.size() - 1;
  level.has_only_a |= prefix == 0;
  level.consumed = level.group_inserted;
  // STAR steps over the junctions before a prefix of the genome, but not over those with it.
  level.is_blocked = is_behind_inserted && suffix.genome_rows == 0;
}

void StarPrefixIndex::add_inserted_row(Level& level, const SuffixPrefix& suffix,
                                       std::uint64_t prefix) {
  if (prefix != level.prefix) {
    level.prefix = prefix;
    level.group_row = suffix.row;
    level.group_inserted = suffix.row - suffix.genome_rows;
    level.group_is_of_genome = false;
    level.group_is_present = !level.is_blocked;
    if (level.group_is_present) {
      const bool is_behind_genome = suffix.genome_rows == genome_rows_;
      level.presents.push_back(
          {prefix, is_behind_genome ? (level.group_inserted - 2) & (cut() - 1) : suffix.row,
           false});
      level.consumed = level.group_inserted + 1;
      level.is_blocked = suffix.is_repeated && blocks(suffix);
    }
    return;
  }
  level.is_blocked |= blocks(suffix);
}

void StarPrefixIndex::add_cut_row(Level& level, const SuffixPrefix& suffix) const {
  if (!suffix.is_inserted) {
    if (level.last_of_genome != none) level.presents[level.last_of_genome].is_cut = true;
    return;
  }
  if (suffix.row == suffix.genome_rows && suffix.letters == 0 && !level.has_only_a) {
    level.row_of_only_a = suffix.row;
    // STAR has stepped over this junction for all prefixes.
    for (Present& present : level.presents) ++present.row;
    level.is_blocked |= suffix.is_repeated && blocks(suffix);
  } else {
    level.is_blocked |= blocks(suffix);
  }
  if (level.presents.empty()) {
    level.is_first_cut = true;
  } else {
    level.presents.back().is_cut = true;
  }
}

void StarPrefixIndex::write_entries(std::uint32_t number, std::uint64_t begin, std::uint64_t end) {
  Level& level = levels_[number - 1];
  const std::uint64_t size = std::uint64_t{1} << 2 * number;
  const std::uint64_t rows = genome_rows_ + (level.consumed == inserted_rows_ ? inserted_rows_ : 0);
  const auto for_each_entry = [&](std::uint64_t first, std::uint64_t last, const auto& visit) {
    auto next = std::ranges::lower_bound(level.presents, first, {}, &Present::prefix);
    while (first < last) {
      const bool is_found = next != level.presents.end();
      const std::uint64_t absent_end = is_found ? std::min(next->prefix, last) : last;
      const std::uint64_t entry = (is_found ? next->row : rows) | absent();
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

/// Marks for what is cut before the first prefix of a level: STAR marks an entry before the level.
void StarPrefixIndex::mark_previous_levels(std::uint32_t number) {
  Level& level = levels_[number - 1];
  if (number > 1 && level.last_of_genome == none) {
    Level& before = levels_[number - 2];
    const std::uint64_t last = (std::uint64_t{1} << 2 * (number - 1)) - 1;
    if (before.last_of_genome != none && before.presents[before.last_of_genome].prefix == last)
      before.presents[before.last_of_genome].is_cut = true;
  }
  if (!level.is_first_cut || level.row_of_only_a != none) return;
  for (std::uint32_t other = number - 1; other >= 1; --other) {
    std::vector<Present>& presents = levels_[other - 1].presents;
    if (presents.empty()) continue;
    presents.back().is_cut = true;
    return;
  }
}

void StarPrefixIndex::finish() {
  for (std::uint32_t number = 1; number <= depth_; ++number) mark_previous_levels(number);
  for (std::uint32_t number = 1; number <= depth_; ++number) {
    Level& level = levels_[number - 1];
    if (level.row_of_only_a != none) level.consumed = std::max(level.consumed, std::uint64_t{1});
    write_entries(number, level.written, std::uint64_t{1} << 2 * number);
    if (level.row_of_only_a != none)
      level.first[0] = level.row_of_only_a | (level.is_first_cut ? cut() : 0);
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
