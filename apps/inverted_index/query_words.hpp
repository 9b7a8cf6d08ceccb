// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/inverted_index/index_reader.hpp"
#include "apps/inverted_index/term_table.hpp"
#include "apps/inverted_index/words.hpp"

namespace sortie::indexing {

/// Finds the terms of queries, as build_index() finds those of documents.
class QueryWords {
 public:
  /// \throws Error (usage) the index is one of k-mers; (unavailable) its stemmer
  explicit QueryWords(const MappedIndex& index);

  /// The terms of a text, in its order.
  [[nodiscard]] std::vector<std::string> terms(std::string_view text);

 private:
  WordScanner scanner_;
  std::optional<Stemmer> stemmer_;
};

}  // namespace sortie::indexing
