// SPDX-License-Identifier: Apache-2.0

// Suffix arrays on the host threads by induced sorting.
//
// 1. names    The LMS substrings of the text, a third as many as symbols, are named by their ranks
//             (substring_names.hpp).
// 2. order    The suffixes of the string of names are sorted. Where every name occurs once, names are
//             ranks. Where many do, by prefix doubling (name_doubling.hpp), else by these three steps for
//             the string of names.
// 3. induce   All suffixes are sorted by one scan in each direction (induction.hpp).
//
// SA-IS induces the order of the LMS substrings, too. Here a hash table finds the distinct ones, which are
// few, so that threads divide the work.
//
// Memory, for n symbols of which m begin LMS suffixes (0.3 n in most texts, at most n / 2), text excluded:
//
// | array                  | bytes                              | lifetime |
// |------------------------|------------------------------------|----------|
// | suffixes               | 4 n                                | all      |
// | symbols before entries | 4 n                                | 3        |
// | LMS suffixes           | 8 m, in the symbols if 3 m <= n    | all      |
// | order of names         | 4 m, in suffixes                   | 2, 3     |
// | names                  | 4 m, in the symbols                | 1, 2     |
// | all else of 1 and 2    | in what is left of these, or allocated where that is not enough | 1, 2 |
#include "apps/suffix_array/host/induced/induced_sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/induced/induction.hpp"
#include "apps/suffix_array/host/induced/name_doubling.hpp"
#include "apps/suffix_array/host/induced/substring_names.hpp"
#include "apps/suffix_array/host/text/coded_text.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/random.hpp"
#include "core/uninitialised_vector.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array::host {
namespace {

/// From so many distinct names for each name, doubling is faster: most suffixes are then alone after two
/// rounds. C source has 0.44 (doubling takes 7.5 ns a symbol, three more levels of names 14), stripped
/// documentation 0.35, HTML 0.03.
constexpr double least_distinct = 0.2;

/// On so many threads, doubling sorts all names. Sequential parts of induced sorting leave most threads idle: on
/// 16 threads, source of 44 MB took 0.44 s with doubling and 0.63 s with further levels of names.
constexpr int doubling_threads = 8;

/// Steps 1 and 2. \param order  receives numbers of LMS suffixes in their order
template <class Symbol>
void order_lms_suffixes(const HostContext& context, const SymbolString<Symbol>& string,
                        std::span<const LmsSuffix> lms, std::span<std::uint32_t> order,
                        ScratchStack& scratch) {
  if (lms.empty()) return;
  const ScratchStack::Scope scope(scratch);
  const auto names = scratch.take<std::uint32_t>(lms.size() + symbols_after_names);
  std::fill(names.end() - symbols_after_names, names.end(), 0);
  const auto used = names.first(lms.size());
  const std::uint32_t distinct = name_substrings(context, string, lms, used, scratch);
  sort_names(context, used, distinct, order, scratch);
}

bool are_equal(std::span<const std::uint32_t> names) {
  return std::ranges::all_of(names, [&](std::uint32_t name) { return name == names.front(); });
}

/// The text with letters from 1 on and separators 0. Empty if it has no separators.
std::vector<std::uint8_t> renumbered(const TextView& text) {
  std::vector<std::uint8_t> symbols;
  if (text.separators.empty()) return symbols;
  const LetterCounts counts = count_letters(text);
  std::array<std::uint8_t, 256> codes{};
  std::uint8_t next = 1;
  for (std::size_t letter = 0; letter < counts.size(); ++letter)
    if (counts[letter] > 0) codes[letter] = next++;
  resize_for_overwrite(symbols, static_cast<std::int64_t>(text.size()));
  for_each_index(0, text.size(),
                 [from = text.symbols, to = std::span(symbols), codes](std::uint64_t i) {
                   to[i] = codes[from[i]];
                 });
  for (const std::uint64_t separator : text.separators) symbols[separator] = 0;
  return symbols;
}

/// The share of a text's positions whose next 16 symbols occur more than once: of those positions whose
/// symbols have a certain hash, so that all occurrences are among them.
double repeated_share(std::span<const std::uint8_t> symbols) {
  constexpr std::uint64_t length = 16;
  constexpr std::uint64_t samples = std::uint64_t{1} << 15;
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  const std::uint64_t positions = symbols.size() - length + 1;
  const int chosen_bits = std::bit_width(positions / samples);
  const EqualShares shares = thread_shares(positions);
  std::vector<std::vector<std::uint64_t>> found(shares.count);
  for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      std::array<std::uint64_t, 2> words;
      std::memcpy(words.data(), symbols.data() + i, length);
      const std::uint64_t hash = (words[0] * odd ^ words[1]) * odd;
      if (hash >> (63 - chosen_bits) == 1) found[share].push_back(hash);
    }
  });
  std::vector<std::uint64_t> all;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  std::uint64_t repeated = 0;
  for (std::uint64_t i = 0; i < all.size(); ++i)
    repeated += (i > 0 && all[i - 1] == all[i]) || (i + 1 < all.size() && all[i + 1] == all[i]);
  return static_cast<double>(repeated) / static_cast<double>(std::max<std::size_t>(all.size(), 1));
}

