// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sortie/cluster.hpp"
#include "sortie/context.hpp"
#include "sortie/export.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::cluster {

/// What build_suffix_array() computes besides the suffix array.
struct SuffixArrayOptions {
  bool lcp = false;    ///< the LCP array
  bool bwt = false;    ///< the Burrows-Wheeler transform
  bool check = false;  ///< check all arrays on all ranks, as suffix_array::check() and the others
  /// Called on rank 0 when the text has been packed and is not read any more: it may be freed.
  std::function<void()> text_is_read = nullptr;
};

/// The entries of a suffix array that a rank has.
template <suffix_array::Position Pos>
struct SuffixArrayShare {
  std::uint64_t begin = 0;        ///< number of the first one
  std::vector<Pos> suffixes;      ///< positions
  std::vector<Pos> lcp;           ///< entries of suffix_array::lcp_array(), if asked for
  std::vector<std::uint8_t> bwt;  ///< of burrows_wheeler_transform(), if asked for
};

/// Builds the suffix array of a text over ranks. Collective: every rank makes the call with the
/// same options. Rank r of P receives the entries r n / P to (r + 1) n / P of the suffix array that
/// suffix_array::build() gives, for any number of ranks.
///
/// Runs on the host threads of each rank, or on its GPU. Where the backend is CUDA, every GPU holds the
/// packed text and sorts its part of the array without exchanges; several ranks may share a GPU.
/// Options are computed on the host.
///
/// \param ranks    see cluster.hpp
/// \param context  of this rank: threads; backend, the same on all ranks; device; memory budget, by
///                 default the free memory divided by the ranks on the machine, on CUDA that of each
///                 GPU; report (phases "pack", "sort" ("count", "elements", "buckets"), "rounds"
///                 ("samples"), "equal shares", "lcp", "bwt", "check"; on CUDA those of
///                 suffix_array::build() in ranges; figures "ranks", "planned_exchange_bytes" and
///                 "exchanged_bytes" of all ranks, "most_exchange_bytes" of one, "imbalance" of the
///                 shares that are sorted, "rounds" of the samples)
/// \param text     on rank 0; not used on other ranks
/// \throws Error (usage)  the text is longer than Pos can address, or than 2^40 - 2 symbols;
///                        separators out of order
/// \throws Error (out_of_memory)  before the sort: a rank has too little memory; names the bytes
///                 wanted and free, and how many ranks are enough. After it: the samples do not fit
/// \throws Error (check)  a check does not hold
///
/// Every rank holds the whole text packed: 3/8 byte a symbol for DNA, 9/8 at most.
/// Complexity for n symbols and P ranks: each rank counts the suffixes of n / P positions, scans n
/// positions for those of its slots, about as long as it takes to sort n / 20 suffixes, and sorts
/// n / P. No element is exchanged. Suffixes that agree in more symbols than the first sort compares,
/// some 80 of DNA, are sorted by samples, which every rank sorts: O(m) for m such suffixes of all
/// ranks. For the LCP array, four positions a symbol are exchanged.
/// Extra memory of a rank, besides the text, for s = n / P symbols and positions of p bytes:
/// (8 + 1/8 + 33 p / 32) s bytes, that is 12.3 s for 32-bit positions; with less, down to 4.8 s,
/// the text is scanned up to 16 times. If suffixes are left for the samples: 3 n / 8 + p n / 32 bytes
/// and 8 p for each sample in place of the 8 s of the first sort; samples are 3 % of these suffixes,
/// and up to n / 2 in texts of short periods. LCP: 4 positions a symbol of the share, the array
/// included. The check takes as much, or where there is less memory compares the text of all
/// neighbours in O(sum of LCP values) steps.
/// On CUDA, O(n) on each GPU for its pack, cover and gathering, and O(n / P) for the rest; a rank holds
/// the text in host memory, which ranks of one process share, and its part of the array.
/// Source: Manber, Myers (SIAM J. Comput. 1993); Flick, Aluru (SC 2015); minimizers: Roberts et al.
/// (Bioinformatics 2004); Kasai et al. (CPM 2001) and Karkkainen, Manzini, Puglisi (CPM 2009) for
/// LCP; Burkhardt, Karkkainen (CPM 2003) for the check.
template <suffix_array::Position Pos>
[[nodiscard]] SORTIE_API SuffixArrayShare<Pos> build_suffix_array(
    Ranks& ranks, const Context& context, const suffix_array::TextView& text,
    const SuffixArrayOptions& options = {});

}  // namespace sortie::cluster
