// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "apps/suffix_array/host/arrays.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array {
namespace {

constexpr std::uint64_t none = no_index;

Error fault(std::uint64_t entry, const std::string& words) {
  return {ErrorKind::check, fmt::format("suffix array, entry {}: {}", entry, words)};
}

/// Names the first entry that repeats an earlier one.
template <Position Pos>
Error duplicate_error(std::span<const Pos> suffixes) {
  std::vector<std::uint64_t> seen_at(suffixes.size(), none);
  for (std::uint64_t i = 0; i < suffixes.size(); ++i) {
    std::uint64_t& earlier = seen_at[suffixes[i]];
    if (earlier != none) {
      return fault(i, fmt::format("found position {} again after entry {}, expected each position "
                                  "once",
                                  suffixes[i], earlier));
    }
    earlier = i;
  }
  return {ErrorKind::check, "suffix array: changed while it was checked"};
}

/// Sets inverse[suffixes[i]] = i. \throws Error (check) when `suffixes` is not a permutation
template <Position Pos>
void invert(std::span<const Pos> suffixes, Pos* inverse) {
  const std::uint64_t size = suffixes.size();
  const Pos* entries = suffixes.data();
  const std::uint64_t beyond =
      first_index(0, size, [=](std::uint64_t i) { return entries[i] >= size; });
  if (beyond != none) {
    throw fault(beyond, fmt::format("found position {}, expected a position below {}",
                                    suffixes[beyond], size));
  }
  constexpr Pos unseen = std::numeric_limits<Pos>::max();
  for_each_index(0, size, [=](std::uint64_t position) { inverse[position] = unseen; });
  // A position that occurs twice is written twice, possibly at the same time; then another position
  // is not written at all.
  for_each_index(0, size, [=](std::uint64_t i) {
    std::atomic_ref<Pos>(inverse[entries[i]]).store(static_cast<Pos>(i), std::memory_order_relaxed);
  });
  const std::uint64_t missing =
      first_index(0, size, [=](std::uint64_t position) { return inverse[position] == unseen; });
  if (missing != none) throw duplicate_error(suffixes);
}

template <Position Pos>
void check_separators(const TextView& text, std::span<const Pos> suffixes) {
  for (std::uint64_t i = 0; i < text.separators.size(); ++i) {
    if (suffixes[i] == text.separators[i]) continue;
    throw fault(i, fmt::format("found position {}, expected position {}, where record {} ends",
                               suffixes[i], text.separators[i], i));
  }
}

/// Checks the entries after those of the separators; all of them start with a letter.
template <Position Pos>
void check_letters(const TextView& text, std::span<const Pos> suffixes, const Pos* inverse) {
  const std::uint64_t size = text.size();
  const std::uint64_t separators = text.separators.size();
  const std::uint8_t* symbols = text.symbols.data();
  const Pos* entries = suffixes.data();
  // The end of the text has no entry; it ranks between the separators and the letters.
  const auto rank = [=](std::uint64_t position) -> std::uint64_t {
    if (position == size) return separators;
    const std::uint64_t entry = inverse[position];
    return entry < separators ? entry : entry + 1;
  };
  const std::uint64_t unordered = first_index(separators + 1, size, [=](std::uint64_t i) {
    const std::uint64_t left = entries[i - 1];
    const std::uint64_t right = entries[i];
    if (symbols[left] != symbols[right]) return symbols[left] > symbols[right];
    return rank(left + 1) > rank(right + 1);
  });
  if (unordered == none) return;
  throw fault(unordered, fmt::format("found position {} after position {}, expected the smaller "
                                     "suffix first",
                                     suffixes[unordered], suffixes[unordered - 1]));
}

}  // namespace

template <Position Pos>
void check(const HostContext& context, const TextView& text, std::span<const Pos> suffixes) {
  if (suffixes.size() != text.size()) {
    throw Error(ErrorKind::check,
                fmt::format("suffix array: found {} entries, expected {}, one for each symbol",
                            suffixes.size(), text.size()));
  }
  require_memory(context, "check of the suffix array", suffixes.size_bytes());
  start_host_runtime(context.threads);
  report_progress(context, "check", 0, suffixes.size());
  const PhaseTimer timer(context, "check");
  const auto inverse = host::allocate<Pos>(suffixes.size());
  invert(suffixes, inverse.get());
  check_separators(text, suffixes);
  check_letters(text, suffixes, inverse.get());
  report_progress(context, "check", suffixes.size(), suffixes.size());
}

template decltype(check<std::uint32_t>) check<std::uint32_t>;
template decltype(check<std::uint64_t>) check<std::uint64_t>;

}  // namespace sortie::suffix_array
