// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "apps/inverted_index/query_words.hpp"
#include "apps/inverted_index/run.hpp"
#include "sortie/error.hpp"
#include "sortie/index_search.hpp"

namespace sortie::indexing {

QueryWords::QueryWords(const MappedIndex& index) {
  if (index.header().kmer_length > 0)
    throw Error(ErrorKind::usage,
                fmt::format("{}: found an index of k-mers, expected one of words", index.path()));
  const std::string stemmer = index.stemmer();
  if (!stemmer.empty()) stemmer_.emplace(stemmer);
}

std::vector<std::string> QueryWords::terms(std::string_view text) {
  std::vector<std::string> terms;
  scanner_.scan(text.data(), text.data() + text.size(), [&](const char* word, std::size_t size) {
    const std::string_view found(word, size);
    terms.emplace_back(stemmer_ ? stemmer_->stem(found) : found);
    return true;
  });
  return terms;
}

namespace {

using Words = std::vector<std::pair<std::string, std::uint32_t>>;  // with how often they occur

/// The distinct words of a query, in its order.
Words words_of(const MappedIndex& index, std::string_view query) {
  Words words;
  for (const std::string& term : QueryWords(index).terms(query)) {
    const auto known = std::find_if(words.begin(), words.end(),
                                    [&](const auto& word) { return word.first == term; });
    if (known != words.end()) {
      ++known->second;
    } else {
      words.emplace_back(term, 1);
    }
  }
  return words;
}

/// The order of hits.
bool precedes(const Hit& a, const Hit& b) {
  return a.score != b.score ? a.score > b.score : a.document < b.document;
}

/// The formula of scores.
class Bm25 {
 public:
  Bm25(const MappedIndex& index, const Bm25Options& options)
      : documents_(static_cast<double>(index.header().documents)),
        least_norm_(options.k1 * (1 - options.b)),
        norm_a_length_(index.average_length() > 0 ? options.k1 * options.b / index.average_length()
                                                  : 0) {}

  /// The factor of a word that does not depend on the document.
  [[nodiscard]] double weight(std::uint64_t documents, std::uint32_t times) const {
    const auto having = static_cast<double>(documents);
    return times * std::log(1 + (documents_ - having + 0.5) / (having + 0.5));
  }
  /// What a word adds to the score.
  [[nodiscard]] double part(double weight, double frequency, double length) const {
    return weight * frequency / (frequency + (least_norm_ + norm_a_length_ * length));
  }

 private:
  double documents_;
  double least_norm_;
  double norm_a_length_;
};

/// A word of a ranked query.
struct ScoredTerm {
  PostingCursor cursor;
  double weight;       ///< the factor that does not depend on the document
  std::size_t number;  ///< in the order of the query
  double bound = 0;    ///< no document has a higher score for the word
};

class Bm25Search {
 public:
  Bm25Search(const MappedIndex& index, const Bm25Options& options)
      : index_(index), top_(options.top), formula_(index, options) {}

  std::vector<Hit> search(const Words& words) {
    add_terms(words);
    if (terms_.empty() || top_ == 0) return {};
    // Lists by ascending bounds. A document that is only in the first ones cannot have a higher
    // score than the sum of their bounds.
    std::sort(terms_.begin(), terms_.end(), [](const ScoredTerm& a, const ScoredTerm& b) {
      return std::pair(a.bound, a.number) < std::pair(b.bound, b.number);
    });
    std::vector<double> sums(terms_.size());
    double sum = 0;
    // Sums are rounded in another order than scores.
    constexpr double rounding = 1 + 1e-9;
    for (std::size_t i = 0; i < terms_.size(); ++i) sums[i] = (sum += terms_[i].bound) * rounding;
    scores_.assign(words.size(), 0);
    std::size_t first = 0;  // lists from here on lead to documents
    for (;;) {
      std::uint32_t document = PostingCursor::end_document;
      for (std::size_t i = first; i < terms_.size(); ++i)
        document = std::min(document, terms_[i].cursor.document());
      if (document == PostingCursor::end_document) break;
      score(document, first, sums);
      while (hits_.size() == top_ && first < terms_.size() && sums[first] <= least_score()) ++first;
      if (first == terms_.size()) break;
    }
    std::sort_heap(hits_.begin(), hits_.end(), precedes);
    return std::move(hits_);
  }

 private:
  [[nodiscard]] double least_score() const { return hits_.front().score; }

