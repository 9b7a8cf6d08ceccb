// SPDX-License-Identifier: Apache-2.0

// Arrays with a value for each suffix: the Burrows-Wheeler transform and the document array.
#include <fmt/format.h>

#include <algorithm>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/device_or_host.hpp"
#include "apps/suffix_array/host/arrays.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/burrows_wheeler.hpp"
#include "sortie/documents.hpp"
#include "sortie/error.hpp"

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
  std::vector<Value> values = host::allocate_vector<Value>(size);
  for_each_index(0, size, [=, to = values.data()](std::uint64_t i) { to[i] = value_of(i); });
  report_progress(context, phase, size, size);
  return values;
}

/// Checks all suffixes, as a phase of that name. \throws Error (check) is_wrong(i) for some i;
/// `words` says of the first what is wrong
template <class IsWrong, class Words>
void check_suffixes(const HostContext& context, std::string_view title, std::string_view phase,
                    std::uint64_t size, const IsWrong& is_wrong, const Words& words) {
  report_progress(context, phase, 0, size);
  const PhaseTimer timer(context, phase);
  const std::uint64_t wrong = first_index(0, size, is_wrong);
  if (wrong != no_index) throw wrong_entry(title, wrong, words(wrong));
  report_progress(context, phase, size, size);
}

constexpr std::string_view transform_title = "Burrows-Wheeler transform";
constexpr std::string_view documents_title = "document array";

/// The symbol before each suffix, by definition.
template <Position Pos>
struct SymbolBefore {
  TextView text;
  const Pos* suffixes;

  std::uint8_t operator()(std::uint64_t i) const {
    const std::uint64_t position = suffixes[i];
    return text.symbols[(position == 0 ? text.size() : position) - 1];
  }
};

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
                                  SymbolBefore<Pos>{text, suffixes.data()});
      });
}

template <Position Pos>
void check_burrows_wheeler(const HostContext& context, const TextView& text,
                           std::span<const Pos> suffixes, std::span<const std::uint8_t> transform) {
  require_same_size(transform_title, text, suffixes.size());
  require_entries(transform_title, transform.size(), suffixes.size());
  start_host_runtime(context.threads);
  require_positions(transform_title, suffixes, text.size());
  const SymbolBefore<Pos> before{text, suffixes.data()};
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

SORTIE_FOR_BOTH_POSITIONS(burrows_wheeler_transform);
SORTIE_FOR_BOTH_POSITIONS(check_burrows_wheeler);
SORTIE_FOR_BOTH_POSITIONS(document_array);
SORTIE_FOR_BOTH_POSITIONS(check_document_array);

}  // namespace sortie::suffix_array
