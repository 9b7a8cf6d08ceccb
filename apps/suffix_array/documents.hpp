#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array {

/// The document array of a generalised suffix array (Muthukrishnan 2002): entry i is the number,
/// from 0, of the record that suffix i starts in. A separator belongs to the record before it.
///
/// \param context        backend, device, threads, memory budget, report (phase "documents"; on a
///                       GPU, "copy in" and "copy out" too)
/// \param suffixes       the suffix array
/// \param record_begins  where each record begins, ascending, the first at 0; equal ones are empty
///                       records without a separator behind, which no position belongs to
/// \throws Error (usage)  no record but an entry, the first record begins behind 0, begins out of
///                        order, or more than 2^32 records
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity: O(log r) a position, for r records: a bisection of their begins, which are in the
/// caches. Extra memory: none beside the result on the host; on a GPU the suffix array, the begins
/// and the result; where these do not fit, the host does it, and the report has the figure
/// "documents_on_host".
template <Position Pos>
[[nodiscard]] std::vector<std::uint32_t> document_array(
    const Context& context, std::span<const Pos> suffixes,
    std::span<const std::uint64_t> record_begins);

/// Checks a document array by its definition, on the host: every suffix begins behind the begin of
/// its record and before the next one's.
/// \throws Error (check) naming the first entry at fault
template <Position Pos>
void check_document_array(const Context& context, std::span<const Pos> suffixes,
                          std::span<const std::uint64_t> record_begins,
                          std::span<const std::uint32_t> documents);

}  // namespace sortie::suffix_array