  void add_terms(const Words& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto postings = index_.find(words[i].first);
      if (!postings) continue;
      terms_.push_back({PostingCursor(index_, *postings),
                        formula_.weight(postings->documents, words[i].second), i});
      terms_.back().bound = bound_of(terms_.back());
    }
  }

  /// The score grows with the frequency and falls with the length.
  [[nodiscard]] double bound_of(const ScoredTerm& term) const {
    double bound = 0;
    for (std::uint64_t block = 0; block < term.cursor.full_blocks(); ++block) {
      const PostingSkip skip = term.cursor.skip(block);
      if (skip.frequency() == PostingSkip::most_frequency) return term.weight;
      bound = std::max(bound, formula_.part(term.weight, skip.frequency(), skip.least_length));
    }
    if (term.cursor.documents() % packed_numbers == 0) return bound;
    PostingCursor rest = term.cursor;
    if (rest.full_blocks() > 0) rest.advance(rest.skip(rest.full_blocks() - 1).last_document + 1);
    for (; rest.document() != PostingCursor::end_document; rest.next()) {
      bound = std::max(bound, formula_.part(term.weight, rest.frequency(),
                                            index_.document_length(rest.document())));
    }
    return bound;
  }

  /// Adds a document to the hits, if its score is high enough.
  void score(std::uint32_t document, std::size_t first, const std::vector<double>& sums) {
    const double length = index_.document_length(document);
    double known = 0;
    const auto take = [&](ScoredTerm& term) {
      scores_[term.number] = formula_.part(term.weight, term.cursor.frequency(), length);
      known += scores_[term.number];
      term.cursor.next();
    };
    for (std::size_t i = first; i < terms_.size(); ++i)
      if (terms_[i].cursor.document() == document) take(terms_[i]);
    bool is_possible = true;
    for (std::size_t i = first; i-- > 0;) {
      is_possible = (known + sums[i]) * (1 + 1e-9) > least_score();
      if (!is_possible) break;
      terms_[i].cursor.advance(document);
      if (terms_[i].cursor.document() == document) take(terms_[i]);
    }
    double sum = 0;
    for (double& part : scores_) sum += std::exchange(part, 0.0);
    if (!is_possible) return;
    const Hit hit{document, sum};
    if (hits_.size() == top_) {
      // Later documents do not replace earlier ones of the same score.
      if (!(sum > least_score())) return;
      std::pop_heap(hits_.begin(), hits_.end(), precedes);
      hits_.back() = hit;
    } else {
      hits_.push_back(hit);
    }
    std::push_heap(hits_.begin(), hits_.end(), precedes);
  }

  const MappedIndex& index_;
  std::uint64_t top_;
  Bm25 formula_;
  std::vector<ScoredTerm> terms_;
  std::vector<double> scores_;  ///< of a document, by words of the query
  std::vector<Hit> hits_;       ///< a heap whose top is the last one in the order of hits
};

/// Documents that satisfy a part of an expression.
class Matches {
 public:
  Matches() = default;
  virtual ~Matches() = default;
  Matches(const Matches&) = delete;
  Matches& operator=(const Matches&) = delete;

  /// The first document that is at least `target`, or PostingCursor::end_document. Targets ascend.
  [[nodiscard]] virtual std::uint32_t first_from(std::uint32_t target) = 0;
  /// At most so many documents.
  [[nodiscard]] virtual std::uint64_t most() const = 0;
  /// Whether each document satisfies the part, by whole lists. \pre first_from() was not called
  [[nodiscard]] virtual std::vector<bool> plainly(std::uint64_t documents) = 0;
};
using MatchesPointer = std::unique_ptr<Matches>;

class TermMatches : public Matches {
 public:
  TermMatches(const MappedIndex& index, std::string_view term) {
    if (const auto postings = index.find(term)) cursor_.emplace(index, *postings);
  }
  std::uint32_t first_from(std::uint32_t target) override {
    if (!cursor_) return PostingCursor::end_document;
    cursor_->advance(target);
    return cursor_->document();
  }
  [[nodiscard]] std::uint64_t most() const override { return cursor_ ? cursor_->documents() : 0; }
  std::vector<bool> plainly(std::uint64_t documents) override {
    std::vector<bool> having(documents);
    for (; cursor_ && cursor_->document() != PostingCursor::end_document; cursor_->next())
      having[cursor_->document()] = true;
    return having;
  }
  /// \pre first_from() has returned a document
  void positions(std::vector<std::uint64_t>& positions) { cursor_->positions(positions); }

