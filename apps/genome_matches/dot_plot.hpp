// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sortie/text.hpp"

namespace sortie::genome_matches {

/// A match in a dot plot.
struct PlottedMatch {
  std::uint64_t reference = 0;
  std::uint64_t query = 0;  ///< of its first letter, in all queries, forward
  std::uint64_t length = 0;
  bool is_reverse = false;  ///< the query positions descend
};

/// A dot plot of any number of matches: a raster of bits, at most 1000 columns for the reference
/// and 2048 rows for the queries, whose letters are not known in advance. A row is for 2^i
/// letters; i grows by one, and pairs of rows are joined, when there are too many rows.
class DotPlot {
 public:
  /// \param reference  must outlive the plot
  explicit DotPlot(const sequences::Text& reference);

  /// Adds a query after those before it.
  void add_query(const std::string& name, std::uint64_t length);
  void add(const PlottedMatch& match);

  [[nodiscard]] std::string to_svg() const;

 private:
  using Strand = std::vector<bool>;

  void join_rows();
  [[nodiscard]] std::uint64_t column_of(std::uint64_t reference) const;
  [[nodiscard]] std::string path_of(const Strand& strand) const;

  const sequences::Text& reference_;
  std::uint64_t columns_;
  int shift_ = 0;  ///< i
  std::uint64_t letters_ = 0;
  std::array<Strand, 2> strands_;  ///< forward, reverse; row by row
  /// Names and begins of the first queries, one more than borders are drawn of.
  std::vector<sequences::Record> queries_;
};

}  // namespace sortie::genome_matches
