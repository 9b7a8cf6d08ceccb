// SPDX-License-Identifier: Apache-2.0
#include "apps/inverted_index/term_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "core/host_memory.hpp"
#include "multisort/host/local_sort.hpp"
#include "primitives/payload.hpp"
#include "sortie/error.hpp"

#if SORTIE_HAVE_STEMMER
#include <libstemmer.h>
#endif

namespace sortie::indexing {

void TermTable::clear() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  words_.clear();
  begins_.clear();
}

std::uint64_t TermTable::mark_of_long(const char* word, std::size_t size) {
  std::uint64_t hash = size;
  for (std::size_t i = 0; i < size; i += 8) {
    std::uint64_t part;
    std::memcpy(&part, word + i, sizeof(part));
    if (size - i < 8) part &= ~std::uint64_t{0} >> (64 - 8 * (size - i));
    hash = (hash ^ part) * 0xd6e8feb86659fd93ULL;
    hash ^= hash >> 32;
  }
  return hash | std::uint64_t{0xff} << 56;
}

std::uint32_t TermTable::add(std::size_t slot, std::uint64_t mark, const char* word,
                             std::size_t size) {
  const std::uint32_t number = this->size();
  begins_.push_back(static_cast<std::uint32_t>(words_.size()));
  words_.append(word, size);
  slots_[slot] = {mark, number};
  if (begins_.size() * 2 > slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& moved : old) {
      if (moved.number == no_number) continue;
      std::size_t i = slot_of(moved.mark);
      while (slots_[i].number != no_number) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = moved;
    }
  }
  return number;
}

void rank_terms(const TermTable& table, Stemmer* stemmer, RankedTerms& ranked) {
  const std::uint32_t words = table.size();
  std::vector<std::string_view> terms(words);
  ranked.stems.clear();
  if (stemmer != nullptr) {
    std::vector<std::size_t> ends(words);
    for (std::uint32_t i = 0; i < words; ++i) {
      ranked.stems.append(stemmer->stem(table.word(i)));
      ends[i] = ranked.stems.size();
    }
    for (std::uint32_t i = 0; i < words; ++i) {
      const std::size_t begin = i == 0 ? 0 : ends[i - 1];
      terms[i] = std::string_view(ranked.stems).substr(begin, ends[i] - begin);
    }
  } else {
    for (std::uint32_t i = 0; i < words; ++i) terms[i] = table.word(i);
  }
  using Number = Opaque<std::uint32_t>;
  const auto storage = allocate_array<std::uint64_t>(2 * std::uint64_t{words} + 1);
  const auto numbers = allocate_array<Number>(2 * std::uint64_t{words} + 1);
  const Items<std::uint64_t, Number> items{storage.get(), numbers.get()};
  for (std::uint32_t i = 0; i < words; ++i) {
    items.keys[i] = order_key(terms[i]);
    items.values[i].word = i;
  }
  multisort::LocalSort<std::uint64_t, Number>().sort(items, items.from(words), words);
  const auto term_at = [&](std::uint32_t i) { return terms[items.values[i].word]; };
  for (std::uint32_t begin = 0; begin < words;) {
    std::uint32_t end = begin + 1;
    while (end < words && items.keys[end] == items.keys[begin]) ++end;
    if (end - begin > 1) {
      std::sort(items.values + begin, items.values + end,
                [&](Number a, Number b) { return terms[a.word] < terms[b.word]; });
    }
    begin = end;
  }
  ranked.terms.clear();
  ranked.ranks.resize(words);
  for (std::uint32_t i = 0; i < words; ++i) {
    if (i == 0 || term_at(i) != ranked.terms.back()) ranked.terms.push_back(term_at(i));
    ranked.ranks[items.values[i].word] = static_cast<std::uint32_t>(ranked.terms.size() - 1);
  }
}

#if SORTIE_HAVE_STEMMER

Stemmer::Stemmer(const std::string& algorithm)
    : stemmer_(::sb_stemmer_new(algorithm.c_str(), "UTF_8")) {
  if (stemmer_ != nullptr) return;
  std::string known;
  for (const char** name = ::sb_stemmer_list(); *name != nullptr; ++name)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", *name);
  throw Error(ErrorKind::usage, fmt::format("stemmer: found {}, expected one of {}",
                                            sortie::quoted(algorithm), known));
}

Stemmer::~Stemmer() {
  ::sb_stemmer_delete(static_cast<sb_stemmer*>(stemmer_));
}

std::string_view Stemmer::stem(std::string_view word) {
  auto* const stemmer = static_cast<sb_stemmer*>(stemmer_);
  const sb_symbol* const stem = ::sb_stemmer_stem(
      stemmer, reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
  if (stem == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(stem),
          static_cast<std::size_t>(::sb_stemmer_length(stemmer))};
}

#else

Stemmer::Stemmer(const std::string& algorithm) {
  throw Error(
      ErrorKind::unavailable,
      fmt::format("stemmer {}: this build of Sortie has no libstemmer", sortie::quoted(algorithm)));
}
Stemmer::~Stemmer() = default;
std::string_view Stemmer::stem(std::string_view word) {
  return word;
}

#endif

}  // namespace sortie::indexing