 private:
  std::optional<PostingCursor> cursor_;
};

class AllMatches : public Matches {
 public:
  explicit AllMatches(std::vector<MatchesPointer> parts) : parts_(std::move(parts)) {
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const auto& a, const auto& b) { return a->most() < b->most(); });
  }
  std::uint32_t first_from(std::uint32_t target) override {
    for (bool agree = false; !agree;) {
      agree = true;
      for (std::size_t i = 0; i < parts_.size() && agree; ++i) {
        const std::uint32_t document = parts_[i]->first_from(target);
        if (document == PostingCursor::end_document) return document;
        // The part with the fewest documents leads.
        agree = i == 0 || document == target;
        target = document;
      }
    }
    return target;
  }
  [[nodiscard]] std::uint64_t most() const override { return parts_.front()->most(); }
  std::vector<bool> plainly(std::uint64_t documents) override {
    std::vector<bool> all(documents, true);
    for (const auto& part : parts_) {
      const std::vector<bool> own = part->plainly(documents);
      std::transform(all.begin(), all.end(), own.begin(), all.begin(), std::logical_and<>());
    }
    return all;
  }

 private:
  std::vector<MatchesPointer> parts_;
};

class AnyMatches : public Matches {
 public:
  explicit AnyMatches(std::vector<MatchesPointer> parts) : parts_(std::move(parts)) {}
  std::uint32_t first_from(std::uint32_t target) override {
    std::uint32_t first = PostingCursor::end_document;
    for (const auto& part : parts_) first = std::min(first, part->first_from(target));
    return first;
  }
  [[nodiscard]] std::uint64_t most() const override {
    std::uint64_t sum = 0;
    for (const auto& part : parts_) sum += part->most();
    return sum;
  }
  std::vector<bool> plainly(std::uint64_t documents) override {
    std::vector<bool> any(documents);
    for (const auto& part : parts_) {
      const std::vector<bool> own = part->plainly(documents);
      std::transform(any.begin(), any.end(), own.begin(), any.begin(), std::logical_or<>());
    }
    return any;
  }

 private:
  std::vector<MatchesPointer> parts_;
};

class OtherMatches : public Matches {
 public:
  OtherMatches(const MappedIndex& index, MatchesPointer excluded)
      : documents_(index.header().documents), excluded_(std::move(excluded)) {}
  std::uint32_t first_from(std::uint32_t target) override {
    // What is excluded has advanced to `next_`, and cannot tell of documents before.
    next_ = std::max(next_, target);
    while (next_ < documents_ && excluded_->first_from(next_) == next_) ++next_;
    return next_ < documents_ ? next_ : PostingCursor::end_document;
  }
  [[nodiscard]] std::uint64_t most() const override { return documents_; }
  std::vector<bool> plainly(std::uint64_t documents) override {
    std::vector<bool> others = excluded_->plainly(documents);
    others.flip();
    return others;
  }

 private:
  std::uint64_t documents_;
  MatchesPointer excluded_;
  std::uint32_t next_ = 0;
};

/// Words that follow each other.
class PhraseMatches : public Matches {
 public:
  PhraseMatches(const MappedIndex& index, const std::vector<std::string>& terms) {
    std::vector<MatchesPointer> parts;
    for (const std::string& term : terms) {
      parts.push_back(std::make_unique<TermMatches>(index, term));
      words_.push_back(static_cast<TermMatches*>(parts.back().get()));
    }
    all_ = std::make_unique<AllMatches>(std::move(parts));
  }
  std::uint32_t first_from(std::uint32_t target) override {
    for (;; ++target) {
      target = all_->first_from(target);
      if (target == PostingCursor::end_document || are_adjacent()) return target;
    }
  }
  [[nodiscard]] std::uint64_t most() const override { return all_->most(); }
  /// Document by document.
  std::vector<bool> plainly(std::uint64_t documents) override {
    std::vector<bool> adjacent(documents);
    for (std::uint32_t document = 0; document < documents; ++document) {
      bool all = true;
      for (TermMatches* const word : words_) all &= word->first_from(document) == document;
      adjacent[document] = all && are_adjacent();
    }
    return adjacent;
  }

