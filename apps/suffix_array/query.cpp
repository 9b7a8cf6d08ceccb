// SPDX-License-Identifier: Apache-2.0
#include "sortie/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <unordered_map>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/program_calls.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array {
namespace {

constexpr std::string_view title = "suffix array query";

/// Patterns of a task: few, since each takes some microseconds, and more where it is frequent.
constexpr std::uint64_t patterns_of_task = 64;

/// One bit for each position, set where a record ends; empty when there are no separators.
std::vector<std::uint32_t> separator_bits(const TextView& text) {
  if (text.separators.empty()) return {};
  std::vector<std::uint32_t> bits(text.size() / 32 + 1);
  for (const std::uint64_t position : text.separators) {
    bits[position / 32] |= std::uint32_t{1} << (position % 32);
  }
  return bits;
}

/// Checks the arguments of a query. \return whether there is no text or no pattern
bool finds_nothing(const Context& context, const TextView& text, std::uint64_t entries,
                   const PatternView& patterns) {
  require_same_size(title, text, entries);
  require_patterns(patterns);
  if (text.size() != 0 && patterns.size() != 0) return false;
  (void)resolve_backend(context);  // still refuses a backend that cannot run
  return true;
}

template <Position Pos>
std::vector<EntryRange> find_on_host(const Context& context, const TextView& text,
                                     std::span<const Pos> suffixes, const PatternView& patterns) {
  // The ranges, and one bit a symbol where there are separators.
  require_memory(
      context, title,
      patterns.size() * sizeof(EntryRange) + (text.separators.empty() ? 0 : text.size() / 8));
  start_host_runtime(context.threads);
  require_positions(title, suffixes, text.size());
  report_progress(context, "query", 0, patterns.size());
  PhaseTimer timer(context, "query", patterns.letters.size());
  const std::vector<std::uint32_t> bits = separator_bits(text);
  const PatternSearch<Pos> search{
      text.symbols.data(), suffixes.data(), {bits.empty() ? nullptr : bits.data(), text.size()}};
  std::vector<EntryRange> ranges(patterns.size());
  EntryRange* const result = ranges.data();
  const std::uint8_t* letters = patterns.letters.data();
  const std::uint64_t* begins = patterns.begins.data();
  for_each_range(patterns.size(), patterns_of_task, [=](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      result[i] = search(letters + begins[i], begins[i + 1] - begins[i]);
  });
  report_progress(context, "query", patterns.size(), patterns.size());
  return ranges;
}

template <Position Pos>
Occurrences<Pos> locate_on_host(const Context& context, const TextView& text,
                                std::span<const Pos> suffixes, const PatternView& patterns,
                                std::uint64_t most_hits) {
  Occurrences<Pos> found;
  found.ranges = find_on_host(context, text, suffixes, patterns);
  found.begins.assign(1, 0);
  found.begins.reserve(found.ranges.size() + 1);
  for (const EntryRange& range : found.ranges) {
    found.begins.push_back(found.begins.back() + std::min(range.count(), most_hits));
  }
  const std::uint64_t total = found.begins.back();
  HostMemoryBudget budget(context);
  budget.hold(patterns.size() * (sizeof(EntryRange) + sizeof(std::uint64_t)));
  budget.require(title, total * sizeof(Pos));
  report_progress(context, "locate", 0, total);
  PhaseTimer timer(context, "locate", 2 * total * sizeof(Pos));
  found.positions = allocate_vector<Pos>(total);
  const EntryRange* ranges = found.ranges.data();
  const std::uint64_t* begins = found.begins.data();
  const Pos* entries = suffixes.data();
  Pos* const positions = found.positions.data();
  for_each_range(patterns.size(), patterns_of_task, [=](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      std::copy_n(entries + ranges[i].begin, begins[i + 1] - begins[i], positions + begins[i]);
  });
  report_progress(context, "locate", total, total);
  return found;
}

/// Odd, and of irregular bits: polynomials in small bases collide modulo 2^64.
constexpr std::uint64_t base = 0x9e3779b97f4a7c15ULL;

/// Fewest windows that a thread rolls over at a time: many more than the letters of its first hash.
constexpr std::uint64_t least_range = 1 << 16;

/// Bits of the filter in front of the table, for each pattern: about one window in 16 passes by
/// chance.
constexpr std::uint64_t filter_bits_a_pattern = 16;

std::uint64_t hash_of(const std::uint8_t* letters, std::uint64_t length) {
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < length; ++i) hash = hash * base + letters[i] + 1;
  return hash;
}

