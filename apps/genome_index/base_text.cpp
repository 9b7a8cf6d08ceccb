// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/base_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

constexpr std::size_t base_piece_bytes = std::size_t{1} << 20;

/// What a byte is, beside the codes 0 to 3 of bases.
enum ByteKind : std::uint8_t { gap = 4, blank, foreign, crashing };

constexpr std::array<std::uint8_t, 256> byte_kinds = [] {
  std::array<std::uint8_t, 256> kinds{};
  kinds.fill(foreign);
  std::fill_n(kinds.begin(), std::size_t{' '} + 1, blank);
  for (const std::size_t lower : {0, 32}) {
    for (const char letter : std::string_view("BDHKMNRSVWXY"))
      kinds[static_cast<std::size_t>(letter) + lower] = gap;
    for (std::size_t code = 0; code < 4; ++code)
      kinds[static_cast<std::size_t>("ACGT"[code]) + lower] = static_cast<std::uint8_t>(code);
  }
  kinds['-'] = gap;
  kinds['#'] = crashing;
  return kinds;
}();

[[nodiscard]] std::uint8_t kind_of(char byte) {
  return byte_kinds[static_cast<unsigned char>(byte)];
}

struct PieceRuns {
  std::vector<BaseRun> runs;
  std::uint64_t bases = 0;
  std::uint64_t foreign = 0;
  const char* crash = nullptr;  ///< the first byte at which the tools crash
};

PieceRuns runs_of_piece(std::string_view bytes) {
  PieceRuns result;
  BaseRun run;
  for (const char& byte : bytes) {
    const std::uint8_t kind = kind_of(byte);
    if (kind < gap) {
      ++run.bases;
    } else if (kind == gap) {
      if (run.bases != 0) {
        result.runs.push_back(run);
        result.bases += run.bases;
        run = {};
      }
      ++run.gaps;
    } else if (kind == foreign) {
      ++result.foreign;
    } else if (kind == crashing && result.crash == nullptr) {
      result.crash = &byte;
    }
  }
  result.runs.push_back(run);
  result.bases += run.bases;
  return result;
}

/// Appends the runs of a piece to those of its record so far, of which the last may continue.
void join_runs(std::vector<BaseRun>& runs, std::span<const BaseRun> more) {
  BaseRun& last = runs.back();
  const BaseRun& first = more.front();
  if (last.bases == 0 || first.gaps == 0) {
    last.gaps += first.gaps;
    last.bases += first.bases;
    more = more.subspan(1);
  }
  runs.insert(runs.end(), more.begin(), more.end());
}

}  // namespace

BaseText::BaseText(const GenomeText& genome) : genome_(genome) {
  find_records(genome);
  find_runs(genome);
  if (size_ == 0) throw input_error(genome.name(), 0, "no A, C, G or T", "a FASTA of nucleotides");
}

void BaseText::add_record(std::string_view name, std::string_view bytes) {
  const std::size_t record = records_.size();
  records_.push_back({.name = name});
  do {
    pieces_.push_back({record, bytes.substr(0, base_piece_bytes), 0});
    bytes.remove_prefix(pieces_.back().bytes.size());
  } while (!bytes.empty());
}

void BaseText::find_records(const GenomeText& genome) {
  constexpr std::string_view line_ends = "\r\n";
  const char* const file_end = genome.records().back().body.end();
  bool follows_sequence = false;
  for (const GenomeRecord& record : genome.records()) {
    // The header and the body are neighbours in the file.
    const char* const begin = record.header.data();
    std::string_view rest(begin, static_cast<std::size_t>(record.body.end() - begin));
    while (true) {
      // After a sequence, '>' at the end of the file is not read.
      if (rest.data() == file_end && follows_sequence) return;
      const std::string_view name = rest.substr(0, rest.find_first_of(line_ends));
      rest.remove_prefix(name.size());
      rest.remove_prefix(std::min(rest.find_first_not_of(line_ends), rest.size()));
      const std::string_view bytes = rest.substr(0, rest.find('>'));
      rest.remove_prefix(bytes.size());
      follows_sequence = !bytes.empty();
      if (follows_sequence || rest.data() == file_end) add_record(name, bytes);
      if (rest.empty()) break;
      rest.remove_prefix(1);
    }
  }
}

void BaseText::find_runs(const GenomeText& genome) {
  std::vector<PieceRuns> found(pieces_.size());
  for_each_task(pieces_.size(),
                [&](std::uint64_t i) { found[i] = runs_of_piece(pieces_[i].bytes); });
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    Piece& piece = pieces_[i];
    const PieceRuns& of_piece = found[i];
    if (of_piece.crash != nullptr)
      throw input_error(genome.name(), genome.line_of(of_piece.crash), "'#' in a sequence",
                        "letters: bowtie2-build and hisat2-build crash at '#'");
    BaseRecord& record = records_[piece.record];
    if (i == 0 || pieces_[i - 1].record != piece.record) {
      record.first_run = runs_.size();
      record.first_base = size_;
      runs_.insert(runs_.end(), of_piece.runs.begin(), of_piece.runs.end());
    } else {
      join_runs(runs_, of_piece.runs);
    }
    record.runs = runs_.size() - record.first_run;
    record.bases += of_piece.bases;
    piece.first_base = size_;
    size_ += of_piece.bases;
    foreign_ += of_piece.foreign;
  }
  // The gap at the end of the file that is not read.
  BaseRecord& last = records_.back();
  const std::string_view end = pieces_.back().bytes;
  if (last.runs > 1 && runs_.back().gaps == 1 && runs_.back().bases == 0 && !end.empty() &&
      end.end() == genome.records().back().body.end() && kind_of(end.back()) == gap) {
    runs_.pop_back();
    --last.runs;
  }
  for (BaseRecord& record : records_)
    for (const BaseRun& run : runs_of(record)) record.length += run.gaps + run.bases;
}

void BaseText::write_codes(std::uint8_t* codes, bool discards) const {
  for_each_task(pieces_.size(), [&](std::uint64_t i) {
    std::uint8_t* to = codes + pieces_[i].first_base;
    for (const char byte : pieces_[i].bytes)
      if (const std::uint8_t kind = kind_of(byte); kind < gap) *to++ = kind;
    if (discards) genome_.discard(pieces_[i].bytes);
  });
}

}  // namespace sortie::genomes