/// Doubling compares 7 bytes at a time, or 21 bases, so texts of bytes are left to it where few suffixes
/// agree in two rounds: of proteins, a tenth; of C source and documentation, more than half. Genomes have
/// many repeats, and texts runs of one letter, that doubling sorts fast, but it is slow for other short
/// periods.
bool is_faster_by_induction(const TextView& text) {
  constexpr std::uint64_t samples = 4096;
  constexpr std::uint64_t length = 32;
  constexpr std::ptrdiff_t few_letters = 16;
  if (text.size() < samples * length) return false;
  std::array<bool, 256> seen{};
  std::vector<std::array<std::uint8_t, length>> found(samples);
  Random random(samples);
  for (auto& sample : found) {
    const std::uint64_t first = random.below(text.size() - length);
    std::copy_n(text.symbols.data() + first, length, sample.begin());
    for (const std::uint8_t symbol : sample) seen[symbol] = true;
  }
  if (std::ranges::count(seen, true) > few_letters) return repeated_share(text.symbols) > 0.3;
  std::erase_if(found, [](const auto& sample) {
    return std::ranges::count(sample, sample[0]) == std::ranges::ssize(sample);
  });
  std::ranges::sort(found);
  // Not std::ranges::unique(), whose result Clang 14 does not compile with libstdc++ 12.
  const auto equal_ones = std::unique(found.begin(), found.end());
  return found.end() - equal_ones > static_cast<std::ptrdiff_t>(samples / 4);
}

std::uint64_t bytes_needed(const TextView& text) {
  return text.size() * (text.separators.empty() ? 13 : 14);
}

std::vector<std::uint32_t> induced(const Context& context, const TextView& text) {
  const std::uint64_t size = text.size();
  start_host_runtime(context.threads);
  report_progress(context, "names", 0, size);
  PhaseTimer names(context, "names");
  const std::vector<std::uint8_t> symbols = renumbered(text);
  const SymbolString<std::uint8_t> string{
      symbols.empty() ? text.symbols : std::span<const std::uint8_t>(symbols), 256,
      !symbols.empty()};
  std::vector<std::uint32_t> suffixes;
  resize_for_overwrite(suffixes, static_cast<std::int64_t>(size));
  const std::vector<std::uint64_t> counts = count_lms_suffixes(string);
  const std::uint64_t count = begins_of(counts).back();
  const auto order = std::span(suffixes).first(count);
  const auto before_memory = allocate_array<std::uint32_t>(size);
  const std::span<std::uint32_t> before(before_memory.get(), size);
  // At the end of the symbols, unless there are too many.
  const bool is_within = 3 * count <= size;
  const auto lms_memory = allocate_array<LmsSuffix>(is_within ? 0 : count);
  const std::span<LmsSuffix> lms(
      is_within ? reinterpret_cast<LmsSuffix*>(before.last(2 * count).data()) : lms_memory.get(),
      count);
  find_lms_suffixes(string, counts, lms.data());
  {
    ScratchStack scratch({std::as_writable_bytes(before.first(size - (is_within ? 2 * count : 0))),
                          std::as_writable_bytes(std::span(suffixes).subspan(count))});
    order_lms_suffixes<std::uint8_t>(context, string, lms, order, scratch);
  }
  names.stop();
  report_progress(context, "names", size, size);
  report_progress(context, "induce", 0, size);
  const PhaseTimer timer(context, "induce");
  induce(string, lms, suffixes, before);
  if (context.report != nullptr) context.report->set("lms_suffixes", std::uint64_t{lms.size()});
  report_progress(context, "induce", size, size);
  return suffixes;
}

}  // namespace

