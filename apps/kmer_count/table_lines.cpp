// SPDX-License-Identifier: Apache-2.0
#include "apps/kmer_count/table_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sortie/error.hpp"

namespace sortie::kmers {
namespace {

constexpr std::pair<TableFormat, std::string_view> format_names[] = {
    {TableFormat::text, "text"},
    {TableFormat::kmc, "kmc"},
    {TableFormat::jellyfish, "jellyfish"},
    {TableFormat::jellyfish_column, "jellyfish-column"}};

/// Counts below are elements of an array: it is in the cache.
constexpr std::size_t most_small_counts = 4096;

constexpr std::array<std::array<char, 4>, 256> make_letters() {
  std::array<std::array<char, 4>, 256> letters{};
  for (std::size_t byte = 0; byte < letters.size(); ++byte) {
    for (std::size_t i = 0; i < 4; ++i) letters[byte][i] = "ACGT"[byte >> (6 - 2 * i) & 3];
  }
  return letters;
}

}  // namespace

constinit const std::array<std::array<char, 4>, 256> letters_of_bytes = make_letters();

std::string_view name(TableFormat format) {
  for (const auto& [value, text] : format_names) {
    if (value == format) return text;
  }
  return "";
}

TableFormat parse_table_format(std::string_view text) {
  for (const auto& [value, known] : format_names) {
    if (known == text) return value;
  }
  throw Error(ErrorKind::usage,
              fmt::format("found format {}, expected text, kmc, jellyfish or jellyfish-column",
                          quoted(text)));
}

void require_range(CountRange counts) {
  if (counts.least >= 1 && counts.least <= counts.most) return;
  throw Error(ErrorKind::usage,
              fmt::format("found counts from {} to {}, expected a least count of at least 1 and at "
                          "most the greatest",
                          counts.least, counts.most));
}

TableLines::TableLines(int k, CountRange counts, TableFormat format, bool writes, bool checksum)
    : k_(k),
      counts_(counts),
      format_(format),
      writes_(writes),
      checksum_wanted_(checksum),
      small_counts_(most_small_counts) {}

void TableLines::grow() {
  const std::size_t larger = std::max<std::size_t>(std::size_t{1} << 16, 2 * capacity_);
  auto text = std::make_unique_for_overwrite<char[]>(larger);
  std::copy_n(text_.get(), size_, text.get());
  text_ = std::move(text);
  capacity_ = larger;
}

void TableLines::add_to(KmerFigures& figures) const {
  figures.kmers += kmers_;
  figures.distinct += distinct_;
  figures.written += written_;
  figures.checksum += checksum_;
  for (std::size_t count = 1; count < small_counts_.size(); ++count) {
    if (small_counts_[count] != 0) figures.histogram.emplace_back(count, small_counts_[count]);
  }
  figures.histogram.insert(figures.histogram.end(), large_counts_.begin(), large_counts_.end());
}

void finish_figures(KmerFigures& figures) {
  CountHistogram& histogram = figures.histogram;
  std::ranges::sort(histogram);
  std::size_t size = 0;
  for (const auto& [count, number] : histogram) {
    if (size != 0 && histogram[size - 1].first == count) {
      histogram[size - 1].second += number;
    } else {
      histogram[size++] = {count, number};
    }
  }
  histogram.resize(size);
  figures.once = size != 0 && histogram[0].first == 1 ? histogram[0].second : 0;
}

}  // namespace sortie::kmers
