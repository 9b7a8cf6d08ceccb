// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/export.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array {

/// The document array of a generalised suffix array: entry i is the number, from 0, of the record
/// in which suffix i starts. A separator belongs to the record before it.
///
/// \param context        backend, device, threads, memory budget, progress on the host, report (phase
///                       "documents"; on a GPU also "copy in" and "copy out")
/// \param suffixes       the suffix array
/// \param record_begins  where each record begins, ascending, the first at 0; of records that begin
///                       at the same position, only the last has positions
/// \throws Error (usage)  entries without records, a first record that does not begin at 0, begins
///                        out of order, or more than 2^32 records
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity: O(log r) for each position, for r records: a binary search in record_begins. Extra
/// memory: none besides the result on the host; on a GPU the suffix array, the begins and the
/// result. If these do not fit there, the host computes the result, and the report has the figure
/// "documents_on_host".
/// Source: Muthukrishnan (SODA 2002).
template <Position Pos>
[[nodiscard]] SORTIE_API std::vector<std::uint32_t> document_array(
    const Context& context, std::span<const Pos> suffixes,
    std::span<const std::uint64_t> record_begins);

/// Checks a document array by its definition: every suffix starts at or after the begin of its
/// record, and before the begin of the next. Runs on the host.
/// \param context  threads, progress, report (phase "check documents"); takes no memory
/// \throws Error (check)  names the first wrong entry
/// \throws Error (usage)  as document_array()
/// Complexity: O(n). Extra memory: none.
template <Position Pos>
SORTIE_API void check_document_array(const HostContext& context, std::span<const Pos> suffixes,
                                     std::span<const std::uint64_t> record_begins,
                                     std::span<const std::uint32_t> documents);

}  // namespace sortie::suffix_array