 private:
  /// Whether the words follow each other in the document that all of them are at.
  [[nodiscard]] bool are_adjacent() {
    words_[0]->positions(starts_);
    for (std::size_t i = 1; i < words_.size() && !starts_.empty(); ++i) {
      words_[i]->positions(positions_);
      auto at = positions_.begin();
      std::erase_if(starts_, [&](std::uint64_t start) {
        while (at != positions_.end() && *at < start + i) ++at;
        return at == positions_.end() || *at != start + i;
      });
    }
    return !starts_.empty();
  }

  std::vector<TermMatches*> words_;
  MatchesPointer all_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> positions_;
};

/// Parses boolean expressions by recursive descent.
class ExpressionParser {
 public:
  ExpressionParser(const MappedIndex& index, std::string_view query)
      : index_(index), words_(index), query_(query), rest_(query) {
    next();
  }

  MatchesPointer parse() {
    MatchesPointer all = parse_any(0);
    if (!token_.empty()) fail(sortie::quoted(token_), "the end of the query");
    return all;
  }

 private:
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const {
    throw Error(ErrorKind::usage, fmt::format("query {}: found {}, expected {}",
                                              sortie::quoted(query_), found, expected));
  }

  /// Reads the next token: a parenthesis, words in quotation marks, or characters up to a blank.
  void next() {
    constexpr std::string_view blanks = " \t\r\n";
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
    std::size_t size = std::min(rest_.find_first_of(" \t\r\n()\""), rest_.size());
    if (size == 0 && !rest_.empty()) {
      size = 1;
      if (rest_[0] == '"') {
        size = rest_.find('"', 1);
        if (size == std::string_view::npos) fail("no second quotation mark", "one");
        ++size;
      }
    }
    token_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }

  MatchesPointer parse_any(int depth) {
    std::vector<MatchesPointer> parts;
    parts.push_back(parse_all(depth));
    while (token_ == "OR") {
      next();
      parts.push_back(parse_all(depth));
    }
    if (parts.size() == 1) return std::move(parts[0]);
    return std::make_unique<AnyMatches>(std::move(parts));
  }

  MatchesPointer parse_all(int depth) {
    std::vector<MatchesPointer> parts;
    parts.push_back(parse_term(depth));
    for (;;) {
      if (token_ == "AND") {
        next();
      } else if (token_.empty() || token_ == "OR" || token_ == ")") {
        break;
      }
      parts.push_back(parse_term(depth));
    }
    if (parts.size() == 1) return std::move(parts[0]);
    return std::make_unique<AllMatches>(std::move(parts));
  }

  MatchesPointer parse_term(int depth) {
    constexpr int most_depth = 200;
    if (depth > most_depth) fail("an expression that is nested too deeply", "at most 200 levels");
    const std::string_view token = token_;
    if (token.empty() || token == "AND" || token == "OR" || token == ")")
      fail(token.empty() ? "the end of the query" : sortie::quoted(token), "a word");
    next();
    if (token == "NOT") return std::make_unique<OtherMatches>(index_, parse_term(depth + 1));
    if (token == "(") {
      MatchesPointer inside = parse_any(depth + 1);
      if (token_ != ")")
        fail(token_.empty() ? "the end of the query" : sortie::quoted(token_), "\")\"");
      next();
      return inside;
    }
    const std::vector<std::string> terms = words_.terms(token);
    if (terms.empty()) fail(sortie::quoted(token), "a word");
    if (terms.size() == 1) return std::make_unique<TermMatches>(index_, terms[0]);
    if (token[0] == '"') {
      if ((index_.header().flags & has_positions) == 0)
        fail("words that follow each other", "an index with positions");
      return std::make_unique<PhraseMatches>(index_, terms);
    }
    std::vector<MatchesPointer> parts;
    for (const std::string& term : terms)
      parts.push_back(std::make_unique<TermMatches>(index_, term));
    return std::make_unique<AllMatches>(std::move(parts));
  }

  const MappedIndex& index_;
  QueryWords words_;
  std::string_view query_;
  std::string_view rest_;
  std::string_view token_;
};

}  // namespace

std::vector<Hit> search_bm25(const InvertedIndex& index, std::string_view query,
                             const Bm25Options& options) {
  const auto require = [](bool holds, std::string_view name, double found, std::string_view range) {
    if (!holds)
      throw Error(ErrorKind::usage, fmt::format("{}: found {}, expected {}", name, found, range));
  };
  require(options.k1 >= 0 && std::isfinite(options.k1), "k1", options.k1, "a number of at least 0");
  require(options.b >= 0 && options.b <= 1, "b", options.b, "a number from 0 to 1");
  const MappedIndex& mapped = index.mapped();
  return Bm25Search(mapped, options).search(words_of(mapped, query));
}

