// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_matches/dot_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "apps/genome_matches/match_lines.hpp"

namespace sortie::genome_matches {
namespace {

constexpr std::uint64_t most_columns = 1000;
constexpr std::uint64_t most_rows = 2048;
constexpr std::uint64_t size = 1000;  // of the square, in units of the picture
constexpr std::size_t most_borders = 100;
constexpr std::size_t most_names = 30;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '<') {
      result += "&lt;";
    } else if (letter == '&') {
      result += "&amp;";
    } else {
      result += letter;
    }
  }
  return result;
}

/// Borders and names of records along one side.
/// \param turn  of the names, and of the side: 0 below the square, -90 left of it
void append_records(std::string& svg, const std::vector<sequences::Record>& records,
                    std::uint64_t letters, int turn) {
  if (records.size() > most_borders) return;
  auto out = std::back_inserter(svg);
  for (const sequences::Record& record : records) {
    const auto at = [&](std::uint64_t offset) {
      return static_cast<double>(size) * static_cast<double>(offset) /
             static_cast<double>(std::max<std::uint64_t>(letters, 1));
    };
    const double begin = at(record.offset);
    const double middle = at(record.offset + record.length / 2);
    if (turn == 0) {
      fmt::format_to(out, "<path d='M{:.1f} 0V{}' stroke='#ccc'/>\n", begin, size);
    } else {
      fmt::format_to(out, "<path d='M0 {:.1f}H{}' stroke='#ccc'/>\n", size - begin, size);
    }
    if (records.size() > most_names) continue;
    const double x = turn == 0 ? middle : -8;
    const double y = turn == 0 ? size + 16 : size - middle;
    fmt::format_to(out, "<text transform='translate({:.1f},{:.1f}) rotate({})'>{}</text>\n", x, y,
                   turn, escaped(first_word(record.name)));
  }
}

}  // namespace

DotPlot::DotPlot(const sequences::Text& reference)
    : reference_(reference),
      columns_(std::clamp<std::uint64_t>(reference.symbols.size(), 1, most_columns)) {
  for (Strand& strand : strands_) strand.assign(columns_ * most_rows, false);
}

void DotPlot::add_query(const std::string& name, std::uint64_t length) {
  if (queries_.size() <= most_borders) queries_.push_back({name, letters_, length});
  letters_ += length;
  while (letters_ > most_rows << shift_) join_rows();
}

void DotPlot::join_rows() {
  ++shift_;
  for (Strand& strand : strands_) {
    for (std::uint64_t row = 0; row < most_rows; ++row) {
      for (std::uint64_t column = 0; column < columns_; ++column) {
        const bool bit = 2 * row < most_rows && (strand[2 * row * columns_ + column] ||
                                                 strand[(2 * row + 1) * columns_ + column]);
        strand[row * columns_ + column] = bit;
      }
    }
  }
}

std::uint64_t DotPlot::column_of(std::uint64_t reference) const {
  return static_cast<std::uint64_t>(static_cast<double>(reference) * static_cast<double>(columns_) /
                                    static_cast<double>(reference_.symbols.size()));
}

void DotPlot::add(const PlottedMatch& match) {
  Strand& strand = strands_[match.is_reverse ? 1 : 0];
  // Fewer letters than those of a column and of a row.
  const std::uint64_t step = std::max<std::uint64_t>(
      1, std::min(reference_.symbols.size() / columns_, std::uint64_t{1} << shift_));
  const auto mark = [&](std::uint64_t i) {
    const std::uint64_t query = match.is_reverse ? match.query - i : match.query + i;
    strand[(query >> shift_) * columns_ + column_of(match.reference + i)] = true;
  };
  for (std::uint64_t i = 0; i < match.length; i += step) mark(i);
  mark(match.length - 1);
}

std::string DotPlot::path_of(const Strand& strand) const {
  std::string path;
  const std::uint64_t cells = strand.size();
  for (std::uint64_t begin = 0; begin < cells; ++begin) {
    if (!strand[begin]) continue;
    const std::uint64_t row = begin / columns_;
    std::uint64_t end = begin + 1;
    while (end < (row + 1) * columns_ && strand[end]) ++end;
    fmt::format_to(std::back_inserter(path), "M{} {}h{}v1h-{}z", begin % columns_, row, end - begin,
                   end - begin);
    begin = end - 1;
  }
  return path;
}

std::string DotPlot::to_svg() const {
  std::string svg =
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-40 -40 1080 1080' "
      "font-family='sans-serif' font-size='12' text-anchor='middle' fill='none'>\n"
      "<g fill='#345'>\n";
  append_records(svg, reference_.records, reference_.symbols.size(), 0);
  append_records(svg, queries_, letters_, -90);
  fmt::format_to(std::back_inserter(svg),
                 "<text x='500' y='-12' font-size='16'>reference to the right, queries upwards; "
                 "reverse matches in red</text></g>\n<path d='M0 0h{0}v{0}h-{0}z' "
                 "stroke='#345'/>\n",
                 size);
  const std::uint64_t rows =
      std::max<std::uint64_t>(1, (letters_ + (1ULL << shift_) - 1) >> shift_);
  constexpr std::string_view colours[] = {"#236", "#c33"};
  for (std::size_t i = 0; i < strands_.size(); ++i) {
    fmt::format_to(std::back_inserter(svg),
                   "<path transform='translate(0,{}) scale({:.6g},-{:.6g})' fill='{}' d='{}'/>\n",
                   size, static_cast<double>(size) / static_cast<double>(columns_),
                   static_cast<double>(size) / static_cast<double>(rows), colours[i],
                   path_of(strands_[i]));
  }
  return svg + "</svg>\n";
}

}  // namespace sortie::genome_matches
