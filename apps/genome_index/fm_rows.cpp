// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/fm_rows.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>

#include "apps/genome_index/suffix_rows.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::genomes {
namespace {

/// Rows of a task: a multiple of the letters of sides of 48 and 96 bytes.
constexpr std::uint64_t task_rows = 384 * 128;

/// The letters before suffixes.
struct PrecedingLetters {
  const std::uint8_t* packed;
  std::uint64_t size;  ///< of the text
  bool reversed;

  /// Place of the letter in the packed text. \pre position is not 0
  [[nodiscard]] std::uint64_t place(std::uint64_t position) const {
    return reversed ? size - position : position - 1;
  }
  [[nodiscard]] std::uint8_t operator()(std::uint64_t position) const {
    const std::uint64_t at = place(position);
    return packed[at / 4] >> at % 4 * 2 & 3;
  }
  void prefetch(std::uint64_t position) const { __builtin_prefetch(packed + place(position) / 4); }
};

class FmRowWriter {
 public:
  FmRowWriter(const PrecedingLetters& letters, const SideLayout& layout,
              std::span<const FmTarget> targets)
      : letters_(letters), layout_(layout), targets_(targets) {}

  /// Takes the next rows, which come in reverse order.
  template <class Pos>
  void append(std::span<const Pos> rows) {
    const std::uint64_t first = next_row_;
    const auto suffix_of = [=](std::uint64_t row) -> std::uint64_t {
      return rows[rows.size() - 1 - (row - first)];
    };
    append(rows.size(), suffix_of,
           [&](std::uint64_t begin, std::uint64_t end, std::uint8_t* codes) {
             fill_codes(begin, end, suffix_of, codes);
           });
  }
  /// Takes the next rows from a GPU, whose letters are complements.
  void append(const suffix_array::RowBlock& block) {
    const std::uint64_t first = block.first;
    const std::uint64_t samples = samples_below(first);
    const std::uint64_t end = first + block.letters.size();
    const auto is_new = [&](std::uint64_t row) { return row >= first && row < end; };
    if (is_new(block.marks[0])) found_.first_suffix = block.marks[0];
    std::ranges::copy_if(block.marks.subspan(1), std::back_inserter(found_.short_rows), is_new);
    append(
        block.letters.size(),
        [&](std::uint64_t row) { return block.samples[row / fm_sample_step - samples]; },
        [&](std::uint64_t begin, std::uint64_t last, std::uint8_t* codes) {
          for (std::uint64_t row = begin; row < last; ++row)
            *codes++ = static_cast<std::uint8_t>(3 - block.letters[row - first]);
        });
  }

  /// Writes the last sides. \return the rows that were found
  [[nodiscard]] FmRows finish() {
    std::uint64_t sides = next_side_;
    for (const FmTarget& target : targets_) sides = std::max(sides, target.sides);
    codes_.resize((sides - next_side_) * layout_.letters());
    write_sides(sides - next_side_);
    return std::move(found_);
  }

 private:
  [[nodiscard]] static std::uint64_t samples_below(std::uint64_t row) {
    return (row + fm_sample_step - 1) / fm_sample_step;
  }

  /// \param suffix_of  the suffix of a sampled row
  /// \param fill       fill(begin, end, codes) writes the letters of rows
  template <class SuffixOf, class Fill>
  void append(std::uint64_t count, const SuffixOf& suffix_of, const Fill& fill) {
    const std::uint64_t first = next_row_;
    next_row_ += count;
    write_samples(first, suffix_of);
    // The letters of the block, after those of the side that the last block has begun.
    const std::uint64_t waiting = first % layout_.letters();
    codes_.resize(waiting + count);
    for_each_range(count, task_rows, [&](std::uint64_t begin, std::uint64_t end) {
      fill(first + begin, first + end, codes_.data() + waiting + begin);
    });
    const std::uint64_t whole = codes_.size() / layout_.letters();
    write_sides(whole);
    codes_.erase(codes_.begin(),
                 codes_.begin() + static_cast<std::ptrdiff_t>(whole * layout_.letters()));
  }