/// Distinct patterns of one length, looked up by their hash.
class PatternTable {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// \param members  patterns of one length; equal ones are allowed
  PatternTable(const PatternView& patterns, const std::vector<std::uint64_t>& members)
      : patterns_(patterns),
        length_(patterns.begins[members.front() + 1] - patterns.begins[members.front()]),
        filter_(std::bit_ceil(filter_bits_a_pattern * members.size())) {
    table_.reserve(members.size());
    for (const std::uint64_t pattern : members) {
      const std::uint64_t hash = hash_of(letters_of(pattern), length_);
      filter_[filter_bit(hash)] = true;
      if (find(letters_of(pattern), hash) == none) table_.emplace(hash, pattern);
    }
  }

  [[nodiscard]] std::uint64_t length() const { return length_; }

  /// The first of the patterns equal to these letters; none if there is no such pattern.
  [[nodiscard]] std::uint64_t find(const std::uint8_t* letters, std::uint64_t hash) const {
    if (!filter_[filter_bit(hash)]) return none;
    const auto [first, last] = table_.equal_range(hash);
    const auto found = std::find_if(first, last, [&](const auto& entry) {
      return std::equal(letters, letters + length_, letters_of(entry.second));
    });
    return found == last ? none : found->second;
  }

 private:
  [[nodiscard]] const std::uint8_t* letters_of(std::uint64_t pattern) const {
    return patterns_.letters.data() + patterns_.begins[pattern];
  }
  /// Mixed first, because the lowest bits of a polynomial depend on the last letters only.
  [[nodiscard]] std::uint64_t filter_bit(std::uint64_t hash) const {
    return (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ULL >> (std::countl_zero(filter_.size()) + 1);
  }

  const PatternView& patterns_;
  std::uint64_t length_;
  std::vector<bool> filter_;
  std::unordered_multimap<std::uint64_t, std::uint64_t> table_;  ///< patterns by their hash
};

/// Adds the occurrences of a table's patterns to `counts`, for equal patterns to the first of them.
void count_windows(const TextView& text, const RecordEnds& is_end, const PatternTable& table,
                   std::uint64_t* counts) {
  const std::uint64_t length = table.length();
  if (text.size() < length) return;
  const std::uint64_t windows = text.size() - length + 1;
  const std::uint64_t range = std::max(least_range, 4 * length);
  const std::uint8_t* symbols = text.symbols.data();
  std::uint64_t last_power = 1;  // base^(length - 1): the weight of a window's first letter
  for (std::uint64_t i = 1; i < length; ++i) last_power *= base;
  for_each_range(windows, range, [&](std::uint64_t first, std::uint64_t end) {
    std::uint64_t clear_from = first;  // no record end in [clear_from, last letter of the window]
    for (std::uint64_t p = first; p + 1 < first + length; ++p) {
      if (is_end(p)) clear_from = p + 1;
    }
    std::uint64_t hash = hash_of(symbols + first, length - 1);
    for (std::uint64_t begin = first; begin < end; ++begin) {
      const std::uint64_t last = begin + length - 1;
      if (is_end(last)) clear_from = last + 1;
      hash = hash * base + symbols[last] + 1;
      if (clear_from <= begin) {
        const std::uint64_t pattern = table.find(symbols + begin, hash);
        if (pattern != PatternTable::none) {
          std::atomic_ref<std::uint64_t>(counts[pattern]).fetch_add(1, std::memory_order_relaxed);
        }
      }
      hash -= last_power * (std::uint64_t{symbols[begin]} + 1);
    }
  });
}

Error fault(std::uint64_t pattern, const std::string& words) {
  return {ErrorKind::check, fmt::format("suffix array query, pattern {}: {}", pattern, words)};
}

/// True when the pattern occurs at that position, within one record.
bool stands_at(const TextView& text, const RecordEnds& is_end, const PatternView& patterns,
               std::uint64_t pattern, std::uint64_t position) {
  if (position >= text.size()) return false;
  for (std::uint64_t i = patterns.begins[pattern]; i < patterns.begins[pattern + 1]; ++i) {
    if (is_end(position) || text.symbols[position] != patterns.letters[i]) return false;
    ++position;
  }
  return true;
}

}  // namespace

void require_patterns(const PatternView& patterns) {
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < patterns.begins.size(); ++i) {
    const std::uint64_t next = patterns.begins[i];
    if (next < begin || next > patterns.letters.size()) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}, begin {} of the patterns: found {}, expected {} to {}", title, i,
                              next, begin, patterns.letters.size()));
    }
    begin = next;
  }
}

