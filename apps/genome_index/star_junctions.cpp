// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/star_junctions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

/// Letters by position in STAR's memory: padding, the genome, its reverse complement, padding. A
/// junction near the end of the genome reads beyond it.
class PaddedLetters {
 public:
  PaddedLetters(const StarLetters& letters, const std::uint8_t* codes)
      : letters_(letters), codes_(codes), size_(static_cast<std::int64_t>(letters.genome_size())) {}

  [[nodiscard]] std::uint8_t at(std::int64_t position) {
    if (position < 0 || position >= 2 * size_) return StarLetters::padding;
    if (position < size_) return forward(static_cast<std::uint64_t>(position));
    const std::uint8_t code = forward(static_cast<std::uint64_t>(2 * size_ - 1 - position));
    return code < 4 ? static_cast<std::uint8_t>(3 - code) : code;
  }

 private:
  [[nodiscard]] std::uint8_t forward(std::uint64_t position) {
    if (position < record_.begin || position - record_.begin >= record_.length)
      record_ = letters_.records()[letters_.record_of(position)];
    const std::uint64_t offset = position - record_.begin;
    return offset < record_.length ? codes_[record_.number + offset] : StarLetters::padding;
  }

  const StarLetters& letters_;
  const std::uint8_t* codes_;
  std::int64_t size_;
  StarLetters::Record record_;  ///< of the last position
};

/// First two and last two letters of introns, by STAR's number of the motif, from 1.
constexpr std::array<std::array<std::uint8_t, 4>, 6> motifs = {{
    {2, 3, 0, 2},  // GT/AG
    {1, 3, 0, 1},  // CT/AC
    {2, 1, 0, 2},  // GC/AG
    {1, 3, 2, 1},  // CT/GC
    {0, 3, 0, 1},  // AT/AC
    {2, 3, 0, 3},  // GT/AT
}};

std::uint8_t motif_of(PaddedLetters& letters, std::int64_t begin, std::int64_t last) {
  const std::array<std::uint8_t, 4> ends = {letters.at(begin), letters.at(begin + 1),
                                            letters.at(last - 1), letters.at(last)};
  const auto found = std::ranges::find(motifs, ends);
  return found == motifs.end() ? std::uint8_t{0}
                               : static_cast<std::uint8_t>(found - motifs.begin() + 1);
}

/// Over how many letters, at most 255, those at `left` and `right` agree in steps of `step`.
std::uint8_t agreement(PaddedLetters& letters, std::int64_t left, std::int64_t right, int step) {
  std::uint8_t count = 0;
  for (; count < 255; ++count, left += step, right += step) {
    const std::uint8_t code = letters.at(left);
    if (code >= 4 || code != letters.at(right)) break;
  }
  return count;
}

}  // namespace

StarJunctions::StarJunctions(const StarLetters& letters, const std::uint8_t* codes,
                             std::span<const Intron> introns, std::uint32_t overhang)
    : letters_(&letters), overhang_(overhang) {
  std::vector<Junction> found(introns.size());
  for_each_range(introns.size(), std::uint64_t{1} << 12,
                 [&](std::uint64_t first, std::uint64_t end) {
                   PaddedLetters padded(letters, codes);
                   for (std::uint64_t i = first; i < end; ++i) {
                     const Intron& intron = introns[i];
                     const auto begin = static_cast<std::int64_t>(intron.begin);
                     const auto last = static_cast<std::int64_t>(intron.last);
                     const std::uint8_t left = agreement(padded, begin - 1, last, -1);
                     found[i] = {intron.begin - left,
                                 intron.last - left,
                                 motif_of(padded, begin, last),
                                 left,
                                 agreement(padded, begin, last + 1, 1),
                                 intron.strand};
                   }
                 });
  choose(std::move(found));
  if (junctions_.size() > most)
    throw Error(ErrorKind::input, fmt::format("star: found {} junctions, expected at most {}",
                                              junctions_.size(), most));
  write_text(codes);
}

