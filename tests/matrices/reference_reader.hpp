// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace sortie::test {

/// A matrix as plainly as it can be held.
struct ReferenceMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::complex<double>> entries;
};

namespace reference_detail {

using Words = std::vector<std::string>;

// All lines that are not blank and no comments, as words; the banner first, in lower case.
inline std::vector<Words> read_words(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Words> lines;
  for (std::string line; std::getline(file, line);) {
    if (lines.empty()) {
      std::transform(line.begin(), line.end(), line.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    }
    std::istringstream stream(line);
    Words words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.empty() || (!lines.empty() && words[0][0] == '%')) continue;
    lines.push_back(words);
  }
  return lines;
}

inline double number(std::string word) {
  std::replace_if(
      word.begin(), word.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  return std::strtod(word.c_str(), nullptr);
}

}  // namespace reference_detail

/// Reads a good, uncompressed Matrix Market file line by line with the standard library's streams.
inline ReferenceMatrix read_reference(const std::string& path) {
  using namespace reference_detail;
  const std::vector<Words> lines = read_words(path);
  const bool coordinate = lines.at(0).at(2) == "coordinate";
  const std::string field = lines[0].at(3);
  const std::string symmetry = lines[0].at(4);
  ReferenceMatrix matrix{std::stoll(lines.at(1).at(0)), std::stoll(lines[1].at(1)), {}};

  std::int64_t row = symmetry == "skew-symmetric" ? 1 : 0;
  std::int64_t col = 0;
  for (std::size_t i = 2; i < lines.size(); ++i) {
    const Words& words = lines[i];
    std::size_t next = 0;
    if (coordinate) {
      row = std::stoll(words.at(next++)) - 1;
      col = std::stoll(words.at(next++)) - 1;
    }
    const double real = field == "pattern" ? 1 : number(words.at(next++));
    const std::complex<double> value(real, field == "complex" ? number(words.at(next++)) : 0);
    if (coordinate || value != 0.0) {
      matrix.entries[{row, col}] += value;
      if (symmetry == "symmetric" && row != col) matrix.entries[{col, row}] += value;
      if (symmetry == "skew-symmetric") matrix.entries[{col, row}] += -value;
      if (symmetry == "hermitian" && row != col) matrix.entries[{col, row}] += std::conj(value);
    }
    if (!coordinate && ++row == matrix.rows) {
      ++col;
      row = symmetry == "general" ? 0 : symmetry == "skew-symmetric" ? col + 1 : col;
    }
  }
  return matrix;
}

}  // namespace sortie::test
