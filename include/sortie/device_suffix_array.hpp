// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sortie/context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/export.hpp"
#include "sortie/query.hpp"
#include "sortie/suffix_array.hpp"

/// Suffix arrays, and the arrays and queries derived from them, in device memory: operands and
/// results.
///
/// Every call has the form `(context, operands..., options, stream)`:
///   - The operands are in memory that `context.device` can read, and belong to the caller. They
///     must stay valid until the stream has passed the call.
///   - The call makes `context.device` current while it runs. A null stream is the default stream
///     of that device.
///   - All work is ordered on `stream`. The result may still be incomplete when the call returns;
///     it is complete in stream order.
///   - Memory comes from Sortie's own pool on the device (device_buffer.hpp), within
///     `context.memory_budget`; operands do not count towards the budget. Results belong to the
///     caller and are freed in stream order, so they must not outlive the stream. With a null
///     stream, `context.device` must be current when a result is freed.
///   - Each call documents where it waits for the stream. With `context.report`, a call also waits
///     at the end of each phase, to time it.
///   - `context.backend` and `context.threads` are not read. `context.progress` is called by
///     build_on_device() only: the other calls do not wait for their work.
/// All throw Error (unavailable) without CUDA or without such a device, Error (device) where a CUDA
/// call fails, and Error (out_of_memory) for the extra memory that each documents.
///
/// Index, the type of positions and ranks, is std::uint32_t or std::uint64_t.
namespace sortie::suffix_array::cuda {

/// A TextView (suffix_array.hpp) whose arrays are in device memory.
struct DeviceText {
  std::span<const std::uint8_t> symbols;
  std::span<const std::uint64_t> separators;  ///< ascending positions of record ends within symbols
};

/// Builds the suffix array of a text (suffix_array::build) by prefix doubling.
///
/// \param context  device, memory budget, progress (one call for each round), report (phases
///                 "pack", "sort", "groups", "rounds"; figures "rounds", "sample_rounds" (counted
///                 in "rounds" too), "unresolved_after_first_sort")
/// \return one entry for each symbol
/// \throws Error (usage)  the text is too long for Index
/// \throws Error (out_of_memory)  the first sort exceeds the budget (thrown before any work), or
///                                the rounds do (thrown as soon as the number of their suffixes is
///                                known)
/// Complexity: O(n) for the first sort and for each of at most four rounds that compare text;
/// O(s log r) for s samples in repeats of r samples. Samples are 4 to 11 % of the suffixes that the
/// text rounds leave for DNA, and up to n / 2 in texts of short periods. Extra memory: at most 8
/// sizeof(Index) bytes a symbol, result included. Waits once for the letters of the text, one to
/// four times for runs of one letter, and once for each round.
/// Source: Hou, Liu, Wang, Feng (ICS 2017), section 5.1; Manber, Myers (SIAM J. Comput. 1993);
/// Larsson, Sadakane (Theoretical Computer Science 387, 2007).
template <Position Index>
[[nodiscard]] SORTIE_API DeviceBuffer<Index> build_on_device(const Context& context,
                                                             const DeviceText& text,
                                                             CUstream_st* stream);

/// Sorts the suffixes of a text that begin at tokens, by their bytes.
///
/// \param context      as build_on_device()
/// \param bytes        tokens of `token_bytes` bytes
/// \param token_bytes  2 or 4
/// \return the position of the first byte of each token
/// \throws as build_on_device()
/// Complexity: as build_on_device() for one symbol a token, and O(n) for the ranks of tokens. Extra
/// memory: 24 to 32 bytes a token with 32-bit positions, and at most 4 MiB where all tokens are
/// below 2^24, separators of bytes ff excepted; else ranks are found by a sort. Waits as
/// build_on_device(), and up to three times for the ranks (phase "ranks").
template <Position Index>
[[nodiscard]] SORTIE_API DeviceBuffer<Index> build_tokens_on_device(
    const Context& context, std::span<const std::uint8_t> bytes, int token_bytes,
    CUstream_st* stream);

/// Checks that `suffixes` is the suffix array of `text` (suffix_array::check).
/// \param context  device, memory budget
/// \throws Error (check)  names the first wrong entry
/// Complexity: O(n). Extra memory: sizeof(Index) bytes a symbol, and a bit if there are separators.
/// Waits twice; the check is complete when the call returns.
/// Source: Burkhardt, Karkkainen (CPM 2003), section 8.
template <Position Index>
SORTIE_API void check_on_device(const Context& context, const DeviceText& text,
                                std::span<const Index> suffixes, CUstream_st* stream);

/// The inverse of a suffix array (suffix_array::inverse_suffix_array).
/// \param context   device, memory budget, report (phase "inverse")
/// \param suffixes  a permutation of 0 .. suffixes.size() - 1; not checked
/// Complexity: n writes to random addresses. Extra memory: the result. Does not wait.
template <Position Index>
[[nodiscard]] SORTIE_API DeviceBuffer<Index> inverse_on_device(const Context& context,
                                                               std::span<const Index> suffixes,
                                                               CUstream_st* stream);

/// The Burrows-Wheeler transform (burrows_wheeler.hpp).
/// \param context   device, memory budget, report (phase "bwt")
/// \param suffixes  the suffix array of `text`; not checked
/// Complexity: n reads of a byte at random addresses. Extra memory: the result. Does not wait.
template <Position Index>
[[nodiscard]] SORTIE_API DeviceBuffer<std::uint8_t> burrows_wheeler_on_device(
    const Context& context, const DeviceText& text, std::span<const Index> suffixes,
    CUstream_st* stream);

/// The LCP array (lcp.hpp).
/// \param context   device, memory budget, report (phase "lcp")
/// \param suffixes  the suffix array of `text`; not checked, but must be a permutation of the
///                  positions
/// \throws Error (out_of_memory)  before any work
/// Complexity: O(n log n) symbols compared in the worst case, 64 bits of packed text at a time;
/// O(n) for a genome. Extra memory: 2 sizeof(Index) bytes a symbol and the packed text, 8.4 bytes a
/// base with 32-bit positions, result included. Waits once, for the letters of the text.
/// Source: Karkkainen, Manzini, Puglisi: Permuted Longest-Common-Prefix Array (CPM 2009).
template <Position Index>
[[nodiscard]] SORTIE_API DeviceBuffer<Index> lcp_on_device(const Context& context,
                                                           const DeviceText& text,
                                                           std::span<const Index> suffixes,
                                                           CUstream_st* stream);

/// The document array (documents.hpp).
/// \param context        device, memory budget, report (phase "documents")
/// \param record_begins  ascending, the first 0; not empty unless `suffixes` is. Not checked
/// Complexity: O(log r) reads for each entry, for r records. Extra memory: the result, 4 bytes an
/// entry. Does not wait.
template <Position Index>
[[nodiscard]] SORTIE_API DeviceBuffer<std::uint32_t> documents_on_device(
    const Context& context, std::span<const Index> suffixes,
    std::span<const std::uint64_t> record_begins, CUstream_st* stream);

/// Finds each pattern in a suffix array (suffix_array::find).
/// \param context   device, memory budget, report (phase "query")
/// \param suffixes  the suffix array of `text`; not checked
/// \param patterns  arrays in device memory; begins must ascend within letters, which is not
///                  checked
/// \return one range for each pattern
/// Complexity: one thread for each pattern; comparisons as suffix_array::find(). Extra memory: the
/// result, 16 bytes a pattern, and a bit a symbol if there are separators. Does not wait.
template <Position Index>
[[nodiscard]] SORTIE_API DeviceBuffer<EntryRange> find_on_device(const Context& context,
                                                                 const DeviceText& text,
                                                                 std::span<const Index> suffixes,
                                                                 const PatternView& patterns,
                                                                 CUstream_st* stream);

/// Occurrences (query.hpp) in device memory.
template <Position Index>
struct DeviceOccurrences {
  DeviceBuffer<EntryRange> ranges;
  DeviceBuffer<std::uint64_t> begins;
  DeviceBuffer<Index> positions;
};

/// Finds each pattern and the positions where it occurs (suffix_array::locate).
/// \param context    as for find_on_device(); also phase "locate"
/// \param most_hits  maximum number of positions for each pattern; all_hits: no limit
/// \throws Error (usage)  more than 2^31 - 2 patterns
/// \throws Error (out_of_memory)  as soon as the number of positions is known
/// Complexity: find_on_device(), a scan over the patterns, and a binary search among the patterns
/// for each position. Extra memory: as find_on_device(), and the result. Waits once, for the number
/// of positions.
template <Position Index>
[[nodiscard]] SORTIE_API DeviceOccurrences<Index> locate_on_device(
    const Context& context, const DeviceText& text, std::span<const Index> suffixes,
    const PatternView& patterns, std::uint64_t most_hits, CUstream_st* stream);

}  // namespace sortie::suffix_array::cuda
