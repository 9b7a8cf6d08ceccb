// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <optional>

#include "apps/inverted_index/index_reader.hpp"
#include "apps/inverted_index/run.hpp"
#include "apps/inverted_index/term_table.hpp"
#include "apps/inverted_index/words.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "sortie/inverted_index.hpp"

namespace sortie::indexing {
namespace {

/// Positions of a term, by documents.
using PlainPostings = std::map<std::uint32_t, std::vector<std::uint64_t>>;

/// An index that is made term by term.
struct PlainIndex {
  std::map<std::string, PlainPostings> terms;
  std::vector<std::uint64_t> lengths;
  std::vector<std::string> names;
};

/// Calls take(word) for the words of a document, character by character.
template <class Take>
void for_each_plain_word(std::string_view text, const Take& take) {
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) take(word);
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character next = decode_utf8(text.data() + at, text.data() + text.size());
    at += next.bytes;
    const std::uint32_t lower = lower_of(next.character);
    if (lower == 0) {
      end_word();
      continue;
    }
    char bytes[4];
    const std::string_view character(bytes,
                                     static_cast<std::size_t>(encode_utf8(lower, bytes) - bytes));
    if (word.size() + character.size() > longest_word) end_word();
    word += character;
  }
  end_word();
}

/// The k-mer as a term, if all of its letters are bases.
std::optional<std::string> plain_kmer(std::string_view letters, bool canonical) {
  std::uint64_t kmer = 0;
  std::uint64_t reverse = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::uint64_t base = base_number(letters[i]);
    if (base > 3) return {};
    kmer = kmer << 2 | base;
    reverse |= (3 - base) << (2 * i);
  }
  const auto k = static_cast<int>(letters.size());
  std::string term(kmer_bytes(k), '\0');
  put_kmer(canonical ? std::min(kmer, reverse) : kmer, k, term.data());
  return term;
}

PlainIndex build_plainly(const DocumentSource& source, const IndexOptions& options,
                         std::uint64_t block_bytes) {
  PlainIndex index;
  std::optional<Stemmer> stemmer;
  if (!options.stemmer.empty()) stemmer.emplace(options.stemmer);
  const auto k = static_cast<std::size_t>(options.kmer_length);
  std::uint64_t positions = 0;  // of the document so far
  Documents block;
  for (; source(block, block_bytes); block.clear()) {
    for (std::uint64_t i = 0; i < block.size(); ++i) {
      if (i > 0 || !block.continues) {
        index.lengths.push_back(0);
        index.names.push_back(block.names[i]);
        positions = 0;
      }
      const auto document = static_cast<std::uint32_t>(index.lengths.size() - 1);
      const std::string_view text =
          std::string_view(block.bytes)
              .substr(block.begins[i], block.begins[i + 1] - block.begins[i]);
      const auto add = [&](const std::string& term, std::uint64_t position) {
        index.terms[term][document].push_back(position);
        ++index.lengths[document];
      };
      if (k == 0) {
        for_each_plain_word(text, [&](const std::string& word) {
          add(stemmer ? std::string(stemmer->stem(word)) : word, positions++);
        });
      } else {
        for (std::size_t at = 0; at + k <= text.size(); ++at, ++positions) {
          if (const auto term = plain_kmer(text.substr(at, k), options.canonical))
            add(*term, positions);
        }
      }
    }
  }
  return index;
}

}  // namespace

void check_index(const HostContext& context, const DocumentSource& source, const std::string& path,
                 const IndexOptions& options) {
  const PhaseTimer timer(context, "check index");
  const MappedIndex mapped(path);
  const IndexHeader& header = mapped.header();
  // A position of each occurrence; nodes of maps for each posting.
  constexpr std::uint64_t posting_bytes = 72;
  require_budget(context, "plain index",
                 header.occurrences * sizeof(std::uint64_t) + header.postings * posting_bytes);
  constexpr std::uint64_t block_bytes = 1 << 20;
  const PlainIndex plain = build_plainly(source, options, block_bytes);
  const auto require = [&](bool holds, const auto& what) {
    if (!holds)
      throw Error(ErrorKind::check, fmt::format("{}: found other {} than a plain sequential "
                                                "algorithm, expected the same",
                                                path, what()));
  };
  require(header.documents == plain.lengths.size(), [] { return "documents"; });
  for (std::uint32_t i = 0; i < header.documents; ++i) {
    require(
        mapped.document_length(i) == plain.lengths[i] && mapped.document_name(i) == plain.names[i],
        [&] { return fmt::format("length or name of document {}", i); });
  }
  auto next = plain.terms.begin();
  std::vector<std::uint64_t> positions;
  mapped.for_each_term([&](std::string_view term, const TermPostings& postings) {
    require(next != plain.terms.end() && next->first == term,
            [&] { return fmt::format("terms, at {}", sortie::quoted(term)); });
    const auto what = [&] { return fmt::format("postings of {}", sortie::quoted(term)); };
    std::uint64_t occurrences = 0;
    PostingCursor at(mapped, postings);
    for (const auto& [document, places] : next->second) {
      require(at.document() == document && at.frequency() == places.size(), what);
      occurrences += places.size();
      if (options.positions) {
        at.positions(positions);
        require(positions == places, what);
      }
      at.next();
    }
    require(at.document() == PostingCursor::end_document && occurrences == postings.occurrences &&
                postings.documents == next->second.size() && mapped.find(term).has_value(),
            what);
    ++next;
  });
  require(next == plain.terms.end(), [] { return "number of terms"; });
  report_progress(context, "check index", header.documents, header.documents);
}

}  // namespace sortie::indexing
