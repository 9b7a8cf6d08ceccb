// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/gtf_exons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

constexpr std::string_view column_ends = " \t\n\v\f\r";
constexpr std::string_view attribute_ends = " \t;=\"";

/// Takes the next word from the front of `rest`; empty at the end.
std::string_view take_word(std::string_view& rest, std::string_view ends) {
  rest.remove_prefix(std::min(rest.find_first_not_of(ends), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(ends));
  rest.remove_prefix(word.size());
  return word;
}

std::optional<std::uint64_t> number_of(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return number;
}

/// The word behind the first `name` that is followed by a separator; empty if there is none.
std::string_view attribute_of(std::string_view attributes, std::string_view name) {
  while (!attributes.empty()) {
    const std::string_view word = take_word(attributes, attribute_ends);
    if (word == name && !attributes.empty()) return take_word(attributes, attribute_ends);
  }
  return {};
}

}  // namespace

GtfExons::GtfExons(std::string_view content, const StarAnnotationOptions& options,
                   const StarLetters& letters)
    : options_(options), letters_(letters) {
  for (std::size_t i = 0; i < letters.records().size(); ++i) records_.emplace(letters.name(i), i);
  std::string_view rest = content;
  for (std::uint64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    read_line(line, number);
  }
  if (exon_lines_ == 0)
    throw input_error(
        options.gtf, 0,
        fmt::format("no line with {} in column 3", sortie::quoted(options.exon_feature)),
        "exons of a GTF");
  if (exons_.empty())
    throw input_error(options.gtf, unknown_records_.lines != 0 ? unknown_records_.first : 0,
                      "no exon in a record of the FASTA",
                      "names of records as in the FASTA, and positions within them");
  // Each names its first line.
  warn(unknown_records_, "of records that the FASTA lacks are left out");
  warn(beyond_records_, "that end behind their record are left out");
  warn(without_transcript_, fmt::format("without {} become transcripts", options.transcript_tag));
  warn(without_gene_, fmt::format("without {} belong to gene MissingGeneID", options.gene_tag));
}

void GtfExons::warn(const LineCount& count, std::string_view what) {
  if (count.lines == 0) return;
  warnings_.push_back(fmt::format("{}:{}: exons {}, as STAR does ({} in all)", options_.gtf,
                                  count.first, what, count.lines));
}

void GtfExons::read_line(std::string_view line, std::uint64_t number) {
  const std::string_view record = take_word(line, column_ends);
  take_word(line, column_ends);
  if (record.starts_with('#') || take_word(line, column_ends) != options_.exon_feature) return;
  ++exon_lines_;
  const auto found = options_.record_prefix.empty()
                         ? records_.find(record)
                         : records_.find(options_.record_prefix + std::string(record));
  if (found == records_.end()) return unknown_records_.add(number);

  const std::string_view begin_word = take_word(line, column_ends);
  const std::string_view end_word = take_word(line, column_ends);
  const std::optional<std::uint64_t> begin = number_of(begin_word);
  const std::optional<std::uint64_t> end = number_of(end_word);
  if (!begin || !end || *begin == 0 || *begin > *end)
    throw input_error(options_.gtf, number,
                      fmt::format("begin {} and end {} of an exon", sortie::quoted(begin_word),
                                  sortie::quoted(end_word)),
                      "two numbers from 1, the first not above the second");
  take_word(line, column_ends);  // the score
  const std::size_t strand_at = std::min(line.find_first_not_of(column_ends), line.size());
  line.remove_prefix(strand_at);
  const char strand = line.empty() ? '\0' : line.front();
  line.remove_prefix(line.empty() ? 0 : 1);
  const std::string_view frame = take_word(line, column_ends);
  if (frame.empty())
    throw input_error(options_.gtf, number, "an exon of fewer than 8 columns", "a line of a GTF");
  const StarLetters::Record& place = letters_.records()[found->second];
  if (*end > place.length) return beyond_records_.add(number);
  add_exon({0, place.begin + *begin - 1, place.begin + *end - 1, 0}, found->first,
           strand == '+'   ? Strand::forward
           : strand == '-' ? Strand::reverse
                           : Strand::unknown,
           line, number);
}

void GtfExons::add_exon(const GtfExon& range, std::string_view record, Strand strand,
                        std::string_view attributes, std::uint64_t number) {
  const std::uint64_t record_begin = letters_.records()[records_.at(record)].begin;
  std::string_view transcript = attribute_of(attributes, options_.transcript_tag);
  if (transcript.empty()) {
    without_transcript_.add(number);
    transcript = made_names_.emplace_back(
        fmt::format("tr_{}_{}_{}_{}", record, range.begin - record_begin + 1,
                    range.last - record_begin + 1, exons_.size()));
  }
  std::string_view gene = attribute_of(attributes, options_.gene_tag);
  if (gene.empty()) {
    without_gene_.add(number);
    gene = "MissingGeneID";
  }
  const auto [of_transcript, is_new_transcript] =
      transcript_numbers_.emplace(transcript, transcript_numbers_.size());
  if (is_new_transcript) transcripts_.push_back({transcript, strand});
  const auto [of_gene, is_new_gene] = gene_numbers_.emplace(gene, gene_numbers_.size());
  if (is_new_gene) {
    const auto name = attribute_of(attributes, "gene_name");
    auto type = attribute_of(attributes, "gene_biotype");
    if (type.empty()) type = attribute_of(attributes, "gene_type");
    genes_.push_back({gene, name.empty() ? gene : name, type.empty() ? "MissingGeneType" : type});
  }
  exons_.push_back({of_transcript->second, range.begin, range.last, of_gene->second});
}

}  // namespace sortie::genomes
