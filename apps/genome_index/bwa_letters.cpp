// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/bwa_letters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

constexpr std::uint8_t replaced_code = 4;

/// Without a table, and with one comparison, so that compilers vectorise loops over letters. Bits 1 and
/// 2 of the letters A, C, T and G are 0, 1, 2 and 3, in either case.
[[nodiscard]] constexpr std::uint8_t bwa_code(char letter) {
  constexpr unsigned upper_case = 0xdf;
  const auto byte = static_cast<std::uint8_t>(letter);
  const auto bits = static_cast<std::uint8_t>(byte >> 1 & 3);
  const auto base = static_cast<std::uint8_t>('A' + 2 * bits + (bits == 2 ? 'T' - 'A' - 4 : 0));
  const auto code = static_cast<std::uint8_t>(bits ^ bits >> 1);
  return (byte & upper_case) == base ? code : replaced_code;
}
static_assert(bwa_code('A') == 0 && bwa_code('c') == 1 && bwa_code('G') == 2 && bwa_code('t') == 3);

/// Whether a line has letters that are replaced.
[[nodiscard]] bool has_replaced(std::string_view line) {
  std::uint8_t all = 0;
  for (const char letter : line) all |= bwa_code(letter);
  return (all & replaced_code) != 0;
}

/// The generator of lrand48(): X' = (a X + c) mod 2^48.
class Random48 {
 public:
  /// After `steps` numbers of the generator that srand48(11) starts. O(log steps).
  explicit Random48(std::uint64_t steps) {
    // The square of the step X -> a X + c is X -> a^2 X + (a + 1) c.
    std::uint64_t a = multiplier;
    std::uint64_t c = increment;
    for (; steps != 0; steps >>= 1) {
      if (steps % 2 != 0) state_ = a * state_ + c;
      c *= a + 1;
      a *= a;
    }
  }

  [[nodiscard]] std::uint8_t next_code() {
    state_ = multiplier * state_ + increment;
    return static_cast<std::uint8_t>(state_ >> 17 & 3);
  }

 private:
  static constexpr std::uint64_t multiplier = 0x5DEECE66D;
  static constexpr std::uint64_t increment = 0xB;
  // Higher bits never influence lower ones, so the modulus is left out.
  std::uint64_t state_ = (std::uint64_t{11} << 16) + 0x330E;
};

}  // namespace

/// Calls visit(letters) for the letters of each line.
template <class VisitLetters>
void BwaLetters::for_each_line(const GenomePiece& piece, const VisitLetters& visit) const {
  std::string_view rest = piece.bytes;
  bool is_empty = piece.first;  // the record so far
  for (bool continues = piece.continues; !rest.empty(); continues = false) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    const bool is_ended = end != rest.size();
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) continue;
    if (!continues && (line.front() == '@' || line.front() == '+')) {
      throw input_error(genome_.name(), genome_.line_of(line.data()),
                        fmt::format("a sequence line that begins with {}", line.front()),
                        "letters: bwa takes it for a record of FASTQ");
    }
    // A last line without an end that is but a carriage return is kept as well.
    const bool is_kept = line.size() == 1 && !continues && (is_empty || !is_ended);
    if (line.back() == '\r' && !is_kept) line.remove_suffix(1);
    if (!line.empty()) visit(line);
    is_empty = false;
  }
}

