// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/genome_matches/letters.hpp"
#include "sortie/genome_matches.hpp"
#include "sortie/text.hpp"

namespace sortie::genome_matches {

/// A query record, or its reverse complement.
struct QueryStrand {
  const sequences::Record* record = nullptr;
  bool is_reverse = false;
  Letters letters;
};

/// The name of a record in results: its header up to the first white space.
[[nodiscard]] inline std::string_view first_word(std::string_view header) {
  return header.substr(0, header.find_first_of(" \t"));
}

/// Formats matches. Calls may run at the same time.
class MatchLines {
 public:
  MatchLines(const sequences::Text& reference, const MatchOutput& output);

  /// What precedes the matches of a query and strand.
  void append_header(const QueryStrand& query, fmt::memory_buffer& to) const;
  void append(const QueryStrand& query, std::span<const Match> matches,
              fmt::memory_buffer& to) const;

 private:
  void append_mummer(const QueryStrand& query, const Match& match, const sequences::Record& record,
                     fmt::memory_buffer& to) const;
  void append_paf(const QueryStrand& query, const Match& match, const sequences::Record& record,
                  fmt::memory_buffer& to) const;

  const sequences::Text& reference_;
  const MatchOutput& output_;
  bool has_names_;
  int name_width_ = 0;
};

/// Lines "NAME STRAND BEGIN END LENGTH", separated by tabs.
void append_statistics(const QueryStrand& query, std::span<const StatisticsRun> runs,
                       fmt::memory_buffer& to);

}  // namespace sortie::genome_matches
