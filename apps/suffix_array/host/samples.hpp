#pragma once

#include <cstdint>
#include <span>

#include "sortie/apps/suffix_array/host/first_sort.hpp"
#include "sortie/core/context.hpp"

namespace sortie::suffix_array::host {

/// Puts all suffixes that are left to their places, however many symbols they agree in: members of
/// groups, and those of long runs.
///
/// Every member of a group has a sample some symbols further on (sampling.hpp), all of them at the
/// same distance, so the ranks of the samples order the group. A fiftieth or so of the suffixes of
/// a genome are samples. These are sorted by prefix doubling with steps from sample to sample
/// (sample_rounds.hpp). Each long run adds two samples: its first member, if that is one, goes on
/// to the suffix behind the run, which decides among runs of one length.
///
/// \param depth_limit  symbols in which the members of each group agree, without an end
/// \param runs         all long runs, ascending
/// \param order        groups; on return, `suffixes` is the suffix array
/// \return rounds of the samples
/// \throws Error (out_of_memory)  too many samples, which only texts of short periods have
///
/// Memory, beside `order` and `stream`, for n symbols, s samples, c positions where the sample of
/// suffixes in groups changes, and positions of P bytes: three sets, 3 n / 8, and counts P n / 32;
/// the samples at changes, later their ranks, P c, and twice that while they are found; ranks P s,
/// steps P s, rounds at most 5 P s. Where s is above n / 4, the former are given up meanwhile and
/// found again. At last, without steps and rounds, 2 P bytes for each suffix of one large group.
template <Position Pos>
std::uint64_t finish_by_samples(const Context& context, const TextView& text,
                                const PrefixPlan& plan, const SymbolStream& stream,
                                std::uint64_t depth_limit, std::span<const LongRun<Pos>> runs,
                                FirstOrder<Pos>& order);

}  // namespace sortie::suffix_array::host