template <Position Pos>
std::vector<EntryRange> find(const Context& context, const TextView& text,
                             std::span<const Pos> suffixes, const PatternView& patterns) {
  if (finds_nothing(context, text, suffixes.size(), patterns)) {
    return std::vector<EntryRange>(patterns.size());
  }
  return on_backend(
      context, [&](const auto& here) { return cuda::find(here, text, suffixes, patterns); },
      [&](const Context& here) { return find_on_host(here, text, suffixes, patterns); });
}

template <Position Pos>
Occurrences<Pos> locate(const Context& context, const TextView& text, std::span<const Pos> suffixes,
                        const PatternView& patterns, std::uint64_t most_hits) {
  if (finds_nothing(context, text, suffixes.size(), patterns)) {
    return {std::vector<EntryRange>(patterns.size()),
            std::vector<std::uint64_t>(patterns.size() + 1),
            {}};
  }
  return on_backend(
      context,
      [&](const auto& here) { return cuda::locate(here, text, suffixes, patterns, most_hits); },
      [&](const Context& here) {
        return locate_on_host(here, text, suffixes, patterns, most_hits);
      });
}

std::vector<std::uint64_t> count_by_plain_search(const HostContext& context, const TextView& text,
                                                 const PatternView& patterns) {
  require_patterns(patterns);
  start_host_runtime(context.threads);
  PhaseTimer timer(context, "plain search", text.size());
  std::vector<std::uint64_t> counts(patterns.size());
  const std::vector<std::uint32_t> bits = separator_bits(text);
  const RecordEnds is_end{bits.empty() ? nullptr : bits.data(), text.size()};
  std::map<std::uint64_t, std::vector<std::uint64_t>> by_length;
  for (std::uint64_t i = 0; i < patterns.size(); ++i) {
    by_length[patterns.begins[i + 1] - patterns.begins[i]].push_back(i);
  }
  for (const auto& [length, members] : by_length) {
    if (length == 0) {
      for (const std::uint64_t i : members) counts[i] = text.size();
      continue;
    }
    const PatternTable table(patterns, members);
    count_windows(text, is_end, table, counts.data());
    for (const std::uint64_t i : members) {
      const std::uint8_t* letters = patterns.letters.data() + patterns.begins[i];
      counts[i] = counts[table.find(letters, hash_of(letters, length))];
    }
  }
  return counts;
}

template <Position Pos>
void check_occurrences(const HostContext& context, const TextView& text,
                       const PatternView& patterns, const Occurrences<Pos>& occurrences,
                       std::uint64_t most_hits) {
  const std::uint64_t size = patterns.size();
  if (occurrences.ranges.size() != size || occurrences.begins.size() != size + 1 ||
      occurrences.begins.back() != occurrences.positions.size()) {
    throw Error(ErrorKind::check,
                fmt::format("suffix array query: found results of {} patterns, {} positions, "
                            "expected {} and {}",
                            occurrences.ranges.size(), occurrences.positions.size(), size,
                            occurrences.begins.empty() ? 0 : occurrences.begins.back()));
  }
  const std::vector<std::uint64_t> counts = count_by_plain_search(context, text, patterns);
  const std::vector<std::uint32_t> bits = separator_bits(text);
  const RecordEnds is_end{bits.empty() ? nullptr : bits.data(), text.size()};
  std::vector<Pos> sorted;
  for (std::uint64_t i = 0; i < size; ++i) {
    if (occurrences.ranges[i].count() != counts[i]) {
      throw fault(i, fmt::format("found {} occurrences, expected {}", occurrences.ranges[i].count(),
                                 counts[i]));
    }
    const std::uint64_t begin = occurrences.begins[i];
    const std::uint64_t listed = occurrences.begins[i + 1] - begin;
    if (listed != std::min(counts[i], most_hits)) {
      throw fault(i, fmt::format("found {} positions, expected {}", listed,
                                 std::min(counts[i], most_hits)));
    }
    const auto first = occurrences.positions.begin() + static_cast<std::ptrdiff_t>(begin);
    sorted.assign(first, first + static_cast<std::ptrdiff_t>(listed));
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) throw fault(i, fmt::format("found position {} twice", *twice));
    for (const Pos position : sorted) {
      if (stands_at(text, is_end, patterns, i, position)) continue;
      throw fault(i, fmt::format("found position {}, where the text has other letters", position));
    }
  }
}

SORTIE_FOR_BOTH_POSITIONS(find);
SORTIE_FOR_BOTH_POSITIONS(locate);
SORTIE_FOR_BOTH_POSITIONS(check_occurrences);

}  // namespace sortie::suffix_array
