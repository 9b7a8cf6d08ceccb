// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "sortie/text_deduplication.hpp"

/// Deduplication by its definition, and random corpora.
namespace sortie::test {

/// Documents one after the other.
struct Documents {
  std::vector<std::uint8_t> text;
  std::vector<std::uint64_t> begins{0};

  void add(std::string_view document) {
    text.insert(text.end(), document.begin(), document.end());
    begins.push_back(text.size());
  }
  [[nodiscard]] std::string_view view() const {
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
};

/// What is removed, and how many windows are duplicates.
struct Expected {
  std::vector<texts::ByteRange> ranges;
  std::uint64_t duplicate_windows = 0;
  std::vector<std::uint64_t> copies;  ///< of each window that is a first occurrence; else 0
};

/// All windows in a map; removed bytes as an array of flags.
inline Expected expected_of(const Documents& documents,
                            const texts::DeduplicationOptions& options) {
  const std::uint64_t size = documents.text.size();
  const std::uint64_t window = options.min_length;
  const auto& begins = documents.begins;
  const std::uint64_t other = options.has_other_corpus() ? begins[options.other_corpus] : size;
  std::map<std::string_view, std::vector<std::uint64_t>> windows;
  for (std::size_t d = 0; d + 1 < begins.size(); ++d) {
    std::uint64_t end = begins[d + 1];
    if (options.across_documents) end = begins[d] < other ? other : size;
    for (std::uint64_t p = begins[d]; p < begins[d + 1] && p + window <= end; ++p)
      windows[documents.view().substr(p, window)].push_back(p);
  }
  Expected expected;
  expected.copies.resize(size);
  std::vector<bool> removed(size);
  std::vector<bool> kept(size);
  for (const auto& [content, places] : windows) {
    if (places.size() < 2) continue;
    if (options.has_other_corpus() && (places.front() >= other || places.back() < other)) continue;
    expected.duplicate_windows += places.size();
    expected.copies[places.front()] = places.size();
    for (const std::uint64_t place : places) {
      const bool is_first = options.keep == texts::Keep::first && place == places.front();
      for (std::uint64_t i = 0; i < window; ++i) (is_first ? kept : removed)[place + i] = true;
    }
  }
  for (std::uint64_t i = 0; options.protect_first && i < size; ++i)
    if (kept[i]) removed[i] = false;

  // Ranges of flags; the border of the other corpus divides them.
  const auto runs_of = [&](const std::vector<bool>& flags) {
    std::vector<texts::ByteRange> runs;
    for (std::uint64_t i = 0; i < size; ++i) {
      if (!flags[i]) continue;
      if (i == 0 || !flags[i - 1] || i == other) runs.push_back({i, i});
      runs.back().end = i + 1;
    }
    return runs;
  };
  if (options.whole_characters) {
    for (const texts::ByteRange& run : runs_of(removed)) {
      for (std::size_t d = 0; d + 1 < begins.size(); ++d) {
        const std::uint64_t begin = std::max(run.begin, begins[d]);
        const std::uint64_t end = std::min(run.end, begins[d + 1]);
        if (begin >= end) continue;
        const auto document =
            std::span(documents.text).subspan(begins[d], begins[d + 1] - begins[d]);
        const auto whole = texts::whole_characters(document, {begin - begins[d], end - begins[d]});
        for (std::uint64_t i = begin; i < end; ++i)
          removed[i] = i >= begins[d] + whole.begin && i < begins[d] + whole.end;
      }
    }
  }
  const std::vector<bool> before = removed;
  for (std::size_t d = 0; d + 1 < begins.size(); ++d) {
    for (std::uint64_t i = begins[d], end = i; i < begins[d + 1]; i = end) {
      end = i + 1;
      while (end < begins[d + 1] && before[end] == before[i]) ++end;
      const bool whole = i == begins[d] && end == begins[d + 1];
      if (before[i] || whole || end - i >= options.min_island) continue;
      for (std::uint64_t j = i; j < end; ++j) removed[j] = true;
    }
  }
  expected.ranges = runs_of(removed);
  return expected;
}

/// Documents of random letters, copies with changes, periodic runs and empty documents.
inline Documents random_documents(Random& random, std::uint64_t most_bytes) {
  constexpr int alphabets[] = {2, 2, 3, 4, 26, 256};
  const auto letters = static_cast<std::uint64_t>(alphabets[random.below(6)]);
  const bool is_high = random.below(2) == 0;  // 255 and 128.. rather than 0..
  const bool is_unicode = random.below(4) == 0;
  Documents documents;
  const std::uint64_t bytes = random.below(most_bytes);
  do {
    std::string document;
    const std::uint64_t parts = random.below(6);
    for (std::uint64_t part = 0; part < parts; ++part) {
      const std::uint64_t length = random.below(80);
      const std::string_view all = documents.view();
      switch (random.below(4)) {
        case 0:  // copied
          if (!all.empty()) document += all.substr(random.below(all.size()), length);
          break;
        case 1: {  // periodic
          const std::uint64_t period = 1 + random.below(random.below(2) == 0 ? 4 : 40);
          for (std::uint64_t i = 0; i < length; ++i) {
            document += i < period ? static_cast<char>('a' + random.below(letters % 26 + 1))
                                   : document[document.size() - period];
          }
          break;
        }
        case 2:
          if (is_unicode) {
            for (std::uint64_t i = 0; i < length; i += 3)
              document += random.below(2) == 0 ? "\xe2\x82\xac" : "\xc3\xa4";
            break;
          }
          [[fallthrough]];
        default:
          for (std::uint64_t i = 0; i < length; ++i) {
            const std::uint64_t letter = random.below(letters);
            document += static_cast<char>(is_high ? 255 - letter : letter);
          }
      }
    }
    if (random.below(8) == 0 && documents.begins.size() > 1) {  // a document again
      const std::uint64_t d = random.below(documents.begins.size() - 1);
      document = documents.view().substr(documents.begins[d],
                                         documents.begins[d + 1] - documents.begins[d]);
    }
    if (!document.empty() && random.below(4) == 0)
      document[random.below(document.size())] ^= 1;  // a change
    documents.add(document);
  } while (documents.text.size() < bytes);
  return documents;
}

/// Documents with many duplicates: copies of pieces of a text, with changes.
inline Documents mutated_documents(Random& random, std::uint64_t bytes) {
  std::string base;
  for (int i = 0; i < 20'000; ++i) base += static_cast<char>('a' + random.below(26));
  base.replace(5000, 600, std::string(600, '='));
  Documents documents;
  while (documents.text.size() < bytes) {
    std::string document = base.substr(random.below(base.size()), random.below(9000));
    for (std::uint64_t i = 0; i < document.size() / 200; ++i)
      document[random.below(document.size())] = static_cast<char>('A' + random.below(26));
    if (random.below(4) == 0) document.insert(document.size() / 2, "\xe2\x82\xac\xe2\x82\xac");
    documents.add(random.below(10) == 0 ? "" : document);
  }
  return documents;
}

}  // namespace sortie::test