  /// The letters of rows; also looks for the rows that are returned.
  template <class SuffixOf>
  void fill_codes(std::uint64_t begin, std::uint64_t end, const SuffixOf& suffix_of,
                  std::uint8_t* codes) {
    constexpr std::uint64_t ahead = 32;
    const std::uint64_t shortest = std::max<std::uint64_t>(letters_.size, fm_prefix_letters);
    // position - 1 of the suffix at 0 is a large number.
    const std::uint64_t remarkable = shortest - fm_prefix_letters;
    for (std::uint64_t row = begin; row < end; ++row) {
      if (row + ahead < end) letters_.prefetch(suffix_of(row + ahead));
      const std::uint64_t position = suffix_of(row);
      *codes++ = position == 0 ? std::uint8_t{0} : letters_(position);
      if (position - 1 >= remarkable) note(row, position);
    }
  }

  void note(std::uint64_t row, std::uint64_t position) {
    const std::lock_guard lock(mutex_);
    if (position == 0) found_.first_suffix = row;
    if (letters_.size - position < fm_prefix_letters) found_.short_rows.push_back(row);
  }

  /// Writes the first sides of the letters to the files.
  void write_sides(std::uint64_t sides) {
    std::vector<char> encoded(sides * layout_.bytes);
    std::vector<SideCounts> counts(sides);
    for_each_range(sides, task_rows / layout_.letters(),
                   [&](std::uint64_t begin, std::uint64_t end) {
                     for (std::uint64_t i = begin; i < end; ++i)
                       counts[i] = layout_.pack(codes_.data() + i * layout_.letters(),
                                                encoded.data() + i * layout_.bytes);
                   });
    // Beyond all sides if the end is in an earlier one, or was not found.
    const std::uint64_t end_side = found_.first_suffix / layout_.letters() - next_side_;
    layout_.set_numbers(counts, end_side, before_, encoded.data());
    for (const FmTarget& target : targets_) {
      const std::uint64_t wanted = std::min(sides, target.sides - next_side_);
      target.sides_file->write_at(target.sides_offset + next_side_ * layout_.bytes,
                                  std::span(encoded).first(wanted * layout_.bytes));
    }
    next_side_ += sides;
  }

  /// Writes the suffixes of every fm_sample_step-th row.
  template <class SuffixOf>
  void write_samples(std::uint64_t first, const SuffixOf& suffix_of) {
    const std::uint64_t begin = samples_below(first);
    std::vector<char> samples((samples_below(next_row_) - begin) * layout_.word);
    for_each_index(0, samples.size() / layout_.word, [&](std::uint64_t i) {
      const std::uint64_t suffix = suffix_of((begin + i) * fm_sample_step);
      std::memcpy(samples.data() + i * layout_.word, &suffix, layout_.word);
    });
    for (const FmTarget& target : targets_)
      target.samples_file->write_at(target.samples_offset + begin * layout_.word, samples);
  }

  const PrecedingLetters letters_;
  const SideLayout layout_;
  const std::span<const FmTarget> targets_;
  std::uint64_t next_row_ = 0;
  std::uint64_t next_side_ = 0;
  std::vector<std::uint8_t> codes_;  ///< letters of the transform that are not written yet
  SideCounts before_{};              ///< the side that is written next
  std::mutex mutex_;                 ///< of the following
  FmRows found_{.first_suffix = no_index, .short_rows = {}};
};

}  // namespace

FmRows write_fm_rows(const Context& context, std::span<const std::uint8_t> complements,
                     const std::uint8_t* packed, bool reversed, const SideLayout& layout,
                     std::span<const FmTarget> targets) {
  const std::uint64_t size = complements.size();
  FmRowWriter writer({packed, size, reversed}, layout, targets);
  if (streams_from_device(context)) {
    // 3: the complement of the letter of the row of the whole text, A.
    for_each_row_block(context, {complements},
                       {.descending = true,
                        .sample_step = fm_sample_step,
                        .tail = fm_prefix_letters - 1,
                        .first_letter = 3},
                       [&](const suffix_array::RowBlock& block) { writer.append(block); });
  } else {
    with_position_type(size, [&](auto type) {
      using Pos = decltype(type);
      for_each_rows<Pos>(context, {complements}, RowOrder::descending,
                         [&](std::uint64_t, std::span<const Pos> rows) { writer.append(rows); });
    });
  }
  writer.append(std::span<const std::uint64_t>(&size, 1));
  return writer.finish();
}

}  // namespace sortie::genomes
