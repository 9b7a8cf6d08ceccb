// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_matches/match_lines.hpp"

#include <algorithm>
#include <iterator>

namespace sortie::genome_matches {
namespace {

/// Names are columns of tables, where an empty one would be lost.
std::string_view column_of(const sequences::Record& record) {
  const std::string_view word = first_word(record.name);
  return word.empty() ? "*" : word;
}

void append(std::string_view text, fmt::memory_buffer& to) {
  to.append(text);
}

/// A number, right-aligned in `width` columns: several times as fast as fmt.
void append(std::uint64_t number, std::size_t width, fmt::memory_buffer& to) {
  const fmt::format_int digits(number);
  for (std::size_t i = digits.size(); i < width; ++i) to.push_back(' ');
  to.append(digits.data(), digits.data() + digits.size());
}

}  // namespace

MatchLines::MatchLines(const sequences::Text& reference, const MatchOutput& output)
    : reference_(reference),
      output_(output),
      has_names_(output.reference_names || reference.records.size() > 1) {
  for (const sequences::Record& record : reference.records)
    name_width_ = std::max(name_width_, static_cast<int>(first_word(record.name).size()));
}

void MatchLines::append_header(const QueryStrand& query, fmt::memory_buffer& to) const {
  if (output_.format != MatchFormat::mummer) return;
  fmt::format_to(std::back_inserter(to), "> {}{}", first_word(query.record->name),
                 query.is_reverse ? " Reverse" : "");
  if (output_.query_lengths)
    fmt::format_to(std::back_inserter(to), "  Len = {}", query.record->length);
  to.push_back('\n');
}

void MatchLines::append(const QueryStrand& query, std::span<const Match> matches,
                        fmt::memory_buffer& to) const {
  for (const Match& match : matches) {
    const std::size_t number =
        reference_.records.size() == 1 ? 0 : reference_.record_of(match.reference);
    const sequences::Record& record = reference_.records[number];
    if (output_.format == MatchFormat::paf) {
      append_paf(query, match, record, to);
    } else {
      append_mummer(query, match, record, to);
    }
  }
}

void MatchLines::append_mummer(const QueryStrand& query, const Match& match,
                               const sequences::Record& record, fmt::memory_buffer& to) const {
  using genome_matches::append;
  if (has_names_)
    fmt::format_to(std::back_inserter(to), "  {:<{}}  ", first_word(record.name), name_width_);
  const bool is_forward = query.is_reverse && output_.forward_positions;
  append(match.reference - record.offset + 1, 8, to);
  append("  ", to);
  append(is_forward ? query.record->length - match.query : match.query + 1, 8, to);
  append("  ", to);
  append(match.length, 8, to);
  to.push_back('\n');
  if (!output_.letters) return;
  for (const std::uint8_t letter : query.letters.subspan(match.query, match.length))
    to.push_back(static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter | 0x20 : letter));
  to.push_back('\n');
}

void MatchLines::append_paf(const QueryStrand& query, const Match& match,
                            const sequences::Record& record, fmt::memory_buffer& to) const {
  const std::uint64_t begin =
      query.is_reverse ? query.record->length - match.query - match.length : match.query;
  const std::uint64_t target = match.reference - record.offset;
  constexpr int unknown_quality = 255;
  fmt::format_to(std::back_inserter(to),
                 "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\tcg:Z:{}=\n",
                 column_of(*query.record), query.record->length, begin, begin + match.length,
                 query.is_reverse ? '-' : '+', column_of(record), record.length, target,
                 target + match.length, match.length, match.length, unknown_quality, match.length);
}

void append_statistics(const QueryStrand& query, std::span<const StatisticsRun> runs,
                       fmt::memory_buffer& to) {
  using genome_matches::append;
  for (const StatisticsRun& run : runs) {
    append(column_of(*query.record), to);
    append(query.is_reverse ? "\t-\t" : "\t+\t", to);
    append(run.begin, 0, to);
    to.push_back('\t');
    append(run.end, 0, to);
    to.push_back('\t');
    append(run.length, 0, to);
    to.push_back('\n');
  }
}

}  // namespace sortie::genome_matches