void check_bm25(const InvertedIndex& index, std::string_view query, const Bm25Options& options,
                std::span<const Hit> hits) {
  const MappedIndex& mapped = index.mapped();
  const Bm25 formula(mapped, options);
  std::vector<double> scores(index.documents());
  std::vector<bool> found(index.documents());
  for (const auto& [word, times] : words_of(mapped, query)) {
    const auto postings = mapped.find(word);
    if (!postings) continue;
    const double weight = formula.weight(postings->documents, times);
    for (PostingCursor at(mapped, *postings); at.document() != PostingCursor::end_document;
         at.next()) {
      const double length = mapped.document_length(at.document());
      scores[at.document()] += formula.part(weight, at.frequency(), length);
      found[at.document()] = true;
    }
  }
  std::vector<Hit> all;
  for (std::uint32_t document = 0; document < scores.size(); ++document)
    if (found[document]) all.push_back({document, scores[document]});
  std::sort(all.begin(), all.end(), precedes);
  if (all.size() > options.top) all.resize(options.top);
  if (!std::equal(all.begin(), all.end(), hits.begin(), hits.end())) {
    throw Error(ErrorKind::check, fmt::format("query {}: found other documents than by all scores, "
                                              "expected the same",
                                              sortie::quoted(query)));
  }
}

void check_boolean(const InvertedIndex& index, std::string_view query, std::uint64_t most,
                   std::span<const std::uint32_t> documents) {
  const std::vector<bool> all =
      ExpressionParser(index.mapped(), query).parse()->plainly(index.documents());
  std::vector<std::uint32_t> expected;
  for (std::uint32_t document = 0; document < all.size() && expected.size() < most; ++document)
    if (all[document]) expected.push_back(document);
  if (!std::equal(expected.begin(), expected.end(), documents.begin(), documents.end())) {
    throw Error(ErrorKind::check, fmt::format("query {}: found other documents than by whole "
                                              "lists, expected the same",
                                              sortie::quoted(query)));
  }
}

std::vector<std::uint32_t> search_boolean(const InvertedIndex& index, std::string_view query,
                                          std::uint64_t most) {
  const MatchesPointer matches = ExpressionParser(index.mapped(), query).parse();
  std::vector<std::uint32_t> documents;
  for (std::uint32_t next = 0; documents.size() < most; ++next) {
    next = matches->first_from(next);
    if (next == PostingCursor::end_document) break;
    documents.push_back(next);
  }
  return documents;
}

std::vector<Hit> search_kmers(const InvertedIndex& index, std::string_view sequence, double share) {
  const int k = index.kmer_length();
  const MappedIndex& mapped = index.mapped();
  if (k == 0)
    throw Error(ErrorKind::usage,
                fmt::format("{}: found an index of words, expected one of k-mers", mapped.path()));
  if (!(share > 0 && share <= 1))
    throw Error(ErrorKind::usage,
                fmt::format("share: found {}, expected a number above 0, at most 1", share));
  std::vector<std::uint64_t> kmers;
  KmerScanner scanner(k, index.is_canonical());
  for (const char letter : sequence)
    if (scanner.add(letter)) kmers.push_back(scanner.kmer());
  std::sort(kmers.begin(), kmers.end());
  kmers.erase(std::unique(kmers.begin(), kmers.end()), kmers.end());
  std::vector<Hit> hits;
  if (kmers.empty()) return hits;
  std::vector<std::uint32_t> counts(index.documents());
  char term[8];
  for (const std::uint64_t kmer : kmers) {
    put_kmer(kmer, k, term);
    const auto postings = mapped.find({term, kmer_bytes(k)});
    if (!postings) continue;
    for (PostingCursor at(mapped, *postings); at.document() != PostingCursor::end_document;
         at.next())
      ++counts[at.document()];
  }
  const auto all = static_cast<double>(kmers.size());
  for (std::uint32_t document = 0; document < counts.size(); ++document) {
    const double held = counts[document];
    if (held > 0 && held >= share * all) hits.push_back({document, held / all});
  }
  std::stable_sort(hits.begin(), hits.end(),
                   [](const Hit& a, const Hit& b) { return a.score > b.score; });
  return hits;
}

}  // namespace sortie::indexing
