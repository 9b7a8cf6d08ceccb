// SPDX-License-Identifier: Apache-2.0

// Arrays with a value for each suffix: the inverse, the Burrows-Wheeler transform and the document
// array; and the checks of these and of suffix arrays.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/construction.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/burrows_wheeler.hpp"
#include "sortie/documents.hpp"
#include "sortie/error.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array {
namespace {

/// value_of(i) for each of `size` suffixes, on the host threads, as a phase of that name.
/// \param bytes_read  for each value
template <class ValueOf>
auto values_of_suffixes(const Context& context, std::string_view phase, std::uint64_t size,
                        std::uint64_t bytes_read, const ValueOf& value_of) {
  using Value = decltype(value_of(0));
  report_progress(context, phase, 0, size);
  PhaseTimer timer(context, phase, size * (bytes_read + sizeof(Value)));
  std::vector<Value> values = allocate_vector<Value>(size);
  for_each_index(0, size, [=, to = values.data()](std::uint64_t i) { to[i] = value_of(i); });
  report_progress(context, phase, size, size);
  return values;
}

/// Checks all suffixes, as a phase of that name, as require_right() does.
template <class IsWrong, class Words>
void check_suffixes(const HostContext& context, std::string_view title, std::string_view phase,
                    std::uint64_t size, const IsWrong& is_wrong, const Words& words) {
  report_progress(context, phase, 0, size);
  const PhaseTimer timer(context, phase);
  require_right(title, 0, size, is_wrong, words);
  report_progress(context, phase, size, size);
}

/// Sets inverse[suffixes[i]] = i. A position that occurs twice is written twice, possibly at the
/// same time.
template <Position Pos>
void scatter_inverse(std::span<const Pos> suffixes, Pos* inverse) {
  for_each_index(0, suffixes.size(), [=](std::uint64_t i) {
    std::atomic_ref<Pos>(inverse[suffixes[i]])
        .store(static_cast<Pos>(i), std::memory_order_relaxed);
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
  require_right(
      "suffix array", 0, size, [=](std::uint64_t i) { return suffixes[i] >= size; },
      [=](std::uint64_t i) {
        return fmt::format("found position {}, expected a position below {}", suffixes[i], size);
      });
  constexpr Pos unseen = std::numeric_limits<Pos>::max();
  for_each_index(0, size, [=](std::uint64_t position) { inverse[position] = unseen; });
  scatter_inverse(suffixes, inverse);
  // Where a position occurs twice, another one does not occur.
  const std::uint64_t missing =
      first_index(0, size, [=](std::uint64_t position) { return inverse[position] == unseen; });
  if (missing != no_index) throw duplicate_error(suffixes);
}

/// Checks the entries of the separators, then those after them, which start with a letter.
template <Position Pos>
void check_order(const TextView& text, std::span<const Pos> suffixes, const Pos* inverse) {
  const std::uint64_t size = text.size();
  const std::uint64_t separators = text.separators.size();
  const std::uint8_t* symbols = text.symbols.data();
  require_right(
      "suffix array", 0, separators,
      [&](std::uint64_t i) { return suffixes[i] != text.separators[i]; },
      [&](std::uint64_t i) {
        return fmt::format("found position {}, expected position {}, where record {} ends",
                           suffixes[i], text.separators[i], i);
      });
  // The end of the text has no entry; it ranks between the separators and the letters.
  const auto rank = [=](std::uint64_t position) -> std::uint64_t {
    if (position == size) return separators;
    const std::uint64_t entry = inverse[position];
    return entry < separators ? entry : entry + 1;
  };
  require_right(
      "suffix array", separators + 1, size,
      [=](std::uint64_t i) {
        const std::uint64_t left = suffixes[i - 1];
        const std::uint64_t right = suffixes[i];
        if (symbols[left] != symbols[right]) return symbols[left] > symbols[right];
        return rank(left + 1) > rank(right + 1);
      },
      [=](std::uint64_t i) { return wrong_order(suffixes[i], suffixes[i - 1]); });
}

constexpr std::string_view transform_title = "Burrows-Wheeler transform";
constexpr std::string_view documents_title = "document array";

/// The symbol before each suffix, by definition.
template <Position Pos>
auto symbol_before(const TextView& text, std::span<const Pos> suffixes) {
  return [=](std::uint64_t i) {
    const std::uint64_t position = suffixes[i];
    return text.symbols[(position == 0 ? text.size() : position) - 1];
  };
}

void require_records(std::uint64_t entries, std::span<const std::uint64_t> begins) {
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  if ((entries != 0 && begins.empty()) || begins.size() > most) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: found {} records of {} entries, expected 1 to {}", documents_title,
                            begins.size(), entries, most));
  }
  const auto fault = std::is_sorted_until(begins.begin(), begins.end());
  if (fault == begins.end() && (begins.empty() || begins.front() == 0)) return;
  const auto record = fault == begins.end() ? begins.begin() : fault;
  throw Error(ErrorKind::usage,
              fmt::format("{}, record {}: found begin {}, expected {}", documents_title,
                          record - begins.begin(), *record,
                          record == begins.begin() ? "0" : "begins in ascending order"));
}

}  // namespace

