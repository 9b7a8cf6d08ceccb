#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Prefix doubling over samples, with steps from sample to sample in place of symbols: the 2^i-th
/// sample further on decides round i. Before them, runs of samples with equal ranks, which periodic
/// texts have, are told apart by their lengths (sample_runs.hpp).
///
/// \param ranks  of all samples, by number: equal for those that are not told apart yet, and the
///               gap to the next rank is at least their number; on return, all are different
/// \param steps  by number, the number of the next sample, at an equal distance for equal ranks; of
///               samples with a rank of their own, any number. Used up.
/// \return number of rounds
///
/// Ranks change only after all groups of a round are sorted, so a round does not depend on the
/// order of groups, nor on the number of threads. Complexity: O(s log s) for s samples, and O(u log
/// r) for u samples of equal ranks and repeats of r steps. Memory: 2 P bytes a sample and 5 P for
/// one of equal rank, with positions of P bytes.
template <Position Pos>
std::uint64_t double_steps(std::span<Pos> ranks, std::span<Pos> steps);

}  // namespace sortie::suffix_array::host