/// \param found  with begins and ends that are shifted to the left
void StarJunctions::choose(std::vector<Junction> found) {
  const auto place = [](const Junction& junction) {
    return std::pair(junction.begin, junction.last);
  };
  // One for each strand: forward, then reverse, then unknown.
  const auto strand_order = [](Strand strand) { return (static_cast<int>(strand) + 2) % 3; };
  std::ranges::stable_sort(found, {}, [&](const Junction& junction) {
    return std::tuple(strand_order(junction.strand), junction.begin, junction.last);
  });
  std::vector<Junction> of_strands;
  for (const Junction& junction : found) {
    if (of_strands.empty() || place(of_strands.back()) != place(junction)) {
      of_strands.push_back(junction);
      continue;
    }
    Junction& kept = of_strands.back();
    const bool has_motif = junction.motif != 0;
    if ((has_motif && kept.motif == 0) ||
        (has_motif == (kept.motif != 0) && junction.left < kept.left))
      kept = junction;
  }
  // Those with a motif go back to where they were.
  for (Junction& junction : of_strands) {
    if (junction.motif == 0) continue;
    junction.begin += junction.left;
    junction.last += junction.left;
  }
  std::ranges::stable_sort(of_strands, {}, place);
  // STAR gives odd motifs to the forward strand.
  const auto strand_of_motif = [](std::uint8_t motif) {
    return motif % 2 == 1 ? Strand::forward : Strand::reverse;
  };
  for (const Junction& junction : of_strands) {
    const bool is_known = junction.strand != Strand::unknown;
    if (!junctions_.empty() && place(junctions_.back()) == place(junction)) {
      Junction& kept = junctions_.back();
      if (kept.strand != Strand::unknown && !is_known) continue;
      if (kept.strand != Strand::unknown || !is_known) {
        if (kept.motif == 0 && junction.motif == 0) {
          kept.strand = Strand::unknown;
          continue;
        }
        if (kept.motif != 0 && junction.motif == 0) continue;
        if (kept.motif % 2 == 2 - static_cast<int>(kept.strand)) continue;
      }
      junctions_.pop_back();
    }
    junctions_.push_back(junction);
    if (!is_known && junction.motif != 0)
      junctions_.back().strand = strand_of_motif(junction.motif);
  }
}

void StarJunctions::write_text(const std::uint8_t* codes) {
  const std::uint64_t length = 2 * std::uint64_t{overhang_} + 1;
  text_.resize(junctions_.size() * length);
  for_each_range(
      junctions_.size(), std::uint64_t{1} << 10, [&](std::uint64_t first, std::uint64_t end) {
        PaddedLetters padded(*letters_, codes);
        for (std::uint64_t i = first; i < end; ++i) {
          const Junction& junction = junctions_[i];
          const auto donor =
              static_cast<std::int64_t>(junction.begin + junction.shift()) - overhang_;
          const auto acceptor = static_cast<std::int64_t>(junction.last + junction.shift()) + 1;
          std::uint8_t* to = text_.data() + i * length;
          for (std::uint32_t j = 0; j < overhang_; ++j) *to++ = padded.at(donor + j);
          for (std::uint32_t j = 0; j < overhang_; ++j) *to++ = padded.at(acceptor + j);
          *to = StarLetters::padding;
        }
      });
}

std::vector<StarLetters::Record> StarJunctions::records() const {
  std::vector<StarLetters::Record> records;
  std::uint64_t number = letters_->size();
  for (auto at = text_.begin(); at != text_.end();) {
    const auto end = std::find(at, text_.end(), StarLetters::padding);
    if (end != at) {
      const auto length = static_cast<std::uint64_t>(end - at);
      records.push_back({letters_->genome_size() + static_cast<std::uint64_t>(at - text_.begin()),
                         length, number});
      number += length;
    }
    at = end == text_.end() ? end : end + 1;
  }
  return records;
}

std::uint64_t StarJunctions::bases() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(text_, [](std::uint8_t code) { return code < 4; }));
}

std::string StarJunctions::info_table() const {
  std::string table = fmt::format("{}\t{}\n", junctions_.size(), overhang_);
  for (const Junction& junction : junctions_)
    fmt::format_to(std::back_inserter(table), "{}\t{}\t{}\t{}\t{}\t{}\n", junction.begin,
                   junction.last, junction.motif, junction.left, junction.right,
                   static_cast<int>(junction.strand));
  return table;
}

std::string StarJunctions::list_table() const {
  std::string table;
  for (const Junction& junction : junctions_) {
    const std::size_t record = letters_->record_of(junction.begin);
    const std::uint64_t before = letters_->records()[record].begin;
    fmt::format_to(std::back_inserter(table), "{}\t{}\t{}\t{}\n", letters_->name(record),
                   junction.begin - before + 1 + junction.shift(),
                   junction.last - before + 1 + junction.shift(),
                   ".+-"[static_cast<int>(junction.strand)]);
  }
  return table;
}

}  // namespace sortie::genomes
