// SPDX-License-Identifier: Apache-2.0

// Where STAR sorts by fewer columns than a row has, it keeps the order of equal rows, and so does
// this: the sort of the C library that it uses is stable.
#include "apps/genome_index/star_annotation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace sortie::genomes {
namespace {

template <class... Fields>
void add_row(std::string& table, const Fields&... fields) {
  const char* separator = "";
  (fmt::format_to(std::back_inserter(table), "{}{}", std::exchange(separator, "\t"), fields), ...);
  table += '\n';
}

int number_of(Strand strand) {
  return static_cast<int>(strand);
}

std::string exon_genes(const GtfExons& gtf, std::vector<GtfExon> exons) {
  const auto strand = [&](const GtfExon& exon) {
    return number_of(gtf.transcripts()[exon.transcript].strand);
  };
  std::ranges::sort(exons, {}, [&](const GtfExon& exon) {
    return std::tuple(exon.begin, exon.last, strand(exon), exon.gene, exon.transcript);
  });
  std::string table = fmt::format("{}\n", exons.size());
  for (const GtfExon& exon : exons)
    add_row(table, exon.begin, exon.last, strand(exon), exon.gene, exon.transcript);
  return table;
}

std::string gene_table(const GtfExons& gtf) {
  std::string table = fmt::format("{}\n", gtf.genes().size());
  for (const GtfGene& gene : gtf.genes()) add_row(table, gene.id, gene.name, gene.type);
  return table;
}

/// Exons of one transcript, by their begins. The end is that of the exon that begins last.
using TranscriptExons = std::span<const GtfExon>;

/// \param exons  by transcript and begin
std::vector<TranscriptExons> transcripts_of(std::span<const GtfExon> exons) {
  std::vector<TranscriptExons> transcripts;
  while (!exons.empty()) {
    const auto end = std::ranges::find_if(
        exons, [&](const GtfExon& exon) { return exon.transcript != exons.front().transcript; });
    const auto count = static_cast<std::size_t>(end - exons.begin());
    transcripts.push_back(exons.first(count));
    exons = exons.subspan(count);
  }
  return transcripts;
}

/// The tables of transcripts and their exons.
void add_transcripts(const GtfExons& gtf, std::vector<TranscriptExons> transcripts,
                     std::string& transcript_table, std::string& exon_table) {
  std::ranges::sort(transcripts, {}, [](const TranscriptExons& exons) {
    return std::tuple(exons.front().begin, exons.back().last, exons.front().transcript);
  });
  transcript_table = fmt::format("{}\n", gtf.transcripts().size());
  exon_table = fmt::format("{}\n", gtf.exons().size());
  std::uint64_t first_exon = 0;
  std::uint64_t last_before = transcripts.front().back().last;
  for (const TranscriptExons& of_transcript : transcripts) {
    std::vector<GtfExon> exons(of_transcript.begin(), of_transcript.end());
    std::ranges::stable_sort(exons, {},
                             [](const GtfExon& exon) { return std::pair(exon.begin, exon.last); });
    const std::uint64_t begin = of_transcript.front().begin;
    const std::uint64_t last = of_transcript.back().last;
    const GtfTranscript& transcript = gtf.transcripts()[exons.front().transcript];
    add_row(transcript_table, transcript.id, begin, last, last_before, number_of(transcript.strand),
            exons.size(), first_exon, exons.back().gene);
    std::uint64_t length = 0;
    for (const GtfExon& exon : exons) {
      add_row(exon_table, exon.begin - begin, exon.last - begin, length);
      length += exon.last - exon.begin + 1;
    }
    first_exon += exons.size();
    last_before = std::max(last_before, last);
  }
}

/// An intron of one transcript.
struct GeneIntron {
  Intron intron;
  std::uint64_t gene;  ///< from 1
};

}  // namespace

StarAnnotation::StarAnnotation(const GtfExons& gtf, const StarLetters& letters)
    : exon_genes(genomes::exon_genes(gtf, gtf.exons())), genes(gene_table(gtf)) {
  std::vector<GtfExon> sorted = gtf.exons();
  std::ranges::stable_sort(
      sorted, {}, [](const GtfExon& exon) { return std::pair(exon.transcript, exon.begin); });
  const std::vector<TranscriptExons> by_transcript = transcripts_of(sorted);

  std::vector<GeneIntron> found;
  for (const TranscriptExons& of_transcript : by_transcript) {
    const Strand strand = gtf.transcripts()[of_transcript.front().transcript].strand;
    if (letters.record_of(of_transcript.front().begin) !=
        letters.record_of(of_transcript.back().begin))
      ++divided_transcripts;
    for (std::size_t i = 1; i < of_transcript.size(); ++i) {
      const std::uint64_t begin = of_transcript[i - 1].last + 1;
      if (of_transcript[i].begin > begin)
        found.push_back({{begin, of_transcript[i].begin - 1, strand}, of_transcript[i].gene + 1});
    }
  }
  add_transcripts(gtf, by_transcript, transcripts, exons);

  std::ranges::stable_sort(found, {}, [](const GeneIntron& item) {
    return std::pair(item.intron.begin, item.intron.last);
  });
  const auto key = [](const GeneIntron& item) {
    return std::tuple(item.intron.begin, item.intron.last, item.intron.strand);
  };
  for (std::size_t i = 0; i < found.size();) {
    const Intron& intron = found[i].intron;
    std::set<std::uint64_t> genes_of_intron;
    std::size_t end = i;
    for (; end < found.size() && key(found[end]) == key(found[i]); ++end)
      genes_of_intron.insert(found[end].gene);
    introns.push_back(intron);
    const std::size_t record = letters.record_of(intron.begin);
    const std::uint64_t before = letters.records()[record].begin;
    add_row(junctions, letters.name(record), intron.begin - before + 1, intron.last - before + 1,
            ".+-"[number_of(intron.strand)], fmt::format("{}", fmt::join(genes_of_intron, ",")));
    i = end;
  }
}

}  // namespace sortie::genomes
