// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/inverted_index/index_reader.hpp"
#include "core/random.hpp"
#include "sortie/index_search.hpp"
#include "sortie/inverted_index.hpp"

namespace sortie::test {

/// Positions of a term, by documents.
using Postings = std::map<std::uint32_t, std::vector<std::uint64_t>>;

/// Documents, and the index that they have.
struct IndexedDocuments {
  std::vector<std::string> texts;
  std::vector<std::string> names;
  std::map<std::string, Postings> terms;
  std::vector<std::uint64_t> lengths;

  void add(std::string text, const std::vector<std::string>& terms_of_text) {
    const auto document = static_cast<std::uint32_t>(texts.size());
    for (std::size_t i = 0; i < terms_of_text.size(); ++i)
      terms[terms_of_text[i]][document].push_back(i);
    lengths.push_back(terms_of_text.size());
    names.push_back("document " + std::to_string(document));
    texts.push_back(std::move(text));
  }

  /// Blocks of whole documents.
  [[nodiscard]] indexing::DocumentSource source() const {
    return [this, next = std::size_t{0}](indexing::Documents& block,
                                         std::uint64_t block_bytes) mutable {
      while (next < texts.size() && (block.size() == 0 || block.bytes.size() < block_bytes)) {
        block.bytes += texts[next];
        block.end_document(names[next]);
        ++next;
      }
      return block.size() > 0;
    };
  }
};

/// A word in a text, and as a term.
struct WrittenWord {
  std::string written;
  std::string term;
};

/// Words of one letter to many, of several scripts, in either case.
inline std::vector<WrittenWord> vocabulary(std::size_t size, std::uint64_t seed) {
  std::vector<WrittenWord> words = {{"I", "i"},
                                    {"a1", "a1"},
                                    {"Straße", "straße"},
                                    {"ÉCOLE", "école"},
                                    {"Ωμέγα", "ωμέγα"},
                                    {"ДОМ", "дом"},
                                    {"日本語", "日本語"},
                                    {"3D", "3d"},
                                    {"Exactly8", "exactly8"},
                                    {"exactly8x", "exactly8x"},
                                    {"exactly8y", "exactly8y"},
                                    {"ŁódźŁódźŁódź", "łódźłódźłódź"},
                                    {"𝐀𝟘", "𝐀𝟘"}};
  Random random(seed);
  while (words.size() < size) {
    std::string term;
    const std::uint64_t letters = 1 + random.below(random.below(10) == 0 ? 40 : 9);
    for (std::uint64_t i = 0; i < letters; ++i)
      term += static_cast<char>('a' + random.below(random.below(2) == 0 ? 3 : 26));
    std::string written = term;
    if (random.below(3) == 0) written[0] = static_cast<char>(written[0] - 'a' + 'A');
    words.push_back({written, term});
  }
  words.resize(size);
  return words;
}

/// Documents of words with skewed frequencies; some are empty, and some have bytes that are not
/// UTF-8 between words.
inline IndexedDocuments random_documents(std::size_t documents, std::size_t words_a_document,
                                         std::size_t vocabulary_size, std::uint64_t seed) {
  const std::vector<WrittenWord> words = vocabulary(vocabulary_size, seed);
  const std::vector<std::string> separators = {" ", "\n", ", ", "--",  "\xff",  "\xe2\x80\x94",
                                               "_", "'",  "\t", ".  ", "\xc3 ", "\xf0\x9f\x99\x82"};
  Random random(seed + 1);
  IndexedDocuments result;
  for (std::size_t d = 0; d < documents; ++d) {
    std::string text;
    std::vector<std::string> terms;
    const std::uint64_t count = random.below(2 * words_a_document + 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto& [written, term] = words[random.below(1 + random.below(words.size()))];
      text += written + separators[random.below(random.below(2) == 0 ? 1 : separators.size())];
      terms.push_back(term);
    }
    result.add(std::move(text), terms);
  }
  return result;
}

/// All of an index.
struct IndexContent {
  std::map<std::string, Postings> terms;  ///< without positions, those are 0
  std::vector<std::string> names;
  std::vector<std::uint64_t> lengths;
};

inline IndexContent content_of_index(const std::string& path) {
  const indexing::InvertedIndex index(path);
  IndexContent content;
  index.mapped().for_each_term([&](std::string_view term, const indexing::TermPostings& postings) {
    Postings& read = content.terms[std::string(term)];
    indexing::PostingCursor at(index.mapped(), postings);
    for (; at.document() != indexing::PostingCursor::end_document; at.next()) {
      std::vector<std::uint64_t>& positions = read[at.document()];
      positions.resize(at.frequency());
      if (index.has_positions()) at.positions(positions);
    }
  });
  for (std::uint32_t i = 0; i < index.documents(); ++i) {
    content.names.push_back(index.document_name(i));
    content.lengths.push_back(index.document_length(i));
  }
  return content;
}

/// The postings without positions, as content_of_index() reads them.
inline std::map<std::string, Postings> without_positions(std::map<std::string, Postings> terms) {
  for (auto& [term, postings] : terms)
    for (auto& [document, positions] : postings) std::fill(positions.begin(), positions.end(), 0);
  return terms;
}

}  // namespace sortie::test