BwaLetters::BwaLetters(const GenomeText& genome) : genome_(genome) {
  const std::vector<GenomePiece>& pieces = genome.pieces();
  begins_.resize(pieces.size() + 1);
  replaced_.resize(pieces.size() + 1);
  std::vector<std::vector<Hole>> found(pieces.size());
  std::vector<std::uint64_t> foreign(pieces.size());
  for_each_task(pieces.size(), [&](std::uint64_t i) {
    std::uint64_t letters = 0;
    std::uint64_t replaced = 0;
    for_each_line(pieces[i], [&](std::string_view line) {
      for (std::size_t at = has_replaced(line) ? 0 : line.size(); at < line.size(); ++at) {
        if (bwa_code(line[at]) != replaced_code) continue;
        const std::size_t end = std::min(line.find_first_not_of(line[at], at), line.size());
        const std::uint64_t begin = letters + at;
        if (!found[i].empty() && found[i].back().letter == line[at] &&
            found[i].back().begin + found[i].back().length == begin) {
          found[i].back().length += end - at;
        } else {
          found[i].push_back({begin, end - at, pieces[i].record, line[at]});
        }
        replaced += end - at;
        constexpr std::string_view iupac = "NRYKMSWBDHVnrykmswbdhv";
        if (iupac.find(line[at]) == std::string_view::npos) foreign[i] += end - at;
        at = end - 1;
      }
      letters += line.size();
    });
    begins_[i + 1] = letters;
    replaced_[i + 1] = replaced;
  });
  record_begins_.assign(genome.records().size() + 1, 0);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (Hole hole : found[i]) {
      hole.begin += begins_[i];
      Hole* const last = holes_.empty() ? nullptr : &holes_.back();
      if (last != nullptr && last->record == hole.record && last->letter == hole.letter &&
          last->begin + last->length == hole.begin) {
        last->length += hole.length;
      } else {
        holes_.push_back(hole);
      }
    }
    foreign_ += foreign[i];
    begins_[i + 1] += begins_[i];
    replaced_[i + 1] += replaced_[i];
    record_begins_[pieces[i].record + 1] = begins_[i + 1];
  }
  constexpr std::uint64_t most_letters = (std::uint64_t{1} << 31) - 1;
  for (std::size_t i = 0; i < genome.records().size(); ++i) {
    const std::uint64_t letters = record_begins_[i + 1] - record_begins_[i];
    if (letters <= most_letters) continue;
    const std::string_view header = genome.records()[i].header;
    throw input_error(genome.name(), genome.line_of(header.data()),
                      fmt::format("a record of {} letters", letters),
                      fmt::format("at most {}: bwa has no positions for more", most_letters));
  }
}

std::string BwaLetters::amb() const {
  std::string text = fmt::format("{} {} {}\n", size(), genome_.records().size(), holes_.size());
  for (const Hole& hole : holes_)
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", hole.begin, hole.length, hole.letter);
  return text;
}

std::string BwaLetters::ann() const {
  const std::vector<GenomeRecord>& records = genome_.records();
  std::string text = fmt::format("{} {} 11\n", size(), records.size());
  auto hole = holes_.begin();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string_view name = records[i].name();
    std::string_view comment = records[i].header.substr(name.size());
    // The white space that ends the name, and a carriage return at the end of a longer comment.
    if (!comment.empty()) comment.remove_prefix(1);
    if (comment.size() > 1 && comment.back() == '\r') comment.remove_suffix(1);
    if (comment.empty()) comment = "(null)";
    const auto first = hole;
    while (hole != holes_.end() && hole->record == i) ++hole;
    fmt::format_to(std::back_inserter(text), "0 {} {}\n{} {} {}\n", name, comment,
                   record_begins_[i], record_begins_[i + 1] - record_begins_[i], hole - first);
  }
  return text;
}

LetterCounts BwaLetters::write_codes(std::uint8_t* codes, bool complement, bool discards) const {
  const std::vector<GenomePiece>& pieces = genome_.pieces();
  std::vector<LetterCounts> counts(pieces.size());
  for_each_task(pieces.size(), [&](std::uint64_t i) {
    std::uint8_t* const begin = codes + begins_[i];
    std::uint8_t* to = begin;
    for_each_line(pieces[i], [&](std::string_view line) {
      for (std::size_t j = 0; j < line.size(); ++j) to[j] = bwa_code(line[j]);
      to += line.size();
    });
    if (discards) genome_.discard(pieces[i].bytes);
    if (replaced_[i + 1] != replaced_[i]) {
      Random48 random(replaced_[i]);
      for (std::uint8_t* code = begin; code != to; ++code)
        if (*code == replaced_code) *code = random.next_code();
    }
    const auto letters = static_cast<std::uint64_t>(to - begin);
    count_codes(begin, letters, counts[i]);
    if (complement)
      write_reverse_complement(begin, letters, codes + 2 * size() - begins_[i] - letters);
  });
  LetterCounts all{};
  for (const LetterCounts& of_piece : counts)
    for (std::size_t code = 0; code < all.size(); ++code) all[code] += of_piece[code];
  return all;
}

}  // namespace sortie::genomes