void sort_names(const HostContext& context, std::span<const std::uint32_t> names,
                std::uint32_t distinct, std::span<std::uint32_t> order, ScratchStack& scratch) {
  if (distinct == names.size()) {
    for_each_index(0, names.size(),
                   [=](std::uint64_t i) { order[names[i]] = static_cast<std::uint32_t>(i); });
    return;
  }
  if (distinct <= 2 && are_equal(names.first(names.size() - 1))) {
    // Short periods. Which of two suffixes is less is decided where the last name and another one meet.
    const bool shortest_first = names.back() <= names.front();
    for_each_index(0, names.size(), [=, last = names.size() - 1](std::uint64_t i) {
      order[i] = static_cast<std::uint32_t>(shortest_first ? last - i : i);
    });
    return;
  }
  if (distinct > least_distinct * static_cast<double>(names.size()) ||
      host_threads() >= doubling_threads) {
    sort_by_doubling(context, names, distinct, order, scratch);
    return;
  }
  const SymbolString<std::uint32_t> string{names, distinct};
  const ScratchStack::Scope scope(scratch);
  // The order is written when the LMS suffixes are not needed any more, unless threads share blocks.
  if (worker_threads() == 1) scratch.lend(std::as_writable_bytes(order));
  const std::vector<std::uint64_t> counts = count_lms_suffixes(string);
  const auto lms = scratch.take<LmsSuffix>(begins_of(counts).back());
  find_lms_suffixes(string, counts, lms.data());
  const auto lms_order = scratch.take<std::uint32_t>(lms.size());
  order_lms_suffixes<std::uint32_t>(context, string, lms, lms_order, scratch);
  scratch.lend({});
  induce(string, lms, lms_order, order, scratch);
}

bool can_induce(const TextView& text) {
  if (text.size() > std::uint64_t{std::numeric_limits<std::int32_t>::max()}) return false;
  return text.separators.empty() || std::ranges::count(count_letters(text), 0U) > 0;
}

template <Position Pos>
bool chooses_induction(const HostContext& context, const TextView& text) {
  start_host_runtime(context.threads);
  const std::uint64_t widened =
      sizeof(Pos) == sizeof(std::uint32_t) ? 0 : text.size() * sizeof(Pos);
  return is_faster_by_induction(text) &&
         bytes_needed(text) + widened <= host_memory_limit(context) && can_induce(text);
}

template <Position Pos>
std::vector<Pos> build_induced(const Context& context, const TextView& text) {
  if (!can_induce(text)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("suffix array: found {} symbols with {} separators, expected for induced "
                    "sorting less than 2^31, and a byte that is no letter where there are "
                    "separators",
                    text.size(), text.separators.size()));
  }
  require_memory(context, "suffix array", bytes_needed(text));
  std::vector<std::uint32_t> suffixes = induced(context, text);
  if constexpr (std::is_same_v<Pos, std::uint32_t>) {
    return suffixes;
  } else {
    std::vector<Pos> wide;
    resize_for_overwrite(wide, static_cast<std::int64_t>(suffixes.size()));
    for_each_index(0, wide.size(), [from = suffixes.data(), to = wide.data()](std::uint64_t i) {
      to[i] = from[i];
    });
    return wide;
  }
}

template bool chooses_induction<std::uint32_t>(const HostContext&, const TextView&);
template bool chooses_induction<std::uint64_t>(const HostContext&, const TextView&);
SORTIE_FOR_BOTH_POSITIONS(build_induced);

}  // namespace sortie::suffix_array::host
