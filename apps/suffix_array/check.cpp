// SPDX-License-Identifier: Apache-2.0

// The inverse of a suffix array, and the checks that need it.
#include <fmt/format.h>

#include <atomic>
#include <limits>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/device_or_host.hpp"
#include "apps/suffix_array/host/arrays.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array {
namespace {

/// The first entry that is not below `size`; no_index if there is none.
template <Position Pos>
std::uint64_t first_beyond(std::span<const Pos> suffixes, std::uint64_t size) {
  const Pos* entries = suffixes.data();
  return first_index(0, suffixes.size(), [=](std::uint64_t i) { return entries[i] >= size; });
}

/// Sets inverse[suffixes[i]] = i. A position that occurs twice is written twice, possibly at the
/// same time.
template <Position Pos>
void scatter_inverse(std::span<const Pos> suffixes, Pos* inverse) {
  const Pos* entries = suffixes.data();
  for_each_index(0, suffixes.size(), [=](std::uint64_t i) {
    std::atomic_ref<Pos>(inverse[entries[i]]).store(static_cast<Pos>(i), std::memory_order_relaxed);
  });
}

/// Names the first entry that repeats an earlier one.
template <Position Pos>
Error duplicate_error(std::span<const Pos> suffixes) {
  std::vector<std::uint64_t> seen_at(suffixes.size(), no_index);
  for (std::uint64_t i = 0; i < suffixes.size(); ++i) {
    std::uint64_t& earlier = seen_at[suffixes[i]];
    if (earlier != no_index) {
      return wrong_entry("suffix array", i,
                         fmt::format("found position {} again after entry {}, expected each "
                                     "position once",
                                     suffixes[i], earlier));
    }
    earlier = i;
  }
  return {ErrorKind::check, "suffix array: changed while it was checked"};
}

/// Inverts a suffix array. \throws Error (check) when it is not a permutation
template <Position Pos>
void invert_permutation(std::span<const Pos> suffixes, Pos* inverse) {
  const std::uint64_t size = suffixes.size();
  if (const std::uint64_t beyond = first_beyond(suffixes, size); beyond != no_index) {
    throw wrong_entry(
        "suffix array", beyond,
        fmt::format("found position {}, expected a position below {}", suffixes[beyond], size));
  }
  constexpr Pos unseen = std::numeric_limits<Pos>::max();
  for_each_index(0, size, [=](std::uint64_t position) { inverse[position] = unseen; });
  scatter_inverse(suffixes, inverse);
  // Where a position occurs twice, another one does not occur.
  const std::uint64_t missing =
      first_index(0, size, [=](std::uint64_t position) { return inverse[position] == unseen; });
  if (missing != no_index) throw duplicate_error(suffixes);
}

template <Position Pos>
void check_separators(const TextView& text, std::span<const Pos> suffixes) {
  for (std::uint64_t i = 0; i < text.separators.size(); ++i) {
    if (suffixes[i] == text.separators[i]) continue;
    throw wrong_entry("suffix array", i,
                      fmt::format("found position {}, expected position {}, where record {} ends",
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
  if (unordered == no_index) return;
  throw wrong_entry("suffix array", unordered,
                    fmt::format("found position {} after position {}, expected the smaller "
                                "suffix first",
                                suffixes[unordered], suffixes[unordered - 1]));
}

}  // namespace

void require_entries(std::string_view array, std::uint64_t found, std::uint64_t expected,
                     std::string_view why) {
  if (found == expected) return;
  throw Error(ErrorKind::check,
              fmt::format("{}: found {} entries, expected {}{}", array, found, expected, why));
}

Error wrong_entry(std::string_view array, std::uint64_t entry, const std::string& words) {
  return {ErrorKind::check, fmt::format("{}, entry {}: {}", array, entry, words)};
}

template <Position Pos>
void require_positions(std::string_view array, std::span<const Pos> suffixes, std::uint64_t size) {
  const std::uint64_t fault = first_beyond(suffixes, size);
  if (fault == no_index) return;
  throw Error(ErrorKind::usage,
              fmt::format("{}, entry {} of the suffix array: found position {}, expected one below "
                          "{}",
                          array, fault, suffixes[fault], size));
}

template <Position Pos>
void check(const HostContext& context, const TextView& text, std::span<const Pos> suffixes) {
  require_entries("suffix array", suffixes.size(), text.size(), ", one for each symbol");
  require_memory(context, "check of the suffix array", suffixes.size_bytes());
  start_host_runtime(context.threads);
  report_progress(context, "check", 0, suffixes.size());
  const PhaseTimer timer(context, "check");
  const auto inverse = host::allocate<Pos>(suffixes.size());
  invert_permutation(suffixes, inverse.get());
  check_separators(text, suffixes);
  check_letters(text, suffixes, inverse.get());
  report_progress(context, "check", suffixes.size(), suffixes.size());
}

template <Position Pos>
std::vector<Pos> inverse_suffix_array(const Context& context, std::span<const Pos> suffixes) {
  return device_or_host(
      context, suffixes.empty(), "inverse",
      [=](const auto& here) { return cuda::invert(here, suffixes); },
      [=](const Context& here) {
        const std::uint64_t size = suffixes.size();
        require_memory(here, "inverse suffix array", size * sizeof(Pos));
        start_host_runtime(here.threads);
        require_positions("inverse suffix array", suffixes, size);
        report_progress(here, "inverse", 0, size);
        PhaseTimer timer(here, "inverse", 2 * size * sizeof(Pos));
        std::vector<Pos> inverse = host::allocate_vector<Pos>(size);
        scatter_inverse(suffixes, inverse.data());
        report_progress(here, "inverse", size, size);
        return inverse;
      });
}

SORTIE_FOR_BOTH_POSITIONS(require_positions);
SORTIE_FOR_BOTH_POSITIONS(check);
SORTIE_FOR_BOTH_POSITIONS(inverse_suffix_array);

}  // namespace sortie::suffix_array