void require_entries(std::string_view array, std::uint64_t found, std::uint64_t expected,
                     std::string_view why) {
  if (found == expected) return;
  throw Error(ErrorKind::check,
              fmt::format("{}: found {} entries, expected {}{}", array, found, expected, why));
}

std::string wrong_order(std::uint64_t position, std::uint64_t before) {
  return fmt::format("found position {} after position {}, expected the smaller suffix first",
                     position, before);
}

Error wrong_entry(std::string_view array, std::uint64_t entry, const std::string& words) {
  return {ErrorKind::check, fmt::format("{}, entry {}: {}", array, entry, words)};
}

template <Position Pos>
void require_positions(std::string_view array, std::span<const Pos> suffixes, std::uint64_t size) {
  const std::uint64_t fault =
      first_index(0, suffixes.size(), [=](std::uint64_t i) { return suffixes[i] >= size; });
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
  const auto inverse = allocate_array<Pos>(suffixes.size());
  invert_permutation(suffixes, inverse.get());
  check_order(text, suffixes, inverse.get());
  report_progress(context, "check", suffixes.size(), suffixes.size());
}

template <Position Pos>
void check_tokens(const HostContext& context, std::span<const std::uint8_t> bytes, int token_bytes,
                  std::span<const Pos> suffixes) {
  constexpr std::string_view title = "suffix array";
  const auto width = static_cast<unsigned>(token_bytes);
  const std::uint64_t count = bytes.size() / width;
  require_entries(title, suffixes.size(), count, ", one for each token");
  require_memory(context, "check of the suffix array", 2 * suffixes.size_bytes());
  start_host_runtime(context.threads);
  const PhaseTimer timer(context, "check");
  require_right(
      title, 0, count,
      [=](std::uint64_t i) { return suffixes[i] % width != 0 || suffixes[i] / width >= count; },
      [=](std::uint64_t i) {
        return fmt::format("found position {}, expected a multiple of {} below {}", suffixes[i],
                           width, bytes.size());
      });
  std::vector<Pos> numbers = allocate_vector<Pos>(count);
  for_each_index(0, count, [=, to = numbers.data()](std::uint64_t i) {
    to[i] = static_cast<Pos>(suffixes[i] / width);
  });
  const auto inverse = allocate_array<Pos>(count);
  invert_permutation(std::span<const Pos>(numbers), inverse.get());
  require_right(
      title, std::min<std::uint64_t>(1, count), count,
      [&, ranks = inverse.get()](std::uint64_t i) {
        const std::uint64_t left = numbers[i - 1];
        const std::uint64_t right = numbers[i];
        const int order =
            std::memcmp(bytes.data() + left * width, bytes.data() + right * width, width);
        if (order != 0 || right + 1 == count) return order >= 0;
        return left + 1 != count && ranks[left + 1] > ranks[right + 1];
      },
      [=](std::uint64_t i) { return wrong_order(suffixes[i], suffixes[i - 1]); });
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
        std::vector<Pos> inverse = allocate_vector<Pos>(size);
        scatter_inverse(suffixes, inverse.data());
        report_progress(here, "inverse", size, size);
        return inverse;
      });
}

