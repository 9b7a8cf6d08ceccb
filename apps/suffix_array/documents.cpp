// SPDX-License-Identifier: Apache-2.0
#include "sortie/documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/device_or_host.hpp"
#include "apps/suffix_array/host/arrays.hpp"
#include "apps/suffix_array/host/preconditions.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array {
namespace {

void require_records(std::uint64_t entries, std::span<const std::uint64_t> begins) {
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  if (entries != 0 && begins.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("document array: found {} entries and no record, expected at least one",
                            entries));
  }
  if (begins.size() > most) {
    throw Error(ErrorKind::usage, fmt::format("document array: found {} records, expected at most "
                                              "{}",
                                              begins.size(), most));
  }
  const auto fault = std::is_sorted_until(begins.begin(), begins.end());
  if (fault == begins.end() && (begins.empty() || begins.front() == 0)) return;
  const auto record = fault == begins.end() ? begins.begin() : fault;
  throw Error(
      ErrorKind::usage,
      fmt::format("document array, record {}: found begin {}, expected {}", record - begins.begin(),
                  *record, record == begins.begin() ? "0" : "begins in ascending order"));
}

}  // namespace

template <Position Pos>
std::vector<std::uint32_t> host::document_array(const Context& context,
                                                std::span<const Pos> suffixes,
                                                std::span<const std::uint64_t> record_begins) {
  const std::uint64_t size = suffixes.size();
  require_memory(context, "document array", size * sizeof(std::uint32_t));
  start_host_runtime(context.threads);
  report_progress(context, "documents", 0, size);
  PhaseTimer timer(context, "documents", size * (sizeof(Pos) + sizeof(std::uint32_t)));
  std::vector<std::uint32_t> documents = allocate_vector<std::uint32_t>(size);
  std::uint32_t* const result = documents.data();
  const Pos* entries = suffixes.data();
  const std::uint64_t* begins = record_begins.data();
  const std::uint64_t records = record_begins.size();
  for_each_index(0, size,
                 [=](std::uint64_t i) { result[i] = record_at(begins, records, entries[i]); });
  report_progress(context, "documents", size, size);
  return documents;
}

template <Position Pos>
std::vector<std::uint32_t> document_array(const Context& context, std::span<const Pos> suffixes,
                                          std::span<const std::uint64_t> record_begins) {
  require_records(suffixes.size(), record_begins);
  const Backend backend = resolve_backend(context);
  if (suffixes.empty()) return {};
  return device_or_host(
      context, backend, "documents",
      [&] { return cuda::document_array(context, suffixes, record_begins); },
      [&](const Context& here) { return host::document_array(here, suffixes, record_begins); });
}

template <Position Pos>
void check_document_array(const HostContext& context, std::span<const Pos> suffixes,
                          std::span<const std::uint64_t> record_begins,
                          std::span<const std::uint32_t> documents) {
  require_records(suffixes.size(), record_begins);
  if (documents.size() != suffixes.size()) {
    throw Error(ErrorKind::check, fmt::format("document array: found {} entries, expected {}",
                                              documents.size(), suffixes.size()));
  }
  start_host_runtime(context.threads);
  report_progress(context, "check documents", 0, suffixes.size());
  const PhaseTimer timer(context, "check documents");
  const Pos* entries = suffixes.data();
  const std::uint32_t* found = documents.data();
  const std::uint64_t* begins = record_begins.data();
  const std::uint64_t records = record_begins.size();
  const std::uint64_t fault = first_index(0, suffixes.size(), [=](std::uint64_t i) {
    const std::uint64_t record = found[i];
    return record >= records || entries[i] < begins[record] ||
           (record + 1 < records && entries[i] >= begins[record + 1]);
  });
  if (fault == no_index) {
    report_progress(context, "check documents", suffixes.size(), suffixes.size());
    return;
  }
  throw Error(ErrorKind::check,
              fmt::format("document array, entry {}: found record {}, expected that of position {}",
                          fault, documents[fault], suffixes[fault]));
}

template decltype(host::document_array<std::uint32_t>) host::document_array<std::uint32_t>;
template decltype(host::document_array<std::uint64_t>) host::document_array<std::uint64_t>;
template decltype(document_array<std::uint32_t>) document_array<std::uint32_t>;
template decltype(document_array<std::uint64_t>) document_array<std::uint64_t>;
template decltype(check_document_array<std::uint32_t>) check_document_array<std::uint32_t>;
template decltype(check_document_array<std::uint64_t>) check_document_array<std::uint64_t>;

}  // namespace sortie::suffix_array
