// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/suffix_array/host/build/first_sort.hpp"
#include "sortie/context.hpp"

namespace sortie::suffix_array::host {

/// Sorts all suffixes that the text rounds leave, however many symbols they agree in: members of
/// groups, and those of long runs.
///
/// Every member of a group has a sample at most a window ahead, all members at the same distance
/// (sampling.hpp), so the ranks of the samples order the group. The samples are sorted by
/// double_steps(). The suffix after each long run is a sample too: it orders runs of one length. If
/// the first member of a run is a sample, its step leads there.
///
/// \param order  groups; on return, `suffixes` is the suffix array
/// \return rounds of the samples
/// \throws Error (out_of_memory)  too many samples, which only texts of short periods have
///
/// Memory, besides `order` and `stream`: see prefix_doubling.cpp. Last, without steps and rounds, 2 P
/// bytes for each suffix of one large group, with positions of P bytes.
template <Position Pos>
std::uint64_t finish_by_samples(const Context& context, const TextView& text,
                                const PrefixPlan& plan, const SymbolStream& stream,
                                FirstOrder<Pos>& order);

/// Prefix doubling over samples, with steps from sample to sample in place of symbols: round i
/// sorts by the rank of the sample 2^i steps ahead. A first round separates runs of samples with
/// equal ranks, which periodic texts have, by their lengths.
///
/// \param ranks  ranks of all samples, by number: equal for samples that are not separated yet, and
///               the gap to the next rank is at least the number of these; on return, all ranks are
///               distinct
/// \param steps  by number, the number of the next sample, at an equal distance for equal ranks;
///               any number for samples of unique rank. Overwritten.
/// \return number of rounds
///
/// A round reads all ranks before it changes any, so it does not depend on the order of groups, nor
/// on the number of threads. Complexity: O(s log s) for s samples, and O(u log r) for u samples of
/// equal ranks and repeats of r steps. Memory: 2 P bytes a sample and 5 P for a sample of equal
/// rank, with positions of P bytes.
template <Position Pos>
std::uint64_t double_steps(std::span<Pos> ranks, std::span<Pos> steps);

}  // namespace sortie::suffix_array::host
