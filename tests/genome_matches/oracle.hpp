// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "sortie/genome_matches.hpp"

/// Matches and matching statistics by their definitions.
namespace sortie::genome_matches::test {

/// Records in upper case, joined with separators.
[[nodiscard]] inline sequences::Text text_of(const std::vector<std::string>& records) {
  sequences::Text text;
  for (const std::string& record : records) {
    if (!text.records.empty()) text.symbols.push_back(sequences::Text::separator);
    text.records.push_back({"record", text.symbols.size(), record.size()});
    text.symbols.insert(text.symbols.end(), record.begin(), record.end());
  }
  return text;
}

/// Occurrences of letters in records, which may overlap.
[[nodiscard]] inline std::uint64_t occurrences(const std::vector<std::string>& records,
                                               std::string_view letters) {
  std::uint64_t count = 0;
  for (const std::string& record : records)
    for (auto at = record.find(letters); at != std::string::npos; at = record.find(letters, at + 1))
      ++count;
  return count;
}

[[nodiscard]] inline std::vector<Match> matches_by_definition(
    const std::vector<std::string>& records, const std::string& query,
    const MatchOptions& options) {
  const auto agree = [&](char a, char b) {
    return a == b && (!options.only_acgt || std::string_view("ACGT").find(a) != std::string::npos);
  };
  std::vector<Match> matches;
  std::uint64_t offset = 0;
  for (const std::string& record : records) {
    for (std::uint64_t r = 0; r < record.size(); ++r) {
      for (std::uint64_t q = 0; q < query.size(); ++q) {
        if (r > 0 && q > 0 && agree(record[r - 1], query[q - 1])) continue;
        std::uint64_t length = 0;
        while (r + length < record.size() && q + length < query.size() &&
               agree(record[r + length], query[q + length]))
          ++length;
        if (length < options.min_length) continue;
        const std::string letters = query.substr(q, length);
        if (options.kind != Kind::maximal && occurrences(records, letters) != 1) continue;
        if (options.kind == Kind::unique && occurrences({query}, letters) != 1) continue;
        matches.push_back({q, offset + r, length});
      }
    }
    offset += record.size() + 1;
  }
  std::ranges::sort(matches);
  return matches;
}

/// The longest match from each position of the query on.
[[nodiscard]] inline std::vector<std::uint64_t> statistics_by_definition(
    const std::vector<std::string>& records, const std::string& query, bool only_acgt) {
  std::vector<std::uint64_t> lengths(query.size());
  const std::size_t last = query.size();
  for (std::size_t q = 0; q < last; ++q) {
    std::size_t length = 0;
    while (q + length < last &&
           (!only_acgt || std::string_view("ACGT").find(query[q + length]) != std::string::npos) &&
           occurrences(records, std::string_view(query).substr(q, length + 1)) > 0)
      ++length;
    lengths[q] = length;
  }
  return lengths;
}

/// Letters of a small alphabet, runs and copies of what is there already, some of them inexact.
[[nodiscard]] inline std::string random_letters(Random& random, std::uint64_t most,
                                                std::string_view sources) {
  static constexpr std::string_view alphabets[] = {"A", "AC", "ACGT", "ACGT", "ACGTN", "ACGTNRU"};
  const std::string_view alphabet = alphabets[random.below(std::size(alphabets))];
  const std::uint64_t size = random.below(most + 1);
  std::string text;
  while (text.size() < size) {
    const char letter = alphabet[random.below(alphabet.size())];
    const std::uint64_t kind = random.below(8);
    const std::string all = std::string(sources) + text;
    if (kind == 0) {
      text.append(random.below(40), letter);
    } else if (kind <= 2 && !all.empty()) {
      std::string copy = all.substr(random.below(all.size()), random.below(80));
      if (!copy.empty() && random.below(2) == 0) copy[random.below(copy.size())] = letter;
      text += copy;
    } else {
      text += letter;
    }
  }
  text.resize(size);
  return text;
}

}  // namespace sortie::genome_matches::test
