// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/star_letters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

constexpr std::uint8_t star_other = 4;
constexpr std::uint8_t star_control = 5;

constexpr std::array<std::uint8_t, 256> star_codes = [] {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(star_control);
  std::fill(codes.begin() + 32, codes.begin() + 128, star_other);
  set_base_codes(codes);
  return codes;
}();

[[nodiscard]] std::uint8_t star_code(char letter) {
  return star_codes[static_cast<unsigned char>(letter)];
}

}  // namespace

/// Calls visit(letters) for the letters of each line.
template <class VisitLetters>
void StarLetters::for_each_line(std::size_t piece, const VisitLetters& visit) const {
  const std::vector<GenomePiece>& pieces = genome_.pieces();
  std::string_view rest = pieces[piece].bytes;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const bool ends_within_line =
        end == std::string_view::npos && piece + 1 < pieces.size() && pieces[piece + 1].continues;
    while (!ends_within_line && !line.empty() && star_code(line.back()) == star_control)
      line.remove_suffix(1);
    visit(line);
  }
}

StarLetters::StarLetters(const GenomeText& genome, std::uint32_t bin_bits) : genome_(genome) {
  const std::vector<GenomePiece>& pieces = genome.pieces();
  begins_.resize(pieces.size() + 1);
  std::vector<std::uint64_t> bases(pieces.size());
  for_each_task(pieces.size(), [&](std::uint64_t i) {
    std::uint64_t letters = 0;
    std::uint64_t others = 0;
    for_each_line(i, [&](std::string_view line) {
      letters += line.size();
      for (const char& letter : line) {
        const std::uint8_t code = star_code(letter);
        others += code / star_other;
        if (code != star_control) continue;
        throw input_error(genome_.name(), genome_.line_of(&letter),
                          fmt::format("byte {:#04x} before a letter of the same line",
                                      static_cast<unsigned char>(letter)),
                          "letters: STAR would shift those that follow");
      }
    });
    begins_[i + 1] = letters;
    bases[i] = letters - others;
  });
  records_.resize(genome.records().size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    records_[pieces[i].record].length += begins_[i + 1];
    begins_[i + 1] += begins_[i];
    bases_ += bases[i];
  }
  if (bases_ == 0)
    throw input_error(genome.name(), 0, "no A, C, G or T", "a genome: STAR has nothing to index");
  const std::uint64_t bin = std::uint64_t{1} << bin_bits;
  const auto next_begin = [&](std::uint64_t end) { return ((end + 1) / bin + 1) * bin; };
  std::uint64_t number = 0;
  for (Record& record : records_) {
    record.begin = genome_size_ == 0 ? 0 : next_begin(genome_size_);
    record.number = number;
    number += record.length;
    genome_size_ = record.begin + record.length;
  }
  genome_size_ = next_begin(genome_size_);
}

std::size_t StarLetters::record_of(std::uint64_t position) const {
  const auto after = std::ranges::upper_bound(records_, position, {}, &Record::begin);
  return static_cast<std::size_t>(after - records_.begin()) - 1;
}

std::string_view StarLetters::name(std::size_t record) const {
  constexpr std::string_view space = " \t\n\v\f\r";
  std::string_view header = genome_.records()[record].header;
  header.remove_prefix(std::min(header.find_first_not_of(space), header.size()));
  return header.substr(0, header.find_first_of(space));
}

void StarLetters::write(std::uint8_t* codes) const {
  for_each_task(begins_.size() - 1, [&](std::uint64_t i) {
    std::uint8_t* to = codes + begins_[i];
    for_each_line(
        i, [&](std::string_view line) { to = std::ranges::transform(line, to, star_code).out; });
  });
}

}  // namespace sortie::genomes
