// SPDX-License-Identifier: Apache-2.0
#include "sortie/genome_matches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "apps/genome_matches/index_state.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::genome_matches {
namespace {

constexpr std::string_view kind_names[] = {"maximal", "unique-in-reference", "unique"};

// Bytes that suffix_array::build() takes for each letter: the result included, with the least
// memory for the passes of DNA.
constexpr std::uint64_t bytes_to_build = 9;

[[nodiscard]] bool needs_suffixes(const MatchOptions& options) {
  return options.kind != Kind::maximal || options.statistics;
}

/// Letters of a query that a thread changes at a time.
constexpr std::uint64_t range_letters = std::uint64_t{256} << 10;

[[nodiscard]] bool is_wide(std::uint64_t symbols) {
  return symbols >= std::numeric_limits<std::uint32_t>::max() - 1;
}

}  // namespace

std::string_view name(Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

Kind parse_kind(std::string_view text) {
  const auto* const found = std::ranges::find(kind_names, text);
  if (found != std::end(kind_names)) return static_cast<Kind>(found - kind_names);
  throw Error(ErrorKind::usage,
              fmt::format("kind: found {}, expected maximal, unique-in-reference or unique",
                          sortie::quoted(text)));
}

std::vector<std::uint8_t> reverse_complement(std::span<const std::uint8_t> letters) {
  static constexpr std::array<std::uint8_t, 256> complements = [] {
    constexpr std::string_view from = "ACGTRYKMBVDHSW";
    constexpr std::string_view to = "TGCAYRMKVBHDSW";
    std::array<std::uint8_t, 256> table;
    table.fill('N');
    for (std::size_t i = 0; i < from.size(); ++i)
      table[static_cast<std::uint8_t>(from[i])] = static_cast<std::uint8_t>(to[i]);
    return table;
  }();
  std::vector<std::uint8_t> reversed(letters.size());
  for_each_range(letters.size(), range_letters, [&](std::uint64_t begin, std::uint64_t end) {
    const Letters part = letters.subspan(letters.size() - end, end - begin);
    std::transform(part.rbegin(), part.rend(), &reversed[begin],
                   [](std::uint8_t letter) { return complements[letter]; });
  });
  return reversed;
}

MatchIndex::MatchIndex(const Context& context, sequences::Text reference,
                       const MatchOptions& options)
    : state_(std::make_unique<State>()) {
  if (options.min_length == 0)
    throw Error(ErrorKind::usage, "minimum length: found 0, expected at least 1");
  if (reference.letters() == 0)
    throw Error(ErrorKind::input, "reference: found no letters, expected at least one");
  state_->reference = std::move(reference);
  state_->options = options;
  std::vector<std::uint8_t>& symbols = state_->reference.symbols;
  const PhaseTimer timer(context, "index", symbols.size());
  require_memory(context, "the index of the reference", building_bytes(symbols.size(), options));
  start_host_runtime(context.threads);
  if (options.only_acgt) {
    for_each_index(0, symbols.size(), [&symbols](std::uint64_t i) {
      if (symbols[i] != sequences::Text::separator && !is_acgt(symbols[i]))
        symbols[i] = unmatched_in_reference;
    });
  }
  // The budget is that of the host.
  Context sorting = context;
  if (context.backend == Backend::cuda) {
    sorting.memory_budget = 0;
  } else {
    sorting.backend = Backend::host;
  }
  if (options.kind == Kind::maximal) state_->seeds.emplace(sorting, symbols, options.min_length);
  if (!needs_suffixes(options)) return;
  if (sorting.memory_budget != 0 && state_->seeds)
    sorting.memory_budget -= SeedIndex::bytes_of(symbols.size(), options.min_length);
  // A GPU makes the keys that it needs, and searches without the filter; queries that are left to
  // the host make both.
  const bool searches = sorting.backend == Backend::host;
  const bool filters = options.kind != Kind::maximal;
  if (is_wide(symbols.size()))
    state_->wide_suffixes.emplace(sorting, state_->reference, options.min_length, searches,
                                  filters);
  else
    state_->suffixes.emplace(sorting, state_->reference, options.min_length, searches, filters);
#if defined(SORTIE_HAVE_CUDA)
  if (state_->suffixes && sorting.backend == Backend::cuda) {
    const SuffixIndex<std::uint32_t>& suffixes = *state_->suffixes;
    const SuffixTables tables{symbols, suffixes.suffixes(), suffixes.key_length(),
                              options.min_length};
    const PhaseTimer copying(context, "copy to the device");
    if (DeviceMatches::fits(context, tables))
      state_->device = std::make_unique<DeviceMatches>(context, tables);
  }
#endif
}

MatchIndex::~MatchIndex() = default;
MatchIndex::MatchIndex(MatchIndex&&) noexcept = default;
MatchIndex& MatchIndex::operator=(MatchIndex&&) noexcept = default;

const sequences::Text& MatchIndex::reference() const {
  return state_->reference;
}
const MatchOptions& MatchIndex::options() const {
  return state_->options;
}

std::uint64_t MatchIndex::index_bytes(std::uint64_t symbols, const MatchOptions& options) {
  std::uint64_t bytes = 0;
  if (options.kind == Kind::maximal) bytes += SeedIndex::bytes_of(symbols, options.min_length);
  if (needs_suffixes(options))
    bytes += is_wide(symbols) ? SuffixIndex<std::uint64_t>::bytes_of(symbols)
                              : SuffixIndex<std::uint32_t>::bytes_of(symbols);
  return bytes;
}

std::uint64_t MatchIndex::building_bytes(std::uint64_t symbols, const MatchOptions& options) {
  const std::uint64_t index = index_bytes(symbols, options);
  if (!needs_suffixes(options)) return index;
  const std::uint64_t suffixes = bytes_to_build * symbols * (is_wide(symbols) ? 2 : 1);
  const std::uint64_t seeds =
      options.kind == Kind::maximal ? SeedIndex::bytes_of(symbols, options.min_length) : 0;
  return std::max(index, seeds + suffixes);
}

void MatchIndex::State::find(Letters query, QueryRange range, const SeedIndex::Use& use) const {
  if (options.kind == Kind::maximal) return seeds->find(reference.symbols, query, range, use);
  std::vector<Match> matches;
#if defined(SORTIE_HAVE_CUDA)
  const std::uint64_t positions = range.end - range.begin;
  if (device && positions >= DeviceMatches::least_positions &&
      positions <= DeviceMatches::most_positions && device->find_unique(query, range, matches))
    return use(matches);
#endif
  if (wide_suffixes)
    wide_suffixes->find_unique(query, range, matches);
  else
    suffixes->find_unique(query, range, matches);
  use(matches);
}

void MatchIndex::State::find_statistics(Letters query, QueryRange range,
                                        std::vector<StatisticsRun>& runs) const {
  if (wide_suffixes)
    wide_suffixes->find_statistics(query, range, runs);
  else
    suffixes->find_statistics(query, range, runs);
}

void append_runs(std::vector<StatisticsRun>& runs, std::span<const StatisticsRun> next) {
  if (!runs.empty() && !next.empty() && runs.back().length > 0 &&
      runs.back().begin + runs.back().length == next.front().begin + next.front().length) {
    runs.back().end = next.front().end;
    next = next.subspan(1);
  }
  runs.insert(runs.end(), next.begin(), next.end());
}

void MatchIndex::prepare_query(std::span<std::uint8_t> letters) const {
  if (!state_->options.only_acgt) return;
  for_each_range(letters.size(), range_letters, [&](std::uint64_t begin, std::uint64_t end) {
    std::ranges::replace_if(
        letters.subspan(begin, end - begin), [](std::uint8_t letter) { return !is_acgt(letter); },
        unmatched_in_query);
  });
}

std::vector<Match> MatchIndex::find(std::span<const std::uint8_t> query) const {
  std::vector<Match> all;
  state_->find(query, {0, query.size()}, [&](std::span<const Match> matches) {
    all.insert(all.end(), matches.begin(), matches.end());
  });
  if (state_->options.kind == Kind::unique) keep_unique_in_query(all);
  return all;
}

std::vector<StatisticsRun> MatchIndex::statistics(std::span<const std::uint8_t> query) const {
  std::vector<StatisticsRun> runs;
  state_->find_statistics(query, {0, query.size()}, runs);
  return runs;
}

void MatchIndex::check(std::span<const std::uint8_t> query, std::span<const Match> matches) const {
  const std::vector<std::uint8_t>& reference = state_->reference.symbols;
  for (const Match& match : matches) {
    const std::uint64_t reference_end = match.reference + match.length;
    const std::uint64_t query_end = match.query + match.length;
    const auto fail = [&](std::string_view found) {
      throw Error(ErrorKind::check,
                  fmt::format("match of {} letters at {} of the reference and {} of the query: "
                              "found {}, expected a maximal match of at least {} letters",
                              match.length, match.reference + 1, match.query + 1, found,
                              state_->options.min_length));
    };
    if (match.length < state_->options.min_length) fail("too few letters");
    if (reference_end > reference.size() || query_end > query.size()) fail("the end of a text");
    for (std::uint64_t i = 0; i < match.length; ++i) {
      const std::uint8_t letter = reference[match.reference + i];
      if (letter != query[match.query + i] || letter == sequences::Text::separator)
        fail("different letters");
    }
    if (match.reference > 0 && match.query > 0 &&
        reference[match.reference - 1] == query[match.query - 1])
      fail("the same letters before it");
    if (reference_end < reference.size() && query_end < query.size() &&
        reference[reference_end] == query[query_end])
      fail("the same letters after it");
  }
}

}  // namespace sortie::genome_matches