template <Position Pos>
std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context, const TextView& text,
                                                    std::span<const Pos> suffixes) {
  require_same_size(transform_title, text, suffixes.size());
  return device_or_host(
      context, suffixes.empty(), "bwt",
      [&](const auto& here) { return cuda::burrows_wheeler_transform(here, text, suffixes); },
      [&](const Context& here) {
        require_memory(here, transform_title, text.size());
        start_host_runtime(here.threads);
        require_positions(transform_title, suffixes, text.size());
        return values_of_suffixes(here, "bwt", text.size(), 1 + sizeof(Pos),
                                  symbol_before(text, suffixes));
      });
}

template <Position Pos>
void check_burrows_wheeler(const HostContext& context, const TextView& text,
                           std::span<const Pos> suffixes, std::span<const std::uint8_t> transform) {
  require_same_size(transform_title, text, suffixes.size());
  require_entries(transform_title, transform.size(), suffixes.size());
  start_host_runtime(context.threads);
  require_positions(transform_title, suffixes, text.size());
  const auto before = symbol_before(text, suffixes);
  check_suffixes(
      context, transform_title, "check bwt", suffixes.size(),
      [=](std::uint64_t i) { return transform[i] != before(i); },
      [=](std::uint64_t i) {
        return fmt::format("found byte {}, expected byte {}", transform[i], before(i));
      });
}

template <Position Pos>
std::vector<std::uint32_t> document_array(const Context& context, std::span<const Pos> suffixes,
                                          std::span<const std::uint64_t> record_begins) {
  require_records(suffixes.size(), record_begins);
  return device_or_host(
      context, suffixes.empty(), "documents",
      [=](const auto& here) { return cuda::document_array(here, suffixes, record_begins); },
      [=](const Context& here) {
        require_memory(here, documents_title, suffixes.size() * sizeof(std::uint32_t));
        start_host_runtime(here.threads);
        return values_of_suffixes(
            here, "documents", suffixes.size(), sizeof(Pos), [=](std::uint64_t i) {
              return record_at(record_begins.data(), record_begins.size(), suffixes[i]);
            });
      });
}

template <Position Pos>
void check_document_array(const HostContext& context, std::span<const Pos> suffixes,
                          std::span<const std::uint64_t> record_begins,
                          std::span<const std::uint32_t> documents) {
  require_records(suffixes.size(), record_begins);
  require_entries(documents_title, documents.size(), suffixes.size());
  start_host_runtime(context.threads);
  const std::uint64_t records = record_begins.size();
  check_suffixes(
      context, documents_title, "check documents", suffixes.size(),
      [=](std::uint64_t i) {
        const std::uint64_t record = documents[i];
        return record >= records || suffixes[i] < record_begins[record] ||
               (record + 1 < records && suffixes[i] >= record_begins[record + 1]);
      },
      [=](std::uint64_t i) {
        return fmt::format("found record {}, expected that of position {}", documents[i],
                           suffixes[i]);
      });
}

SORTIE_FOR_BOTH_POSITIONS(require_positions);
SORTIE_FOR_BOTH_POSITIONS(check);
SORTIE_FOR_BOTH_POSITIONS(check_tokens);
SORTIE_FOR_BOTH_POSITIONS(inverse_suffix_array);
SORTIE_FOR_BOTH_POSITIONS(burrows_wheeler_transform);
SORTIE_FOR_BOTH_POSITIONS(check_burrows_wheeler);
SORTIE_FOR_BOTH_POSITIONS(document_array);
SORTIE_FOR_BOTH_POSITIONS(check_document_array);

}  // namespace sortie::suffix_array
